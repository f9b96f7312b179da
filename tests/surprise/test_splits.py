"""Splits: who is tested with what, and that Surprise's own tools take them."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surprise import BaselineOnly, Dataset, Reader
from surprise.model_selection import GridSearchCV, cross_validate

from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.folds.splits import (
    LeaveLastOut,
    LeaveNOut,
    TimeSplit,
    UserKFold,
    seconds_of,
)
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Row = tuple[Any, Any, float, Any]
TABLE = sample_ratings(n_users=40, n_items=60)


def dataset(rows: Sequence[Row]) -> Any:
    """Return a dataset of raw ratings."""
    data = Dataset.load_from_df(pd.DataFrame({"u": [1], "i": [1], "r": [1.0]}), Reader())
    data.raw_ratings = list(rows)
    return data


def rated(*users: Any, times: Sequence[Any] | None = None) -> Any:
    """Return a dataset of one row per user named; its items are numbered by row."""
    times = [None] * len(users) if times is None else times
    return dataset([(u, row, 3.0, t) for row, (u, t) in enumerate(zip(users, times, strict=True))])


def parts(splits: Any, data: Any) -> list[tuple[list[Any], list[Any]]]:
    """Return the (user, item) of train and test, in every split."""
    found = []
    for trainset, testset in splits.split(data):
        inner = trainset.all_ratings()
        train = [(trainset.to_raw_uid(u), trainset.to_raw_iid(i)) for u, i, _ in inner]
        found.append((train, [(user, item) for user, item, _ in testset]))
    return found


def held_out(splits: Any, data: Any) -> list[list[Any]]:
    """Return the items tested, in every split; with `rated` these are rows."""
    return [[item for _, item in test] for _, test in parts(splits, data)]


@pytest.fixture(name="data")
def _data() -> Any:
    data = Dataset.load_from_df(TABLE[["user", "item", "rating"]], Reader(rating_scale=(0.5, 5)))
    data.raw_ratings = list(TABLE.itertuples(index=False, name=None))
    return data


ALL = (UserKFold(3), LeaveNOut(2, 3), LeaveLastOut(2), TimeSplit())

users_drawn = st.lists(st.integers(0, 5), min_size=1, max_size=40)
seeds = st.integers(0, 2**32 - 1)


@given(users_drawn, st.integers(2, 6), seeds)
def test_folds_test_every_rating_once_and_deal_each_users_evenly(
    users: list[int], n_splits: int, seed: int
) -> None:
    """All but those of users with a single one, which are trained on in every fold."""
    data = rated(*users)
    count = Counter(users)
    many = [row for row, user in enumerate(users) if count[user] > 1]
    splits = UserKFold(n_splits, random_state=seed)
    if len(many) < n_splits:
        with rejects(f"UserKFold: {len(many)} ratings .* cannot fill {n_splits} folds"):
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
def test_leave_n_out_takes_n_of_each_user_who_has_enough(
    users: list[int], n: int, min_train: int, seed: int
) -> None:
    """The others stay in train whole."""
    data, count = rated(*users), Counter(users)
    expected = {user: n for user in count if count[user] >= n + min_train}
    splits = LeaveNOut(n, 2, seed, min_train)
    if not expected or sum(expected.values()) == len(users):
        with rejects("LeaveNOut: (no user has|all .* are in the test)"):
            parts(splits, data)
        return
    for train, test in parts(splits, data):
        assert Counter(user for user, _ in test) == expected
        assert sorted(train + test) == sorted(zip(users, range(len(users)), strict=True))


times_drawn = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 120)), min_size=1, max_size=30)


@given(times_drawn, st.integers(1, 3), st.integers(0, 2), st.sampled_from([int, float, str]))
def test_leave_last_out_takes_the_last_by_time_then_by_row(
    rows: list[tuple[int, int]], n: int, min_train: int, kind: Callable[[int], Any]
) -> None:
    """Timestamps that are text are compared as numbers."""
    users, times = zip(*rows, strict=True)
    data = rated(*users, times=list(map(kind, times)))
    expected = []
    for user in set(users):
        own = sorted((time, row) for row, (one, time) in enumerate(rows) if one == user)
        if len(own) >= n + min_train:
            expected += [row for _, row in own[-n:]]
    splits = LeaveLastOut(n, min_train)
    if not expected or len(expected) == len(rows):
        with rejects("LeaveLastOut: (no user has|all .* are in the test)"):
            parts(splits, data)
        return
    [(train, test)] = parts(splits, data)
    assert [item for _, item in test] == sorted(expected)
    assert sorted(train + test) == sorted(zip(users, range(len(users)), strict=True))


@given(times_drawn, st.integers(1, 5), st.booleans(), st.sampled_from([int, float, str]))
def test_a_cut_in_time_keeps_equal_times_together(
    rows: list[tuple[int, int]],
    size: int,
    known_users: Any,
    kind: Callable[[int], Any],
) -> None:
    """On the side of the test; users without a past are left out of it alone."""
    users, times = zip(*rows, strict=True)
    data = rated(*users, times=list(map(kind, times)))
    splits = TimeSplit(size, known_users=known_users)
    cut = sorted(times)[-size] if size < len(times) else None
    train = [row for row, time in enumerate(times) if cut is not None and time < cut]
    known = {users[row] for row in train}
    test = [
        row
        for row in range(len(rows))
        if row not in train and (users[row] in known or not known_users)
    ]
    if not train or not test:
        with rejects("TimeSplit: .*(leaves no|none)"):
            parts(splits, data)
        return
    [(trained, tested)] = parts(splits, data)
    assert sorted(item for _, item in trained) == train
    assert [item for _, item in tested] == test
    assert splits.n_left_out == len(rows) - len(train) - len(test)


def test_which_folds_a_user_is_in_is_drawn() -> None:
    """A user of two ratings would else always be in the first two."""
    data = rated(*"aabbccdd")
    pairs = set()
    for seed in range(50):
        folds = parts(UserKFold(4, random_state=seed), data)
        pairs.add(tuple(n for n, (_, test) in enumerate(folds) if "a" in dict(test)))
    assert {fold for pair in pairs for fold in pair} == {0, 1, 2, 3}
    assert len(pairs) > 2


def test_whose_ratings_share_a_fold_is_drawn() -> None:
    """Of one user's own, and of two users."""
    shared, own = set(), set()
    for seed in range(50):
        folds = held_out(UserKFold(4, random_state=seed), rated(*"aabbccdd"))
        place = {row: fold for fold, rows in enumerate(folds) for row in rows}
        shared.add({place[0], place[1]} == {place[2], place[3]})
        own.add(tuple(held_out(UserKFold(3, random_state=seed), rated(*"aaaaaa"))[0]))
    assert shared == {True, False}
    assert len(own) > 8


