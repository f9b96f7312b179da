"""Splits: which ratings of which users are tested."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surprise import Dataset, Reader

from recsys_ndcg.folds import LeaveLastOut, LeaveNOut, RollingTime, TimeSplit, UserKFold, parse_time
from tests.errors import assert_rejected, rejects
from tests.surprise.samples import RATINGS

Row = tuple[Any, Any, float, Any]


def dataset(rows: Sequence[Row]) -> Any:
    """Return a dataset of raw ratings."""
    data = Dataset.load_from_df(pd.DataFrame({"u": [1], "i": [1], "r": [1.0]}), Reader())
    data.raw_ratings = list(rows)
    return data


def rated(*users: Any, times: Sequence[Any] | None = None) -> Any:
    """Return a dataset with one row per name of a user; its items are the row numbers."""
    times = [None] * len(users) if times is None else times
    return dataset([(u, row, 3.0, t) for row, (u, t) in enumerate(zip(users, times, strict=True))])


def parts(splits: Any, data: Any) -> list[tuple[list[Any], list[Any]]]:
    """Return the (user, item) pairs of train and test in every split."""
    found = []
    for trainset, testset in splits.split(data):
        inner = trainset.all_ratings()
        train = [(trainset.to_raw_uid(u), trainset.to_raw_iid(i)) for u, i, _ in inner]
        found.append((train, [(user, item) for user, item, _ in testset]))
    return found


def held_out(splits: Any, data: Any) -> list[list[Any]]:
    """Return the tested items of every split; with `rated` these are row numbers."""
    return [[item for _, item in test] for _, test in parts(splits, data)]


def sample() -> Any:
    """Return the sample ratings with their timestamps."""
    return dataset(list(RATINGS.itertuples(index=False, name=None)))


users_drawn = st.lists(st.integers(0, 5), min_size=1, max_size=40)
seeds = st.integers(0, 2**32 - 1)


@given(users_drawn, st.integers(2, 6), seeds)
def test_user_folds_split_each_user_evenly(users: list[int], n_splits: int, seed: int) -> None:
    """A user's only rating is trained on in every fold."""
    data = rated(*users)
    count = Counter(users)
    many = [row for row, user in enumerate(users) if count[user] > 1]
    splits = UserKFold(n_splits, random_state=seed)
    if len(many) < n_splits:
        with rejects(f"UserKFold: only {len(many)} ratings .* too few for {n_splits} folds"):
            parts(splits, data)
        return
    folds = parts(splits, data)
    assert len(folds) == n_splits
    assert sorted(item for _, test in folds for _, item in test) == many
    for train, test in folds:
        assert sorted(train + test) == sorted(zip(users, range(len(users)), strict=True))
        assert {user for user, _ in test} <= {user for user, _ in train}
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1
    for user in count:
        own = [sum(one == user for one, _ in test) for _, test in folds]
        assert max(own) - min(own) <= 1


@given(users_drawn, st.integers(1, 4), st.integers(0, 3), seeds)
def test_leave_n_out_takes_n_of_each_user(
    users: list[int], n: int, min_train: int, seed: int
) -> None:
    """Other users are only trained on."""
    data, count = rated(*users), Counter(users)
    expected = {user: n for user in count if count[user] >= n + min_train}
    splits = LeaveNOut(n, 2, seed, min_train)
    if not expected or sum(expected.values()) == len(users):
        assert_rejected("LeaveNOut: (no user has|all .* are in the test)", parts, splits, data)
        return
    for train, test in parts(splits, data):
        assert Counter(user for user, _ in test) == expected
        assert sorted(train + test) == sorted(zip(users, range(len(users)), strict=True))


times_drawn = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 120)), min_size=1, max_size=30)


