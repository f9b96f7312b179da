"""Repeated rows, against plain Python."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.arrays import sort_by_key
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NUMBERS = st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.5, 4.0, 1e16])
ROW = st.tuples(st.integers(0, 4), st.integers(0, 3), NUMBERS, NUMBERS | st.none())
ROWS = st.lists(ROW, min_size=1, max_size=40)


def textbook(rule: str, column: list[float | None]) -> float:
    """Return what becomes of the numbers of one pair, in input order; NaN is left out."""
    if rule in ("first", "last"):
        one = column[0 if rule == "first" else -1]
        return math.nan if one is None else one
    known = [one for one in column if one is not None]
    return (max if rule == "max" else fmean)(known) if known else math.nan


@given(ROWS, st.sampled_from(["first", "last", "max", "mean"]), st.sampled_from([3, 10, 1000]))
def test_each_pair_is_kept_once(rows: list[Any], rule: str, block: int) -> None:
    """At the place of the first one, or of the last one under ``last``, in blocks of any size."""
    pairs: dict[tuple[int, int], list[int]] = {}
    for place, (user, item, *_) in enumerate(rows):
        pairs.setdefault((user, item), []).append(place)
    kept = {places[-1 if rule == "last" else 0]: places for places in pairs.values()}
    expected = [
        (*rows[place][:2], *(textbook(rule, [rows[one][n] for one in kept[place]]) for n in (2, 3)))
        for place in sorted(kept, key=lambda place: (rows[place][0], place))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", block)
        lists = rn.RankedLists.from_tuples(rows, duplicates=rule)
    user = np.repeat(lists.users, lists.n_items)
    found = np.column_stack([user, lists.items, lists.estimated, lists.true])  # type: ignore[list-item]
    np.testing.assert_allclose(found, expected, rtol=1e-14, equal_nan=True)
    assert lists._data.repeats is not None
    assert lists._data.repeats.sum() == len(rows) - len(pairs)


@given(st.lists(NUMBERS | st.just(-1e16), min_size=2, max_size=9), st.randoms())
def test_a_mean_does_not_depend_on_the_order(numbers: list[float], random: Any) -> None:
    """To the last bit."""
    shuffled = random.sample(numbers, len(numbers))
    found = set()
    for each in (numbers, shuffled):
        rows = [*(("u", "i", number, number) for number in each), ("u", "j", 1.0, 1.0)]
        lists = rn.RankedLists.from_tuples(rows, duplicates="mean")
        found |= {float(lists.estimated[0]), float(lists.true[0])}
    (mean,) = found
    assert min(numbers) <= mean <= max(numbers)


def test_large_keys_are_sorted_stably() -> None:
    """Key and place together do not fit a number; the docstring has small keys."""
    order, same = sort_by_key(np.array([7, 3, 7, 0, 3]), 1 << 62)
    assert order.tolist() == [3, 1, 4, 0, 2]
    assert same.tolist() == [False, True, False, True]


@pytest.mark.parametrize("rule", ["first", "last", "max", "mean"])
def test_a_rule_for_repeats_is_given_once(rule: Any) -> None:
    """To the lists or in the convention: the numbers and the signature are the same."""
    rows = [("u", "i", 1.0, 2), ("u", "i", 3.0, 5), ("u", "j", 2.0, 4), ("v", "i", 1.0, 3)]
    labels = [row[:2] + row[3:] for row in rows]
    of_lists = rn.RankedLists.from_labels(labels, [row[:3] for row in rows], duplicates=rule)
    convention = rn.Convention(duplicates=rule)
    results = [row[:3] for row in rows]
    pair = {"labels": labels, "results": results}
    for lists, data in (
        (rn.RankedLists.from_tuples(rows, duplicates=rule), rows),
        (of_lists, pair),
    ):
        found = rn.evaluate(lists, k=2)
        expected = rn.evaluate(data, k=2, convention=convention)
        assert found.mean.equals(expected.mean)
        assert found.signature("ndcg@2") == expected.signature("ndcg@2")
        assert f"duplicates:{rule}" in found.signature("ndcg@2").short
    another: Any = "max" if rule == "mean" else "mean"
    with rejects(f"The lists were made with duplicates={rule!r}, .* has {another!r}", whole=False):
        rn.evaluate(of_lists, convention=rn.Convention(duplicates=another))
