"""Sorting and grouping at the sizes and values where shortcuts could show."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.arrays import count_offsets
from recsys_ndcg.lists.grouping import group_columns, is_sorted
from recsys_ndcg.ranking.ordering import argsort_descending, sort_descending
from recsys_ndcg.ranking.tie_groups import TieGroups

LENGTHS = st.integers(0, 6) | st.sampled_from([0, 1, 30, 200, 300, 400, 3000])
DRAWS: dict[str, Any] = {
    "any numbers": lambda draw, n: draw.normal(size=n) * 10.0 ** draw.integers(-300, 300, n),
    "few numbers": lambda draw, n: draw.integers(0, 3, n) / 2,
    "nothing above -inf": lambda draw, n: np.where(draw.random(n) < 0.5, -np.inf, draw.random(n)),
    "both zeros": lambda draw, n: np.where(draw.random(n) < 0.5, 0.0, -0.0),
}


@given(st.lists(LENGTHS, min_size=1, max_size=12), st.sampled_from([*DRAWS]), st.integers(0, 99))
def test_lists_of_any_length_are_sorted(lengths: list[int], drawn: str, seed: int) -> None:
    """Short and long lists are sorted in separate tables."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = DRAWS[drawn](np.random.default_rng(seed), int(offsets[-1]))
    order = argsort_descending(values, offsets)
    expected = [
        row
        for first, end in pairwise(offsets.tolist())
        for row in sorted(range(first, end), key=lambda row: -values[row])
    ]
    assert sorted(order.tolist()) == list(range(len(values)))
    assert values[order].tolist() == values[expected].tolist()
    np.testing.assert_array_equal(sort_descending(values, offsets), values[expected])
    for first, end in pairwise(offsets.tolist()):
        assert ((order[first:end] >= first) & (order[first:end] < end)).all()


@pytest.mark.parametrize("size", [1, 3, 200, 60_000, 65_536, 65_537, 300_000, 5_000_000])
def test_rows_are_grouped_in_input_order_for_any_number_of_users(size: int) -> None:
    """Each user's items and other columns stay together, also of equal (user, item) pairs."""
    draw = np.random.default_rng(0)
    codes, item = draw.integers(0, size, 400_000), draw.integers(0, 3, 400_000)
    columns = {"row": np.arange(len(codes)), "item": item.astype(np.int32), "flag": item == 1}
    grouped, offsets = group_columns(codes.astype(np.int32), columns, size)
    order = np.argsort(codes, kind="stable")
    assert [*grouped] == [*columns]
    for name, column in columns.items():
        assert grouped[name].dtype == column.dtype
        np.testing.assert_array_equal(grouped[name], column[order])
    np.testing.assert_array_equal(offsets, count_offsets(codes, size))


def test_rows_that_are_grouped_already_are_known_as_such() -> None:
    """The usual case costs no sort."""
    assert is_sorted(np.array([0, 0, 1, 3], dtype=np.int32))
    assert not is_sorted(np.array([1, 0], dtype=np.int32))


@pytest.mark.parametrize("lists", [1, 65_535, 65_536, 65_537])
def test_every_list_is_sorted_by_itself(lists: int) -> None:
    """Also more lists than 16 bits can number."""
    draw = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(draw.integers(0, 4, lists))])
    values = draw.normal(size=offsets[-1])
    order = argsort_descending(values, offsets)
    user = np.repeat(np.arange(lists), np.diff(offsets))
    np.testing.assert_array_equal(order, np.lexsort([-values, user]))
    few = np.round(values)  # of few values, equal ones stand in input order
    np.testing.assert_array_equal(argsort_descending(few, offsets), np.lexsort([-few, user]))


def test_the_mean_of_equal_gains_is_that_gain() -> None:
    """Three times 0.1, added and divided by three, is a little more than 0.1."""
    assert (0.1 + 0.1 + 0.1) / 3 != 0.1
    one = np.array([3])
    groups = TieGroups(np.arange(3), np.array([0, 3]), one * 0, one * 0, one)
    assert groups.compute_means(np.full(3, 0.1)).tolist() == [0.1]


def test_a_score_never_exceeds_1_by_its_last_digit() -> None:
    """Every order is ideal, but the last digit of a sum may depend on the order."""
    assert 0.1 + 0.2 + 0.3 > 0.3 + 0.2 + 0.1
    score = rn.ndcg_at_k([0.1, 0.2, 0.3], 3, gain="linear", discount=np.ones_like)
    assert score == 1.0


def test_a_cutoff_inside_a_tie_sees_its_mean_and_nothing_behind_it() -> None:
    """Ties that begin after the cutoff are never resolved."""
    pairs = {"ann": [(3.0, 0), (2.0, 1), (2.0, 2), (1.0, 5), (1.0, 0)]}
    convention = rn.Convention(gain="linear", discount="reciprocal")
    report = rn.evaluate(pairs, metrics=["dcg@2", "dcg@3"], convention=convention)
    assert report.mean["dcg@2"] == pytest.approx(1.5 / 2)
    assert report.mean["dcg@3"] == pytest.approx(1.5 / 2 + 1.5 / 3)
