"""Discounted cumulative gain."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import GAINS, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class DCG(Linear):
    r"""Discounted cumulative gain: gains weighted by rank, more is better.

    .. math:: DCG@k = \sum_{r \le k} g(r) D(r)

    with g(r) the gain of the item at rank r and D(r) the weight of the rank.

    Notes
    -----
    At least 0, without an upper bound, in units of the gain. Never undefined.

    References
    ----------
    Järvelin & Kekäläinen (2002), doi:10.1145/582415.582418;
    Burges et al. (2005), doi:10.1145/1102351.1102363, for the gain 2^t - 1

    Examples
    --------
    Grade 3 at rank 1 and grade 1 at rank 2: 7/1 + 1/log2(3).

    >>> import recsys_ndcg as rn
    >>> round(rn.dcg_at_k([3, 1], 10), 4)
    7.6309
    """

    name = "dcg"
    reads = GAINS | {"discount"}
    takes_weights = True
    uses_gains = True
    worth = "gain"
    bounded = False

    def weights(self, ranking: Ranking) -> Floats:
        """Return the discount of each rank."""
        return ranking.weights(self.k)
