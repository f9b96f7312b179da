"""Hit rate."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.metrics.metric import ORDER, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Hit(Metric):
    r"""Whether a relevant item is among the first k: 1 or 0, the mean is the hit rate.

    .. math:: hit@k = [h \ge 1]

    with h the relevant items at ranks up to k.

    Notes
    -----
    In [0, 1], no unit; between 0 and 1 for one user if a tie at rank k decides.
    Undefined for a user without relevant items.

    References
    ----------
    Deshpande & Karypis (2004), doi:10.1145/963770.963776

    Examples
    --------
    One of the two users has the relevant item first.

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3.0, 5), (2.0, 1)], "bob": [(3.0, 1), (2.0, 5)]}
    >>> float(rn.evaluate(pairs, metrics=["hit@1"], threshold=4).mean["hit@1"])
    0.5
    """

    name = "hit"
    reads = ORDER
    also_called = ("hitrate", "hr", "success")
    needs_threshold = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the probability that the first relevant item is among the first k."""
        return row_sums(ranking.first_hit[:, : self.k])

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1 for users with a relevant item, else 0."""
        return (ranking.n_relevant > 0).astype(float)
