"""Intervals of ratios from resampled users."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import BOOTSTRAPS, exact_sums
from recsys_ndcg.significance.intervals import bootstrap_ratios
from tests.errors import rejects
from tests.profiles import examples
from tests.report.test_reports import drawn_lists


def _made(users: int, seed: int) -> tuple[Floats, Floats]:
    """Return numerators and denominators of two columns, skewed, some users without a part."""
    stream = np.random.default_rng(seed)
    bottom = stream.integers(0, 6, (users, 2)).astype(float) * [1, 2]
    bottom[:2, 1] = 60, 30
    return bottom * stream.exponential(size=(users, 2)) ** 2, bottom


def _ends(top: Floats, bottom: Floats, **options: Any) -> Floats:
    asked: dict[str, Any] = {"level": 0.9, "method": "bca", "draws": 999, "seed": 0} | options
    return np.array(bootstrap_ratios(top, bottom, **asked))


def test_resamples_with_the_same_mean_count_half_in_bca() -> None:
    """As in SciPy, for scores with few values, whatever their last digits."""
    scores = np.random.default_rng(1).integers(0, 3, 7) / 3
    found = _ends(scores[:, None], np.ones((7, 1)), draws=20_000, level=0.5)
    expected = stats.bootstrap(
        (scores,), np.mean, method="BCa", confidence_level=0.5, n_resamples=20_000, random_state=0
    )
    ends, error = expected.confidence_interval, expected.standard_error
    assert found[:, 0] == pytest.approx([ends.low, ends.high], abs=error / 15)


def test_percentiles_are_those_of_all_resamples() -> None:
    """Of three users, one of whom has denominator 0."""
    top, bottom = np.array([[1.0], [6.0], [0.0]]), np.array([[2.0], [4.0], [0.0]])
    users = [(t, b) for (t,), (b,) in zip(top.tolist(), bottom.tolist(), strict=True)]
    ratios = [
        sum(t for t, _ in picked) / sum(b for _, b in picked)
        for picked in product(users, repeat=3)
        if any(b for _, b in picked)
    ]
    for level in (0.1, 0.35, 0.7):  # whose quantiles lie amid equal ratios
        found = _ends(top, bottom, method="percentile", level=level, draws=20_000)
        low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
        assert found[:, 0] == pytest.approx([low, high])


@given(st.integers(0, 9), st.sampled_from(BOOTSTRAPS), st.integers(-200, 200))
@examples(0.5)
def test_intervals_scale_with_the_units(seed: int, method: str, power: int) -> None:
    """With the numerators' unit, and inversely with the denominators'."""
    top, bottom = _made(15, seed)
    plain = _ends(top, bottom, method=method)
    np.testing.assert_array_equal(
        _ends(np.ldexp(top, power), bottom, method=method), np.ldexp(plain, power)
    )
    np.testing.assert_array_equal(
        _ends(top, np.ldexp(bottom, power), method=method), np.ldexp(plain, -power)
    )


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_threads_and_blocks_change_no_bit(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column has the interval that it has by itself."""
    top, bottom = _made(200, 0)
    plain = _ends(top, bottom, method=method)
    np.testing.assert_array_equal(plain[:, 1:], _ends(top[:, 1:], bottom[:, 1:], method=method))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    for name, size in (("_CELLS", 1000), ("_USERS", 16), ("_COLUMNS", 3)):
        monkeypatch.setattr(exact_sums, name, size)
    np.testing.assert_array_equal(plain, _ends(top, bottom, method=method))


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_few_or_equal_users_have_no_interval(method: str) -> None:
    """Fewer than two, or all with the same ratio; one draw is a point."""
    bottom = np.array([[1, 0, 2, 3], [0, 0, 1, 4], [0, 0, 0, 6]], dtype=float)
    top = bottom * [0.5, 0.5, 0.1, 0.25]
    top[1, 2] = 0.3 - 0.2
    found = _ends(top, bottom, method=method)
    assert np.isnan(found).all()
    assert _ends(top[:0], bottom[:0], method=method).shape == (2, 4)
    low, high = _ends(*_made(9, 0), method=method, draws=1)
    assert (low == high).all()


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_a_report_resamples_its_users(method: str) -> None:
    """For means and for pooled scores, of which RMSE takes the root."""
    report = rn.evaluate(drawn_lists(30, 3), metrics=["ndcg@5", "recall@5", "rmse"], threshold=4)
    options: dict[str, Any] = {"method": method, "draws": 500, "seed": 2}
    found = report.intervals(0.8, **options)
    assert found.index.tolist() == report.metrics
    for place, (name, row) in enumerate(found.to_dict("index").items()):
        values = report.per_user[name].dropna().to_numpy()[:, None]
        parts = (
            report._data.scores.numerator[:, place, None],
            report._data.scores.denominator[:, place, None],
        )
        pooled = _ends(*parts, level=0.8, **options)[:, 0]
        pooled = np.sqrt(pooled) if name == "rmse" else pooled
        assert [row["pooled_low"], row["pooled_high"]] == pytest.approx(pooled.tolist())
        own = _ends(values, np.ones(values.shape), level=0.8, **options)[:, 0]
        ends = [row["mean_low"], row["mean_high"]]
        assert ends == pytest.approx(own.tolist(), abs=(own[1] - own[0]) / 10)


@pytest.mark.parametrize(
    ("level", "options", "message"),
    [
        (0.9, {"method": "BCa"}, "method must be one of 't', 'percentile', 'bca', not 'BCa'"),
        (0.9, {"method": "bca", "draws": 0}, "draws must be a whole number of at least 1"),
        (0.9, {"method": "bca", "seed": -1}, "seed must be"),
        (2, {"method": "bca"}, "level must be between 0 and 1"),
    ],
)
def test_unusable_options_are_rejected(level: float, options: dict[str, Any], message: str) -> None:
    """Student's t is the default."""
    report = rn.evaluate(drawn_lists(5, 0))
    assert report.intervals(0.9).equals(report.intervals(0.9, method="t", seed=1))
    with rejects(message):
        report.intervals(level, **options)
