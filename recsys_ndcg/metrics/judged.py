"""Judged: the labelled share of the first k items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Judged(Linear):
    r"""The share of the first k items that have a true value.

    .. math:: judged@k = \frac{1}{\min(k, n)} \sum_{r \le k} [t_r \text{ is known}]

    with n the length of the list.

    Notes
    -----
    In [0, 1], no unit. Not a score of the recommender: if it is low, the other scores depend on
    few labels. Undefined for an empty list.

    References
    ----------
    Sakai (2007), doi:10.1145/1277741.1277756; McSherry & Najork (2008) for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_trec({"ann": {"a": 1}}, {"ann": {"a": 0.9, "b": 0.5}})
    >>> rn.evaluate(lists, metrics=["judged@1", "judged@10"]).mean.to_dict()
    {'judged@1': 1.0, 'judged@10': 0.5}
    """

    name = "judged"
    reads = ORDER
    takes_weights = True
    worth = "labelled"

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of the first k items."""
        places = ranking.n_items if self.k is None else np.minimum(ranking.n_items, self.k)
        return places.astype(np.float64)
