"""What a test says of pairs, and the intervals that say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import Columns

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats
    from recsys_ndcg.significance.differences import Moments

_NEXT = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Judged(Columns):
    """What a test says: arrays of shape (n_pairs,).

    Parameters
    ----------
    p, corrected : float64 arrays
        p-values, and those corrected for testing all pairs.
    critical : float64 array
        In standard errors: how far an interval reaches to either side.
    direction : float64 array
        1 where what is tested speaks for the first model, -1 for the second.
    """

    p: Floats
    corrected: Floats
    critical: Floats
    direction: Floats

    def interval(self, moments: Moments) -> tuple[Floats, Floats]:
        """Return the lower and the upper ends: NaN where there is no test."""
        with np.errstate(invalid="ignore"):
            half = np.where(np.isinf(self.critical), np.inf, self.critical * moments.error)
        half = np.where(np.isnan(self.p), np.nan, half)
        return moments.mean - half, moments.mean + half


def agreeing(low: Floats, high: Floats, mean: Floats, found: Flags) -> tuple[Floats, Floats]:
    """Return ends that leave out 0 where a difference is found, and nowhere else.

    They do so by themselves, but for their last digits.

    Examples
    --------
    >>> ends = np.array([-1e-17, 0.5]), np.array([2.0, 1.5]), np.array([1.0, 1.0])
    >>> [end.tolist() for end in agreeing(*ends, np.array([True, True]))]
    [[5e-324, 0.5], [2.0, 1.5]]
    """
    up, down = found & (mean > 0), found & (mean < 0)
    low = np.where(up, np.maximum(low, _NEXT), np.where(found, low, np.minimum(low, 0.0)))
    high = np.where(down, np.minimum(high, -_NEXT), np.where(found, high, np.maximum(high, 0.0)))
    return low, high