@given(times_drawn, st.integers(1, 3), st.integers(0, 2), st.sampled_from([int, float, str]))
def test_leave_last_out_takes_the_last_by_time_then_by_row(
    rows: list[tuple[int, int]], n: int, min_train: int, kind: Callable[[int], Any]
) -> None:
    """Timestamps may be text; they are compared as numbers."""
    users, times = zip(*rows, strict=True)
    data = rated(*users, times=list(map(kind, times)))
    expected = []
    for user in set(users):
        own = sorted((time, row) for row, (one, time) in enumerate(rows) if one == user)
        if len(own) >= n + min_train:
            expected += [row for _, row in own[-n:]]
    splits = LeaveLastOut(n, min_train)
    if not expected or len(expected) == len(rows):
        assert_rejected("LeaveLastOut: (no user has|all .* are in the test)", parts, splits, data)
        return
    [(train, test)] = parts(splits, data)
    assert [item for _, item in test] == sorted(expected)
    assert sorted(train + test) == sorted(zip(users, range(len(users)), strict=True))


def test_many_ratings_at_the_same_time_are_in_the_order_of_their_rows() -> None:
    """Of a user with so many that NumPy would sort them in another way."""
    times = [row % 2 for row in range(500)]
    expected = [row for row, time in enumerate(times) if time][-7:]
    assert held_out(LeaveLastOut(7), rated(*"a" * 500, times=times)) == [expected]


def test_the_folds_of_a_user_and_of_each_rating_are_random() -> None:
    """A user of two ratings would otherwise always be in the first two of four folds."""
    pairs, shared = set(), set()
    for seed in range(20):
        folds = held_out(UserKFold(4, random_state=seed), rated(*"aabbccdd"))
        place = {row: fold for fold, rows in enumerate(folds) for row in rows}
        pairs.add(frozenset((place[0], place[1])))
        shared.add({place[0], place[1]} == {place[2], place[3]})
    assert set().union(*pairs) == {0, 1, 2, 3}
    assert len(pairs) > 2
    assert shared == {True, False}


def test_every_rating_of_a_user_is_equally_likely_to_be_tested() -> None:
    """The position in the data has no influence."""
    data = rated(*"aaaaaa", "b")
    counts = Counter(row for test in held_out(LeaveNOut(2, 300, 0), data) for row in test)
    assert set(counts) == set(range(6))
    assert all(60 < count < 140 for count in counts.values())
    folds = (held_out(UserKFold(3, random_state=seed), data)[0] for seed in range(300))
    first = Counter(row for fold in folds for row in fold)
    assert all(60 < first[row] < 140 for row in range(6))


@pytest.mark.parametrize("make", [UserKFold, lambda **seed: LeaveNOut(2, 5, **seed)])
def test_a_seed_gives_the_same_splits_each_time(make: Callable[..., Any]) -> None:
    """A generator or None gives new ones, as in Surprise."""
    data, seeded = sample(), make(random_state=5)
    first = held_out(seeded, data)
    assert len({tuple(one) for one in first}) == 5
    assert held_out(seeded, data) == first
    assert held_out(make(random_state=np.int64(5)), data) == first
    assert held_out(make(random_state=6), data) != first
    generator = make(random_state=np.random.RandomState(5))
    assert held_out(generator, data) == first
    assert held_out(generator, data) != first
    np.random.seed(5)  # noqa: NPY002 - the generator that Surprise takes for None
    assert held_out(make(), data) == first
    assert held_out(make(), data) != first


def test_raw_ratings_keep_their_order_and_their_timestamps() -> None:
    """Surprise's LeaveOneOut drops the timestamps."""
    data, seen = sample(), list[Any]()
    data.construct_trainset = data.construct_testset = seen.append
    rows, before = data.raw_ratings, [*data.raw_ratings]
    list(LeaveLastOut(2).split(data))
    assert rows == before
    for part in seen:
        assert [one for one in rows if one in set(part)] == part
    assert {id(one) for part in seen for one in part} == {id(one) for one in rows}


