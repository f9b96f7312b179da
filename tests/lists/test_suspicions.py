"""What is seen of parts of the data is what is seen of the whole."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg import RankedLists
from recsys_ndcg.lists.facts import Facts, suspicions

#: Estimates by user: on scales and off them, at the ends, ranks, times, one value for all.
ESTIMATES = (
    st.sampled_from([0.0, 0.5, 1.0, 5.0]),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from([0.0, 5.0, 95.0, 100.0]),
    st.sampled_from([1.5e9, 1.6e9, 881_250_949.0]),
    st.floats(0, 5).map(lambda value: round(value, 3)),
    st.just(4.0),
    st.just(1e308),
    st.sampled_from([0.0, 1.0, 1.7e308]),
    st.sampled_from([-1e308, 1e308]),
)
GRADES = (
    st.sampled_from([0.0, 1.0, 2.5, 5.0, None]),
    st.sampled_from([0.0, 1.0]),
    st.floats(0, 5).map(lambda value: round(value, 4)),
    st.sampled_from([1.0, 1e308]),
)


@st.composite
def rows(draw: st.DrawFn) -> dict[int, list[tuple[float, float | None]]]:
    """Draw the lists of several users."""
    estimate, grade = draw(st.sampled_from(ESTIMATES)), draw(st.sampled_from(GRADES))
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=6))
    ranks = draw(st.booleans())
    return {
        user: [
            (float(place + 1) if ranks else draw(estimate), draw(grade)) for place in range(size)
        ]
        for user, size in enumerate(sizes)
    }


@given(rows())
def test_parts_look_like_the_whole(lists: dict[int, list[tuple[float, float | None]]]) -> None:
    """Whatever is said of all lists is said of parts of them when they are put together."""
    whole = Facts.of(RankedLists.of(lists))
    parts = [Facts.of(RankedLists.of({user: some})) for user, some in lists.items()]
    merged = reduce(add, parts)
    assert list(suspicions(merged)) == list(suspicions(whole))
    assert merged.constant == whole.constant
    assert reduce(add, parts[::-1]).estimated == whole.estimated


def test_the_order_of_rows_is_not_seen() -> None:
    """Not even in the example that a sentence gives."""
    generator = np.random.default_rng(0)
    users, estimated, true = np.zeros(90, int), np.arange(90) % 5 + 1.0, generator.random(90)
    forth = RankedLists.from_arrays(users, None, estimated, true)
    back = RankedLists.from_arrays(users, None, estimated[::-1], true[::-1])
    told = [*suspicions(Facts.of(forth))]
    assert any("look exchanged" in one for one in told)
    assert [*suspicions(Facts.of(back))] == told


def test_a_part_off_the_scale_takes_the_whole_off() -> None:
    """Nothing is said of columns that look exchanged where one part has ordinary estimates."""
    generator = np.random.default_rng(0)
    true = generator.random(100)
    on = RankedLists.from_arrays(np.zeros(100, int), None, np.arange(100) % 5 + 1, true)
    off = RankedLists.from_arrays(np.ones(100, int), None, generator.random(100), true)
    assert any("look exchanged" in told for told in suspicions(Facts.of(on)))
    assert not any("look exchanged" in told for told in suspicions(Facts.of(on) + Facts.of(off)))
