"""Mean of a numeric column of the features, such as a price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.of_items import LISTS, OfItems
from recsys_ndcg.metrics.registry import register_metric


@register_metric
@dataclass(frozen=True)
class ItemMean(OfColumn, OfItems):
    r"""The mean of a numeric column of the features over the first k items, such as a price.

    .. math:: item@k = \frac{1}{\min(k, n)} \sum_{r \le k} v(i_r)

    with v(i) the number in the column.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.

    Notes
    -----
    In the unit of the column; higher counts as better. Undefined for an empty list. A recommended
    item without a number is an error, or left out, or 0 (`Convention.missing_feature`).

    References
    ----------
    Vargas & Castells (2011), doi:10.1145/2043932.2043955, for means of item values in general

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> prices = {"item": ["a", "b"], "price": [3.0, 1.0]}
    >>> rn.evaluate(lists, metrics="item(price)@2", features=prices).mean.to_dict()
    {'item(price)@2': 2.0}
    """

    name = "item"
    needs = frozenset({"items", "features"})
    reads = LISTS | {"missing_feature"}
    kinds = ("number",)

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the number of every item."""
        feature = known.get_feature(self.column)
        missing = np.nan if convention.missing_feature == "drop" else 0.0
        return np.where(feature.is_known, feature.values, missing)
