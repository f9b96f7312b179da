"""Splits that ranking needs, for Surprise's own tools as well as for ours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import compress
from math import ceil
from numbers import Integral
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from recsys_ndcg.arrays import Codes, Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, check_integer, is_number, quote
from recsys_ndcg.input import encode, objects, refuse_rows
from recsys_ndcg.lists import grouped

_MISSING = ("", "nan", "NaT", "<NA>")
_UNEXACT = 2.0**53  # from here on, whole numbers next to each other are the same as floats


class _Splits:
    """What every split has in common: Surprise's interface, and its data."""

    n_splits: int

    def split(self, data: Any) -> Iterator[tuple[Any, list[tuple[Any, Any, float]]]]:
        """Yield (trainset, testset), as Surprise's own splits do.

        Parameters
        ----------
        data : surprise.Dataset
            All of its ratings; they keep their order in each part, and their timestamps.

        Raises
        ------
        InvalidInputError
            The ratings cannot be split so; the message says why.
        """
        ratings = ratings_of(data)
        users = _Users(ratings)
        for train, test in self._parts(ratings, users):
            yield (
                data.construct_trainset(list(compress(ratings, train.tolist()))),
                data.construct_testset(list(compress(ratings, test.tolist()))),
            )

    def get_n_folds(self) -> int:
        """Return the number of splits."""
        return self.n_splits

    def _parts(self, ratings: Sequence[Any], users: _Users) -> Iterator[tuple[Flags, Flags]]:
        """Yield which rows to train on, and which to test."""
        raise NotImplementedError

    def _refuse(self, fault: str) -> NoReturn:
        msg = f"{type(self).__name__}: {fault}"
        raise InvalidInputError(msg)

    def _check_whole(self, least: int, **options: Any) -> None:
        for name, value in options.items():
            check_integer(f"{type(self).__name__}: {name}", value, least)

    def _check_seed(self, seed: Any) -> None:
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        if whole and not 0 <= int(seed) < 2**32:
            self._refuse(f"random_state must be between 0 and 2**32 - 1, not {quote(seed)}.")
        if not (whole or seed is None or isinstance(seed, np.random.RandomState)):
            kind = type(seed).__name__
            self._refuse(
                "random_state must be a whole number, a numpy.random.RandomState or None, as in "
                f"Surprise, not a {kind}."
            )


class UserKFold(_Splits):
    """Each user's own ratings dealt evenly over the folds; every fold is the test once.

    Use it to compare models by their rankings. Surprise's ``KFold`` deals all ratings together, so
    that one user has 30 to rank in a fold and the next has none; here a user's shares differ by
    one rating at most, and so do the folds. A user with fewer ratings than folds is tested in as
    many folds as there are ratings; one with a single rating is only trained on.

    Parameters
    ----------
    n_splits : int
        How many folds, at least 2.
    random_state : int, numpy.random.RandomState or None
        As in Surprise: a whole number gives the same folds each time.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings(n_users=30)
    >>> reader = Reader(rating_scale=(0.5, 5))
    >>> data = Dataset.load_from_df(ratings[["user", "item", "rating"]], reader)
    >>> for trainset, testset in UserKFold(3, random_state=0).split(data):
    ...     print(trainset.n_ratings, len(testset))
    554 277
    554 277
    554 277
    """

    def __init__(self, n_splits: int = 5, random_state: Any = None) -> None:
        self._check_whole(2, n_splits=n_splits)
        self._check_seed(random_state)
        self.n_splits = n_splits
        self.random_state = random_state

    def _parts(self, ratings: Sequence[Any], users: _Users) -> Iterator[tuple[Flags, Flags]]:
        draw = _drawing(self.random_state)
        rows, *_ = users.in_order(draw.permutation(len(ratings)), draw.permutation(users.size))
        dealt = rows[users.n_ratings[users.codes[rows]] > 1]
        if len(dealt) < self.n_splits:
            self._refuse(
                f"{len(dealt)} ratings of users who have at least 2 cannot fill {self.n_splits} "
                "folds. Lower n_splits."
            )
        fold = np.full(len(ratings), -1)
        # one user after the other, going on where the one before ended
        fold[dealt] = draw.permutation(self.n_splits)[np.arange(len(dealt)) % self.n_splits]
        for number in range(self.n_splits):
            yield fold != number, fold == number


