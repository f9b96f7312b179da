"""How large differences are: relative to a model, to the users' spread, over data sets."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, divide
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.significance.exact_sums import make_generator, multiply
from recsys_ndcg.significance.student import compute_p, find_critical_t, find_root
from recsys_ndcg.significance.testing import TESTS, Testing

if TYPE_CHECKING:
    from recsys_ndcg.significance.paired_scores import PairedScores

_NEXT = float(np.nextafter(0.0, 1.0))
_CELLS = 2 * 10**8  # random numbers: the most draws of many users
_FEWEST = 999  # draws, however many users there are
_AT_ONCE = 64  # draws from one stream
_USERS = 1 << 16  # random numbers of a draw in memory


def exclude_zero(low: Floats, high: Floats, mean: Floats, sure: Flags) -> tuple[Floats, Floats]:
    """Return intervals that exclude 0 exactly if a difference is significant.

    They do so already, but for rounding.

    Examples
    --------
    >>> ends = np.array([-1e-17, 0.5]), np.array([2.0, 1.5]), np.array([1.0, 1.0])
    >>> [end.tolist() for end in exclude_zero(*ends, np.array([True, True]))]
    [[5e-324, 0.5], [2.0, 1.5]]
    """
    up, down = sure & (mean > 0), sure & (mean < 0)
    low = np.where(up, np.maximum(low, _NEXT), np.where(sure, low, np.minimum(low, 0.0)))
    high = np.where(down, np.minimum(high, -_NEXT), np.where(sure, high, np.maximum(high, 0.0)))
    return low, high


def find_relative_intervals(scores: PairedScores, critical: Floats) -> tuple[Floats, ...]:
    r"""Return each difference relative to the second model's mean, and Fieller's interval.

    .. math:: \left|\bar d - \delta \bar b\right| \le c \sqrt{\widehat{Var}(\bar d - \delta \bar b)}

    is the interval of δ = d̄ / b̄, with c the critical value of the difference: it excludes 0
    exactly if the interval of the difference does.

    Parameters
    ----------
    scores : PairedScores
        The scores.
    critical : float64 array, shape (n_pairs,)
        Half the width of the differences' intervals, in standard errors.

    Returns
    -------
    relative, low, high : float64 arrays, shape (n_pairs,)
        NaN if the means are 0 or of different signs; the ends are NaN, too, if the second mean may
        be 0.

    References
    ----------
    Fieller (1954), Journal of the Royal Statistical Society B 16(2)
    """
    size = np.maximum.reduce([np.abs(scores.mean_of_second), scores.deviation, scores.sd_of_second])
    unit = np.where(size > 0, size, 1.0)
    mean, base, own, other = (
        one / unit
        for one in (scores.mean, scores.mean_of_second, scores.deviation, scores.sd_of_second)
    )
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # runs make each variance larger by as much as that of the difference
        error = np.where(own > 0, scores.error / scores.deviation, np.nan)
        scale = (critical * error) ** 2
        square = base**2 - scale * other**2
        middle = mean * base - scale * own * other * scores.correlation
        rest = mean**2 - scale * own**2
        root = np.sqrt(np.maximum(middle**2 - square * rest, 0.0))
        low, high = (middle - root) / square, (middle + root) / square
        is_ratio = (base != 0) & (np.sign(base) * np.sign(base + mean) >= 0)
        is_bounded = is_ratio & (square > 0) & scores.has_spread
    return (
        divide(mean, base, is_ratio),
        np.where(is_bounded, np.maximum(low, -1.0), np.nan),
        np.where(is_bounded, high, np.nan),
    )


def measure_effects(scores: PairedScores) -> tuple[Floats, Floats]:
    r"""Return d_z of each pair, the mean difference over its standard deviation, and its error.

    .. math:: SE(d_z) = \sqrt{\frac{SE^2}{s^2} + \frac{d_z^2}{2 (n - 1)}}

    with SE the standard error of the mean difference and s the deviation of the n users'
    differences: SE² / s² is 1/n, if the users are the only units.

    Returns
    -------
    d_z, error : float64 arrays, shape (n_pairs,)
        d_z is infinite if all differences are the same, NaN if all are 0; without an error.

    References
    ----------
    Hedges & Olkin (1985), Statistical Methods for Meta-Analysis, chapter 5
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = scores.mean / scores.deviation
        freedom = 2 * np.maximum(scores.users - 1, 1)
        error = np.hypot(scores.error / scores.deviation, effect / np.sqrt(freedom))
    return effect, np.where(scores.has_spread, error, np.nan)


