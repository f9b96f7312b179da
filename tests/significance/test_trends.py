"""Slopes over cuts: the formulas of textbooks, and how often intervals contain the true slope."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import fit_slopes

Table = list[list[float | None]]  # a row per cut, a column per user
tables = st.integers(1, 5).flatmap(
    lambda users: st.lists(
        st.lists(
            st.none() | st.integers(-8, 8).map(lambda n: n / 8), min_size=users, max_size=users
        ),
        min_size=1,
        max_size=5,
    )
)


def _fit_plainly(table: Table, level: float) -> list[float]:
    """Return slope, low, high and p, as Cameron & Miller (2015) have it; clusters are users.

    Or those of a line through the weighted means, if their interval is longer.
    """
    points = [(t, u, y) for t, row in enumerate(table) for u, y in enumerate(row) if y is not None]
    times = [t for t, _, _ in points]
    if len({*times}) < 2:
        return [math.nan] * 4
    middle, mean = sum(times) / len(times), sum(y for _, _, y in points) / len(points)
    total = sum((t - middle) ** 2 for t in times)
    slope = sum((t - middle) * y for t, _, y in points) / total
    sums: dict[int, float] = {}
    for t, user, y in points:
        residual = y - mean - slope * (t - middle)
        sums[user] = sums.get(user, 0.0) + (t - middle) * residual
    n, meat = len(sums), sum(one**2 for one in sums.values())
    if n < 2 or meat < 1e-20:
        return [slope, math.nan, math.nan, math.nan]
    error = math.sqrt(n / (n - 1) * meat) / total
    errors = [(error, n - 1)]
    if len({*times}) > 2:
        misfit = 0.0
        for cut in {*times}:
            scores = [y for t, _, y in points if t == cut]
            off = sum(scores) / len(scores) - mean - slope * (cut - middle)
            misfit += len(scores) * off**2
        freedom = len({*times}) - 2
        errors.append((math.sqrt(misfit / freedom / total), freedom))
    half = max(stats.t.ppf((1 + level) / 2, freedom) * one for one, freedom in errors)
    p = max(2 * stats.t.sf(abs(slope) / one if one else math.inf, df) for one, df in errors)
    return [slope, slope - half, slope + half, p]


@given(tables, st.sampled_from([0.05, 0.2]))
def test_slopes_are_least_squares_with_errors_by_user(table: Table, alpha: float) -> None:
    """Column by column: another column changes nothing."""
    scores = np.array(table, dtype=np.float64)[:, :, None]
    found = fit_slopes(scores, alpha)
    expected = _fit_plainly(table, 1 - alpha)
    np.testing.assert_allclose([one[0] for one in found], expected, rtol=1e-7, atol=1e-9)
    both = fit_slopes(np.concatenate([scores[::-1], scores], axis=2), alpha)
    for one, other in zip(both, found, strict=True):
        np.testing.assert_array_equal(one[1:], other)


def test_scores_on_a_line_have_a_slope_without_an_interval() -> None:
    """They show no standard error."""
    scores = 0.1 + 0.1 * np.arange(4.0)[:, None, None] + np.zeros((4, 3, 1))
    found = fit_slopes(scores)
    assert found.slope == pytest.approx([0.1])
    assert np.isnan([found.low, found.high, found.p]).all()


def _draw(rng: np.random.Generator, slope: float, jump: float) -> Floats:
    """Draw skewed scores of users who come, return and leave; some are good at every cut.

    `jump` is the standard deviation of what a cut adds to all of its scores.
    """
    quality = rng.beta(0.5, 2, size=150)
    rate = np.clip(quality * (0.6 + slope / quality.mean() * np.arange(8)[:, None]), 0, 1)
    scores = rng.binomial(10, rate) / 10 + jump * rng.normal(size=(8, 1))
    arrived, stay = rng.integers(-3, 8, 150), rng.integers(1, 6, 150)
    cuts = np.arange(8)[:, None]
    return np.where((cuts >= arrived) & (cuts < arrived + stay), scores, np.nan)


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, -0.01])
@pytest.mark.parametrize("jump", [0.0, 0.1])
def test_intervals_contain_the_true_slope_as_often_as_promised(slope: float, jump: float) -> None:
    """Also if the means jump up and down from cut to cut."""
    rng = np.random.default_rng(3)
    # the scores of all samples together are the population
    whole = np.concatenate([_draw(rng, slope, 0.0) for _ in range(2000)], axis=1)
    (truth,) = fit_slopes(whole[:, :, None]).slope
    found = fit_slopes(np.stack([_draw(rng, slope, jump) for _ in range(2000)], axis=2))
    assert 0.94 < np.mean((found.low <= truth) & (truth <= found.high)) < 0.99
