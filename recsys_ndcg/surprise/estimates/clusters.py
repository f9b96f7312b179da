"""Estimates from the means of users, items and their clusters: CoClustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.surprise.estimates.rules import Inner, Items


class CoClusters:
    """CoClustering: the mean of the co-cluster, moved by how far user and item are from theirs."""

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
        """Return the moved means."""
        algo = self._algo
        of_user, of_item = algo.cltr_u[users], algo.cltr_i[items]
        values: Floats = algo.avg_cocltr[of_user].take(of_item, axis=1)
        values += algo.user_mean[users, None]  # in the library's order, for the last digit's sake
        values -= algo.avg_cltr_u[of_user, None]
        values += algo.item_mean[items]
        values -= algo.avg_cltr_i[of_item]
        return values, None
