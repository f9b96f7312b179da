"""What a test of pairs must not hang on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.significance import exact_sums
from recsys_ndcg.significance.exact_sums import PairColumns, PairedScores
from recsys_ndcg.significance.paired import PairResults, compare_pairs
from recsys_ndcg.significance.testing import TESTS, Testing
from tests.profiles import examples
from tests.significance.drawn import made, tables
from tests.significance.textbook import all_pairs

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

IN_UNITS = ("difference", "deviation", "low", "high", "detectable")
AGREEING = tuple(name for name, kind in TESTS.items() if kind.has_intervals)
any_test = st.sampled_from(tuple(TESTS))


def _all(table: Floats, how: Testing, **more: Any) -> PairResults:
    return compare_pairs(table, all_pairs(table.shape[1]), how, **more)


def _of(test: str, draws: int = 99) -> Testing:
    return Testing(test, "max-T" if test in AGREEING else "holm", draws=draws)


def _same(one: PairResults, other: PairResults, *apart: str) -> None:
    for field in fields(PairResults):
        if field.name not in apart:
            left, right = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_array_equal(left, right, err_msg=field.name)


@given(tables(2), any_test, st.integers(-300, 300))
@examples(1)
def test_the_unit_of_the_scores(table: Floats, test: str, power: int) -> None:
    """Times a power of two, nothing else changes, to the last bit."""
    one, other = _all(table, _of(test)), _all(np.ldexp(table, power), _of(test))
    _same(one, other, *IN_UNITS)
    for name in IN_UNITS:
        np.testing.assert_array_equal(np.ldexp(getattr(one, name), power), getattr(other, name))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_tiny_and_huge_scores(test: str, unit: float) -> None:
    """Are tested like any others."""
    table = made(30, 3, 0)
    one, other = (
        _all(table, _of(test), margin=0.1),
        _all(table * unit, _of(test), margin=0.1 * unit),
    )
    for field in fields(PairResults):
        scale = unit if field.name in IN_UNITS else 1.0
        left, right = getattr(one, field.name) * scale, getattr(other, field.name)
        np.testing.assert_allclose(left, right, rtol=1e-9, err_msg=field.name)


@given(tables(2), st.sampled_from(["t", "wilcoxon", "sign"]), st.randoms(use_true_random=False))
@examples(1)
def test_the_order_of_the_users(table: Floats, test: str, chance: Any) -> None:
    """Where nothing is drawn."""
    order = list(range(len(table)))
    chance.shuffle(order)
    one, other = _all(table, Testing(test, "holm")), _all(table[order], Testing(test, "holm"))
    for field in fields(PairResults):
        left, right = getattr(one, field.name), getattr(other, field.name)
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-12, err_msg=field.name)


@given(tables(2, models=2), any_test)
@examples(1)
def test_users_without_a_score_in_both_models(table: Floats, test: str) -> None:
    """Might as well not be there."""
    there = ~np.isnan(table).any(axis=1)
    _same(_all(table, _of(test)), _all(table[there], _of(test)))


@given(tables(2), any_test)
@examples(1)
def test_which_model_of_a_pair_is_named_first(table: Floats, test: str) -> None:
    """Turns the difference round."""
    pairs = np.array(all_pairs(table.shape[1]))
    one, other = (
        compare_pairs(table, pairs, _of(test)),
        compare_pairs(table, pairs[:, ::-1], _of(test)),
    )
    turned = ("difference", "effect", "low", "high", "wins", "losses", "direction")
    _same(one, other, *turned)
    np.testing.assert_array_equal(one.difference, -other.difference)
    np.testing.assert_array_equal(one.direction, -other.direction)
    np.testing.assert_array_equal(one.low, -other.high)
    np.testing.assert_array_equal(one.wins, other.losses)


@pytest.mark.parametrize("test", AGREEING)
def test_columns_of_models_stand_for_those_of_pairs(
    test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws of signs and resamples are the same; those of t have the same correlations."""
    table = made(50, 7, 0, apart=0.005)
    table[:, 6] *= 1e9  # which has no digits in common with the others
    table[:, 5] = table[:, 4] + 1e-10 * table[:, 1]  # nor has the difference of these two
    shared = _all(table, _of(test, 2000))
    monkeypatch.setattr(exact_sums, "_middle", lambda *_: None)
    alone = _all(table, _of(test, 2000))
    np.testing.assert_array_equal(shared.p, alone.p)
    near = 0.06 if test == "t" else 1e-12
    np.testing.assert_allclose(shared.p_corrected, alone.p_corrected, atol=near)


