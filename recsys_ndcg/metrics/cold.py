"""Share of the recommended items that nobody had in training."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_items import LISTS, OfItems
from recsys_ndcg.metrics.registry import register_metric


@register_metric
class Cold(OfItems):
    r"""The share of the first k items that have no training rows.

    .. math:: cold@k = \frac{1}{\min(k, n)} \sum_{r \le k} [\nu(i_r) = 0]

    with \nu(i) the number of training users of item i.

    Notes
    -----
    In [0, 1], no unit; higher means more new items, which counts as better. Undefined for an empty
    list.

    References
    ----------
    Schein et al. (2002), doi:10.1145/564376.564421, for cold items

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["cold@1", "cold@2"], train=[("bob", "a")]).mean.to_dict()
    {'cold@1': 1.0, 'cold@2': 0.5}
    """

    name = "cold"
    also_called = ("coldshare", "colditems")
    needs = frozenset({"items", "train"})
    reads = LISTS
    bounded = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:  # noqa: ARG002
        """Return whether every item is cold, 0 or 1."""
        is_cold: Flags = np.asarray(known.n_users_of) == 0
        return is_cold.astype(np.float64)
