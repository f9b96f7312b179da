"""Intervals, on plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats


def mean_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return Student's t interval for the mean of independent users, NaN for fewer than two.

    Examples
    --------
    >>> low, high = mean_interval(np.array([0.2, 0.4, 0.6]))
    >>> round(low, 4), round(high, 4)
    (-0.0968, 0.8968)
    """
    if len(values) < 2:
        return (np.nan, np.nan)
    half = _quantile(level, len(values)) * values.std(ddof=1) / np.sqrt(len(values))
    return (float(values.mean() - half), float(values.mean() + half))


def ratio_interval(
    numerator: Floats, denominator: Floats, level: float = 0.95
) -> tuple[float, float]:
    """Return the delta-method interval for a ratio of sums over independent users.

    The ratio is linearised: with q = Σn/Σd, the residuals n - q·d of the users give its variance
    (Cochran 1977, Sampling Techniques, chapter 6).

    Examples
    --------
    >>> low, high = ratio_interval(np.array([1.0, 2.0, 6.0]), np.array([2.0, 4.0, 6.0]))
    >>> round(low, 4), round(high, 4)
    (-0.0716, 1.5716)
    """
    if len(numerator) < 2 or not denominator.sum():
        return (np.nan, np.nan)
    ratio = numerator.sum() / denominator.sum()
    residuals = numerator - ratio * denominator
    error = residuals.std(ddof=1) * np.sqrt(len(numerator)) / denominator.sum()
    half = _quantile(level, len(numerator)) * error
    return (float(ratio - half), float(ratio + half))


def _quantile(level: float, count: int) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - importing scipy takes longer than pandas

    return float(stdtrit(count - 1, (1 + level) / 2))
