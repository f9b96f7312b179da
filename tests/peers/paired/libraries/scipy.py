"""SciPy: the t, permutation, signed-rank and sign tests, and its bootstrap of means and ratios.

Its permutation test enumerates where that takes no more than the draws. Where it draws, p is
twice the smaller of both sides, each (c + 1) / (draws + 1); both sides are equal under every sign.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from tests.peers.paired.cases import Case

DISTRIBUTION = "scipy"
DRAWS = 20_000


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {test: {pair: {"p": p}}}, and {interval: {model: {"low": low, "high": high}}}."""
    answers: dict[str, dict[str, Any]] = {}
    for pair, (one, other) in case.pairs().items():
        for test, answer in _tests(np.array(one), np.array(other)).items():
            answers.setdefault(test, {})[pair] = {
                key: value if math.isfinite(value) else None for key, value in answer.items()
            }
    for model, own in case.scores.items():
        for interval, answer in _intervals(np.array(own), np.array(case.denominators)).items():
            answers.setdefault(interval, {})[model] = answer
    return answers


def _tests(one: np.ndarray, other: np.ndarray) -> dict[str, dict[str, float]]:
    difference = one - other
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # models that are equal for every user
        student = stats.ttest_rel(one, other)
        bounds = student.confidence_interval()
        exact = 2 ** len(one) <= DRAWS
        permuted = stats.permutation_test(
            (one, other),
            lambda one, other, axis: one.mean(axis) - other.mean(axis),
            permutation_type="samples", vectorized=True, n_resamples=DRAWS, batch=500,
            rng=np.random.default_rng(0),
        )  # fmt: skip
        ranked = _ranked(difference[difference != 0])
    return {
        "t": {"p": student.pvalue, "statistic": student.statistic} | bounds._asdict(),
        "permutation": {"p": permuted.pvalue, "draws": 0 if exact else DRAWS},
        "sign": {"p": stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0},
        **{test: {"p": p} for test, p in ranked.items()},
    }


def _ranked(difference: np.ndarray) -> dict[str, float]:
    """Return Wilcoxon's p by the normal distribution, by drawn signs, and exactly if untied."""
    if not len(difference):
        return {}
    found = {"wilcoxon_normal": stats.wilcoxon(difference, method="asymptotic").pvalue}
    if len(difference) <= 50:  # of more, ours is by the normal distribution
        drawn = stats.PermutationMethod(n_resamples=DRAWS, rng=np.random.default_rng(0))
        found["wilcoxon_drawn"] = stats.wilcoxon(difference, method=drawn).pvalue
    if len(np.unique(np.abs(difference))) == len(difference):
        found["wilcoxon_exact"] = stats.wilcoxon(difference, method="exact").pvalue
    return found


def _intervals(own: np.ndarray, denominators: np.ndarray) -> dict[str, dict[str, float]]:
    def ratio(above: np.ndarray, below: np.ndarray, axis: int) -> Any:
        return above.sum(axis) / below.sum(axis)

    answers = {}
    for name, below in (("mean", np.ones(len(own))), ("pooled", denominators)):
        found = None
        for method in ("percentile", "BCa"):  # the second uses the draws of the first
            found = stats.bootstrap(
                (own * below, below), ratio, paired=True, method=method, batch=500,
                n_resamples=0 if found else 2 * DRAWS, bootstrap_result=found,
                rng=np.random.default_rng(0),
            )  # fmt: skip
            ends = found.confidence_interval._asdict()
            answers[f"{name}_{method.lower()}"] = ends | {"error": found.standard_error}
    return answers
