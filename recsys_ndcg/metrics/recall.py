"""Recall."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.precision import Precision
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Recall(Linear):
    r"""The share of the relevant items that are among the first k, more is better.

    .. math:: R@k = \frac{h}{R}

    with h the relevant items at ranks up to k and R all relevant items of the user.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. Under
    ``recall_over="capped"`` the denominator is min(k, R), as in LensKit, so that 1 can be
    reached by users with more than k relevant items. `recommend_from` works as in precision.

    References
    ----------
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.recall_at_k([5, 2, 4], 2, threshold=4)
    0.5
    """

    name = "recall"
    also_called = ("r", "rec")
    reads = ORDER | {"recall_over", "recommend_from"}
    takes_weights = True
    weighs_denominator = True
    needs_threshold = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return the weights of precision."""
        return Precision(self.k).weights(ranking)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of relevant items, or the sum of their weights."""
        return ranking.sum_relevance(self.k if ranking.convention.recall_over == "capped" else None)