@pytest.mark.parametrize("test", TESTS)
def test_a_model_that_has_diverged(test: str) -> None:
    """Is no reason to know less of the others."""
    table = made(30, 3, 0)
    alone = compare_pairs(table, [(0, 1)], Testing(test, "none", draws=99))
    table[:, 2] *= 1e250
    among = compare_pairs(table, all_pairs(3), Testing(test, "none", draws=99))
    for field in fields(PairResults):
        left, right = getattr(alone, field.name)[0], getattr(among, field.name)[0]
        assert right == pytest.approx(left, rel=1e-9, nan_ok=True), field.name
    assert (among.p[1:] < 1e-3).all() or test in {"randomisation", "bootstrap"}


@pytest.mark.parametrize("test", AGREEING)
def test_how_many_columns_are_shared(test: str) -> None:
    """The two that have no digits in common with others do not keep these from sharing theirs."""
    table = made(50, 7, 0)
    table[:, 6] *= 1e9
    table[:, 5] = table[:, 4] + 1e-10 * table[:, 1]
    compared = PairedScores(table, all_pairs(7))
    pairs = np.arange(len(compared.pairs))
    found = PairColumns(compared, pairs, centred=test != "randomisation")
    assert len(found) == 6 + 1 + 6
    assert int((found.second >= 0).sum()) == 14


@pytest.mark.parametrize("test", AGREEING)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_size_of_blocks(test: str, monkeypatch: pytest.MonkeyPatch, *, gaps: bool) -> None:
    """Of columns, users and draws."""
    table = made(100, 5, 0)
    if gaps:
        table[::7, 1] = np.nan
    one = _all(table, _of(test, 300))
    monkeypatch.setattr(exact_sums, "_CELLS", 250)
    monkeypatch.setattr(exact_sums, "_USERS", 16)
    _same(one, _all(table, _of(test, 300)))


@pytest.mark.parametrize("gaps", [False, True])
def test_the_factor_of_a_covariance(monkeypatch: pytest.MonkeyPatch, *, gaps: bool) -> None:
    """Has the correlations of the mean differences, from sums that are exact."""
    table = made(90, 5, 0)
    if gaps:
        table[:30, 1] = np.nan
    apart = np.array([table[:, a] - table[:, b] for a, b in all_pairs(5)])
    centred = np.nan_to_num(apart - np.nanmean(apart, axis=1, keepdims=True))
    length = np.sqrt((centred**2).sum(axis=1))
    compared = PairedScores(table, all_pairs(5))
    of_pairs = PairColumns(compared, np.arange(10), centred=True)
    rows = exact_sums.correlation_rows(of_pairs)
    np.testing.assert_allclose(rows @ rows.T, centred @ centred.T / np.outer(length, length),
                               atol=1e-9)  # fmt: skip
    whole, _ = exact_sums.inner_products(of_pairs)
    monkeypatch.setattr(exact_sums, "_CELLS", 70)
    np.testing.assert_array_equal(whole, exact_sums.inner_products(of_pairs)[0])


def test_fewer_draws_are_the_first_of_more() -> None:
    """A p-value of more draws counts those of fewer."""
    table = made(30, 2, 0)
    few = _all(table, Testing("randomisation", draws=200)).p[0] * 201 - 1
    more = _all(table, Testing("randomisation", draws=1000)).p[0] * 1001 - 1
    assert few - 1e-9 <= more <= few + 800


SCRIPT = """
import json, os, sys
os.cpu_count = lambda: int(sys.argv[1])
from dataclasses import fields
from recsys_ndcg.significance.exact_sums import PairedScores
from recsys_ndcg.significance.exact_sums import PairColumns
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
        said = [getattr(found, one.name).astype(float).tolist() for one in fields(found)]
        print(json.dumps([[value.hex() for value in values] for values in said]))
"""


def test_the_number_of_threads() -> None:
    """Ours and those of the matrix products: not the last bit hangs on it."""
    said = []
    for threads in ("1", "2"):
        env = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        run = subprocess.run(  # noqa: S603 - our own
            [sys.executable, "-c", SCRIPT, threads],
            capture_output=True, text=True, check=True, env=env,
        )  # fmt: skip
        said.append([json.loads(line) for line in run.stdout.splitlines()])
    assert len(said[0]) == 6
    assert said[0] == said[1]
