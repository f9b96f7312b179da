"""Student's intervals of means, against SciPy and formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

import recsys_ndcg as rn
from recsys_ndcg.significance.intervals import mean_interval
from recsys_ndcg.significance.student import power
from tests.comparison.models import models
from tests.errors import rejects


def half_width(count: int, level: float) -> float:
    """Return half the length of an interval if the standard error is 1."""
    low, high = mean_interval(count, 0.0, math.sqrt((count - 1) * count), level)
    assert low == -high
    return float(high)


@given(st.integers(2, 10**9), st.floats(0.01, 0.999))
def test_quantiles_are_those_of_students_t(count: int, level: float) -> None:
    """For few users and for many, at any level."""
    expected = float(t.ppf((1 + level) / 2, count - 1))
    # older versions of SciPy are this far from the formulas
    assert half_width(count, level) == pytest.approx(expected, rel=1e-10)


LEFT = 1 - 0.95**2
#: The usual level by the number of users, if there is a formula.
FORMULAS = {
    2: math.tan(0.475 * math.pi),
    3: 0.95 * math.sqrt(2 / LEFT),
    5: 2 * math.sqrt(math.cos(math.acos(math.sqrt(LEFT)) / 3) / math.sqrt(LEFT) - 1),
}


@pytest.mark.parametrize("count", FORMULAS)
def test_the_usual_level_is_exact_to_the_last_digits(count: int) -> None:
    """Two users have the longest tails, Cauchy's."""
    assert half_width(count, 0.95) == pytest.approx(FORMULAS[count], rel=2e-14)


@pytest.mark.parametrize("count", [2, 3, 11, 1000, 10**7])
@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12])
def test_intervals_of_extreme_levels_are_wide_enough(count: int, alpha: float) -> None:
    """Down to the smallest alpha; 1 - alpha then holds alpha to four digits."""
    exact = t.isf(alpha / 2, count - 1)
    # older versions of SciPy are 1e-10 from the formulas
    assert half_width(count, 1 - alpha) == pytest.approx(exact, rel=max(1e-10, 1e-15 / alpha))


REPORT = rn.evaluate(models(20)["good"], threshold=4)
COMPARED = rn.compare(models(20), threshold=4, draws=200)
CALLS: dict[str, Callable[[float], Any]] = {
    "compare": lambda alpha: rn.compare(models(20), threshold=4, alpha=alpha, correction="holm"),
    "not_worse": lambda alpha: COMPARED.not_worse("poor", margin=0.1, alpha=alpha),
    "power": lambda alpha: power(0.1, deviation=0.5, alpha=alpha),
    "t": lambda alpha: REPORT.intervals(1 - alpha),
    "bca": lambda alpha: REPORT.intervals(1 - alpha, method="bca", draws=99),
    "models": lambda alpha: COMPARED.intervals(1 - alpha),
}


_TOO_CLOSE = "(alpha|level) must be (at least 1e-12 away from 0 and 1|between 0 and 1), such as"


@pytest.mark.parametrize("name", CALLS)
def test_an_alpha_that_cannot_be_computed_exactly_raises(name: str) -> None:
    """Intervals were too narrow, and those at 1e-300 took minutes."""
    CALLS[name](1.1e-12)
    for alpha in (9e-13, 1e-16, 1 - 1e-14):
        with rejects(_TOO_CLOSE):
            CALLS[name](alpha)
