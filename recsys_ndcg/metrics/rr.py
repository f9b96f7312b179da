"""Reciprocal rank."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.metrics.metric import ORDER, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class RR(Metric):
    r"""One over the rank of the first relevant item, more is better.

    .. math:: RR = \frac{1}{\min \{r : rel(r) = 1\}}

    with rel(r) 1 if the item at rank r is relevant; 0 if none is, or none within k. Its
    mean over users is known as MRR.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. Without ``@k``, ``rr`` has no
    cutoff, as in trec_eval.

    References
    ----------
    Voorhees (1999), The TREC-8 question answering track report;
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.reciprocal_rank([2, 5, 4], threshold=4)
    0.5
    """

    name = "rr"
    reads = ORDER
    also_called = ("mrr", "reciprocalrank", "reciprank")
    needs_threshold = True
    cutoff = "possible"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the expected reciprocal rank of the first relevant item."""
        table = ranking.first_hit[:, : self.k]
        return row_sums(table / np.arange(1, table.shape[1] + 1))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1 for users with a relevant item, else 0."""
        return (ranking.n_relevant > 0).astype(float)
