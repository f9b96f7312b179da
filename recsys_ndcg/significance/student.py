"""Student's t: what is unlikely, what is critical, and what a true difference would show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions

#: No p-value is 0.
SMALLEST = float(np.finfo(np.float64).tiny)


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

    if not math.isfinite(beyond):
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

    if not math.isfinite(beyond):
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
