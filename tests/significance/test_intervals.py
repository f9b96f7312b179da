"""The intervals of means, against SciPy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from recsys_ndcg.significance.intervals import mean_interval


def half_width(count: int, level: float) -> float:
    """Return how far the interval reaches where the standard error is 1."""
    low, high = mean_interval(count, 0.0, math.sqrt((count - 1) * count), level)
    assert low == -high
    return high


@given(st.integers(2, 10**9), st.floats(0.01, 0.999))
def test_the_interval_is_that_of_students_t(count: int, level: float) -> None:
    """For few users and for many, at any level."""
    expected = float(t.ppf((1 + level) / 2, count - 1))
    assert half_width(count, level) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("count", [2, 3, 4, 10, 59, 60, 1_000, 1_000_000])
def test_the_usual_level_is_exact(count: int) -> None:
    """Up to the last digits; two users have the longest tails, of Cauchy."""
    expected = float(t.ppf(0.975, count - 1))
    assert half_width(count, 0.95) == pytest.approx(expected, rel=2e-14)
