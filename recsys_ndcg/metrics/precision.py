"""Precision."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Precision(Linear):
    r"""The share of the first k items that are relevant, more is better.

    .. math:: P@k = \frac{h}{k}, \quad h = \sum_{r \le k} rel(r)

    with rel(r) 1 if the item at rank r is relevant.

    Notes
    -----
    In [0, 1], no unit. A list of n < k items is still divided by k, or by n under
    ``short_list="n"``; without k it is divided by n. An empty list then has one place, and scores
    0. Under ``recommend_from`` only items estimated at least that high, after rounding to
    ``tie_tolerance``, count as hits and as places: undefined for a user without any.
    trec_eval, ranx and recommenders divide by k; CatBoost and LensKit by n.

    References
    ----------
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.precision_at_k([5, 2, 4], 10, threshold=4)
    0.2
    >>> round(rn.precision_at_k([5, 2, 4], 10, threshold=4, short_list="n"), 4)
    0.6667
    """

    name = "precision"
    also_called = ("p", "prec")
    reads = ORDER | {"recommend_from"}
    takes_weights = True
    needs_threshold = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return 1 for each rank with a recommended item, else 0."""
        if ranking.convention.recommend_from is None:
            return super().weights(ranking)
        ranks = np.arange(1, ranking.width(self.k) + 1)
        return np.asarray(ranks <= ranking.n_recommended[:, None], dtype=np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of places."""
        convention, k = ranking.convention, self.k
        if convention.recommend_from is not None:
            places = ranking.n_recommended
            return np.asarray(places if k is None else np.minimum(places, k), dtype=np.float64)
        if k is not None and convention.short_list != "n":
            return np.full(len(ranking.n_items), float(k))
        places = ranking.n_items if k is None else np.minimum(ranking.n_items, k)
        return np.maximum(places, 1).astype(np.float64)
