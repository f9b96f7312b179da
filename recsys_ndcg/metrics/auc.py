"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, Metric
from recsys_ndcg.metrics.own import metric
from recsys_ndcg.ranking import Ranking


@metric
class AUC(Metric):
    r"""The share of pairs of a relevant and another item that are in the right order.

    .. math:: AUC = \frac{c + \frac{1}{2} t}{R (n - R)}

    with c the pairs whose relevant item has the higher estimate, t the pairs with equal estimates,
    and R the relevant items among the n items of the list.

    Notes
    -----
    In [0, 1], higher is better, no unit; random order scores 1/2. Undefined for a user whose list
    has only relevant items, or none. The pooled score is weighted by pairs. AUC has no cutoff;
    unlabelled items are not relevant, relevant items outside the list are in no pair. It is the
    statistic of Mann & Whitney (1947).
    In no preset: a library that has it takes all pairs of all users together.

    References
    ----------
    Hanley & McNeil (1982), doi:10.1148/radiology.143.1.7063747

    Examples
    --------
    Of three pairs, two are in the right order.

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(4, 3), (3, 5), (2, 2), (1, 1)]}
    >>> round(float(rn.evaluate(pairs, metrics="auc", threshold=4).mean["auc"]), 4)
    0.6667
    """

    name = "auc"
    also_called = ("rocauc", "auroc")
    reads = ORDER
    needs_threshold = True
    same_denominator = False
    cutoff = "none"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the number of pairs in the right order."""
        relevant, ranks = ranking.relevant_ranks
        return relevant * ranking.n_items - ranks - relevant * (relevant - 1) / 2

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        return np.sqrt(self.denominator(ranking) * (ranking.n_items + 1) / 12)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of all pairs."""
        relevant, _ = ranking.relevant_ranks
        return relevant * (ranking.n_items - relevant)
