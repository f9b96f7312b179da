"""Intervals for ratios of sums over users, by resampling the users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import column_lengths, column_sums
from recsys_ndcg.significance.resampling import exact, of_resamples
from recsys_ndcg.significance.testing import check_choice, check_level, check_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats

METHODS = ("percentile", "bca")

_SAME = 1e-12  # of a user's part: what is left of it is last digits


def ratio_bootstrap(  # noqa: PLR0913 - all that it hangs on
    top: Floats,
    bottom: Floats,
    *,
    level: float,
    method: str,
    draws: int,
    seed: int,
    show: Callable[[float], None] | None = None,
) -> tuple[Floats, Floats]:
    r"""Return bootstrap intervals for Σtop / Σbottom over resampled users, by column.

    .. math:: q^* = q + \frac{\sum_u w_u (t_u - q b_u)}{\sum_u w_u b_u}

    with w_u how often a user is in the resample. A mean is a ratio, too: of the scores, and of
    ones where there is a score.

    Parameters
    ----------
    top, bottom : float64 arrays, shape (n_users, n_columns)
        Numerators and denominators, both 0 of a user who has no part in a column.
    level : float
        Between 0 and 1.
    method : {'percentile', 'bca'}
        Quantiles of the ratios; or these corrected for bias, and for a variance that changes with
        the ratio (Efron 1987), whose acceleration leaves out each user in turn.
    draws, seed : int
        How many resamples, of which seed.
    show : callable, optional
        Is told which share of them is drawn.

    Returns
    -------
    low, high : float64 arrays, shape (n_columns,)
        NaN of fewer than two users; the ratio itself where all users have the same.

    Raises
    ------
    InvalidInputError
        An option is none of these.

    References
    ----------
    Efron (1987), doi:10.1080/01621459.1987.10478410

    Examples
    --------
    The mean of 0.25, 0.5 and 0.75.

    >>> scores = np.array([[0.25], [0.5], [0.75]])
    >>> options = {"level": 0.9, "draws": 999, "seed": 0}
    >>> low, high = ratio_bootstrap(scores, np.ones((3, 1)), method="percentile", **options)
    >>> low.round(4), high.round(4)
    (array([0.3333]), array([0.6667]))
    """
    check_choice("method", method, METHODS)
    check_level("level", level, such_as=0.95)
    check_whole("draws", draws, 1)
    check_whole("seed", seed, 0)
    low, high = np.full((2, top.shape[1]), np.nan)
    total = column_sums(bottom)
    some = ((bottom != 0).sum(axis=0) > 1) & (total != 0)
    if some.any():
        ratio = column_sums(top[:, some]) / total[some]
        rest = _rest(top[:, some], ratio * bottom[:, some])
        apart = _drawn(rest, bottom[:, some], draws, seed, show)
        tails = np.tile([[(1 - level) / 2], [(1 + level) / 2]], len(ratio))
        if method == "bca":
            tails = _shifted(tails, apart, _skewness(rest, total[some] - bottom[:, some]) / 6)
        ends = [np.nanquantile(*one) for one in zip(apart.T, tails.T, strict=True)]
        low[some], high[some] = ratio + np.array(ends).T
    return low, high


def _rest(top: Floats, expected: Floats) -> Floats:
    """Return what users have more than the ratio has them expect, but for last digits."""
    rest = top - expected
    rest[np.abs(rest) <= _SAME * np.maximum(np.abs(top), np.abs(expected))] = 0.0
    return rest


def _drawn(
    rest: Floats,
    bottom: Floats,
    draws: int,
    seed: int,
    show: Callable[[float], None] | None,
) -> Floats:
    """Return how far each resample's ratio is from that of all: shape (n_draws, n_columns).

    It is 0 but for rounding where it is 0 at all, and NaN where a resample has no denominator.
    """
    whole, unit = exact(np.concatenate([rest.T, bottom.T]), alike=False)
    above, below = np.split(of_resamples(whole, draws, seed, show) * unit, 2, axis=1)
    above[np.abs(above) <= len(rest) * unit[: rest.shape[1]]] = 0.0
    apart: Floats = np.divide(above, below, where=below != 0, out=np.full(above.shape, np.nan))
    return apart


def _skewness(rest: Floats, others: Floats) -> Floats:
    """Return the skewness of the ratio's change when each user is left out, over the root of n."""
    change = np.divide(rest, others, where=others != 0, out=np.zeros(rest.shape))
    change -= column_sums(change) / len(change)
    length = column_lengths(change)
    change = np.divide(change, length, where=length != 0, out=np.zeros(change.shape))
    return column_sums(change**3)


def _shifted(tails: Floats, apart: Floats, acceleration: Floats) -> Floats:
    """Return the shares of the resamples that the ends of BCa intervals are at."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - scipy takes longer than pandas

    drawn = (~np.isnan(apart)).sum(axis=0)
    below = ((apart < 0).sum(axis=0) + (apart <= 0).sum(axis=0)) / 2
    bias = ndtri(np.clip(below, 0.5, drawn - 0.5) / drawn)
    from_bias = bias + ndtri(tails)
    left = 1 - acceleration * from_bias
    with np.errstate(divide="ignore"):
        moved = np.where(left > 0, from_bias / left, np.copysign(np.inf, from_bias))
    shares: Floats = ndtr(bias + moved)
    return shares
