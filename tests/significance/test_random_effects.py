"""Means over data sets: statsmodels' numbers, a plain-Python version, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.significance import combine_effects
from tests.profiles import examples

#: The mean, tau² and the HKSJ interval by combine_effects(effects, variances, method_re="pm",
#: maxiter=1000, atol=1e-14) of statsmodels 0.15.0: mean_effect_re, tau2, conf_int(use_t=True).
STATSMODELS = [
    (
        ([0.05, 0.21, 0.4, 0.12], [0.0105, 0.0011, 0.0003, 0.002]),
        (0.2101929647686413, 0.019893166526641838, -0.02987393, 0.45025986),
    ),
    (
        ([0.1, 0.4], [0.01, 0.001]),
        (0.26500000000000007, 0.03949999999999986, -1.63137711, 2.16137711),
    ),
]


@pytest.mark.parametrize(("given_", "expected"), STATSMODELS)
def test_it_is_statsmodels(given_: tuple[list[float], list[float]], expected: tuple[float]) -> None:
    """Where the variance between data sets is above 0, and its q is 1."""
    found = combine_effects(*given_)
    assert (found.mean, found.tau**2, found.low, found.high) == pytest.approx(expected, rel=1e-6)


def _combine_slowly(y: list[float], v: list[float], alpha: float) -> list[float]:
    """Return the same in plain Python, by bisection."""

    def weigh(between: float) -> tuple[float, float, float]:
        weights = [1 / (one + between) for one in v]
        mean = sum(w * x for w, x in zip(weights, y, strict=True)) / sum(weights)
        squares = sum(w * (x - mean) ** 2 for w, x in zip(weights, y, strict=True))
        return mean, sum(weights), squares / (len(y) - 1)

    low, high = 0.0, 1e6
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if weigh(middle)[2] > 1 else (low, middle)
    between = high if weigh(0.0)[2] > 1 else 0.0
    mean, total, q = weigh(between)
    error = math.sqrt(max(1.0, q) / total)
    t = float(stats.t.isf(alpha / 2, len(y) - 1))
    numbers = [mean, mean - t * error, mean + t * error]
    if len(y) > 2:
        reach = float(stats.t.isf(alpha / 2, len(y) - 2)) * math.sqrt(between + error**2)
        numbers += [mean - reach, mean + reach]
    return [*numbers, math.sqrt(between), 2 * float(stats.t.sf(abs(mean) / error, len(y) - 1))]


effects = st.lists(st.tuples(st.floats(-2, 2), st.floats(1e-4, 1)), min_size=2, max_size=7)


@given(effects, st.sampled_from([0.01, 0.05, 0.3]))
@examples(1)
def test_it_is_the_plain_formula(rows: list[tuple[float, float]], alpha: float) -> None:
    """The interval is never narrower than that of fixed effects, and agrees with p."""
    y, v = [one for one, _ in rows], [one for _, one in rows]
    found = combine_effects(y, v, alpha)
    numbers = [one for one in found if not math.isnan(one)]
    assert numbers == pytest.approx(_combine_slowly(y, v, alpha), rel=1e-6, abs=1e-7)
    assert math.isnan(found.prediction_low) == (len(rows) == 2)
    fixed = 2 * stats.norm.isf(alpha / 2) / math.sqrt(sum(1 / one for one in v))
    assert found.high - found.low >= fixed * (1 - 1e-9)
    if abs(found.p - alpha) > 1e-9:
        assert (found.p < alpha) == (found.low > 0 or found.high < 0)


def test_one_data_set_has_no_mean() -> None:
    """All NaN."""
    assert all(map(math.isnan, combine_effects([0.5], [0.1])))
    assert all(map(math.isnan, combine_effects([], [])))


@pytest.mark.parametrize(("count", "tau"), [(3, 0.0), (3, 0.05), (6, 0.15)])
def test_intervals_hold(count: int, tau: float) -> None:
    """In 90 % of samples or more, of data sets with 100 to 6,000 users; nominal are 95 %."""
    random, users = np.random.default_rng(count), np.geomspace(100, 6000, count)
    holds = 0
    for _ in range(400):
        effect = 0.1 + tau * random.normal(size=count) + random.normal(size=count) / users**0.5
        found = combine_effects(effect, 1 / users + effect**2 / (2 * users))
        holds += found.low <= 0.1 <= found.high
    assert holds >= 0.9 * 400
