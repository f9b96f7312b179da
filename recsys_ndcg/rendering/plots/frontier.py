"""Which models no other one beats in two metrics at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats


def unbeaten(x: Floats, y: Floats) -> Flags:
    """Return which points are Pareto-optimal: none is as good in both numbers and better in one.

    Parameters
    ----------
    x, y : float64 arrays
        More is better.

    Examples
    --------
    >>> unbeaten(np.array([1.0, 2.0, 1.5]), np.array([2.0, 1.0, 0.5])).tolist()
    [True, True, False]
    """
    order = np.lexsort((-y, -x))
    x, y = x[order], y[order]
    highest = np.maximum.accumulate(y)
    before = np.concatenate([[-np.inf], highest[:-1]])
    same = np.concatenate([[False], (np.diff(x) == 0) & (np.diff(y) == 0)])
    kept = y > before
    # a point at the place of one that is kept is as good as that
    first = np.maximum.accumulate(np.where(same, 0, np.arange(len(x))))
    found = np.empty(len(x), dtype=bool)
    found[order] = kept[first]
    return found
