"""Splitters for rankings; Surprise's own functions accept them, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import compress
from numbers import Integral
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, check_integer, quote
from recsys_ndcg.input import EncodedIds, Rows, encode_ids, raise_for_rows, to_column, to_times

_MISSING = ("", "None", "nan", "NaT", "<NA>")
_INEXACT = 2.0**53  # from here on, floats cannot distinguish neighbouring whole numbers


class Splitter:
    """The interface that Surprise expects of a splitter."""

    n_splits: int

    def split(self, data: Any) -> Iterator[tuple[Any, list[tuple[Any, Any, float]]]]:
        """Yield (trainset, testset), as Surprise's splitters do.

        Parameters
        ----------
        data : surprise.Dataset
            The ratings; they keep their order and their timestamps in each part.

        Raises
        ------
        InvalidInputError
            The ratings cannot be split in this way.
        """
        ratings = get_ratings(data)
        ids = encode_ids(to_column(list(map(itemgetter(0), ratings)), "user"), "user")
        for train, test in self._choose(ratings, EncodedIds(*ids)):
            yield (
                data.construct_trainset(list(compress(ratings, train.tolist()))),
                data.construct_testset(list(compress(ratings, test.tolist()))),
            )

    def get_n_folds(self) -> int:
        """Return the number of splits."""
        return self.n_splits

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        """Yield which rows are trained on, and which are tested."""
        raise NotImplementedError

    def _raise(self, fault: str) -> NoReturn:
        msg = f"{type(self).__name__}: {fault}"
        raise InvalidInputError(msg)

    def _check_integers(self, least: int, **options: Any) -> None:
        for name, value in options.items():
            check_integer(f"{type(self).__name__}: {name}", value, least)

    def _check_seed(self, seed: Any) -> None:
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        if whole and not 0 <= int(seed) < 2**32:
            self._raise(f"random_state must be between 0 and 2**32 - 1, not {quote(seed)}.")
        if not (whole or seed is None or isinstance(seed, np.random.RandomState)):
            kind = type(seed).__name__
            self._raise(
                "random_state must be a whole number, a numpy.random.RandomState or None, as in "
                f"Surprise, not a {kind}."
            )


class UserKFold(Splitter):
    """Divide each user's ratings evenly among the folds; every fold is the testset once.

    Use it to compare models by their rankings. Surprise's ``KFold`` ignores users, so that one user
    can have 30 ratings in a fold and another one none. Here the numbers of a user's ratings in two
    folds differ by at most one, and so do the sizes of the folds. A user with fewer ratings than
    folds is tested in as many folds as there are ratings; a user's only rating is only trained on.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
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
        self._check_integers(2, n_splits=n_splits)
        self._check_seed(random_state)
        self.n_splits = n_splits
        self.random_state = random_state

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        random = _get_generator(self.random_state)
        order, places = random.permutation(len(ratings)), random.permutation(len(users.ids))
        rows, _ = _sort_rows(users, order, places)
        tested = rows[users.counts[users.codes[rows]] > 1]
        if len(tested) < self.n_splits:
            self._raise(
                f"only {len(tested)} ratings are of users with at least 2, too few for "
                f"{self.n_splits} folds. Lower n_splits."
            )
        fold = np.full(len(ratings), -1)
        # each user continues at the fold after the previous user's last one
        fold[tested] = random.permutation(self.n_splits)[np.arange(len(tested)) % self.n_splits]
        for number in range(self.n_splits):
            yield fold != number, fold == number


class _LeaveOut(Splitter):
    """A testset of `n` ratings of each user who has enough."""

    def __init__(self, n: int, n_splits: int, min_train: int) -> None:
        self._check_integers(1, n=n, n_splits=n_splits)
        self._check_integers(0, min_train=min_train)
        self.n = n
        self.n_splits = n_splits
        self.min_train = min_train

    def _test_last(self, users: EncodedIds, order: Positions) -> tuple[Flags, Flags]:
        """Test each user's last `n` rows in an order of all rows."""
        rows, left = _sort_rows(users, order)
        tested = users.counts >= self.n + self.min_train
        test = np.zeros(len(rows), dtype=bool)
        test[rows] = (left <= self.n) & tested[users.codes[rows]]
        if not test.any():
            self._raise(
                f"no user has the {self.n + self.min_train} ratings that n={self.n} and "
                f"min_train={self.min_train} need; the maximum is {users.counts.max()}. Lower n."
            )
        if test.all():
            self._raise(
                f"all {len(rows)} ratings are in the testset, and none is left to train on. Lower "
                "n, or raise min_train."
            )
        return ~test, test