def draw_probabilities(
    scores: PairedScores, margin: float, how: Testing
) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities that first models are worse by a margin, equivalent, and better.

    The Bayesian bootstrap: the users' shares in the population are unknown, and each draw of them
    from a flat Dirichlet distribution gives the pairs' mean differences. Two more users are known
    beforehand, with the largest absolute difference of all users and its opposite: without them,
    what none of the users shows would be impossible, and few users who differ would make a model
    certainly better. If there are runs, each draw also gets a deviation due to them: Student's t,
    with runs - 1 degrees of freedom.

    Parameters
    ----------
    scores : PairedScores
        The scores.
    margin : float
        The smallest difference that matters, in the unit of `scores`.
    how : Testing
        The number of draws, at most 10,000, and their seed. Of many users there are fewer draws, at
        least 999.

    Returns
    -------
    worse, equivalent, better : float64 arrays, shape (n_pairs,)
        They add up to 1; NaN for fewer than two users, and if no user differs.

    References
    ----------
    Rubin (1981), doi:10.1214/aos/1176345338; Benavoli et al. (2017), JMLR 18(77)
    """
    users = scores.table.shape[1]
    draws = min(how.n_draws, TESTS["bootstrap"].draws, max(_FEWEST, _CELLS // max(users, 1)))
    apart = [np.abs(scores.get_differences(one)) for one in range(len(scores.pairs))]
    turn = np.where(scores.pairs[:, 0] < scores.pairs[:, 1], 1, -1)  # whichever model is the first
    gain = turn * np.array([one.max(initial=0.0) for one in apart])
    weigh = partial(_weigh_users, scores, gain, how.seed)
    blocks = map_in_threads(weigh, range(-(-draws // _AT_ONCE)))
    means = np.concatenate(blocks)[:draws] if blocks else np.zeros((1, len(scores.pairs)))
    if scores.run_variance.added.any():
        from scipy.special import stdtrit  # noqa: PLC0415 - scipy takes longer than pandas

        shares = make_generator(how.seed, len(blocks)).random((len(means), 1))
        freedom = np.maximum(scores.run_variance.count - 1, 1)
        means += turn * np.sqrt(scores.run_variance.added) * stdtrit(freedom, shares)
    worse, better = (
        np.where(scores.has_difference, side.mean(axis=0), np.nan)
        for side in (means <= -margin, means >= margin)
    )
    return worse, np.maximum(1 - worse - better, 0.0), better


def _weigh_users(scores: PairedScores, gain: Floats, seed: int, block: int) -> Floats:
    """Return the mean differences of some draws, with two more users: shape (n_draws, n_pairs)."""
    table, random = scores.table.T, make_generator(seed, block)
    first, second = scores.pairs.T
    sums = np.zeros((2, _AT_ONCE, len(scores.pairs)))
    for start in range(0, len(table), _USERS):
        some = table[start : start + _USERS]
        weights = random.standard_exponential((_AT_ONCE, len(some)))
        if scores.is_complete:
            of_models = multiply(weights, some)
            sums[0] += of_models[:, first] - of_models[:, second]
            sums[1] += weights.sum(axis=1)[:, None]
        else:
            differences = some[:, first] - some[:, second]
            sums[0] += multiply(weights, np.nan_to_num(differences))
            sums[1] += multiply(weights, (~np.isnan(differences)).astype(np.float64))
    one, other = random.standard_exponential((2, _AT_ONCE, 1))
    means: Floats = (sums[0] + (one - other) * gain) / (sums[1] + one + other)
    return means


# Over data sets, of which those at hand are a sample: random effects


class CombinedEffect(NamedTuple):
    """The mean of an effect over data sets; all NaN for fewer than two.

    Parameters
    ----------
    mean, low, high : float
        The mean and its interval.
    prediction_low, prediction_high : float
        The interval of the effect in one more data set; NaN for fewer than three.
    tau : float
        The standard deviation of the true effects between data sets.
    p : float
        Of the hypothesis that the mean is 0.
    """

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    prediction_low: float = math.nan
    prediction_high: float = math.nan
    tau: float = math.nan
    p: float = math.nan


def combine_effects(effects: Any, variances: Any, alpha: float = 0.05) -> CombinedEffect:
    r"""Return the mean of an effect over data sets, by a random-effects model.

    .. math:: \bar y = \frac{\sum_i w_i y_i}{\sum_i w_i}, \quad w_i = \frac{1}{v_i + \tau^2},
        \quad \text{se}^2 = \frac{\max(q, 1)}{\sum_i w_i},
        \quad q = \frac{\sum_i w_i (y_i - \bar y)^2}{m - 1}

    :math:`\tau^2` is the variance between data sets for which q is 1, or 0 if q is below 1 without
    it (Paule & Mandel). The interval is :math:`\bar y \pm t_{m-1}\,\text{se}`, and the prediction
    interval :math:`\bar y \pm t_{m-2} \sqrt{\tau^2 + \text{se}^2}`.

    Parameters
    ----------
    effects, variances : float64 arrays, shape (n_data_sets,)
        The effect in each data set, and the variance of its estimate, above 0.
    alpha : float
        The intervals have the level 1 - alpha.

    Notes
    -----
    q is never counted as less than 1 (Knapp & Hartung 2003), so the interval is never narrower than
    that of fixed effects. How often intervals contain the truth is counted by
    ``benchmarks/error_rates.py``.

    References
    ----------
    Paule & Mandel (1982), doi:10.6028/jres.087.022; Hartung & Knapp (2001), doi:10.1002/sim.791;
    Knapp & Hartung (2003), doi:10.1002/sim.1482; Higgins, Thompson & Spiegelhalter (2009),
    doi:10.1111/j.1467-985X.2008.00552.x

    Examples
    --------
    >>> combined = combine_effects([0.1, 0.3, 0.2], [0.001, 0.002, 0.001])
    >>> round(combined.mean, 3), round(combined.low, 3), round(combined.high, 3)
    (0.197, -0.049, 0.443)
    """
    y, v = np.asarray(effects, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    freedom = len(y) - 1
    if freedom < 1:
        return CombinedEffect()
    between = _find_variance_between(y, v)
    mean, weight, q = _weigh(y, v + between)
    error = math.sqrt(max(q, 1.0) / weight)
    half = float(find_critical_t(alpha, freedom)) * error
    beyond = math.nan
    if freedom > 1:
        beyond = float(find_critical_t(alpha, freedom - 1)) * math.hypot(error, math.sqrt(between))
    p = float(compute_p(abs(mean) / error, freedom, 2))
    ends = (mean - half, mean + half, mean - beyond, mean + beyond)
    return CombinedEffect(mean, *ends, math.sqrt(between), p)


def _find_variance_between(y: Floats, v: Floats) -> float:
    """Return the variance between data sets, by the method of Paule & Mandel."""
    if _weigh(y, v)[2] <= 1:
        return 0.0
    # the root is below this: if the variance between is all of y's, q is at most 1
    most = float(np.var(y, ddof=1))
    return find_root(lambda between: _weigh(y, v + between)[2] - 1, 0.0, most)


def _weigh(y: Floats, v: Floats) -> tuple[float, float, float]:
    """Return the weighted mean, the sum of the weights, and q."""
    weights = 1 / v
    total = float(weights.sum())
    mean = float((weights * y).sum()) / total
    return mean, total, float((weights * (y - mean) ** 2).sum()) / (len(y) - 1)
