"""Metrics that are sums over ranks: a weight by rank, times what the item there is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recsys_ndcg.metrics.metric import Metric
from recsys_ndcg.ranking.weighted import weighted

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking.ranking import Ranking


class Linear(Metric):
    r"""A metric whose numerator is linear in what the items are worth.

    .. math:: \sum_{r \le k} w_r a(r)

    with a(r) the (expected) worth of the item at rank r and w the weights of the ranks. So its
    expectation under ties is exact, and so is its variance under random order.
    """

    #: What an item is worth: the table of the ranking ("gain", "relevance" or "labelled").
    worth: ClassVar[str] = "relevance"

    def weights(self, ranking: Ranking) -> Floats:
        """Return the weight of each of the first ranks, up to k and the width of the tables: 1.

        Of shape (n_ranks,), or (n_users, n_ranks) where users differ; at least 0, and never
        increasing with the rank.
        """
        return np.ones(ranking.width(self.k))

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted sum."""
        return weighted(getattr(ranking, self.worth), self.weights(ranking))

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        return ranking.deviation(self.worth, self.weights(ranking))
