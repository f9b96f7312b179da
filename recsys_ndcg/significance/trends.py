"""Slopes of means over successive cuts, whose users return at several cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recsys_ndcg.arrays import Floats, column_norms, divide
from recsys_ndcg.significance.student import compute_p, compute_t, find_critical_t

_ROUNDING = 1e-12  # relative size of a residual that is only rounding


class SlopeResults(NamedTuple):
    """The slope of each column: arrays of shape (n_columns,).

    Parameters
    ----------
    slope, low, high : float64 arrays
        The change of the mean per cut, and its interval.
    p : float64 array
        The two-sided p-value of a slope of 0.
    """

    slope: Floats
    low: Floats
    high: Floats
    p: Floats


def fit_slopes(scores: Floats, alpha: float = 0.05) -> SlopeResults:
    r"""Fit a line through the users' scores at successive cuts, by column.

    Least squares over all scores y of users u at cuts t = 0, 1, ... is the same as over the means
    of the cuts, weighted by their numbers of users:

    .. math:: b = \frac{\sum_{t,u} (t - \bar t)\, y_{tu}}{\sum_{t,u} (t - \bar t)^2}, \qquad
        s^2 = \frac{G}{G - 1} \frac{\sum_u \left(\sum_t (t - \bar t)\, r_{tu}\right)^2}
        {\left(\sum_{t,u} (t - \bar t)^2\right)^2}

    with r the residuals from the line, and G the number of users. The standard error s adds up each
    user's residuals first, because a user's scores at several cuts are not independent (Liang &
    Zeger 1986). It has G - 1 degrees of freedom, and describes other users at the same cuts.

    With many users s is small, even if the means jump up and down from cut to cut. So a second
    standard error has the T cuts as units, with T - 2 degrees of freedom:

    .. math:: s_{cuts}^2 = \frac{1}{T - 2} \frac{\sum_t n_t (\bar y_t - \hat y_t)^2}
        {\sum_{t,u} (t - \bar t)^2}

    The longer of the two intervals b ± t·s with Student's t is returned, and the larger p. With two
    cuts there is only the first.

    Parameters
    ----------
    scores : float64 array, shape (n_cuts, n_users, n_columns)
        NaN for a user who has no score at a cut.
    alpha : float
        1 minus the level of the intervals.

    Returns
    -------
    SlopeResults
        NaN for a column with scores at fewer than two cuts; interval and p are NaN with fewer than
        two users, and if the users' residuals add up to 0.

    References
    ----------
    Liang & Zeger (1986), doi:10.1093/biomet/73.1.13; Cameron & Miller (2015),
    doi:10.3368/jhr.50.2.317

    Examples
    --------
    Three users; the first is at both cuts.

    >>> nan = float("nan")
    >>> scores = np.array([[[0.5], [0.25], [nan]], [[0.75], [nan], [0.5]]])
    >>> found = fit_slopes(scores)
    >>> print(found.slope.round(4), found.low.round(4), found.high.round(4), found.p.round(4))
    [0.25] [-0.2158] [0.7158] [0.1472]
    """
    is_known = ~np.isnan(scores)
    filled, count = np.where(is_known, scores, 0.0), is_known.sum(axis=1)
    cuts, sums = np.arange(len(scores))[:, None], filled.sum(axis=1)
    n_scores = count.sum(axis=0)
    apart = cuts - divide((cuts * count).sum(axis=0), n_scores)
    total = (count * apart**2).sum(axis=0)
    slope = divide((apart * sums).sum(axis=0), total)
    line = divide(sums.sum(axis=0), n_scores) + slope * apart
    rest = np.where(is_known, filled - line[:, None], 0.0)
    length = column_norms((np.nan_to_num(apart)[:, None] * rest).sum(axis=0))
    n_users = is_known.any(axis=0).sum(axis=0)
    rounding = _ROUNDING * np.abs(filled).max(axis=(0, 1), initial=0.0) * np.sqrt(total)
    freedom = np.maximum(n_users - 1, 1)
    varies = (n_users > 1) & (length > rounding)
    error = divide(length * np.sqrt(n_users / freedom), total, varies)
    n_more = np.maximum((count > 0).sum(axis=0) - 2, 0)  # cuts
    misfit = (count * np.nan_to_num(divide(sums, count) - line) ** 2).sum(axis=0)
    error_of_cuts = np.sqrt(divide(misfit, n_more * total, varies & (n_more > 0)))
    errors = np.array([error, error_of_cuts])
    units = np.array([freedom, np.maximum(n_more, 1)])
    # fmax passes NaN over
    half = np.fmax.reduce(errors * find_critical_t(alpha, units))
    p = compute_p(np.abs(compute_t(slope, errors)), units, 2)
    p = np.fmax.reduce(np.where(np.isnan(errors), np.nan, p))
    return SlopeResults(slope, slope - half, slope + half, p)
