"""Student's t: p-values, critical values, the largest of many t, and sample sizes.

Pairs with different numbers of users are compared on a normal scale (Wallace 1959), so that the
wide tails of a pair with few users do not decide for all pairs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.errors import InvalidInputError, check_integer, check_level, is_number, quote
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.significance.exact_sums import make_generator, multiply

#: No p-value is 0.
SMALLEST = float(np.finfo(np.float64).tiny)

_MOST = 2**53  # users: float64 has no larger whole numbers one apart
_AT_ONCE, _CELLS = 512, 1 << 15  # draws from one stream; numbers at once
_TOLERANCE = 1e-14  # relative width of the interval at which a search ends
_ROW, _NORMAL = 2.0**23, 2.0**20  # whole numbers, whose products add up to less than 2^53


def compute_t(mean: Floats, error: Floats) -> Floats:
    """Return means over their standard errors: 0 for 0/0, infinite if only the error is 0.

    Examples
    --------
    >>> compute_t(np.array([1.0, -1.0, 0.0]), np.array([0.5, 0.0, 0.0]))
    array([  2., -inf,   0.])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((mean == 0) & (error == 0), 0.0, mean / error)


def compute_p(t: Floats | float, freedom: Floats | Positions | int, sides: int) -> Floats:
    """Return the one-sided or two-sided p-value of t, never 0.

    Examples
    --------
    >>> compute_p(np.array([0.0, np.inf]), np.array([3, 3]), 1)
    array([5.00000000e-001, 2.22507386e-308])
    """
    from scipy.special import stdtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    chance: Floats = np.maximum(sides * stdtr(freedom, -t), SMALLEST)
    return chance


def find_critical_t(alpha: float, freedom: Floats | Positions | int) -> Floats:
    """Return the t that is exceeded in either direction with chance alpha.

    Examples
    --------
    >>> find_critical_t(0.05, np.array([9])).round(3)
    array([2.262])
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - importing scipy takes longer than pandas

    t: Floats = -stdtrit(freedom, alpha / 2)
    return t


def compute_power(shift: float, freedom: float, beyond: float) -> float:
    """Return the chance that a noncentral t is beyond a critical value in either direction.

    Parameters
    ----------
    shift : float
        The noncentrality: a true difference over its standard error.
    freedom : float
        The degrees of freedom.
    beyond : float
        The critical value.

    Examples
    --------
    >>> round(compute_power(2.0, 9, 2.262), 3)
    0.431
    """
    from scipy.special import ncfdtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    if not math.isfinite(beyond * beyond):
        return 0.0
    if math.isinf(shift):
        return 1.0
    within = float(ncfdtr(1, freedom, shift * shift, beyond * beyond))  # F is the square of t
    if not 0 <= within <= 1:
        below, above = (_compute_below(shift, freedom, end) for end in (-beyond, beyond))
        within = above - below
    return 1 - within


@lru_cache(maxsize=1024)
def find_shift(power: float, freedom: float, beyond: float) -> float:
    """Return the noncentrality with this power; 0 if even that has at least the power.

    Examples
    --------
    >>> round(find_shift(0.8, 9, 2.262), 3)
    3.149
    """
    if not math.isfinite(beyond * beyond):
        return math.inf
    if compute_power(0.0, freedom, beyond) >= power:
        return 0.0
    high = beyond + 1.0
    while compute_power(high, freedom, beyond) < power:
        high *= 2
    return find_root(lambda shift: compute_power(shift, freedom, beyond) - power, 0.0, high)


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function is 0, between two numbers at which it has opposite signs.

    The Illinois method (Dowell & Jarratt 1971, doi:10.1007/BF01934364); importing scipy.optimize
    takes as long as pandas.

    Examples
    --------
    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    at_low, at_high = function(low), function(high)
    while at_high and abs(high - low) > _TOLERANCE * (abs(high) + abs(low)):
        middle = high - at_high * (high - low) / (at_high - at_low)
        value = function(middle)
        if (value < 0) != (at_high < 0):
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, value
    return high


def _compute_below(shift: float, freedom: float, t: float) -> float:
    """Return the chance of a noncentral t of at most t, by the normal approximation.

    Abramowitz & Stegun 26.7.10.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - importing scipy takes longer than pandas

    root = math.sqrt(1 + t * t / (2 * freedom))
    return float(ndtr((t * (1 - 1 / (4 * freedom)) - shift) / root))


