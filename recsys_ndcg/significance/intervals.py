"""Intervals, of sums over users."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.significance.student import quantile


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
    half = quantile(level, count) * (length / np.sqrt(count - 1)) / np.sqrt(count)
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
    half = quantile(level, count) * (residual / np.sqrt(count - 1)) / np.sqrt(count) / mean
    return (float(ratio - half), float(ratio + half))
