"""Splitters by time: train on the past, and test on what follows, at one cut or at several."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from math import ceil, inf
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, check_choice, check_flag, is_number, quote
from recsys_ndcg.folds.splits import Splitter, get_ratings, read_times
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.rendering import format_times

_SPACINGS = ("ratings", "time")


class _SplitterByTime(Splitter):
    """Train on the ratings before a cut of time, and test those that follow."""

    known_users: bool
    window: float | str | None = None
    history: float | str | None = None

    def _cut(
        self, times: Floats | Positions, users: EncodedIds, cuts: Sequence[float]
    ) -> list[tuple[Flags, Flags]]:
        """Return which rows are trained on, and which are tested, at each cut."""
        splits = []
        for number, (start, next_cut) in enumerate(pairwise([*cuts, inf]), 1):
            end = next_cut if self.window is None else start + _to_number(self.window)
            train, test = times < start, (times >= start) & (times < end)
            if self.history is not None:
                train &= times >= start - _to_number(self.history)
            known = np.isin(users.codes, users.codes[train]) if self.known_users else True
            if not train.any() or not (test & known).any():
                use = "to test" if train.any() else "to train on"
                other = ", or a longer window or history" if self.window or self.history else ""
                if train.any() and test.any():
                    use += " of a user with ratings before it"
                    other += ", or known_users=False"
                at, first, last = format_times([start, times.min(), times.max()])
                which = f"cut {number} of {len(cuts)}" if len(cuts) > 1 else "the cut"
                self._raise(
                    f"{which}, at {at}, leaves no rating {use}: the timestamps go from {first} to "
                    f"{last}. Choose another cut{other}."
                )
            test &= known
            splits.append((train, test))
        return splits


class TimeSplit(_SplitterByTime):
    """Test all ratings from a certain time on, for all users.

    Use it for conditions as in production: the model knows no later rating, not even another
    user's. Few users may have ratings before and after the cut, so check how many users the scores
    are computed from.

    Parameters
    ----------
    test_size : float or int, optional
        The share of tested ratings, between 0 and 1, or their number; 0.2 by default. All ratings
        at the time of the cut are tested, so there may be more.
    at : number, str, datetime.datetime or datetime.date, optional
        In place of `test_size`, the time from which ratings are tested. A number has the unit of
        the data's timestamps. Text is an ISO date or time; it and a datetime without a time zone
        are UTC, and are compared as seconds since 1970.
    known_users : bool
        Whether to test only users who have training ratings.

    Attributes
    ----------
    n_left_out : int or None
        Number of ratings that `known_users` left out of the testset; None before the split.

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
            self._raise(
                f"test_size={quote(test_size)} and at={quote(at)} both set the cut. Give only one."
            )
        if at is None:
            test_size = 0.2 if test_size is None else test_size
            whole = isinstance(test_size, Integral)
            if not is_number(test_size) or not (test_size >= 1 if whole else 0 < test_size < 1):
                self._raise(
                    "test_size must be a share between 0 and 1 or a whole number of ratings, not "
                    f"{quote(test_size)}."
                )
        else:
            parse_time(at)
        self.test_size = test_size
        self.at = at
        check_flag("known_users", known_users)
        self.known_users = known_users
        self.n_left_out: int | None = None

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        times = read_times(ratings)
        [(train, test)] = self._cut(times, users, [self._find_cut(times)])
        self.n_left_out = int(len(test) - train.sum() - test.sum())
        yield train, test

    def _find_cut(self, times: Floats | Positions) -> Any:
        """Return the first tested time."""
        if self.test_size is None:
            return parse_time(self.at)
        size, n = self.test_size, len(times)
        n_train = n - (int(size) if isinstance(size, Integral) else ceil(size * n))
        if n_train <= 0:
            self._raise(f"test_size={size} leaves none of {n} ratings to train on.")
        return np.partition(times, n_train)[n_train]


