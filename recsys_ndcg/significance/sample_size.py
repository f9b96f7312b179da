"""How many users it takes to find a difference, which one would be found, and how surely."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from recsys_ndcg.errors import InvalidInputError, check_level, check_whole, is_number, shown
from recsys_ndcg.significance.student import critical, power_at, shift_for

_MOST = 2**53  # users: more are no float64


def power(  # noqa: PLR0913 - all that it hangs on
    difference: float | None = None,
    *,
    deviation: float,
    users: int | None = None,
    power: float | None = 0.8,
    alpha: float = 0.05,
    pairs: int = 1,
) -> float:
    r"""Return the users that a difference takes, the difference that users show, or the power.

    .. math:: 1 - \beta = P(|T| > t_{n-1}(1 - \tfrac{\alpha}{2m})), \qquad
        T \sim t_{n-1}\left(\frac{d \sqrt n}{s}\right)

    with n users whose differences have mean d and standard deviation s, T noncentral Student, and
    m pairs under Bonferroni's correction. Of difference, users and power exactly one is None, and
    is solved for.

    Parameters
    ----------
    difference : float, optional
        The true mean of the users' differences, of either sign.
    deviation : float
        The standard deviation of the users' differences, at least 0: `deviation` in a comparison's
        pairs.
    users : int, optional
        How many have a score in both models, at least 2.
    power : float, optional
        The chance of finding the difference, between 0 and 1.
    alpha : float
        The level, of all pairs together. As power, it is at least 1e-12 away from 0 and 1.
    pairs : int
        How many pairs of models are tested.

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
    How many users does it take to find a difference of 0.005 between two models, and between all
    pairs of four?

    >>> power(0.005, deviation=0.1)
    3142
    >>> power(0.005, deviation=0.1, pairs=6)
    4848

    What do a thousand users show?

    >>> round(power(deviation=0.1, users=1000), 4)
    0.0089
    >>> round(power(0.005, deviation=0.1, users=1000, power=None), 3)
    0.352
    """
    open_ = [one is None for one in (difference, users, power)]
    if sum(open_) != 1:
        msg = (
            "Of difference, users and power give two, and leave the one that is asked for None: "
            f"here difference={shown(difference)}, users={shown(users)}, power={shown(power)}."
        )
        raise InvalidInputError(msg)
    _check(difference, deviation, users, power)
    check_level("alpha", alpha, such_as=0.05)
    check_whole("pairs", pairs, 1, _MOST)
    level = alpha / pairs
    if users is None:
        return _users(abs(difference or 0.0), deviation, power or 0.0, level)
    beyond = float(critical(level, np.array([users - 1]))[0])
    if difference is None:
        return shift_for(power or 0.0, users - 1, beyond) * deviation / math.sqrt(users)
    return power_at(_shift(difference, deviation, users), users - 1, beyond)


def _check(
    difference: float | None, deviation: float, users: int | None, power: float | None
) -> None:
    if difference is not None and (not is_number(difference) or (difference == 0 and not users)):
        other = "" if users else " other than 0"
        msg = f"difference must be a number{other}, such as 0.005, not {shown(difference)}."
        raise InvalidInputError(msg)
    if not is_number(deviation) or deviation < 0:
        msg = f"deviation must be a number of at least 0, not {shown(deviation)}."
        raise InvalidInputError(msg)
    if users is not None:
        check_whole("users", users, 2, _MOST)
    if power is not None:
        check_level("power", power, such_as=0.8)


def _shift(difference: float, deviation: float, users: int) -> float:
    """Return the noncentrality."""
    if deviation == 0:
        return math.inf if difference else 0.0
    return abs(difference) / deviation * math.sqrt(users)


def _users(difference: float, deviation: float, power: float, level: float) -> int:
    def enough(users: int) -> bool:
        beyond = float(critical(level, np.array([users - 1]))[0])
        return power_at(_shift(difference, deviation, users), users - 1, beyond) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST:
            msg = (
                f"A difference of {difference:g} is too small for any number of users, where the "
                f"users' differences have a standard deviation of {deviation:g}."
            )
            raise InvalidInputError(msg)
    return bisect_left(range(high), True, lo=high // 2 + 1, key=enough)  # noqa: FBT003 - what is sought
