"""The variance between runs of a model belongs to the variance of a mean difference."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import Testing, compare_pairs
from recsys_ndcg.significance.paired_scores import RunVariance
from tests.profiles import examples, slow

Table = list[list[float]]  # a row per run, a column per user


def _analyse(table: Table) -> tuple[float, float, float]:
    """Return the variance of the mean, its degrees of freedom, and the variance of run means."""
    runs, users = len(table), len(table[0])
    of_runs = [statistics.fmean(row) for row in table]
    of_users = [statistics.fmean(column) for column in zip(*table, strict=True)]
    mean = statistics.fmean(of_runs)
    rest = sum(
        (table[r][u] - of_runs[r] - of_users[u] + mean) ** 2
        for r in range(runs)
        for u in range(users)
    ) / ((runs - 1) * (users - 1))
    over_users = statistics.variance(of_users) / users
    between = statistics.variance(of_runs)
    added = (between - rest / users) / runs if between > rest / users * (1 + 1e-9) else 0.0
    parts = [(over_users, users - 1)]
    if added:
        parts += [(between / runs, runs - 1), (rest / users / runs, (users - 1) * (runs - 1))]
    total = over_users + added
    squares = sum(part**2 / freedom for part, freedom in parts)
    fewest = min(freedom for _, freedom in parts)
    return total, max(total**2 / squares, fewest) if squares else math.nan, between


@given(
    st.integers(2, 4).flatmap(
        lambda runs: st.lists(
            st.lists(st.integers(-9, 9), min_size=runs, max_size=runs), min_size=2, max_size=6
        )
    )
)
@example([[-3, -3], [-3, -3], [-3, -2]])  # runs add nothing, but for rounding
@examples(1)
def test_the_variance_is_that_of_an_analysis_of_variance(columns: list[list[int]]) -> None:
    """And t has Satterthwaite's degrees of freedom."""
    table = np.array(columns, dtype=np.float64).T / 8
    total, freedom, between = _analyse(table.tolist())
    base = np.full(table.shape, 0.5)
    values = np.column_stack([0.5 + table.mean(axis=0), base[0]])
    found = compare_pairs(values, [(0, 1)], Testing(), runs=[0.5 + table, base])
    assert found.runs.tolist() == [len(table)]
    assert found.sd_runs[0] == pytest.approx(between**0.5, abs=1e-12)
    assert found.standard_error[0] == pytest.approx(total**0.5, abs=1e-12)
    if found.sd_difference[0] > 0:
        assert found.freedom[0] == pytest.approx(freedom, rel=1e-6)
        t = table.mean() / total**0.5
        assert found.statistic[0] == pytest.approx(t, rel=1e-6, abs=1e-9)
        assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-5)
        half = stats.t.ppf(0.975, freedom) * total**0.5
        ends = table.mean() - half, table.mean() + half
        assert (found.low[0], found.high[0]) == pytest.approx(ends, rel=1e-5, abs=1e-9)


def _draw_runs(stream: Any, users: int, runs: int, models: int, between: float) -> list[Floats]:
    """Return models of equal quality: users, runs and their interaction vary."""
    of_users = stream.normal(0.5, 0.2, users)
    return [
        of_users
        + stream.normal(0, between, (runs, 1))
        + stream.normal(0, 0.1, users)
        + stream.normal(0, 0.1, (runs, users))
        for _ in range(models)
    ]


@pytest.mark.parametrize("shape", [(4, 2), *slow((8, 2), (5, 4))], ids=str)
def test_models_that_differ_in_their_runs_only_are_rarely_called_different(
    shape: tuple[int, int],
) -> None:
    """Users alone as units find a difference in most samples.

    With few draws the draws alone move the rate by a point.
    """
    runs, models = shape
    stream, found, over_users, samples = np.random.default_rng(0), 0, 0, 200
    pairs = [(a, b) for a in range(models) for b in range(a)]
    for _ in range(samples):
        tables = _draw_runs(stream, 300, runs, models, between=0.03)
        values, how = np.column_stack([one.mean(axis=0) for one in tables]), Testing(draws=9_999)
        found += bool((compare_pairs(values, pairs, how, runs=tables).p_corrected <= 0.05).any())
        over_users += bool((compare_pairs(values, pairs, how).p_corrected <= 0.05).any())
    assert over_users / samples > 0.3
    assert found / samples <= 0.1


def test_runs_that_add_nothing_change_nothing() -> None:
    """The same scores in each run; a single run; another test than t."""
    stream = np.random.default_rng(1)
    values = stream.random((40, 3))
    alone = compare_pairs(values, [(0, 1), (0, 2)], Testing())
    same = [np.tile(column, (4, 1)) for column in values.T]
    single = [column[None] for column in values.T]
    for runs, count in ((same, 4), (single, 0)):
        found = compare_pairs(values, [(0, 1), (0, 2)], Testing(), runs=runs)
        np.testing.assert_allclose(found.p_corrected, alone.p_corrected, atol=0.01)
        np.testing.assert_allclose(found.standard_error, alone.standard_error, rtol=1e-12)
        assert found.runs.tolist() == [count] * 2
    varied = [one + stream.normal(0, 0.1, (4, 1)) for one in same]
    how = Testing("randomisation", draws=99)
    without, given_ = (compare_pairs(values, [(0, 1)], how, runs=runs) for runs in ((), varied))
    np.testing.assert_array_equal(without.p, given_.p)


def test_models_with_different_numbers_of_runs_have_variances_of_their_own() -> None:
    """They are not paired run by run; users without a score in some run do not count."""
    stream = np.random.default_rng(2)
    first, second = stream.random((3, 20)), stream.random((5, 20)) + stream.normal(0, 1, (5, 1))
    first[0, :4] = np.nan
    runs = RunVariance.of([first, second], np.array([[0, 1]]))
    tables = [one[:, 4:].tolist() for one in (first, second)]
    added = 0.0
    for table in tables:
        total, _, _ = _analyse(table)
        of_users = [statistics.fmean(column) for column in zip(*table, strict=True)]
        added += total - statistics.variance(of_users) / 16
    assert runs.count.tolist() == [3]
    assert runs.added[0] == pytest.approx(added)


def test_rows_have_length_1_and_the_correlations_of_runs() -> None:
    """Two models against a third have its runs in common."""
    stream = np.random.default_rng(3)
    tables = [np.tile(stream.random(6), (4, 1)) + stream.normal(0, 1, (4, 1)) for _ in range(3)]
    pairs = np.array([[0, 2], [1, 2], [0, 1]])
    runs, variance = RunVariance.of(tables, pairs), np.full(3, 1e-9)
    rows = runs.extend_rows(np.eye(3), variance, np.arange(3))
    np.testing.assert_allclose((rows**2).sum(axis=1), 1.0)
    means = np.array([(tables[a] - tables[b]).mean(axis=1) for a, b in pairs])
    np.testing.assert_allclose(rows @ rows.T, np.corrcoef(means), atol=1e-6)


def test_the_degrees_of_freedom_are_never_fewer_than_of_two_runs() -> None:
    """The interaction of users and runs is subtracted: the total is less than the runs' part."""
    table = np.array([[0.5, -0.4, 0.3, -0.2], [0.3, 0.9, 0.2, 0.7]])
    values = np.column_stack([table.mean(axis=0), np.zeros(4)])
    found = compare_pairs(values, [(0, 1)], Testing(), runs=[table, np.zeros((2, 4))])
    total, freedom, between = _analyse(table.tolist())
    assert total < between / 2
    assert found.freedom.tolist() == [freedom] == [1]
    assert found.p[0] < 1