class RollingTime(_SplitterByTime):
    """Test the ratings that follow each of several cuts, trained on all ratings before the cut.

    Use it to see how models do as time goes on: at each cut they know no later rating, of any user.
    Users and items without a rating before the cut are unknown to the models; their ratings are
    tested, too. Ratings at the same time are on the same side of each cut.

    Parameters
    ----------
    cuts : int or sequence
        The number of cuts, or their times, ascending: numbers, ISO dates or datetimes, as in
        `TimeSplit`.
    window : number, str or datetime.timedelta, optional
        How long ratings are tested after each cut; by default until the next cut, and after the
        last one until the end. A number has the unit of the timestamps. Text is a duration of
        pandas, such as ``"30D"``; it and a timedelta are compared as seconds.
    history : number, str or datetime.timedelta, optional
        How long before each cut ratings are trained on; by default all are.
    spacing : {'ratings', 'time'}
        Whether a number of cuts leaves about as many ratings, or as much time, before the first
        cut, between all cuts and after the last one.
    known_users : bool
        Whether to test only users who have training ratings.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings(n_users=30)
    >>> reader = Reader(rating_scale=(0.5, 5))
    >>> data = Dataset.load_from_df(ratings[["user", "item", "rating"]], reader)
    >>> data.raw_ratings = list(ratings.itertuples(index=False, name=None))  # with timestamps
    >>> for trainset, testset in RollingTime(cuts=3).split(data):
    ...     print(trainset.n_ratings, len(testset))
    207 208
    415 208
    623 208
    """

    def __init__(
        self,
        cuts: Any = 10,
        window: Any = None,
        *,
        history: Any = None,
        spacing: str = "ratings",
        known_users: bool = False,
    ) -> None:
        check_choice("spacing", spacing, _SPACINGS)
        check_flag("known_users", known_users)
        if isinstance(cuts, Integral):
            self._check_integers(1, cuts=cuts)
        self.cuts = int(cuts) if isinstance(cuts, Integral) else self._check_times(cuts)
        self.window = self._check_duration("window", window)
        self.history = self._check_duration("history", history)
        self.spacing = spacing
        self.known_users = known_users

    @property
    def n_splits(self) -> int:  # type: ignore[override] # which sets it
        """The number of cuts."""
        return self.cuts if isinstance(self.cuts, int) else len(self.cuts)

    def find_cuts(self, data: Any) -> list[float]:
        """Return the time of each cut: the first time that is tested.

        Parameters
        ----------
        data : surprise.Dataset
            The ratings.

        Raises
        ------
        InvalidInputError
            There is no timestamp, or there are too few different ones.
        """
        cuts: list[float] = self._find_cuts(read_times(get_ratings(data))).tolist()
        return cuts

    def _check_times(self, cuts: Any) -> list[float | str]:
        """Return the times as numbers and text, which describe the splitter."""
        if isinstance(cuts, str | bytes) or not isinstance(cuts, Sequence | np.ndarray | pd.Index):
            self._raise(f"cuts must be a number of cuts, or their times, not {quote(cuts)}.")
        given = cuts.tolist() if isinstance(cuts, np.ndarray) else [*cuts]
        times = [parse_time(one, "RollingTime: a cut") for one in given]
        if not times or any(later <= one for one, later in pairwise(times)):
            self._raise(f"the times of the cuts must be ascending, not {quote(given)}.")
        return [one if is_number(one) else str(one) for one in given]

    def _check_duration(self, name: str, given: Any) -> float | str | None:
        """Return a duration as a number or as text, which describes the splitter."""
        if given is None:
            return None
        kept = given if is_number(given) or isinstance(given, str) else None
        if isinstance(given, dt.timedelta | np.timedelta64):
            kept = str(pd.Timedelta(given))
        try:
            # pandas reads text without a unit as nanoseconds
            is_right = kept is not None and 0 < _to_number(kept) < inf and not _is_plain(kept)
        except ValueError:  # text that is no duration
            is_right = False
        if not is_right:
            self._raise(
                f"{name} must be a duration above 0: a number in the unit of the timestamps, text "
                f"such as '30D', or a timedelta, not {quote(given)}."
            )
        return kept

    def _find_cuts(self, times: Floats | Positions) -> Floats:
        if not isinstance(self.cuts, int):
            return np.array([parse_time(one) for one in self.cuts])
        first, last, parts = times.min(), times.max(), self.cuts + 1
        if self.spacing == "time":
            return np.asarray(first + (last - first) * np.arange(1, parts) / parts)
        ordered: Any = np.sort(times)
        cuts: Floats = ordered[len(times) * np.arange(1, parts) // parts]
        different = np.unique(times)
        if len(different) < parts:
            self._raise(
                f"cuts={self.cuts} needs at least {parts} different timestamps, and there are "
                f"{len(different)}. Lower cuts."
            )
        before = np.concatenate([[first], cuts[:-1]])
        if (cuts == before).any():
            time = cuts[cuts == before][0]
            self._raise(
                f"cuts={self.cuts} gives two parts the same time, {quote(time.item())}, at which "
                f"there are {(times == time).sum()} of {len(times)} ratings. Lower cuts, or pass "
                "spacing='time'."
            )
        return cuts

    def _choose(self, ratings: Sequence[Any], users: EncodedIds) -> Iterator[tuple[Flags, Flags]]:
        times = read_times(ratings)
        # check all before the first one is trained
        yield from self._cut(times, users, self._find_cuts(times).tolist())


def parse_time(at: Any, name: str = "at") -> float:
    """Return a number as it is, and text or a date as seconds since 1970.

    Parameters
    ----------
    at : number, str, datetime.datetime or datetime.date
        The time.
    name : str
        The name of the argument, for messages.

    Raises
    ------
    InvalidInputError
        It is no time.

    Examples
    --------
    >>> parse_time("1970-01-02"), parse_time("1970-01-01T02:00+02:00"), parse_time(5)
    (86400.0, 0.0, 5)
    """
    if is_number(at):
        number: float = at
        return number
    if isinstance(at, str) and not (at.isdigit() and len(at) != len("20200131")):
        with suppress(ValueError):
            at = dt.datetime.fromisoformat(at)
    if isinstance(at, dt.date) and not isinstance(at, dt.datetime):
        at = dt.datetime(at.year, at.month, at.day)  # noqa: DTZ001 - UTC, as below
    if not isinstance(at, dt.datetime) or at != at:  # noqa: PLR0124 - pandas' NaT
        msg = (
            f"{name} must be a timestamp (a number), an ISO date such as '2020-01-31', or a "
            f"datetime, not {quote(at)}."
        )
        raise InvalidInputError(msg)
    return (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()


def _is_plain(duration: float | str) -> bool:
    """Return whether text is a number without a unit."""
    return isinstance(duration, str) and duration.strip("+ ").replace(".", "").isdigit()


def _to_number(duration: float | str) -> float:
    """Return a number as it is, and text as seconds; whole ones exactly."""
    number = pd.Timedelta(duration).total_seconds() if isinstance(duration, str) else duration
    return int(number) if number == number // 1 else number
