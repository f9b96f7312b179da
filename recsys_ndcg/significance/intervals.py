"""Intervals for means and ratios over users: t, the delta and logit methods, the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, column_norms, column_sums, divide
from recsys_ndcg.errors import check_choice, check_integer, check_level
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.significance.exact_sums import draw_sums, to_whole_numbers

#: Users whose scores differ: with fewer, a mean is far from normal.
MIN_DIFFERENT = 30
#: Methods that make intervals from resamples.
BOOTSTRAPS = ("percentile", "bca")

_SAME = 1e-12  # of a user's part: a smaller residual is rounding
_FEW = 10  # users who make a mean, if they are not very few of all
_PER_SKEWNESS = 25  # users for each squared unit of skewness
_PIECES = 4000  # of Simpson's rule: so many that only rounding errors are left
_FARTHEST = 12  # standard deviations; the density beyond is negligible
_STOP = 1e-15  # relative size of the last step


def mean_interval(count: Any, mean: Any, length: Any, level: float = 0.95, **kinds: Any) -> Any:
    """Return the interval for the mean of independent users' scores, NaN for fewer than two.

    It is Student's t; on another scale if scores have bounds, as in `ratio_interval`.

    Parameters
    ----------
    count : int or array
        Number of users; with arrays, each entry has its own interval.
    mean, length : float or array
        The mean of their scores, and the root of the sum of squared deviations from it.
    level : float
        Between 0 and 1.
    **kinds
        bounded, nonnegative, n_nonzero, n_below, as in `ratio_interval`.

    Examples
    --------
    The scores 0.2, 0.4 and 0.6.

    >>> low, high = mean_interval(3, 0.4, 0.08**0.5)
    >>> print(low.round(4), high.round(4))
    -0.0968 0.8968
    >>> low, high = mean_interval(3, 0.4, 0.08**0.5, bounded=True)
    >>> print(low.round(4), high.round(4))
    0.0776 0.8409
    """
    return ratio_interval(count, mean, 1.0, length, level, alike=True, **kinds)


def ratio_interval(  # noqa: PLR0913 - all are inputs
    count: Any,
    ratio: Any,
    mean: Any,
    residual: Any,
    level: float = 0.95,
    *,
    bounded: Any = False,
    nonnegative: Any = False,
    alike: Any = False,
    n_nonzero: Any = None,
    n_below: Any = None,
) -> tuple[Any, Any]:
    r"""Return the interval for a ratio of sums over independent users.

    The ratio is linearised (the delta method): with q = Σn/Σd, the residuals n - q·d of the users
    give its standard error s (Cochran 1977, Sampling Techniques, chapter 6). The interval is
    q ± t·s with Student's t. If every user's n/d is in [0, 1], it is computed on the logit scale
    and so inside [0, 1], and longer on the side where scores are skewed (Agresti 2002); if no n/d
    is negative, on the logarithmic scale:

    .. math:: \operatorname{logit}^{-1}\left(\log\frac{q}{1-q} \pm \frac{t s}{q (1-q)}\right),
        \qquad \exp\left(\log q \pm \frac{t s}{q}\right)

    It is NaN if all residuals are 0 or rounding errors: scores that do not vary show no standard
    error. A mean in [0, 1] that few users make (`is_of_few`) has another problem: the scores that
    none of them happens to have. Its interval also contains that of the share of users with a score
    above 0 (Clopper & Pearson 1934), times the mean of their scores; but users as many as may exist
    although no user of the sample is like them, at most b = 1 - ((1 - level) / 2)^(1 / count), may
    have the score 1 (as in the bound of Stringer, for amounts with few errors: Bickel 1992):

    .. math:: \left[\bar x p_{low},\; b + \bar x (p_{high} - b)\right]

    If no score is above 0, this interval is all there is: [0, b]. If all are 0 or 1, it is the
    exact binomial one. The same holds for 1 - the scores, if few are below 1.

    Parameters
    ----------
    count : int or array
        Number of users.
    ratio, mean : float or array
        q, and the mean of d.
    residual : float or array
        The root of the sum of squared residuals.
    level : float or array
        Between 0 and 1.
    bounded, nonnegative : bool or array
        Whether every possible n/d is in [0, 1]; whether none is negative.
    alike : bool or array
        Whether all d are equal, so that q is a mean.
    n_nonzero, n_below : int or array, optional
        The numbers of users whose n/d is not 0, and below 1; by default all, unless q is 0 or 1.

    References
    ----------
    Agresti (2002), Categorical Data Analysis, 2nd edition, section 3.1; Clopper & Pearson (1934),
    doi:10.1093/biomet/26.4.404; Bickel (1992), doi:10.2307/1403650

    Examples
    --------
    The numerators 1, 2 and 6 over the denominators 2, 4 and 6.

    >>> low, high = ratio_interval(3, 0.75, 4.0, 3.5**0.5)
    >>> print(low.round(4), high.round(4))
    -0.0716 1.5716
    >>> low, high = ratio_interval(3, 0.75, 4.0, 3.5**0.5, bounded=True)
    >>> print(low.round(4), high.round(4))
    0.0362 0.9958
    """
    users = np.maximum(count, 2).astype(np.int64)
    is_defined = (np.asarray(count) > 1) & (mean != 0)
    reach = _find_t_quantiles(level, users)
    mean = np.where(is_defined, mean, 1.0)
    half = reach * (residual / np.sqrt(users - 1)) / np.sqrt(users) / np.abs(mean)
    varies = scores_vary(users, ratio * mean, residual)
    half = np.where(is_defined & varies, half, np.nan)
    low, high = _spread(ratio, half, bounded, nonnegative)
    is_mean = is_defined & bounded & alike
    if n_nonzero is None:
        n_nonzero = np.where(np.abs(ratio) <= _SAME, 0, users)
        n_below = np.where(np.abs(ratio - 1) <= _SAME, 0, users)
    near, far = _bound_few(np.where(is_mean, n_nonzero, users), users, ratio, level)
    low, high = np.fmin(low, near), np.fmax(high, far)
    near, far = _bound_few(np.where(is_mean, n_below, users), users, 1 - ratio, level)
    low, high = np.fmin(low, 1 - far), np.fmax(high, 1 - near)
    return low[()], high[()]  # numbers, if all arguments are


def is_of_few(count: Any, n_away: Any) -> Any:
    """Return whether few users make a mean, and all others have the same score, 0 or 1.

    They are fewer than ten, and less than half; or fewer than 30, and less than a tenth.

    Parameters
    ----------
    count, n_away : int or array
        The number of users, and of those with another score.

    Examples
    --------
    >>> is_of_few(500, np.array([0, 29, 30])), is_of_few(np.array([9, 19]), np.array([5, 9]))
    (array([ True,  True, False]), array([False,  True]))
    """
    most = np.where(10 * np.asarray(n_away) < count, MIN_DIFFERENT, _FEW)
    return (n_away < most) & (2 * n_away < count)


def _bound_few(n_away: Any, users: Any, mean: Any, level: float) -> tuple[Any, Any]:
    """Return the interval of a mean that few users make, NaN if more do."""
    users = np.asarray(users).astype(np.int64)
    is_few = is_of_few(users, n_away)
    if not np.any(is_few):
        return (np.full(np.shape(is_few), np.nan),) * 2
    from scipy.special import bdtri  # noqa: PLC0415 - few reports need it

    few, tail = np.where(is_few, n_away, 0), (1 - level) / 2
    score = mean * users / np.maximum(few, 1)
    unseen, most = (bdtri(one, users, tail) for one in (np.zeros_like(few), few))
    near = np.where(few > 0, score * bdtri(np.maximum(few - 1, 0), users, 1 - tail), 0.0)
    far = unseen + score * (most - unseen)
    return np.where(is_few, near, np.nan), np.where(is_few, far, np.nan)


def bound_few_changes(count: Any, n_away: Any, means: Any, level: Any) -> tuple[Any, Any]:
    """Return the interval of a mean of differences of two scores in [0, 1], if few users differ.

    Gains and losses, the parts above and below 0, are scores in [0, 1], so each of their means has
    the interval of a mean that few users make (`ratio_interval`). The interval of the difference
    of both means follows from these (MOVER, Zou & Donner 2008, doi:10.1002/sim.3095). It is NaN if
    more users differ.

    Parameters
    ----------
    count : int or array
        The number of users.
    n_away, means : int and float arrays, shape (2, ...)
        The numbers of users who gain and who lose, and the mean gain and loss of all users.
    level : float or array
        Between 0 and 1.

    Examples
    --------
    One of ten users gains 1, and nobody loses.

    >>> low, high = bound_few_changes(10, np.array([1, 0]), np.array([0.1, 0.0]), 0.95)
    >>> print(low.round(4), high.round(4))
    -0.2235 0.445
    """
    ends = _bound_few(n_away, count, means, level)
    (near, other_near), (far, other_far) = np.abs(ends - means)
    mean = np.where(is_of_few(count, n_away.sum(axis=0)), means[0] - means[1], np.nan)
    return mean - np.hypot(near, other_far), mean + np.hypot(far, other_near)


def scores_vary(count: Any, mean: Any, length: Any) -> Any:
    """Return whether scores differ by more than rounding errors.

    Parameters
    ----------
    count, mean, length : numbers or arrays
        As in `mean_interval`.

    Examples
    --------
    >>> scores_vary(3, 0.4, 1e-16), scores_vary(3, 0.4, 0.08**0.5)
    (np.False_, np.True_)
    """
    return length / np.sqrt(np.maximum(count, 1)) > _SAME * np.abs(mean)


def count_needed_users(skewness: float) -> int:
    """Return the number of users from which on a mean of scores so skewed is nearly normal.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 2.15

    Examples
    --------
    >>> count_needed_users(-2.0)
    100
    """
    return math.ceil(_PER_SKEWNESS * skewness**2)


def clip_ends(ends: Any, bounded: Any, *, nonnegative: Any = False) -> Floats:
    """Return the ends of intervals; in [0, 1] if bounded, and not below 0 if nonnegative.

    For numbers whose standard error is not the error of a mean of scores in [0, 1]: near a bound,
    the logit scale would make their intervals far too long.
    """
    least = np.where(np.asarray(bounded) | nonnegative, 0.0, -np.inf)
    clipped: Floats = np.clip(ends, least, np.where(bounded, 1.0, np.inf))
    return clipped


def _spread(center: Any, half: Any, bounded: Any, nonnegative: Any) -> tuple[Any, Any]:
    """Return center ± half; with this standard error on the logit or the logarithmic scale."""
    has_logit = np.asarray(bounded) & (center > 0) & (center < 1)
    has_log = np.asarray(nonnegative) & ~np.asarray(bounded) & (center > 0)
    share, value = np.where(has_logit, center, 0.5), np.where(has_log, center, 1.0)
    with np.errstate(over="ignore"):  # infinite: the ends are 0 and 1, or infinite
        factor, times = np.exp(half / (share * (1 - share))), np.exp(half / value)
    low, high = (share / (share + (1 - share) * odds) for odds in (factor, 1 / factor))
    low, high = np.where(has_log, value / times, low), np.where(has_log, value * times, high)
    has_scale = has_logit | has_log
    return np.where(has_scale, low, center - half), np.where(has_scale, high, center + half)


def adjusted_interval(  # noqa: PLR0913 - all are inputs
    count: Any,
    ratio: Any,
    room: Any,
    residual: Any,
    best: Any,
    *,
    level: float = 0.95,
    bounded: Any = False,
    n_nonzero: Any = None,
) -> tuple[Any, Any]:
    """Return the interval for A = (mean - chance) / (best - chance).

    It is the interval of a ratio of sums, of score - chance over best - chance. If scores are in
    [0, 1], then A is between -chance / (best - chance) and 1, and mean / best is its place between
    these: if A is not negative, the interval of this place, on the logit scale and with the
    standard error of A, is mapped back. If A is negative, this place may be almost 0 while its
    standard error, to which chance contributes, is not: the interval is Student's t, cut off at the
    bounds. It is NaN if all scores are 0, or all are the best.

    Parameters
    ----------
    count : int or array
        Number of users.
    ratio, room, residual : float or array
        A, the mean of best - chance, and the root of the sum of squared residuals.
    best : float or array
        The mean of best.
    level : float
        Between 0 and 1.
    bounded : bool or array
        Whether every possible score is in [0, 1].
    n_nonzero : int or array, optional
        The number of users whose score is not 0: if it is small, the interval of this place is
        widened as that of a mean (`ratio_interval`).

    Examples
    --------
    The scores 0.6 and 0.9, where chance is 0.5 and the best order 1.

    >>> low, high = adjusted_interval(2, 0.5, 0.5, 0.045**0.5, 1.0, level=0.5, bounded=True)
    >>> print(low.round(4), high.round(4))
    0.1482 0.7395
    """
    has_ends = np.asarray(bounded) & (best > 0) & (room > 0)  # NaN: False
    share = np.where(has_ends, room, 1.0) / np.where(has_ends, best, 1.0)
    place = 1 - share * (1 - ratio)
    # scores that are all 0, or all the best, do not vary, even if chance does
    is_at_end = has_ends & ((place <= _SAME) | (place >= 1 - _SAME))
    residual = np.where(is_at_end, 0.0, residual)
    is_skewed = has_ends & (ratio >= 0)
    low, high = ratio_interval(count, place, room / share, residual, level, bounded=is_skewed)
    if n_nonzero is not None:
        n_nonzero = np.where(is_skewed & ~is_at_end, n_nonzero, count)
        near, far = _bound_few(n_nonzero, count, place, level)
        low, high = np.fmin(low, near), np.fmax(high, far)
    low, high = clip_ends([low, high], has_ends)
    return 1 - (1 - low) / share, 1 - (1 - high) / share


def _find_t_quantiles(level: Any, users: Any) -> Floats:
    """Return `find_t_quantile` for each number of users; for many levels with SciPy."""
    if np.ndim(level):
        from scipy.special import stdtrit  # noqa: PLC0415 - for tests of groups

        quantiles: Floats = stdtrit(users - 1, (1 + level) / 2)
        return quantiles
    return np.reshape([find_t_quantile(level, one) for one in users.ravel().tolist()], users.shape)


@lru_cache(maxsize=1024)
def find_t_quantile(level: float, count: int) -> float:
    """Return the t that Student's t exceeds in neither direction, with this probability.

    Every report has such intervals, and importing SciPy takes longer than evaluating a small file.
    With t = √f tan θ, the density over θ is a constant times cos(θ) to the power of f - 1. Its
    integral is concave, so that Newton's steps from 0 approach the solution from below.

    Examples
    --------
    >>> round(find_t_quantile(0.95, 3), 4)
    4.3027
    """
    freedom = count - 1
    whole = _integrate(min(math.pi / 2, _FARTHEST / math.sqrt(freedom)), freedom)
    angle, step = 0.0, math.inf
    while step > _STOP * angle:
        slope = float(_compute_density(np.array(angle), freedom))
        step = (level * whole - _integrate(angle, freedom)) / slope
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


def _integrate(end: float, freedom: int) -> float:
    """Return the integral of the density from 0 to an end, by Simpson's rule."""
    values = _compute_density(np.linspace(0, end, 2 * _PIECES + 1), freedom)
    total = values[0] + 4 * values[1::2].sum() + 2 * values[2:-1:2].sum() + values[-1]
    return float(total) * end / (6 * _PIECES)


