"""Estimates from the mean differences between items: SlopeOne."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.surprise.trainsets import Ratings

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.surprise.estimates.rules import Inner, Items


class Slopes:
    """SlopeOne: the user's mean, plus how far the item is above the items that the user rated.

    Only items that somebody rated together with the item count. Both sums are products with the
    sparse matrix of who rated what; the numbers of summands are small whole numbers, held in the
    least type that has room for them.
    """

    def __init__(self, algo: Any) -> None:
        ratings = Ratings.by_user(algo.trainset)
        self._means = np.asarray(algo.user_mean, dtype=np.float64)
        together = algo.freq.T > 0
        self._differences = np.zeros(algo.dev.shape)
        np.copyto(self._differences, algo.dev.T, where=together)  # dev is 0/0 elsewhere
        least = np.int16 if ratings.sizes.max(initial=0) < 1 << 15 else np.int32
        self._together = together.astype(least, order="C")
        self._rated = ratings.matrix(len(together))
        self._counted = self._rated.astype(least)

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
        """Return the means plus the mean differences."""
        values: Floats = self._rated[users] @ self._differences[:, items]
        counts = self._counted[users] @ self._together[:, items]
        values /= np.maximum(counts, 1)
        values += self._means[users, None]
        return values, None
