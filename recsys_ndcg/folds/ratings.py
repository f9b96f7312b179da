"""Ratings in the shape of Surprise's datasets and trainsets, which need not be Surprise's own."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.input import refuse_rows

if TYPE_CHECKING:
    Times = NDArray[np.float64] | NDArray[np.int64]

_MISSING = ("", "nan", "NaT", "<NA>")
_UNEXACT = 2.0**53  # from here on, whole numbers next to each other are the same as floats


class PlainTrainset:
    """Ratings to train on, with as much of ``surprise.Trainset`` as folds need.

    Users and items have places, their inner ids, in the order in which they first come.
    """

    def __init__(self, rows: Sequence[Any], rating_scale: tuple[float, float]) -> None:
        users: dict[Any, int] = {}
        items: dict[Any, int] = {}
        self.ur: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for user, item, rating, _ in rows:
            inner = users.setdefault(user, len(users))
            self.ur[inner].append((items.setdefault(item, len(items)), rating))
        self._users, self._items = [*users], [*items]
        self.n_users, self.n_items, self.n_ratings = len(users), len(items), len(rows)
        self.rating_scale = rating_scale

    def to_raw_uid(self, inner: int) -> Any:
        """Return the id of a user."""
        return self._users[inner]

    def to_raw_iid(self, inner: int) -> Any:
        """Return the id of an item."""
        return self._items[inner]

    def all_ratings(self) -> Iterator[tuple[int, int, float]]:
        """Give inner user, inner item and rating, user by user."""
        for user, ratings in self.ur.items():
            for item, rating in ratings:
                yield user, item, rating


class PlainDataset:
    """Ratings for splits, where no algorithm of Surprise is trained.

    Parameters
    ----------
    raw_ratings : list of (user, item, rating, time)
        The time is None where there is none.
    rating_scale : pair of float
        The lowest and the highest rating there may be.
    """

    def __init__(self, raw_ratings: list[Any], rating_scale: tuple[float, float]) -> None:
        self.raw_ratings, self.rating_scale = raw_ratings, rating_scale

    def construct_trainset(self, rows: Sequence[Any]) -> PlainTrainset:
        """Return rows to train on."""
        return PlainTrainset(rows, self.rating_scale)

    def construct_testset(self, rows: Sequence[Any]) -> list[tuple[Any, Any, float]]:
        """Return rows to test on, without their times."""
        return [(user, item, rating) for user, item, rating, _ in rows]

    def build_full_trainset(self) -> PlainTrainset:
        """Return all ratings to train on."""
        return self.construct_trainset(self.raw_ratings)


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
        at = _parsed(at)
    if isinstance(at, dt.date) and not isinstance(at, dt.datetime):
        at = dt.datetime(at.year, at.month, at.day)  # noqa: DTZ001 - which is UTC, as below
    if not isinstance(at, dt.datetime) or at != at:  # noqa: PLR0124 - pandas' NaT
        msg = (
            f"at must be a timestamp (a number), an ISO date such as '2020-01-31', or a datetime, "
            f"not {shown(at)}."
        )
        raise InvalidInputError(msg)
    return (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()


def _parsed(text: str) -> Any:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return text


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
    if all(issubclass(kind, tuple | list) for kind in set(map(type, ratings))):
        width = list(map(len, ratings))
    else:
        width = [len(row) if isinstance(row, tuple | list) else 0 for row in ratings]
    if set(width) != {4}:
        place = next(place for place, one in enumerate(width) if one != 4)
        msg = (
            f"raw_ratings: row {place} (counted from 0) is {shown(ratings[place])}; each must be "
            "(user, item, rating, timestamp), the last of them None where there is none."
        )
        raise InvalidInputError(msg)
    return ratings


def times_of(ratings: Sequence[Any]) -> Times:
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
        _refuse_times(given, wrong)
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


def _refuse_times(given: list[Any], wrong: NDArray[np.bool_]) -> None:
    missing = np.array([one is None or str(one).strip() in _MISSING for one in given])
    refuse_rows(
        missing,
        "timestamp",
        f"missing for {missing.sum()} of {len(given)} ratings,",
        "load_from_df drops them, so load them with load_from_file and a Reader whose line_format "
        "has timestamp, or assign data.raw_ratings = [(user, item, rating, timestamp), ...]",
    )
    first = shown(given[int(wrong.argmax())])
    refuse_rows(
        wrong, "timestamp", f"{first} is not a number,", "write times in seconds since 1970"
    )
