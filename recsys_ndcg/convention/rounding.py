"""Estimates rounded to the tolerance for ties, and where a limit or the last place is then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.convention.convention import Convention


def rounded(estimated: Floats, convention: Convention) -> Floats:
    """Return estimates of which those count as tied that are equal.

    Examples
    --------
    >>> from recsys_ndcg import Convention
    >>> rounded(np.array([3.0, 3.9999999999]), Convention(tie_tolerance=0.5))
    array([6., 8.])
    """
    step = convention.tie_tolerance
    if step == "float32":
        return estimated.astype(np.float32).astype(np.float64)
    return np.rint(estimated / float(step)) if step else estimated


def least_recommended(convention: Convention, threshold: float | None) -> float:
    """Return from which rounded estimate an item counts as recommended.

    Examples
    --------
    >>> from recsys_ndcg import Convention
    >>> least_recommended(Convention(recommend_from=4.0, tie_tolerance=0.5), None)
    8.0
    """
    given, step = convention.recommend_from, convention.tie_tolerance
    least = float(threshold if given == "threshold" else given)  # type: ignore[arg-type]
    if step == "float32":
        return float(np.float32(least))
    # the limit on the grid of the rounded estimates, whatever the division's last digit
    return float(np.ceil(least / float(step) - 1e-6)) if step else least
