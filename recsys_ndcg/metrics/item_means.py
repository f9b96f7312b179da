"""Means over the recommended items: of a numeric column of the features, or the estimates."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.of_items import OfItems
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking


@register_metric
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
    reads = OfItems.reads | {"missing_feature"}
    kinds = ("number",)

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the number of every item."""
        feature = known.get_feature(self.column)
        missing = np.nan if convention.missing_feature == "drop" else 0.0
        return np.where(feature.is_known, feature.values, missing)


@register_metric
class Score(OfItems):
    r"""The mean estimate of the first k items: what the model promises its user.

    .. math:: score@k = \frac{1}{\min(k, n)} \sum_{r \le k} s(i_r)

    with s(i) the model's estimate.

    Notes
    -----
    Any number, in units of the estimates; higher counts as better. Undefined for an empty list. It
    is no measure of quality: compare groups of users with it (`Report.gaps`), not models. Chance is
    not known if lists are drawn from a catalogue.

    References
    ----------
    Deldjoo et al. (2021), doi:10.1007/s11257-020-09285-1, for groups of users

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> labels, results = [("ann", "a", 1)], [("ann", "a", 0.5), ("ann", "b", 0.25)]
    >>> names = ["user", "item", "true"], ["user", "item", "estimated"]
    >>> import pandas as pd
    >>> data = {"labels": pd.DataFrame(labels, columns=names[0])}
    >>> data["results"] = pd.DataFrame(results, columns=names[1])
    >>> rn.evaluate(data, metrics=["score@1", "score@2"]).mean.to_dict()
    {'score@1': 0.5, 'score@2': 0.375}
    """

    name = "score"
    also_called = ("meanscore",)

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the estimates."""
        estimated = ranking.lists.columns.get("estimated")
        return np.zeros(0) if estimated is None else np.asarray(estimated, dtype=np.float64)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: estimates, and of all candidates for chance."""
        why = "the estimates of other candidates are not known"
        return [
            *super().list_requirements(convention),
            Requirement("estimates", "is a mean of estimates", "measure something else"),
            Requirement("no chance", "listed", why),
        ]
