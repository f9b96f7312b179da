"""The ratings of a Surprise dataset, and their times as numbers."""

from __future__ import annotations

import datetime as dt
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.input.ids import refuse_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Times = NDArray[np.float64] | NDArray[np.int64]

_MISSING = ("", "nan", "NaT", "<NA>")
_UNEXACT = 2.0**53  # from here on, whole numbers next to each other are the same as floats


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
    try:
        times = np.fromiter(map(float, given), np.float64, len(given))
    except (TypeError, ValueError, OverflowError):
        times = np.full(len(given), np.nan)
    if not np.isfinite(times).all():
        _refuse_times(given)
    if np.abs(times).max() >= _UNEXACT:
        try:
            return np.fromiter(map(int, given), np.int64, len(given))
        except (ValueError, OverflowError):  # not whole numbers, or too long
            return times
    return times


def _refuse_times(given: list[Any]) -> None:
    missing = np.array([one is None or str(one).strip() in _MISSING for one in given])
    refuse_rows(
        missing,
        "timestamp",
        f"missing for {missing.sum()} of {len(given)} ratings,",
        "load_from_df drops them, so load them with load_from_file and a Reader whose line_format "
        "has timestamp, or assign data.raw_ratings = [(user, item, rating, timestamp), ...]",
    )
    wrong = np.array([not _is_finite(one) for one in given])
    first = shown(given[int(wrong.argmax())])
    refuse_rows(
        wrong, "timestamp", f"{first} is not a number,", "write times in seconds since 1970"
    )


def _is_finite(one: Any) -> bool:
    try:
        return bool(np.isfinite(float(one)))
    except (TypeError, ValueError, OverflowError):
        return False
