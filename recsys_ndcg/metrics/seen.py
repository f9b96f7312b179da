"""Share of the recommended items that the user had in training."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.of_items import LISTS, OfItems
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Seen(OfItems):
    r"""The share of the first k items that the user had in training.

    .. math:: seen@k = \frac{|L_k \cap H|}{\min(k, n)}

    with L_k the first k items of the list and H the user's training items.

    Notes
    -----
    In [0, 1], no unit; lower is better. Undefined for an empty list; 0 for a user without training
    items. RePlay calls 1 - seen novelty (here ``unseen``).

    References
    ----------
    Castells, Hurley & Vargas (2015), doi:10.1007/978-1-4899-7637-6_26

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["seen@1", "seen@2", "unseen@2"], train=train).mean.to_dict()
    {'seen@1': 0.0, 'seen@2': 0.5, 'unseen@2': 0.5}
    """

    name = "seen"
    needs = frozenset({"items", "train"})
    reads = LISTS
    bounded = True
    greater_is_better = False
    marks = ("history",)

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return whether the user had each item in training, 0 or 1."""
        return ranking.lists.is_seen.astype(np.float64)


@register_metric
class Unseen(Seen):
    r"""The share of the first k items that the user did not have in training: 1 - seen@k.

    .. math:: unseen@k = \frac{|L_k \setminus H|}{\min(k, n)}

    Notes
    -----
    In [0, 1], no unit; higher is better. Undefined for an empty list. RePlay calls it novelty.

    References
    ----------
    Castells, Hurley & Vargas (2015), doi:10.1007/978-1-4899-7637-6_26

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics="unseen@2", train=[("ann", "a")]).mean.to_dict()
    {'unseen@2': 0.5}
    """

    name = "unseen"
    greater_is_better = True
    value_of_others = 1.0

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return whether the user did not have each item in training, 0 or 1."""
        return 1.0 - super().values_by_row(ranking)
