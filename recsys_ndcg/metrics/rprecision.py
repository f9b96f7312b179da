"""R-precision."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class RPrecision(Linear):
    r"""Precision at R, the number of the user's relevant items; more is better.

    .. math:: \frac{1}{R} \sum_{r \le R} rel(r)

    with rel(r) 1 if the item at rank r is relevant and R all relevant items of the user.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. It has no cutoff.

    References
    ----------
    Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, 8.4

    Examples
    --------
    Two relevant items, one of them among the first two.

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3, 5), (2, 1), (1, 4)]}
    >>> float(rn.evaluate(pairs, metrics=["rprecision"], threshold=4).mean["rprecision"])
    0.5
    """

    name = "rprecision"
    also_called = ("rprec",)
    reads = ORDER
    takes_weights = True
    weighs_denominator = True
    needs_threshold = True
    cutoff = "none"

    def weights(self, ranking: Ranking) -> Floats:
        """Return 1 for each of the first R ranks."""
        ranks = np.arange(1, ranking.width(None) + 1)
        return np.asarray(ranks <= ranking.n_relevant[:, None], dtype=np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of relevant items, or the sum of their weights."""
        return ranking.sum_relevance()
