"""Random effects: the mean of an effect over data sets, of which those at hand are a sample."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance.student import compute_p, find_critical_t, find_root


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
