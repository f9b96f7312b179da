"""RollingTime: what is trained on and tested at each cut."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recsys_ndcg.folds import RollingTime
from tests.errors import assert_rejected
from tests.surprise.samples import RATINGS
from tests.surprise.test_splits import DAY, TIMES, held_out, parts, rated, sample

Rows = list[tuple[int, int]]  # user and time
rows_drawn: st.SearchStrategy[Rows] = st.lists(
    st.tuples(st.integers(0, 4), st.integers(-3, 25)), min_size=2, max_size=30
)
durations = st.none() | st.integers(1, 12)


def _cut_evenly(times: list[int], cuts: int, spacing: str) -> list[float]:
    """Return the times of cuts, as the textbook has it."""
    if spacing == "time":
        length = max(times) - min(times)
        return [min(times) + length * number / (cuts + 1) for number in range(1, cuts + 1)]
    ordered = sorted(times)
    return [ordered[len(times) * number // (cuts + 1)] for number in range(1, cuts + 1)]


@example([(0, 0), (1, 1), (0, 4), (1, 9), (2, 12)], 2, None, 5, "time", True)  # noqa: FBT003 - as drawn
@given(
    rows_drawn,
    st.integers(1, 5),
    durations,
    durations,
    st.sampled_from(["ratings", "time"]),
    st.booleans(),
)
def test_each_cut_trains_on_the_past_and_tests_what_follows(  # noqa: PLR0913, PLR0917 - drawn
    rows: Rows, cuts: int, window: Any, history: Any, spacing: str, known_users: Any
) -> None:
    """As in plain Python; ratings at the same time are never on both sides of a cut."""
    users, times = zip(*rows, strict=True)
    data = rated(*users, times=times)
    splits = RollingTime(cuts, window, history=history, spacing=spacing, known_users=known_users)
    starts = _cut_evenly([*times], cuts, spacing)
    ends = [start + window for start in starts] if window else [*starts[1:], math.inf]
    expected = []
    for start, end in zip(starts, ends, strict=True):
        oldest = start - history if history else -math.inf
        train = [row for row, time in enumerate(times) if oldest <= time < start]
        known = {users[row] for row in train} if known_users else {*users}
        test = [n for n, time in enumerate(times) if start <= time < end and users[n] in known]
        expected.append((train, test))
    too_few = spacing == "ratings" and len({min(times), *starts}) <= cuts
    if too_few or not all(train and test for train, test in expected):
        assert_rejected("RollingTime: .*(Lower cuts|Choose another cut)", parts, splits, data)
        return
    found = parts(splits, data)
    assert [(sorted(i for _, i in one), [i for _, i in two]) for one, two in found] == expected
    assert splits.find_cuts(data) == starts
    assert splits.n_splits == splits.get_n_folds() == cuts
    for train, test in expected:
        assert max(times[row] for row in train) < min(times[row] for row in test)


MONTH = 30 * DAY
FIRST, SECOND = "2015-01-01", pd.Timestamp("2015-06-01")


@pytest.mark.parametrize("window", ["30D", dt.timedelta(30), pd.Timedelta("30D"), MONTH, 2592e3])
@pytest.mark.parametrize("cuts", [[FIRST, SECOND], (dt.date(2015, 1, 1), str(SECOND)), None])
def test_times_and_durations_have_several_forms(cuts: Any, window: Any) -> None:
    """Text is a date or a duration; it counts as seconds."""
    starts = [pd.Timestamp(one).timestamp() for one in (FIRST, SECOND)]
    splits = RollingTime(np.array(starts) if cuts is None else cuts, window, history=window)
    expected = [
        RATINGS["item"][RATINGS["timestamp"].between(start, start + MONTH, inclusive="left")]
        for start in starts
    ]
    assert held_out(splits, sample()) == [one.tolist() for one in expected]
    assert splits.find_cuts(sample()) == starts


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: RollingTime(0), "cuts must be a whole number of at least 1, not 0"),
        (lambda: RollingTime(cuts=True), "cuts must be a whole"),
        (lambda: RollingTime("2015"), "cuts must be a number of cuts, or their times, not '2015'"),
        (lambda: RollingTime([]), r"must be ascending, not \[\]"),
        (lambda: RollingTime([3, 3]), r"must be ascending, not \[3, 3\]"),
        (lambda: RollingTime([pd.NaT]), "a cut must be a timestamp"),
        (lambda: RollingTime(window=0), "window must be a duration above 0.*, not 0"),
        (lambda: RollingTime(window="5"), "such as '30D', or a timedelta, not '5'"),
        (lambda: RollingTime(window="month"), "not 'month'"),
        (lambda: RollingTime(window=float("nan")), "not nan"),
        (lambda: RollingTime(history=-1), "history must be a duration"),
        (lambda: RollingTime(window=[1]), r"not \[1\]"),
        (lambda: RollingTime(spacing="rows"), "^spacing must be"),
    ],
)
def test_a_wrong_option_is_rejected(make: Callable[[], Any], match: str) -> None:
    """Before any split; the message has the allowed values."""
    assert_rejected(match, make)


@pytest.mark.parametrize(
    ("splits", "times", "match"),
    [
        (RollingTime(4), [1, 1, 2, 2, 3], "cuts=4 needs at least 5 different .* are 3. Lower"),
        (RollingTime(2), [1, 2, 2, 2, 3], "two parts the same time, 2.0, .* 3 of 5"),
        (RollingTime([1]), [1, 2, 3, 4, 5], "the cut, at 1, .* to train on: .* from 1 "),
        (RollingTime([4, 9]), [1, 2, 3, 4, 5], "cut 2 of 2, at 9, .* to test: .* to 5\\."),
        (
            RollingTime([3], 2, known_users=True),
            range(5),
            "to test of a user with ratings before it",
        ),
        *((RollingTime(), *case) for case in TIMES),
    ],
)
def test_ratings_that_cannot_be_cut_are_rejected(splits: Any, times: Any, match: str) -> None:
    """The message has the cut and the range of the timestamps."""
    assert_rejected(match, parts, splits, rated(*"abcde", times=times))