class _LeaveOut(_Splits):
    """`n` ratings of each user who has enough."""

    def __init__(self, n: int, n_splits: int, min_train: int) -> None:
        self._check_whole(1, n=n, n_splits=n_splits)
        self._check_whole(0, min_train=min_train)
        self.n = n
        self.n_splits = n_splits
        self.min_train = min_train

    def _without_last(self, users: _Users, order: Positions) -> tuple[Flags, Flags]:
        """Part each user's last `n` rows, in an order of all rows, from those before."""
        rows, left = users.in_order(order)
        tested = users.n_ratings >= self.n + self.min_train
        test = np.zeros(len(rows), dtype=bool)
        test[rows] = (left <= self.n) & tested[users.codes[rows]]
        if not test.any():
            self._refuse(
                f"no user has the {self.n + self.min_train} ratings that n={self.n} and "
                f"min_train={self.min_train} need; the most of a user is {users.n_ratings.max()}. "
                "Lower n."
            )
        if test.all():
            self._refuse(
                f"all {len(rows)} ratings are in the test, none is left to train on. Lower n, or "
                "raise min_train."
            )
        return ~test, test


class LeaveNOut(_LeaveOut):
    """`n` random ratings of each user are the test; each split draws anew.

    Use it where every user shall count with a list of the same length. Take n of at least 5: a list
    of one item scores the same in any order, so that with ``LeaveOneOut`` NDCG is 1 for every
    model, unless all items are ranked. Random ratings flatter: the model trains on what
    came after them. `LeaveLastOut` does not.

    Parameters
    ----------
    n : int
        How many ratings of each user are tested.
    n_splits : int
        How often to draw.
    random_state : int, numpy.random.RandomState or None
        As in Surprise: a whole number gives the same draws each time.
    min_train : int
        A user with fewer than ``n + min_train`` ratings is only trained on.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings(n_users=30)
    >>> reader = Reader(rating_scale=(0.5, 5))
    >>> data = Dataset.load_from_df(ratings[["user", "item", "rating"]], reader)
    >>> for trainset, testset in LeaveNOut(n=5, n_splits=2, random_state=0).split(data):
    ...     print(trainset.n_ratings, len(testset))
    686 145
    686 145
    """

    def __init__(
        self, n: int = 5, n_splits: int = 5, random_state: Any = None, min_train: int = 1
    ) -> None:
        super().__init__(n, n_splits, min_train)
        self._check_seed(random_state)
        self.random_state = random_state

    def _parts(self, ratings: Sequence[Any], users: _Users) -> Iterator[tuple[Flags, Flags]]:
        draw = _drawing(self.random_state)
        for _ in range(self.n_splits):
            yield self._without_last(users, draw.permutation(len(ratings)))


class LeaveLastOut(_LeaveOut):
    """The last `n` ratings of each user, by their timestamps, are the test.

    Use it to ask what a user takes next, as a recommender in service is asked. With n=1 rank all
    items: among the test ratings alone, a list of one item scores the same in any order; there,
    take n of at least 5. The scores are lower than those of random ratings, and closer to what
    comes in service.

    Parameters
    ----------
    n : int
        How many ratings of each user are tested. Of ratings at the same time, the later row is
        the later one.
    min_train : int
        A user with fewer than ``n + min_train`` ratings is only trained on.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings(n_users=30)
    >>> reader = Reader(rating_scale=(0.5, 5))
    >>> data = Dataset.load_from_df(ratings[["user", "item", "rating"]], reader)
    >>> data.raw_ratings = list(ratings.itertuples(index=False, name=None))  # with timestamps
    >>> [(trainset, testset)] = LeaveLastOut(n=5).split(data)
    >>> trainset.n_ratings, len(testset)
    (686, 145)
    """

    def __init__(self, n: int = 1, min_train: int = 1) -> None:
        super().__init__(n, 1, min_train)

    def _parts(self, ratings: Sequence[Any], users: _Users) -> Iterator[tuple[Flags, Flags]]:
        yield self._without_last(users, np.argsort(times_of(ratings), kind="stable"))


