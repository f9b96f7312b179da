"""What other orders of the same lists would score, summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.scoring.totals import Means

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions

SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Orders:
    """The worst and the best order, of ties or of whole lists, for the users who have a score.

    Parameters
    ----------
    worst, best : Means
        Of these orders.
    fixed, moved : int64 arrays, shape (n_measurements,)
        How many of them score the same in both, and how many do not.
    trivial : int
        How many users score the same in both under every measurement that orders their list.
    """

    worst: Means
    best: Means
    fixed: Positions
    moved: Positions
    trivial: int

    @classmethod
    def of(cls, own: Floats, worst: Floats, best: Floats) -> Orders:
        """Sum up some users' scores: their own, NaN where they have none, and in two orders."""
        scored = ~np.isnan(own)
        width = best - worst
        fixed, moved = width <= SAME, width > SAME
        return cls(
            Means.of(worst, scored),
            Means.of(best, scored),
            (fixed & scored).sum(axis=0),
            (moved & scored).sum(axis=0),
            int((fixed.any(axis=1) & ~moved.any(axis=1)).sum()),
        )

    def __add__(self, other: Orders) -> Orders:
        """Return those of the users of both."""
        return Orders(
            self.worst + other.worst,
            self.best + other.best,
            self.fixed + other.fixed,
            self.moved + other.moved,
            self.trivial + other.trivial,
        )
