"""Intervals, of sums over users."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

_PIECES = 4000  # of Simpson's rule, with which its error is that of rounding
_FARTHEST = 12  # standard deviations, beyond which nothing is left
_STOP = 1e-15  # below which a step changes nothing


def mean_interval(
    count: int, mean: float, length: float, level: float = 0.95
) -> tuple[float, float]:
    """Return Student's t interval for the mean of independent users, NaN for fewer than two.

    Parameters
    ----------
    count : int
        How many users there are.
    mean, length : float
        The mean of their scores, and the root of their summed squared distances from it.
    level : float
        Between 0 and 1.

    Examples
    --------
    The scores 0.2, 0.4 and 0.6.

    >>> low, high = mean_interval(3, 0.4, 0.08**0.5)
    >>> round(low, 4), round(high, 4)
    (-0.0968, 0.8968)
    """
    if count < 2:
        return (np.nan, np.nan)
    half = _quantile(level, count) * (length / np.sqrt(count - 1)) / np.sqrt(count)
    return (float(mean - half), float(mean + half))


def ratio_interval(
    count: int, ratio: float, mean: float, residual: float, level: float = 0.95
) -> tuple[float, float]:
    """Return the delta-method interval for a ratio of sums over independent users.

    The ratio is linearised: with q = Σn/Σd, the residuals n - q·d of the users give its variance
    (Cochran 1977, Sampling Techniques, chapter 6).

    Parameters
    ----------
    count : int
        How many users there are.
    ratio, mean : float
        q, and the mean of d.
    residual : float
        The root of the summed squared residuals.
    level : float
        Between 0 and 1.

    Examples
    --------
    The numerators 1, 2 and 6 over the denominators 2, 4 and 6.

    >>> low, high = ratio_interval(3, 0.75, 4.0, 3.5**0.5)
    >>> round(low, 4), round(high, 4)
    (-0.0716, 1.5716)
    """
    if count < 2 or not mean:
        return (np.nan, np.nan)
    half = _quantile(level, count) * (residual / np.sqrt(count - 1)) / np.sqrt(count) / mean
    return (float(ratio - half), float(ratio + half))


@lru_cache(maxsize=1024)
def _quantile(level: float, count: int) -> float:
    """Return the distance from 0 that Student's t keeps within at a level.

    With t = √f tan θ, the density over θ is a constant times cos(θ) to the power of f - 1. Its
    integral is concave, so that Newton's steps from 0 come from below. As exact as SciPy's, whose
    import takes longer than a small file is measured in.
    """
    freedom = count - 1
    whole = _integral(min(math.pi / 2, _FARTHEST / math.sqrt(freedom)), freedom)
    angle, step = 0.0, math.inf
    while step > _STOP * angle:
        slope = float(_density(np.array(angle), freedom))
        step = (level * whole - _integral(angle, freedom)) / slope
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


def _integral(end: float, freedom: int) -> float:
    """Return the area below the density from 0 on, by Simpson's rule."""
    values = _density(np.linspace(0, end, 2 * _PIECES + 1), freedom)
    total = values[0] + 4 * values[1::2].sum() + 2 * values[2:-1:2].sum() + values[-1]
    return float(total) * end / (6 * _PIECES)


def _density(angle: Floats, freedom: int) -> Floats:
    result: Floats = np.exp((1 - freedom) / 2 * np.log1p(np.tan(angle) ** 2))
    return result