class TimeSplit(_Splits):
    """One cut in time for all users: what comes after it is the test.

    Use it for what matters in service: the model knows nothing of what comes later, not even from
    other users. Few users may have ratings on both sides of the cut, so look at how many the
    scores are of.

    Parameters
    ----------
    test_size : float or int, optional
        The share of the ratings that are tested, between 0 and 1, or their number; 0.2 where `at`
        is not given either. Ratings at the time of the cut are all tested, so there may be more.
    at : number, str, datetime.datetime or datetime.date, optional
        In place of `test_size`: the time from which ratings are tested. A number is one like the
        data's; text is an ISO date or time, which like a datetime is UTC unless it says otherwise,
        and is compared in seconds since 1970.
    known_users : bool
        Whether to leave ratings of users without any in the training set out of the test.

    Attributes
    ----------
    n_left_out : int or None
        How many ratings `known_users` left out of the test; None before the split.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings(n_users=30)
    >>> reader = Reader(rating_scale=(0.5, 5))
    >>> data = Dataset.load_from_df(ratings[["user", "item", "rating"]], reader)
    >>> data.raw_ratings = list(ratings.itertuples(index=False, name=None))  # with timestamps
    >>> cut = TimeSplit(at="2016-01-01")
    >>> [(trainset, testset)] = cut.split(data)
    >>> trainset.n_ratings, len(testset), cut.n_left_out
    (241, 19, 571)
    """

    n_splits = 1

    def __init__(
        self, test_size: float | None = None, at: Any = None, *, known_users: bool = True
    ) -> None:
        if test_size is not None and at is not None:
            self._refuse(
                f"test_size={quote(test_size)} and at={quote(at)} both say where to cut; give one."
            )
        if at is None:
            test_size = 0.2 if test_size is None else test_size
            whole = isinstance(test_size, Integral)
            if not is_number(test_size) or not (test_size >= 1 if whole else 0 < test_size < 1):
                self._refuse(
                    "test_size must be a share between 0 and 1 or a whole number of ratings, not "
                    f"{quote(test_size)}."
                )
        else:
            seconds_of(at)
        self.test_size = test_size
        self.at = at
        self.known_users = known_users
        self.n_left_out: int | None = None

    def _parts(self, ratings: Sequence[Any], users: _Users) -> Iterator[tuple[Flags, Flags]]:
        times = times_of(ratings)
        cut = self._cut(times)
        test = times >= cut
        if test.all() or not test.any():
            none = "to train on" if test.any() else "to test"
            wish = f"at={quote(self.at)}" if self.at is not None else f"test_size={self.test_size}"
            self._refuse(
                f"{wish}, which is a cut at {quote(cut)}, leaves no rating {none}: the timestamps "
                f"go from {quote(times.min())} to {quote(times.max())}."
            )
        train = ~test
        if self.known_users:
            known = np.bincount(users.codes[train], minlength=users.size) > 0
            test &= known[users.codes]
        self.n_left_out = int(len(test) - train.sum() - test.sum())
        if not test.any():
            self._refuse(
                f"none of the users of the {self.n_left_out} ratings from {quote(cut)} on has any "
                "before. Cut elsewhere, or choose known_users=False."
            )
        yield train, test

    def _cut(self, times: Floats | Positions) -> Any:
        """Return the least time that is tested."""
        if self.test_size is None:
            return seconds_of(self.at)
        count = self.test_size
        count = int(count) if isinstance(count, Integral) else ceil(count * len(times))
        if count >= len(times):
            self._refuse(
                f"test_size={self.test_size} leaves none of {len(times)} ratings to train on."
            )
        return np.partition(times, len(times) - count)[len(times) - count]


def _drawing(seed: Any) -> Any:
    """Return what draws by a seed, as in Surprise: NumPy's own generator for None."""
    if isinstance(seed, Integral):
        return np.random.RandomState(int(seed))
    return np.random.mtrand._rand if seed is None else seed  # noqa: SLF001