def test_every_rating_of_a_user_is_as_likely_to_be_tested() -> None:
    """And not the first or the last ones."""
    data = rated(*"aaaaaa", "b")
    drawn = Counter(row for test in held_out(LeaveNOut(2, 300, 0), data) for row in test)
    assert set(drawn) == set(range(6))
    assert all(60 < count < 140 for count in drawn.values())
    first = Counter(
        row for seed in range(300) for row in held_out(UserKFold(3, random_state=seed), data)[0]
    )
    assert all(60 < first[row] < 140 for row in range(6))


@pytest.mark.parametrize("make", [UserKFold, lambda **seed: LeaveNOut(2, 5, **seed)])
def test_a_seed_gives_the_same_split_each_time(make: Callable[..., Any], data: Any) -> None:
    """A generator or none a new one, as in Surprise."""
    seeded = make(random_state=5)
    first = held_out(seeded, data)
    assert held_out(seeded, data) == first
    assert held_out(make(random_state=np.int64(5)), data) == first
    assert held_out(make(random_state=6), data) != first
    generator = make(random_state=np.random.RandomState(5))
    assert held_out(generator, data) == first
    assert held_out(generator, data) != first
    np.random.seed(5)  # noqa: NPY002 - what Surprise takes where no state is given
    assert held_out(make(), data) == first
    assert held_out(make(), data) != first


def test_each_draw_is_a_new_one(data: Any) -> None:
    """Within one call of split."""
    draws = held_out(LeaveNOut(2, 5, random_state=0), data)
    assert len({tuple(one) for one in draws}) == 5


