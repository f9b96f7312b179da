"""statsmodels: t tests of differences, their corrections for many pairs, and power."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

if TYPE_CHECKING:
    from tests.peers.paired.cases import Case

DISTRIBUTION = "statsmodels"
CORRECTIONS = ("bonferroni", "holm", "fdr_bh")
POWER = 0.8


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {"t" or a correction: {pair: {"p": p}}}, and the smallest effect to be found.

    Models that are equal for every user have no t, nor models that differ by the same amount.
    """
    differences = {
        pair: np.subtract(one, other)
        for pair, (one, other) in case.pairs().items()
        if np.ptp(np.subtract(one, other)) > 0
    }
    if not differences:
        return {}
    tests: dict[str, Any] = {}
    for pair, difference in differences.items():
        described = DescrStatsW(difference)
        statistic, p, _ = described.ttest_mean(0)
        low, high = described.tconfint_mean(0.05)
        tests[pair] = {"p": float(p), "statistic": float(statistic), "low": low, "high": high}
    answers = {"t": tests}
    p = [one["p"] for one in tests.values()]
    for method in CORRECTIONS:
        corrected = multipletests(p, alpha=0.05, method=method)[1]
        answers[method] = {
            pair: {"p": float(one)} for pair, one in zip(tests, corrected, strict=True)
        }
    answers["power"] = {"any": {"effect": _detectable(len(case.denominators))}}
    return answers


def _detectable(n_users: int) -> float:
    """Return the mean difference, in standard deviations, that a t test finds four times in five.

    Two-sided at 0.05.
    """
    found = TTestPower().solve_power(nobs=n_users, alpha=0.05, power=POWER, effect_size=None)
    value = float(found)
    if not math.isfinite(value):
        raise ArithmeticError(n_users)
    return value
