"""What the results of a test of pairs do not depend on."""

from __future__ import annotations

import os
from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import TESTS, PairResults, Testing, compare_pairs, exact_sums
from recsys_ndcg.significance.exact_sums import PairColumns
from recsys_ndcg.significance.paired_scores import PairedScores
from tests.commands import run_python
from tests.profiles import examples
from tests.significance.drawn import AGREEING, compare_all, made, tables
from tests.significance.textbook import all_pairs

IN_UNITS = ("difference", "sd_difference", "low", "high", "detectable", "standard_error", "sd_runs")
#: What changes its sign if the models of a pair swap places, and what changes otherwise.
SIGNED = ("difference", "direction", "skewness", "d_z")
OF_ONE_SIDE = (
    *("low", "high", "wins", "losses", "statistic", "d_z_low", "d_z_high"),
    *("relative", "relative_low", "relative_high"),
)
any_test = st.sampled_from(tuple(TESTS))


def _of(test: str, draws: int = 99) -> Testing:
    return Testing(test, "max-T" if test in AGREEING else "holm", draws=draws)


def _same(
    one: PairResults, other: PairResults, *others: str, rtol: float = 0, atol: float = 0
) -> None:
    for field in fields(PairResults):
        if field.name not in others:
            left, right = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_allclose(left, right, rtol, atol, err_msg=field.name)


@pytest.mark.parametrize("test", TESTS)
@given(table=tables(2), power=st.integers(-300, 300))
@example(table=np.array([[0, 0, 0, 0.1], [-0.4, np.nan, 0, 0.1]]), power=3)
@examples(0.5)
def test_the_unit_of_the_scores(test: str, table: Floats, power: int) -> None:
    """Times a power of two, as the margin, nothing else changes, to the last bit."""
    one, other = (
        compare_all(np.ldexp(table, unit), _of(test), margin=float(np.ldexp(0.125, unit)))
        for unit in (0, power)
    )
    _same(one, other, *IN_UNITS)
    for name in IN_UNITS:
        np.testing.assert_array_equal(np.ldexp(getattr(one, name), power), getattr(other, name))


@given(tables(2), st.sampled_from(["t", "wilcoxon", "sign"]), st.randoms(use_true_random=False))
@examples(1)
def test_the_order_of_the_users(table: Floats, test: str, chance: Any) -> None:
    """If nothing is drawn."""
    order = list(range(len(table)))
    chance.shuffle(order)
    one, other = (compare_all(users, Testing(test, "holm")) for users in (table, table[order]))
    _same(one, other, rtol=1e-6, atol=1e-12)


@given(tables(2, models=2), any_test)
@examples(1)
def test_users_without_a_score_in_both_models(table: Floats, test: str) -> None:
    """They change nothing."""
    there = ~np.isnan(table).any(axis=1)
    _same(compare_all(table, _of(test)), compare_all(table[there], _of(test)))


@given(tables(2), any_test)
@examples(1)
def test_which_model_of_a_pair_is_first(table: Floats, test: str) -> None:
    """Only signs change."""
    pairs = np.array(all_pairs(table.shape[1]))
    one, other = (compare_pairs(table, order, _of(test)) for order in (pairs, pairs[:, ::-1]))
    _same(one, other, *SIGNED, *OF_ONE_SIDE)
    for name in SIGNED:
        np.testing.assert_array_equal(getattr(one, name), -getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.d_z_low, -other.d_z_high)
    is_known = (one.relative > -1) & (other.relative > -1)
    product = (1 + one.relative[is_known]) * (1 + other.relative[is_known])
    np.testing.assert_allclose(product, 1.0, rtol=1e-9)
    np.testing.assert_array_equal(one.low, -other.high)
    np.testing.assert_array_equal(one.wins, other.losses)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("family", ["pairs", "baseline"])
@pytest.mark.parametrize("test", AGREEING)
def test_the_order_of_the_models_and_those_that_are_not_tested(
    test: str, family: str, *, gaps: bool
) -> None:
    """Every p is the same to the last bit: each user has the same draws for all models.

    Differences of whole numbers have no rounding errors, and some of these means are 0.
    """
    table = np.random.default_rng(0).integers(0, 4, (60, 6)).astype(float)
    table[:, 3] = table[::-1, 2]  # the same mean
    if gaps:
        table[::7, 1] = np.nan
    for order in ([5, 4, 3, 2, 1, 0], [2, 0, 3, 1, 4, 5], [4, 3, 5, 0, 2, 1]):
        some = [[0, 1, 2, 3, 4], [one for one in order if one != 5]]
        found: list[dict[frozenset[int], list[float]]] = []
        for models, columns in zip(some, (some[0], order), strict=True):
            pairs = [one for one in combinations(models, 2) if family == "pairs" or 2 in one]
            places = [[columns.index(one) for one in pair] for pair in pairs]
            result = compare_pairs(table[:, columns], places, _of(test, 300), margin=0.25)
            numbers = np.column_stack([result.p, result.p_corrected, result.p_equivalent])
            numbers = np.column_stack(
                [numbers, np.abs(result.difference), result.high - result.low]
            )
            found.append(dict(zip(map(frozenset, pairs), numbers.tolist(), strict=True)))
        assert found[0] == found[1]