@pytest.mark.parametrize("splits", ALL, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of joblib's processes
def test_surprises_own_tools_take_every_split(
    splits: Any, n_jobs: int, data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """They ask for split, n_splits and get_n_folds."""
    model = BaselineOnly(verbose=False)
    found = cross_validate(model, data, ["rmse"], cv=splits, n_jobs=n_jobs, verbose=True)
    assert len(found["test_rmse"]) == splits.n_splits == splits.get_n_folds()
    assert f"on {splits.n_splits} split(s)" in capsys.readouterr().out
    grid = {"bsl_options": {"method": ["als"], "reg_u": [5, 15]}, "verbose": [False]}
    search = GridSearchCV(BaselineOnly, grid, ["rmse"], cv=splits, n_jobs=n_jobs, refit=True)
    search.fit(data)
    assert f"split{splits.n_splits - 1}_test_rmse" in search.cv_results
    assert search.best_score["rmse"] < 2


def test_raw_ratings_pass_unchanged_and_in_order(data: Any) -> None:
    """With their timestamps, which Surprise's LeaveOneOut drops."""
    rows = data.raw_ratings
    seen: list[Any] = []
    data.construct_trainset = seen.append
    data.construct_testset = seen.append
    before = list(rows)
    list(LeaveLastOut(2).split(data))
    train, test = seen
    assert rows == before
    assert [one for one in rows if one in set(train)] == train
    assert [one for one in rows if one in set(test)] == test
    assert {id(one) for one in train + test} == {id(one) for one in rows}


def test_a_file_with_timestamps_is_split_as_the_table_is(tmp_path: Path, data: Any) -> None:
    """There they are text."""
    path = tmp_path / "ratings.tsv"
    TABLE.to_csv(path, sep="\t", header=False, index=False)
    reader = Reader(line_format="user item rating timestamp", sep="\t", rating_scale=(0.5, 5))
    loaded = Dataset.load_from_file(str(path), reader)
    assert isinstance(loaded.raw_ratings[0][3], str)
    for splits in (LeaveLastOut(3), TimeSplit(), TimeSplit(50), TimeSplit(at="2015-06-01")):
        assert held_out(splits, loaded) == held_out(splits, data)


def test_times_are_compared_as_numbers_and_exactly() -> None:
    """Text would put 9 after 10, and floats make neighbouring nanoseconds equal."""
    assert held_out(LeaveLastOut(), rated(*"aab", times=["10", "9", "1"])) == [[0]]
    late = 1_700_000_000_000_000_000
    for kind in (int, str):
        times = [kind(late + 1), kind(late), kind(late - 1)]
        assert held_out(LeaveLastOut(), rated(*"aaa", times=times)) == [[0]]
        assert held_out(TimeSplit(at=late), rated(*"aaa", times=times)) == [[0, 1]]
    assert held_out(LeaveLastOut(), rated(*"aa", times=[1e300, 1e299])) == [[0]]
    assert held_out(LeaveLastOut(), rated(*"aa", times=["2e18", "1e18"])) == [[0]]
    assert held_out(LeaveLastOut(), rated(*"aa", times=[0.75, 0.5])) == [[0]]


DAY = 86400


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        (3 * DAY, 3 * DAY),
        (3.5 * DAY, 3.5 * DAY),
        (np.int64(7), 7),
        ("1970-01-04", 3 * DAY),
        ("19700104", 3 * DAY),
        ("1970-01-04T12:00", 3.5 * DAY),
        ("1970-01-04 12:00:00Z", 3.5 * DAY),
        ("1970-01-04T14:00+02:00", 3.5 * DAY),
        (dt.date(1970, 1, 4), 3 * DAY),
        (dt.datetime(1970, 1, 4, 12), 3.5 * DAY),  # noqa: DTZ001 - read as UTC
        (dt.datetime(1970, 1, 4, 14, tzinfo=dt.timezone(dt.timedelta(hours=2))), 3.5 * DAY),
        (pd.Timestamp("1970-01-04"), 3 * DAY),
    ],
)
def test_the_cut_may_be_a_number_a_text_or_a_date(at: Any, seconds: float) -> None:
    """What does not say its time zone is UTC, wherever it is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert seconds_of(at) == seconds
    time.tzset()
    times = [seconds - 1, seconds - 0.5, seconds, seconds + 1]
    assert held_out(TimeSplit(at=at), rated(*"aaaa", times=times)) == [[2, 3]]


def test_a_share_is_rounded_up_as_in_surprise() -> None:
    """And is a fifth where nothing is said."""
    data = rated(*"a" * 11, times=range(11))
    assert [len(*held_out(TimeSplit(size), data)) for size in (0.01, 0.3, 3, 10, None)] == [
        1,
        4,
        3,
        10,
        3,
    ]
    assert TimeSplit().test_size == 0.2
    assert TimeSplit(at=3).test_size is None


def test_users_without_a_past_are_left_out_and_counted() -> None:
    """The number is that of the last split."""
    data = rated(*"abacc", times=[1, 2, 3, 4, 5])
    known = TimeSplit(at=3)
    assert known.n_left_out is None
    assert held_out(known, data) == [[2]]
    assert known.n_left_out == 2
    everyone = TimeSplit(at=3, known_users=False)
    assert held_out(everyone, data) == [[2, 3, 4]]
    assert everyone.n_left_out == 0


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: UserKFold(1), "UserKFold: n_splits must be a whole number of at least 2, not 1"),
        (lambda: UserKFold(2.0), "n_splits must be a whole number"),  # type: ignore[arg-type]
        (lambda: UserKFold(True), "n_splits must be a whole number"),  # noqa: FBT003 - as is wrong
        (lambda: UserKFold("5"), "n_splits must be a whole number of at least 2, not '5'"),  # type: ignore[arg-type]
        (lambda: LeaveNOut(0), "LeaveNOut: n must be a whole number of at least 1, not 0"),
        (lambda: LeaveNOut(True), "n must be a whole number"),  # noqa: FBT003 - as is wrong
        (lambda: LeaveNOut(5, 0), "n_splits must be a whole number of at least 1, not 0"),
        (lambda: LeaveNOut(5, min_train=-1), "min_train must be a whole .* at least 0, not -1"),
        (lambda: LeaveLastOut(0), "LeaveLastOut: n must be"),
        (lambda: LeaveLastOut(1, None), "min_train must be"),  # type: ignore[arg-type]
        (lambda: UserKFold(random_state=-1), "random_state must be between 0 and .*, not -1"),
        (lambda: LeaveNOut(random_state=2**32), "random_state must be between"),
        (lambda: UserKFold(random_state="0"), "random_state must be a whole .*, not a str"),
        (lambda: UserKFold(random_state=True), "random_state must be a whole .*, not a bool"),
        (lambda: LeaveNOut(random_state=0.5), "random_state must be a whole"),
        (lambda: UserKFold(random_state=np.random.default_rng()), "not a Generator"),
        (lambda: TimeSplit(0), "test_size must be a share between 0 and 1 or .*, not 0"),
        (lambda: TimeSplit(0.0), "test_size must be"),
        (lambda: TimeSplit(1.0), "test_size must be .*, not 1.0"),
        (lambda: TimeSplit(-3), "test_size must be"),
        (lambda: TimeSplit(2.5), "test_size must be"),
        (lambda: TimeSplit(float("nan")), "test_size must be"),
        (lambda: TimeSplit(True), "test_size must be"),  # noqa: FBT003 - as is wrong
        (lambda: TimeSplit("0.2"), "test_size must be"),  # type: ignore[arg-type]
        (lambda: TimeSplit(0.2, at=5), "test_size=0.2 and at=5 both say where to cut; give one"),
        (lambda: TimeSplit(at="yesterday"), "at must be a timestamp .*, not 'yesterday'"),
        (lambda: TimeSplit(at="1420070400000"), "at must be a timestamp"),
        (lambda: TimeSplit(at="1420070400"), "at must be a timestamp"),
        (lambda: TimeSplit(at=float("nan")), "at must be a timestamp"),
        (lambda: TimeSplit(at=True), "at must be a timestamp"),
        (lambda: TimeSplit(at=pd.NaT), "at must be a timestamp"),
        (lambda: TimeSplit(at=[1]), "at must be a timestamp"),
    ],
)
def test_a_wrong_option_is_refused_before_any_split(make: Callable[[], Any], match: str) -> None:
    """With what it should be."""
    with rejects(match, whole="random_state" not in match and "Generator" not in match):
        make()


@pytest.mark.parametrize(
    ("splits", "data", "match"),
    [
        (
            LeaveNOut(3),
            rated(*"aaab"),
            "no user has the 4 ratings that n=3 and min_train=1 need; the most of a user is 3. Low",
        ),
        (LeaveLastOut(1, 2), rated(*"aabb", times=range(4)), "no user has the 3 ratings"),
        (LeaveNOut(1, min_train=0), rated(*"ab"), "all 2 ratings are in the test"),
        (UserKFold(3), rated(*"aab"), "2 ratings of users .* cannot fill 3 folds. Lower n_splits"),
        (TimeSplit(4), rated(*"aaaa", times=range(4)), "test_size=4 leaves none of 4 ratings to"),
        (TimeSplit(0.9), rated("a", times=[1]), "test_size=0.9 leaves none of 1 ratings to train"),
        (
            TimeSplit(1),
            rated(*"aaa", times=[7] * 3),
            "test_size=1, .* cut at 7.0, leaves no rating to train on: .* go from 7.0 to 7.0",
        ),
        (
            TimeSplit(at=9),
            rated(*"aaa", times=range(3)),
            "at=9, .*no rating to test: .* 0.0 to 2.0",
        ),
        (TimeSplit(at=0), rated(*"aaa", times=range(3)), "at=0, .* no rating to train on"),
        (
            TimeSplit(at="2020-01-01"),
            rated(*"aa", times=[1577836800000, 1577836800001]),
            "at='2020-01-01', which is a cut at 1577836800.0, .* train on: .*from 1577836800000.0",
        ),
        (
            TimeSplit(at=1),
            rated(*"abb", times=range(3)),
            "none of the users of the 2 ratings from 1 on has any before.*known_users=False",
        ),
    ],
)
def test_a_split_that_leaves_a_side_empty_is_refused(splits: Any, data: Any, match: str) -> None:
    """With the numbers that tell why."""
    with rejects(f"{type(splits).__name__}: {match}"):
        list(splits.split(data))


NO_TIMES = (
    r"timestamp: missing for {} of {} ratings, in row {} \(counted from 0\); .*load_from_file .*"
    r"data\.raw_ratings = \[\(user, item, rating, timestamp\), \.\.\.\]"
)


@pytest.mark.parametrize("splits", [LeaveLastOut(), TimeSplit()])
@pytest.mark.parametrize(
    ("times", "match"),
    [
        ([None] * 5, NO_TIMES.format(5, 5, "0, 1, 2 and 2 more")),
        ([1, None, 2, float("nan"), ""], NO_TIMES.format(3, 5, "1, 3, 4")),
        ([1, pd.NaT, pd.NA, 2, 3], NO_TIMES.format(2, 5, "1, 2")),
        (
            [1, 2, 3, "2014-01-01", "x"],
            "timestamp: '2014-01-01' is not a number, in row 3, 4 .*sec",
        ),
        ([1, 2, 3, 4, [5]], r"timestamp: \[5\] is not a number, in row 4"),
        ([1, "inf", 3, 4, 5], "timestamp: 'inf' is not a number, in row 1"),
        ([1, 10**400, 3, 4, 5], "timestamp: 1000*… is not a number, in row 1"),
        ([1, 2, 3, 4, pd.Timestamp("2014-01-01")], "timestamp: Timestamp.* is not a number"),
    ],
)
def test_times_that_cannot_be_compared_are_refused(
    splits: Any, times: list[Any], match: str
) -> None:
    """Missing ones with how to keep them, others with the first."""
    with rejects(match):
        list(splits.split(rated(*"aaaaa", times=times)))


def test_random_splits_need_no_times() -> None:
    """As load_from_df has none."""
    assert held_out(UserKFold(2), rated(*"aabb"))
    assert held_out(LeaveNOut(1), rated(*"aabb"))


@pytest.mark.parametrize("splits", ALL, ids=lambda one: type(one).__name__)
def test_data_that_is_no_list_of_ratings_is_refused(splits: Any, tmp_path: Path) -> None:
    """Folds, nothing, rows without a timestamp, users without an id."""
    path = tmp_path / "u.data"
    path.write_text("a\tx\t3\t1\n")
    reader = Reader(line_format="user item rating timestamp", sep="\t")
    folds = Dataset.load_from_folds([(str(path), str(path))], reader)
    cases = [
        (folds, "comes in folds already .load_from_folds.*PredefinedKFold"),
        (TABLE, "Cannot split a DataFrame: it has no list raw_ratings. Give a surprise.Dataset"),
        (dataset([]), "The dataset has no ratings"),
        (dataset([("a", "x", 3.0, 1), ("a", "y", 3.0)]), "row 1 .* is .'a', 'y', 3.0.; each must"),  # type: ignore[list-item]
        (dataset(["axyz"]), "row 0 .* is 'axyz'; each must"),  # type: ignore[list-item]
        (rated("a", "a", "a", None, times=range(4)), "user: a missing id in row 3"),
        (rated("a", "a", "a", ["b"], times=range(4)), "user: an id is not hashable"),
    ]
    for data, match in cases:
        with rejects(match):
            list(splits.split(data))