class _Users:
    """The users of ratings, as codes."""

    def __init__(self, ratings: Sequence[Any]) -> None:
        users, codes = encode(objects(list(map(itemgetter(0), ratings)), "user"), "user")
        self.size = len(users)
        self.codes: Codes = codes
        self.n_ratings = np.bincount(codes, minlength=self.size)

    def in_order(
        self, order: Positions, of_users: Positions | None = None
    ) -> tuple[Positions, Positions]:
        """Return the rows by user in an order, and how many of the user's there are from each on.

        Parameters
        ----------
        order : array
            All rows.
        of_users : array, optional
            The place of each user.
        """
        codes = (self.codes if of_users is None else of_users[self.codes].astype(np.int32))[order]
        [rows], offsets = grouped(codes, [order], self.size)
        ends = offsets[1:]
        return rows, np.repeat(ends, np.diff(ends, prepend=0)) - np.arange(len(rows))


def seconds_of(at: Any) -> float:
    """Return a time as a number: one stays as it is, text and dates are seconds since 1970.

    Raises
    ------
    InvalidInputError
        It is no time.

    Examples
    --------
    >>> seconds_of("1970-01-02"), seconds_of("1970-01-01T02:00+02:00"), seconds_of(5)
    (86400.0, 0.0, 5)
    """
    if is_number(at):
        number: float = at
        return number
    if isinstance(at, str) and not (at.isdigit() and len(at) != len("20200131")):
        with suppress(ValueError):
            at = dt.datetime.fromisoformat(at)
    if isinstance(at, dt.date) and not isinstance(at, dt.datetime):
        at = dt.datetime(at.year, at.month, at.day)  # noqa: DTZ001 - which is UTC, as below
    if not isinstance(at, dt.datetime) or at != at:  # noqa: PLR0124 - pandas' NaT
        msg = (
            f"at must be a timestamp (a number), an ISO date such as '2020-01-31', or a datetime, "
            f"not {quote(at)}."
        )
        raise InvalidInputError(msg)
    return (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()


def ratings_of(data: Any) -> Sequence[Any]:
    """Return the raw ratings of a dataset, (user, item, rating, timestamp) each.

    Raises
    ------
    InvalidInputError
        The dataset has none, or has them in another form.
    """
    ratings = getattr(data, "raw_ratings", None)
    if not isinstance(ratings, list | tuple):
        kind = type(data).__name__
        msg = f"Cannot split a {kind}: it has no list raw_ratings. Give a surprise.Dataset."
        if hasattr(data, "folds_files"):
            msg = (
                "The dataset comes in folds already (load_from_folds). Split it with "
                "surprise.model_selection.PredefinedKFold, or load one file with load_from_file."
            )
        raise InvalidInputError(msg)
    if not ratings:
        msg = "The dataset has no ratings. Check the file or the filter that they came from."
        raise InvalidInputError(msg)
    for place, row in enumerate(ratings):
        if not isinstance(row, tuple | list) or len(row) != 4:
            msg = (
                f"raw_ratings: row {place} (counted from 0) is {quote(row)}; each must be "
                "(user, item, rating, timestamp), the last of them None where there is none."
            )
            raise InvalidInputError(msg)
    return ratings


def times_of(ratings: Sequence[Any]) -> Floats | Positions:
    """Return the timestamps as numbers, whole ones exactly.

    Raises
    ------
    InvalidInputError
        A timestamp is missing or is no number; the first rows are named.

    Examples
    --------
    >>> times_of([("ann", "a", 4.0, "10"), ("ann", "b", 3.0, 9)])
    array([10.,  9.])
    """
    given = list(map(itemgetter(3), ratings))
    times = np.fromiter(map(_as_number, given), np.float64, len(given))
    wrong = ~np.isfinite(times)
    if wrong.any():
        missing = np.array([one is None or str(one).strip() in _MISSING for one in given])
        refuse_rows(
            missing,
            "timestamp",
            f"missing for {missing.sum()} of {len(given)} ratings,",
            "load_from_df drops them, so load them with load_from_file and a Reader whose "
            "line_format has timestamp, or assign data.raw_ratings = [(user, item, rating, "
            "timestamp), ...]",
        )
        first = quote(given[int(wrong.argmax())])
        refuse_rows(
            wrong, "timestamp", f"{first} is not a number,", "write times in seconds since 1970"
        )
    if np.abs(times).max() >= _UNEXACT:
        try:
            return np.fromiter(map(int, given), np.int64, len(given))
        except (ValueError, OverflowError):  # not whole numbers, or too long
            return times
    return times


def _as_number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        return np.nan