@pytest.mark.parametrize("test", AGREEING)
def test_whether_pairs_share_columns_of_models(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of signs and resamples are the same; draws of t have the same correlations."""
    table = made(50, 7, 0, apart=0.005)
    table[:, 6] *= 1e9  # which has no digits in common with the others
    table[:, 5] = table[:, 4] + 1e-10 * table[:, 1]  # nor has the difference of these two
    scores = PairedScores(table, all_pairs(7))
    columns = PairColumns(scores, np.arange(21), centred=test != "randomisation")
    assert len(columns) == 6 + 1 + 6
    assert int((columns.second >= 0).sum()) == 14
    shared = compare_all(table, _of(test, 2000))
    monkeypatch.setattr(exact_sums, "_compute_median", lambda *_: None)
    own = compare_all(table, _of(test, 2000))
    np.testing.assert_array_equal(shared.p, own.p)
    near = 0.06 if test == "t" else 1e-12
    np.testing.assert_allclose(shared.p_corrected, own.p_corrected, atol=near)


@pytest.mark.parametrize("test", TESTS)
def test_a_model_that_has_diverged(test: str) -> None:
    """The others' results stay."""
    table, how = made(30, 3, 0), Testing(test, "none", draws=99)
    one = compare_pairs(table, [(0, 1)], how)
    table[:, 2] *= 1e250
    among = compare_all(table, how)
    for field in fields(PairResults):
        left, right = getattr(one, field.name)[0], getattr(among, field.name)[0]
        assert right == pytest.approx(left, rel=1e-9, nan_ok=True), field.name
    assert (among.p[1:] < 1e-3).all() or test in {"randomisation", "bootstrap"}


@pytest.mark.parametrize("test", AGREEING)
@pytest.mark.parametrize("gaps", [False, True])
def test_threads_and_the_size_of_blocks(
    test: str, monkeypatch: pytest.MonkeyPatch, *, gaps: bool
) -> None:
    """Of columns, users and draws."""
    table = made(100, 5, 0)
    if gaps:
        table[::7, 1] = np.nan
    one = compare_all(table, _of(test, 300))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(exact_sums, "_CELLS", 250)
    monkeypatch.setattr(exact_sums, "_USERS", 16)
    _same(one, compare_all(table, _of(test, 300)))


@pytest.mark.parametrize("gaps", [False, True])
def test_rows_have_the_right_correlations(monkeypatch: pytest.MonkeyPatch, *, gaps: bool) -> None:
    """As inner products, from sums that are exact in any blocks."""
    table = made(90, 5, 0)
    if gaps:
        table[:30, 1] = np.nan
    difference = np.array([table[:, a] - table[:, b] for a, b in all_pairs(5)])
    centred = np.nan_to_num(difference - np.nanmean(difference, axis=1, keepdims=True))
    centred /= np.sqrt((centred**2).sum(axis=1, keepdims=True))
    columns = PairColumns(PairedScores(table, all_pairs(5)), np.arange(10), centred=True)
    rows = exact_sums.compute_correlation_rows(columns)
    np.testing.assert_allclose(rows @ rows.T, centred @ centred.T, atol=1e-9)
    whole, _ = exact_sums.compute_inner_products(columns)
    monkeypatch.setattr(exact_sums, "_CELLS", 70)
    np.testing.assert_array_equal(whole, exact_sums.compute_inner_products(columns)[0])


def test_the_first_draws_do_not_depend_on_their_number() -> None:
    """More draws extend them."""
    table = made(30, 2, 0)
    few = compare_all(table, Testing("randomisation", draws=200)).p[0] * 201 - 1
    more = compare_all(table, Testing("randomisation", draws=1000)).p[0] * 1001 - 1
    assert few - 1e-9 <= more <= few + 800


SCRIPT = """
import os, sys
os.cpu_count = lambda: int(sys.argv[1])
from dataclasses import fields
from recsys_ndcg.significance.paired import compare_pairs
from recsys_ndcg.significance.testing import Testing
from tests.significance.drawn import made
from tests.significance.textbook import all_pairs
for gaps in (False, True):
    table = made(1000, 12, 0, apart=0.002)
    if gaps:
        table[::7, 1] = float("nan")
    for test in ("t", "randomisation", "bootstrap"):
        found = compare_pairs(table, all_pairs(12), Testing(test, draws=300), margin=0.01)
        values = [getattr(found, one.name).astype(float).tolist() for one in fields(found)]
        print([[value.hex() for value in row] for row in values])
"""


@pytest.mark.slow
def test_the_number_of_threads_of_matrix_products() -> None:
    """BLAS has its own; not the last bit depends on them."""
    printed = []
    for threads in ("1", "2"):
        limits: dict[str, Any] = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        printed.append(run_python("-c", SCRIPT, threads, **limits).stdout)
    assert len(printed[0].splitlines()) == 6
    assert printed[0] == printed[1]
