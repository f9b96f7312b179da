"""F1."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.precision import Precision
from recsys_ndcg.metrics.recall import Recall
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class F1(Linear):
    r"""The harmonic mean of precision and recall, more is better.

    .. math:: F_1@k = \frac{2h}{p + q}

    with h the hits among the first k, and p and q the denominators of precision and recall.

    Notes
    -----
    In [0, 1], no unit. Undefined only if both denominators are 0.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7

    Examples
    --------
    One hit in two places, two relevant items: 2 / (2 + 2).

    >>> import recsys_ndcg as rn
    >>> frame = {"user": [1] * 3, "item": [1, 2, 3], "estimated": [3, 2, 1], "true": [5, 2, 4]}
    >>> float(rn.evaluate(frame, metrics=["f1@2"], threshold=4).mean["f1@2"])
    0.5
    """

    name = "f1"
    also_called = ("f", "fscore", "f1score", "fmeasure")
    reads = ORDER | {"recall_over", "recommend_from"}
    needs_threshold = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return twice the weights of precision."""
        return 2 * Precision(self.k).weights(ranking)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the sum of both denominators."""
        return Precision(self.k).denominator(ranking) + Recall(self.k).denominator(ranking)