def to_normal_scale(t: Floats, freedom: Floats | Positions) -> Floats:
    """Return the normal deviate that is as unlikely as t, with t's sign.

    References
    ----------
    Wallace (1959), Annals of Mathematical Statistics 30(4)

    Examples
    --------
    >>> to_normal_scale(np.array([3.182, -1.96]), np.array([3, 10000])).round(2)
    array([ 1.95, -1.96])
    """
    stretch = (8 * freedom + 1) / (8 * freedom + 3)
    with np.errstate(over="ignore"):
        size = np.log1p(t * (t / freedom))
    return np.sign(t) * stretch * np.sqrt(freedom * size)


def from_normal_scale(value: Floats, freedom: Floats | Positions) -> Floats:
    """Return the t of a value on the normal scale, from 0 on.

    Examples
    --------
    >>> from_normal_scale(to_normal_scale(np.array([3.0]), np.array([5])), np.array([5])).round(9)
    array([3.])
    """
    inside = value * (8 * freedom + 3) / (8 * freedom + 1)
    with np.errstate(over="ignore"):
        t: Floats = np.sqrt(freedom * np.expm1(inside * (inside / freedom)))
    return t


def draw_largest(rows: Floats, freedom: Any, draws: int, seed: int) -> Floats:
    """Return the largest absolute t of each draw on the normal scale, in ascending order.

    Parameters
    ----------
    rows : float64 array, shape (n_pairs, n)
        Rows of length 1; their inner products are the correlations of the pairs.
    freedom : float64 array, shape (n_pairs,)
        The degrees of freedom.
    draws, seed : int
        Number of draws, and their seed.
    """
    freedom = np.asarray(freedom, dtype=np.float64)
    order = np.argsort(freedom, kind="stable")
    each, first = np.unique(freedom[order], return_index=True)
    whole = np.rint(rows[order] * _ROW)
    streams, size = range(-(-draws // _AT_ONCE)), max(1, _CELLS // (_AT_ONCE * len(rows)))
    draw = partial(_draw_streams, whole.T, each, first, seed)
    parts = map_in_threads(draw, [streams[start : start + size] for start in streams[::size]])
    return np.sort(np.concatenate(parts)[:draws])


def _draw_streams(
    rows: Floats, freedom: Floats, first: Positions, seed: int, streams: range
) -> Floats:
    """Return the largest values of the draws of some streams of random numbers.

    The chi-square of fewer degrees of freedom is part of the chi-square of more, like their users.
    """
    added = np.diff(freedom, prepend=0)
    each = [make_generator(seed, stream) for stream in streams]
    normal = np.concatenate([one.standard_normal((_AT_ONCE, len(rows))) for one in each])
    squares = np.concatenate([one.chisquare(added, (_AT_ONCE, len(added))) for one in each])
    sums = np.abs(multiply(np.rint(normal * _NORMAL), rows))
    largest = np.maximum.reduceat(sums, first, axis=1) / (_ROW * _NORMAL)
    t = largest * np.sqrt(freedom / np.cumsum(squares, axis=1))
    return np.asarray(to_normal_scale(t, freedom).max(axis=1))


def power(  # noqa: PLR0913 - all are inputs
    difference: float | None = None,
    *,
    deviation: float,
    users: int | None = None,
    power: float | None = 0.8,
    alpha: float = 0.05,
    pairs: int = 1,
) -> float:
    r"""Return the sample size for a difference, the detectable difference, or the power.

    .. math:: 1 - \beta = P(|T| > t_{n-1}(1 - \tfrac{\alpha}{2m})), \qquad
        T \sim t_{n-1}\left(\frac{d \sqrt n}{s}\right)

    with n users whose differences have mean d and standard deviation s, T noncentral Student, and
    m pairs under Bonferroni's correction. Exactly one of difference, users and power is None: the
    one to solve for.

    Parameters
    ----------
    difference : float, optional
        The true mean of the users' differences, of either sign.
    deviation : float
        The standard deviation of the users' differences, at least 0: the column
        sd_difference of `Comparison.pairwise`.
    users : int, optional
        Number of users with a score in both models, at least 2.
    power : float, optional
        The chance of finding the difference, between 0 and 1.
    alpha : float
        The level of all pairs together. Like power, it is at least 1e-12 away from 0 and 1.
    pairs : int
        Number of tested pairs of models.

    Returns
    -------
    int or float
        The smallest number of users; or the smallest difference; or the power.

    Raises
    ------
    InvalidInputError
        Not exactly one is None, a number is out of range, or no number of users is enough.

    References
    ----------
    Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 2

    Examples
    --------
    The number of users that finds a difference of 0.005 between two models, and between all pairs
    of four:

    >>> power(0.005, deviation=0.1)
    3142
    >>> power(0.005, deviation=0.1, pairs=6)
    4848

    The detectable difference and the power of a thousand users:

    >>> round(power(deviation=0.1, users=1000), 4)
    0.0089
    >>> round(power(0.005, deviation=0.1, users=1000, power=None), 3)
    0.352
    """
    if sum(one is None for one in (difference, users, power)) != 1:
        msg = (
            "Pass two of difference, users and power; the third is computed. "
            f"Here difference={quote(difference)}, users={quote(users)}, power={quote(power)}."
        )
        raise InvalidInputError(msg)
    _check_arguments(difference, deviation, users, power)
    check_level("alpha", alpha, such_as=0.05)
    check_integer("pairs", pairs, 1, _MOST)
    level = alpha / pairs
    if users is None:
        return _find_users(abs(difference or 0.0), deviation, power or 0.0, level)
    if difference is None:
        shift = find_shift(power or 0.0, users - 1, float(find_critical_t(level, users - 1)))
        return shift * deviation / math.sqrt(users)
    return _compute_power_of_users(difference, deviation, users, level)


def _check_arguments(
    difference: float | None, deviation: float, users: int | None, power: float | None
) -> None:
    if difference is not None and (not is_number(difference) or (difference == 0 and not users)):
        other = "" if users else " other than 0"
        msg = f"difference must be a number{other}, such as 0.005, not {quote(difference)}."
        raise InvalidInputError(msg)
    if not is_number(deviation) or deviation < 0:
        msg = f"deviation must be a number of at least 0, not {quote(deviation)}."
        raise InvalidInputError(msg)
    if users is not None:
        check_integer("users", users, 2, _MOST)
    if power is not None:
        check_level("power", power, such_as=0.8)


def _compute_power_of_users(difference: float, deviation: float, users: int, level: float) -> float:
    shift = math.inf if difference else 0.0  # of differences that are all the same
    if deviation:
        shift = abs(difference) / deviation * math.sqrt(users)
    return compute_power(shift, users - 1, float(find_critical_t(level, users - 1)))


def _find_users(difference: float, deviation: float, power: float, level: float) -> int:
    def enough(users: int) -> bool:
        return _compute_power_of_users(difference, deviation, users, level) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST:
            msg = (
                f"A difference of {difference:g} is too small for any number of users, because the "
                f"users' differences have a standard deviation of {deviation:g}."
            )
            raise InvalidInputError(msg)
    return bisect_left(range(high), True, lo=high // 2 + 1, key=enough)  # noqa: FBT003 - the value to find
