"""Corrections of p-values for testing many hypotheses at once.

A NaN is no test: it stays NaN, and does not count in the family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats


def bonferroni(p: Floats) -> Floats:
    """Return p-values times their number.

    References
    ----------
    Dunn (1961), doi:10.1080/01621459.1961.10482090

    Examples
    --------
    >>> bonferroni(np.array([0.25, np.nan, 0.75]))
    array([0.5, nan, 1. ])
    """
    return _of_the_tested(p, lambda tested: np.minimum(tested * len(tested), 1.0))


def holm(p: Floats) -> Floats:
    """Return p-values times the number of those that are not smaller, none below a smaller one's.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6(2)

    Examples
    --------
    >>> holm(np.array([0.5, 0.125, 0.25]))
    array([0.5  , 0.375, 0.5  ])
    """
    return _of_the_tested(p, _step_down)


def benjamini_hochberg(p: Floats) -> Floats:
    """Return the false discovery rates at which each hypothesis would be rejected.

    References
    ----------
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.5, 0.125, 0.25]))
    array([0.5  , 0.375, 0.375])
    """
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - scipy is slow to import

    return _of_the_tested(p, false_discovery_control)


def _step_down(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def _of_the_tested(p: Floats, correct: Callable[[Floats], Floats]) -> Floats:
    tested = ~np.isnan(p)
    corrected = np.full(len(p), np.nan)
    if tested.any():
        corrected[tested] = correct(p[tested])
    return corrected


def _as_they_are(p: Floats) -> Floats:
    return p.copy()


#: By the name that `Testing` knows them under; max-T needs more than the p-values.
BY_NAME: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": _as_they_are,
}