class LeaveNOut(_LeaveOut):
    """Test `n` random ratings of each user; each split draws new ones.

    Use it to give every user a list of the same length. Take n of at least 5: a list of one item
    scores the same in any order, so with ``LeaveOneOut`` NDCG is 1 for every model, unless all
    items are ranked. The scores are too high for new ratings, because the model is trained on later
    ratings, too; `LeaveLastOut` avoids this.

    Parameters
    ----------
    n : int
        Number of tested ratings of each user.
    n_splits : int
        Number of splits.
    random_state : int, numpy.random.RandomState or None
        As in Surprise: a whole number gives the same draws each time.
    min_train : int
        The least number of training ratings of a tested user; other users are only trained on.

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

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        random = _get_generator(self.random_state)
        for _ in range(self.n_splits):
            yield self._test_last(users, random.permutation(len(ratings)))


class LeaveLastOut(_LeaveOut):
    """Test the last `n` ratings of each user, by their timestamps.

    Use it to predict what a user takes next, like a recommender in production. With n=1 rank all
    items, because a list of one test rating scores the same in any order; to rank only test
    ratings, take n of at least 5. The scores are lower than for random ratings, and closer to those
    in production.

    Parameters
    ----------
    n : int
        Number of tested ratings of each user. Ratings at the same time are in the order of their
        rows.
    min_train : int
        The least number of training ratings of a tested user; other users are only trained on.

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

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        yield self._test_last(users, np.argsort(read_times(ratings), kind="stable"))


def _get_generator(seed: Any) -> Any:
    """Return the generator for a seed as in Surprise: NumPy's global one for None."""
    if isinstance(seed, Integral):
        return np.random.RandomState(int(seed))
    return np.random.mtrand._rand if seed is None else seed


def _sort_rows(
    users: EncodedIds, order: Positions, places: Positions | None = None
) -> tuple[Positions, Positions]:
    """Return the rows user by user, and for each one the number of the user's remaining rows.

    Parameters
    ----------
    users : EncodedIds
        The user of each row.
    order : array
        The order of each user's rows.
    places : array, optional
        The place of each user.
    """
    place = users.codes if places is None else places[users.codes]
    sizes = np.bincount(place)
    rows = order[np.argsort(place[order], kind="stable")]
    return rows, np.repeat(np.cumsum(sizes), sizes) - np.arange(len(order))


def get_ratings(data: Any) -> Sequence[Any]:
    """Return the raw ratings of a dataset, (user, item, rating, timestamp) each.

    Raises
    ------
    InvalidInputError
        There are none, or they have another form.
    """
    ratings = getattr(data, "raw_ratings", None)
    if not isinstance(ratings, list | tuple):
        kind = type(data).__name__
        msg = f"Cannot split a {kind}: it has no list raw_ratings. Give a surprise.Dataset."
        if hasattr(data, "folds_files"):
            msg = (
                "The dataset has folds already (load_from_folds). Split it with "
                "surprise.model_selection.PredefinedKFold, or load one file with load_from_file."
            )
        raise InvalidInputError(msg)
    if not ratings:
        msg = "The dataset has no ratings. Check the file or the filter that it comes from."
        raise InvalidInputError(msg)
    for place, row in enumerate(ratings):
        if not isinstance(row, tuple | list) or len(row) != 4:
            msg = (
                f"raw_ratings: row {place} (counted from 0) is {quote(row)}; each must be "
                "(user, item, rating, timestamp). Write None for a missing timestamp."
            )
            raise InvalidInputError(msg)
    return ratings


def read_times(ratings: Sequence[Any]) -> Floats | Positions:
    """Return the timestamps as numbers, and whole ones exactly; dates become seconds since 1970.

    Raises
    ------
    InvalidInputError
        A timestamp is missing or is no time.
    """
    raw = map(itemgetter(3), ratings)
    given: Any = [None if isinstance(at, str) and at.strip() in _MISSING else at for at in raw]
    try:
        times = to_times(given, "timestamp")
    except OverflowError:  # pandas 2 raises it without a sentence
        times = to_times(np.array(given, dtype=object), "timestamp")
    missing = np.isnan(times)
    raise_for_rows(
        missing,
        "timestamp",
        f"missing for {missing.sum()} of {len(times)} ratings,",
        "give the table a column timestamp. Surprise's load_from_df drops it: use "
        "load_from_file and a Reader whose line_format has timestamp, or assign "
        "data.raw_ratings = [(user, item, rating, timestamp), ...]",
    )
    Rows.check_finite(times, "timestamp", "write times in seconds since 1970")
    if np.abs(times).max() >= _INEXACT:
        with suppress(ValueError, TypeError, OverflowError):  # dates, or too long
            return np.fromiter(map(int, given), np.int64, len(given))
    return times
