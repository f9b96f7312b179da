"""Facts of parts of the data add up to the facts of the whole."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg import RankedLists
from recsys_ndcg.lists import Facts, find_suspicions, to_lists

#: Estimates by user: on scales and off them, at the ends, ranks, times, one value for all.
ESTIMATES = (
    st.sampled_from([0.0, 0.5, 1.0, 5.0]), st.sampled_from([0.0, 5.0, 95.0, 100.0]), st.just(4.0),
    st.sampled_from([1.5e9, 1.6e9, 881_250_949.0]), st.sampled_from([-1e308, 0.0, 1e308, 1.7e308]),
    st.floats(0, 5).map(lambda value: round(value, 3)),
)  # fmt: skip
GRADES = (
    st.sampled_from([0.0, 1.0, 2.5, 5.0, None]), st.sampled_from([0.0, 1.0]),
    st.sampled_from([1.0, 1e308]), st.floats(0, 5).map(lambda value: round(value, 4)),
)  # fmt: skip


@st.composite
def rows(draw: st.DrawFn) -> dict[int, list[tuple[float, float | None]]]:
    """Draw the lists of several users."""
    estimate, grade = draw(st.sampled_from(ESTIMATES)), draw(st.sampled_from(GRADES))
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=6))
    pair = st.tuples(estimate, grade)
    lists = [draw(st.lists(pair, min_size=size, max_size=size)) for size in sizes]
    if draw(st.booleans()):
        lists = [[(at + 1.0, true) for at, (_, true) in enumerate(one)] for one in lists]
    return dict(enumerate(lists))


@given(rows())
def test_parts_raise_the_same_suspicions_as_the_whole(lists: dict[int, Any]) -> None:
    """In any order of the parts."""
    whole = Facts.of(to_lists(lists))
    parts = [Facts.of(to_lists({user: some})) for user, some in lists.items()]
    merged = reduce(add, parts)
    assert list(find_suspicions(merged)) == list(find_suspicions(whole))
    assert merged.is_constant == whole.is_constant
    assert reduce(add, parts[::-1]).estimated == whole.estimated


def test_exchanged_columns_are_suspected_unless_a_part_has_ordinary_estimates() -> None:
    """In any order of rows, down to the example in the message."""
    true, ranks = np.random.default_rng(0).random(90), np.arange(90) % 5 + 1.0
    users, others = np.zeros(90, int), np.ones(90, int)
    forth = Facts.of(RankedLists.from_arrays(users, None, ranks, true)._data)
    back = Facts.of(RankedLists.from_arrays(users, None, ranks[::-1], true[::-1])._data)
    off = Facts.of(RankedLists.from_arrays(others, None, true[::-1], true)._data)
    messages = [*find_suspicions(forth)]
    assert any("look swapped" in one for one in messages)
    assert [*find_suspicions(back)] == messages
    assert not any("look swapped" in one for one in find_suspicions(forth + off))