def _compute_density(angle: Floats, freedom: int) -> Floats:
    result: Floats = np.exp((1 - freedom) / 2 * np.log1p(np.tan(angle) ** 2))
    return result


def bootstrap_ratios(  # noqa: PLR0913 - all are inputs
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

    with w_u the number of times that a user is in the resample. A mean is a ratio, too: of the
    scores and ones.

    Parameters
    ----------
    top, bottom : float64 arrays, shape (n_users, n_columns)
        Numerators and denominators, both 0 for a user who has no value in a column.
    level : float
        Between 0 and 1.
    method : {'percentile', 'bca'}
        Quantiles of the ratios; or these corrected for bias, and for a variance that changes with
        the ratio (Efron 1987), with the acceleration from leaving out each user in turn.
    draws, seed : int
        Number of resamples, and their seed.
    show : callable, optional
        Called with the share of finished resamples.

    Returns
    -------
    low, high : float64 arrays, shape (n_columns,)
        NaN for fewer than two users, and if all users have the same ratio: resamples of scores that
        do not vary have no quantiles.

    Raises
    ------
    InvalidInputError
        An option is invalid.

    References
    ----------
    Efron (1987), doi:10.1080/01621459.1987.10478410

    Examples
    --------
    The mean of 0.25, 0.5 and 0.75.

    >>> scores = np.array([[0.25], [0.5], [0.75]])
    >>> options = {"level": 0.9, "draws": 999, "seed": 0}
    >>> low, high = bootstrap_ratios(scores, np.ones((3, 1)), method="percentile", **options)
    >>> low.round(4), high.round(4)
    (array([0.3333]), array([0.6667]))
    """
    check_choice("method", method, BOOTSTRAPS)
    check_level("level", level, such_as=0.95)
    check_integer("draws", draws, 1)
    check_integer("seed", seed, 0)
    low, high = np.full((2, top.shape[1]), np.nan)
    total = column_sums(bottom)
    some = ((bottom != 0).sum(axis=0) > 1) & (total != 0)
    if some.any():
        ratio = column_sums(top[:, some]) / total[some]
        rest = _compute_residuals(top[:, some], ratio * bottom[:, some])
        apart = _draw_deviations(rest, bottom[:, some], draws, seed, show)
        tails = np.tile([[(1 - level) / 2], [(1 + level) / 2]], len(ratio))
        if method == "bca":
            skewness = _compute_skewness(rest, total[some] - bottom[:, some])
            tails = _correct_tails(tails, apart, skewness / 6)
        ends = [np.nanquantile(*one) for one in zip(apart.T, tails.T, strict=True)]
        low[some], high[some] = np.where(rest.any(axis=0), ratio + np.array(ends).T, np.nan)
    return low, high


def bootstrap_intervals(
    scores: Floats, numerator: Floats, denominator: Floats, *, progress: bool, **options: Any
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return bootstrap intervals for means and for ratios of sums, from the same resamples.

    Parameters
    ----------
    scores, numerator, denominator : float64 arrays, shape (n_users, n_columns)
        The scores, NaN for users who have none; and the parts of the ratios.
    progress : bool
        Whether to show a progress bar.
    **options
        As in `bootstrap_ratios`.

    Returns
    -------
    mean_low, mean_high, ratio_low, ratio_high : float64 arrays, shape (n_columns,)
    """
    there = ~np.isnan(scores)
    top = np.hstack([np.where(there, scores, 0.0), numerator])
    bottom = np.hstack([there, denominator])
    with progress_bar(enabled=progress) as show:
        ends = bootstrap_ratios(top, bottom, **options, show=partial(show, "Resampling users"))
    (low, ratio_low), (high, ratio_high) = (np.split(end, 2) for end in ends)
    return low, high, ratio_low, ratio_high


def _compute_residuals(top: Floats, expected: Floats) -> Floats:
    """Return the users' residuals; rounding errors become 0."""
    rest = top - expected
    rest[np.abs(rest) <= _SAME * np.maximum(np.abs(top), np.abs(expected))] = 0.0
    return rest


def _draw_deviations(
    rest: Floats, bottom: Floats, draws: int, seed: int, show: Callable[[float], None] | None
) -> Floats:
    """Return each resample's ratio minus the ratio of all users, of shape (n_draws, n_columns).

    Rounding errors become 0. It is NaN if a resample's denominator is 0.
    """
    whole, unit = to_whole_numbers(np.concatenate([rest.T, bottom.T]), alike=False)
    above, below = np.split(draw_sums(whole, draws, seed, show) * unit, 2, axis=1)
    above[np.abs(above) <= len(rest) * unit[: rest.shape[1]]] = 0.0
    return divide(above, below)


def _compute_skewness(rest: Floats, others: Floats) -> Floats:
    """Return the skewness of the leave-one-out changes of the ratio, over the root of n."""
    change = np.divide(rest, others, where=others != 0, out=np.zeros(rest.shape))
    change -= column_sums(change) / len(change)
    length = column_norms(change)
    change = np.divide(change, length, where=length != 0, out=np.zeros(change.shape))
    return column_sums(change**3)


def _correct_tails(tails: Floats, apart: Floats, acceleration: Floats) -> Floats:
    """Return the probabilities whose quantiles are the ends of BCa intervals."""
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