def test_times_are_compared_as_numbers() -> None:
    """Text would sort 9 after 10, and floats cannot tell two nanoseconds apart."""
    late = 1_700_000_000_000_000_000
    for kind in (int, str):
        near = [kind(late + 1), kind(late), kind(late - 1)]
        assert held_out(LeaveLastOut(), rated(*"aaa", times=near)) == [[0]]
        assert held_out(TimeSplit(at=late), rated(*"aaa", times=near)) == [[0, 1]]
    for times in ([1e300, 1e299], ["2e18", "1e18"], [0.75, 0.5], ["10", "9"]):
        assert held_out(LeaveLastOut(), rated(*"aa", times=times)) == [[0]]
    dates = ["1970-01-03", "1970-01-02T12:00"]
    assert held_out(TimeSplit(at=2 * DAY), rated(*"aa", times=dates)) == [[0]]


DAY = 86400


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        (3 * DAY, 3 * DAY), (np.int64(7), 7), ("1970-01-04", 3 * DAY), ("19700104", 3 * DAY),
        ("1970-01-04 12:00:00Z", 3.5 * DAY), ("1970-01-04T14:00+02:00", 3.5 * DAY),
        (pd.Timestamp("1970-01-04"), 3 * DAY), (dt.date(1970, 1, 4), 3 * DAY),
        (dt.datetime(1970, 1, 4, 12), 3.5 * DAY),  # noqa: DTZ001 - read as UTC
        (dt.datetime(1970, 1, 4, 14, tzinfo=dt.timezone(dt.timedelta(hours=2))), 3.5 * DAY),
    ],
)  # fmt: skip
def test_the_cut_may_be_a_number_text_or_a_date(at: Any, seconds: float) -> None:
    """Without a time zone it is UTC, whatever the machine's time zone is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert parse_time(at) == seconds
    time.tzset()
    times = [seconds - 1, seconds - 0.5, seconds, seconds + 1]
    assert held_out(TimeSplit(at=at), rated(*"aaaa", times=times)) == [[2, 3]]


def test_a_share_is_rounded_up_as_in_surprise() -> None:
    """The default is 0.2."""
    data = rated(*"a" * 11, times=range(11))
    sizes = {0.01: 1, 0.3: 4, 3: 3, 10: 10, None: 3}
    assert [len(*held_out(TimeSplit(size), data)) for size in sizes] == list(sizes.values())
    assert TimeSplit().test_size == 0.2
    assert TimeSplit(at=3).test_size is None


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: UserKFold(1), "UserKFold: n_splits must be a whole number of at least 2, not 1"),
        (lambda: LeaveNOut(0), "LeaveNOut: n must be a whole number of at least 1, not 0"),
        (lambda: LeaveNOut(5, 0), "n_splits must be a whole number of at least 1, not 0"),
        (lambda: LeaveNOut(5, min_train=-1), "min_train must be a whole .* at least 0, not -1"),
        (lambda: LeaveLastOut(0), "LeaveLastOut: n must be"),
        (lambda: UserKFold(random_state=-1), "random_state must be between 0 and .*, not -1"),
        (lambda: LeaveNOut(random_state=2**32), "random_state must be between"),
        (lambda: UserKFold(random_state=True), "random_state must be a whole .*, not a bool"),
        (lambda: UserKFold(random_state=np.random.default_rng()), "not a Generator"),
        (lambda: TimeSplit(1.0), "test_size must be .*, not 1.0"),
        (lambda: TimeSplit(float("nan")), "test_size must be"),
        (lambda: TimeSplit(0.2, at=5), "test_size=0.2 and at=5 both set the cut. Give only one"),
        (lambda: TimeSplit(at="yesterday"), "at must be a timestamp .*, not 'yesterday'"),
        (lambda: TimeSplit(at="1420070400000"), "at must be a timestamp"),
        (lambda: TimeSplit(at=pd.NaT), "at must be a timestamp"),
    ],
)
def test_a_wrong_option_is_rejected_before_any_split(make: Callable[[], Any], match: str) -> None:
    """The message has the allowed values."""
    assert_rejected(match, make, whole="random_state" not in match and "Generator" not in match)


EMPTY: list[tuple[Any, str, Sequence[Any] | None, str]] = [
    (LeaveNOut(3), "aaab", None, "no user has the 4 ratings that n=3 and .* maximum is 3. Low"),
    (
        UserKFold(3),
        "aab",
        None,
        "only 2 ratings are of users .* too few for 3 folds. Lower n_splits",
    ),
    (TimeSplit(4), "aaaa", range(4), "test_size=4 leaves none of 4 ratings to"),
    (TimeSplit(1), "aaa", [7] * 3, "the cut, at 7, .* to train on: .* from 7 to 7"),
    (
        TimeSplit(at="2020-01-01"),
        "aa",
        [1577836800000] * 2,
        ".* at 1577836800, .* from 1577836800000",
    ),
    (TimeSplit(at=9), "aab", range(3), "the cut, at 9, leaves no rating to test: "),
    (
        TimeSplit(at=1),
        "abb",
        range(3),
        ".* of a user with ratings before it: .*, or known_users=False",
    ),
]


@pytest.mark.parametrize("kind", [TimeSplit, RollingTime])
@pytest.mark.parametrize("value", [pd.NA, "no", None, 1])
def test_known_users_is_true_or_false(kind: Any, value: Any) -> None:
    """A text would count as true."""
    assert_rejected(f"known_users must be True or False, not {value!r}", kind, known_users=value)
    assert kind(known_users=np.True_).known_users


NO_TIMES = (
    r"timestamp: missing for {} of {} ratings, in row {} \(counted from 0\); .*load_from_file .*"
    r"data\.raw_ratings = \[\(user, item, rating, timestamp\), \.\.\.\]"
)


TIMES: list[tuple[list[Any], str]] = [
    ([None] * 5, NO_TIMES.format(5, 5, "0, 1, 2 and 2 more")),
    ([1, pd.NaT, pd.NA, 2, 3], NO_TIMES.format(2, 5, "1, 2")),
    (["1", " ", "nan", "2", "3"], NO_TIMES.format(2, 5, "1, 2")),
    ([1, 2, 3, "2014-01-01", "x"], "timestamp: text such as '2014-01-01' in row 3, 4"),
    ([1, math.inf, 3, 4, 5], "timestamp: an infinite value in row 1 .*in seconds since 1970"),
    ([1, 10**400, 3, 4, 5], "timestamp: a number beyond 1.8e308 in row 1"),
    ([1, 2, 3, 4, pd.Timestamp("2014-01-01")], "timestamp: Timestamp.* is not a number"),
]
WRONG = [
    (splits, users, times, f"{type(splits).__name__}: {m}") for splits, users, times, m in EMPTY
] + [(splits, "aaaaa", *case) for splits in (LeaveLastOut(), TimeSplit()) for case in TIMES]


@pytest.mark.parametrize(("splits", "users", "times", "match"), WRONG, ids=range(len(WRONG)))
def test_wrong_ratings_are_rejected(splits: Any, users: str, times: Any, match: str) -> None:
    """The message has the numbers of an empty part, or the first rows without a usable time."""
    assert_rejected(match, list, splits.split(rated(*users, times=times)))


def test_data_without_a_list_of_ratings_is_rejected(tmp_path: Path) -> None:
    """Such as ready folds, no rows, rows without a timestamp, and users without an id."""
    path = tmp_path / "u.data"
    path.write_text("a\tx\t3\t1\n")
    reader = Reader(line_format="user item rating timestamp", sep="\t")
    folds = Dataset.load_from_folds([(str(path), str(path))], reader)
    cases = [
        (folds, "has folds already .load_from_folds.*PredefinedKFold"),
        (RATINGS, "Cannot split a DataFrame: it has no list raw_ratings. Give a surprise.Dataset"),
        (dataset([]), "The dataset has no ratings"),
        (dataset([("a", "x", 3.0, 1), ("a", "y", 3.0)]), "row 1 .* is .'a', 'y', 3.0.; each must"),  # type: ignore[list-item]
        (dataset(["axyz"]), "row 0 .* is 'axyz'; each must"),  # type: ignore[list-item]
        (rated("a", "a", "a", None), "user: a missing id in row 3"),
        (rated("a", "a", "a", ["b"]), "user: an id is not hashable"),
    ]
    for data, match in cases:
        assert_rejected(match, list, UserKFold().split(data))
