"""Student's t: what is unlikely, what is critical, and what a true difference would show."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions

#: No p-value is 0.
SMALLEST = float(np.finfo(np.float64).tiny)

_PIECES = 4000  # of Simpson's rule, with which its error is that of rounding
_FARTHEST = 12  # standard deviations, beyond which nothing is left
_STOP = 1e-15  # below which a step changes nothing


def statistic(mean: Floats, error: Floats) -> Floats:
    """Return means over their standard errors: 0 of 0, infinite where only the error is 0.

    Examples
    --------
    >>> statistic(np.array([1.0, -1.0, 0.0]), np.array([0.5, 0.0, 0.0]))
    array([  2., -inf,   0.])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((mean == 0) & (error == 0), 0.0, mean / error)


def upper_tail(t: Floats, freedom: Positions) -> Floats:
    """Return the chance of a t of at least this, never 0.

    Examples
    --------
    >>> upper_tail(np.array([0.0, np.inf]), np.array([3, 3]))
    array([5.00000000e-001, 2.22507386e-308])
    """
    from scipy.special import stdtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    tail: Floats = np.maximum(stdtr(freedom, -t), SMALLEST)
    return tail


def two_sided(t: Floats, freedom: Positions) -> Floats:
    """Return the chance of a t at least so far from 0, never 0 either.

    Examples
    --------
    >>> two_sided(np.array([0.0, np.inf]), np.array([3, 3]))
    array([1.00000000e+000, 2.22507386e-308])
    """
    from scipy.special import stdtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    tails: Floats = np.maximum(2 * stdtr(freedom, -np.abs(t)), SMALLEST)
    return tails


def critical(alpha: float, freedom: Positions) -> Floats:
    """Return the t that is exceeded in either direction with chance alpha.

    Examples
    --------
    >>> critical(0.05, np.array([9])).round(3)
    array([2.262])
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - importing scipy takes longer than pandas

    t: Floats = -stdtrit(freedom, alpha / 2)
    return t


def power_at(shift: float, freedom: int, beyond: float) -> float:
    """Return the chance that a noncentral t is beyond a critical value in either direction.

    Parameters
    ----------
    shift : float
        The noncentrality: a true difference over its standard error.
    freedom : int
        The degrees of freedom.
    beyond : float
        The critical value.

    Examples
    --------
    >>> round(power_at(2.0, 9, 2.262), 3)
    0.431
    """
    from scipy.special import ncfdtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    if not math.isfinite(beyond * beyond):
        return 0.0
    if math.isinf(shift):
        return 1.0
    within = float(ncfdtr(1, freedom, shift * shift, beyond * beyond))  # F is the square of t
    if not 0 <= within <= 1:
        within = _normal_below(shift, freedom, beyond) - _normal_below(shift, freedom, -beyond)
    return 1 - within


def shift_for(power: float, freedom: int, beyond: float) -> float:
    """Return the noncentrality that `power_at` gives this power for; 0 if none is too little.

    Examples
    --------
    >>> round(shift_for(0.8, 9, 2.262), 3)
    3.149
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - importing scipy takes longer than pandas

    if not math.isfinite(beyond * beyond):
        return math.inf
    if power_at(0.0, freedom, beyond) >= power:
        return 0.0
    high = beyond + 1.0
    while power_at(high, freedom, beyond) < power:
        high *= 2
    return float(brentq(lambda shift: power_at(shift, freedom, beyond) - power, 0.0, high))


def _normal_below(shift: float, freedom: int, t: float) -> float:
    """Return the chance of a noncentral t of at most t, by the normal approximation.

    Abramowitz & Stegun 26.7.10.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    root = math.sqrt(1 + t * t / (2 * freedom))
    return float(ndtr((t * (1 - 1 / (4 * freedom)) - shift) / root))


@lru_cache(maxsize=1024)
def quantile(level: float, count: int) -> float:
    """Return the distance from 0 that Student's t keeps within at a level.

    For the intervals of every report, without SciPy: its import takes longer than a small file is
    measured in. With t = √f tan θ, the density over θ is a constant times cos(θ) to the power of
    f - 1. Its integral is concave, so that Newton's steps from 0 come from below.

    Examples
    --------
    >>> round(quantile(0.95, 3), 4)
    4.3027
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
