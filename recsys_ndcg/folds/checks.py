"""Checks of splits, ratings and measures before anything is trained."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from inspect import getattr_static, isfunction
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.catalogue import warn_of_leak, warn_outside_scale
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, quote, warn
from recsys_ndcg.folds.splits import UserKFold, get_ratings
from recsys_ndcg.folds.time_splits import RollingTime
from recsys_ndcg.input import Rows, to_column, to_floats
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts, GroupedLists, group_rows
from recsys_ndcg.ratings import Interactions, read_interactions
from recsys_ndcg.split_checks import SplitReport, check_parts

if TYPE_CHECKING:
    from recsys_ndcg.folds.measures import FoldPlan
    from recsys_ndcg.scoring import Plan

    Split = tuple[Any, list[Any]]

_TRAINSET = ("ur", "n_users", "n_items", "n_ratings", "to_raw_uid", "to_raw_iid", "rating_scale")


def _make_splitter(given: Any, data: Any, kind: type, name: str) -> Any:
    """Return the splitter that was given; a number gives folds of a kind."""
    if given is None or isinstance(given, numbers.Integral):
        n_splits, most = 5 if given is None else int(given), len(get_ratings(data))
        if isinstance(given, bool) or not 2 <= n_splits <= most:
            msg = f"{name}={given}, but {most} ratings allow between 2 and {most} folds."
            raise InvalidInputError(msg)
        return kind(n_splits)
    bound = not isinstance(given, type) or not isfunction(getattr_static(given, "split", None))
    if not callable(getattr(given, "split", None)) or not bound or isinstance(given, str | bytes):
        msg = (
            f"{name} must be None, a number of folds, or have a method split, not {quote(given)}. "
            "To use existing folds, pass an object whose split(data) returns them."
        )
        raise InvalidInputError(msg)
    return given


class CheckedSplits:
    """The splits of a dataset, checked one by one.

    Parameters
    ----------
    data : object
        A Surprise dataset, or an object with the same attributes.
    given : splitter, int or None
        The splitter, or the number of folds; 5 by default.
    kind : class
        The class of the splitter for a number of folds.
    name : str
        The name of the argument, for messages.

    Raises
    ------
    InvalidInputError
        `given` cannot split, or this data is too small for that number of folds.

    Attributes
    ----------
    is_default_kind : bool
        Whether a number of folds was given in place of a splitter.
    reports : list of SplitReport
        The checks of each split.
    train : Interactions
        The training rows of the latest split.
    """

    train: Interactions

    def __init__(self, data: Any, given: Any, kind: type = UserKFold, name: str = "splits") -> None:
        self.data, self.is_default_kind = data, given is None or isinstance(given, numbers.Integral)
        self.splitter = _make_splitter(given, data, kind, name)
        self.reports: list[SplitReport] = []

    @staticmethod
    def check_n_jobs(n_jobs: int | None) -> None:
        """Raise if there is no such number of jobs.

        Raises
        ------
        InvalidInputError
            It is 0, or no whole number.
        """
        if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
            msg = f"n_jobs must be a whole number, -1 for all processors, not {quote(n_jobs)}."
            raise InvalidInputError(msg)

    def resolve(self, plan: FoldPlan) -> FoldPlan:
        """Return the plan with its threshold, and warn of ratings that spoil its measures.

        Folds in files, and data for a user's own splitter, are resolved fold by fold instead.

        Raises
        ------
        InvalidInputError
            The data is no dataset, or a rating is no number; a metric needs a threshold, a rating
            has no gain, or a user rated an item twice.
        """
        ours = type(self.splitter).__module__.partition(".")[0] in ("surprise", "recsys_ndcg")
        if hasattr(self.data, "folds_files") or not (ours or hasattr(self.data, "raw_ratings")):
            return plan
        ratings = get_ratings(self.data)
        grades = to_floats(list(map(itemgetter(2), ratings)), "rating")
        Rows.check_finite(grades, "rating", "correct the rows of the dataset, or leave them out")
        first = plan.rated or plan.catalogue
        if first is None:
            return plan
        columns: dict[str, Any] = {"estimated": grades, "true": grades}
        for place, column in enumerate(("user", "item")):
            columns[column] = to_column(list(map(itemgetter(place), ratings)), column)
        lists = group_rows(Rows(columns, "dataset"), first.duplicates)
        rated, catalogue = plan.rated, plan.catalogue
        if rated is None:
            lists = replace(lists, protocol="catalogue")
        else:
            rated = rated.resolve(rated.facts_of(lists), lists)
        if catalogue is not None:
            catalogue = _resolve_catalogue(catalogue, lists, plan.known)
        plan = replace(plan, rated=rated, catalogue=catalogue)
        facts, plans = Facts.of(lists), filter(None, (plan.rated, plan.catalogue))
        messages = chain.from_iterable(one.find_warnings(facts) for one in plans)
        for message in dict.fromkeys(messages):
            warn(message)
        return plan

    @property
    def n_folds(self) -> int | None:
        """The number of folds; None if the splitter does not report it."""
        try:
            given = self.splitter
            return int(given.get_n_folds() if hasattr(given, "get_n_folds") else given.n_splits)
        except Exception:  # noqa: BLE001 - a splitter of the user's own may raise anything
            return None

    def find_cuts(self) -> list[float]:
        """Return the time of each fold's cut; none if folds do not follow each other in time."""
        given = self.splitter
        return given.find_cuts(self.data) if isinstance(given, RollingTime) else []

    def iterate(self, inspect: Callable[[Floats], object], splitter: Any = None) -> Iterator[Split]:
        """Return the checked splits; warnings about the first trainset come at once.

        Parameters
        ----------
        inspect : callable
            Gets the ratings of the first trainset, and may warn of them.
        splitter : object, optional
            A copy of the splitter with another seed.

        Raises
        ------
        InvalidInputError
            There are no splits, or one is not a non-empty trainset and a non-empty testset.
        """
        splits = self._check_each(_iterate_splits(splitter or self.splitter, self.data), inspect)
        first = next(splits, None)
        if first is None:
            msg = "cv returns no splits of the data."
            raise InvalidInputError(msg)
        return chain([first], splits)

    def _check_each(
        self, splits: Iterable[Any], inspect: Callable[[Floats], object]
    ) -> Iterator[Split]:
        """Yield the splits after checks."""
        for place, split in enumerate(splits, 1):
            trainset, testset = _check_split(place, split)
            train = self.train = Interactions.from_trainset(trainset)
            if place == 1:
                warn_outside_scale(train.rated, trainset.rating_scale)
                inspect(train.rated)
            self.reports.append(self._report_split(train, testset))
            yield trainset, testset

    def _report_split(self, train: Interactions, testset: list[Any]) -> SplitReport:
        """Check a split as `check_split` does, but for what needs lists or is of one fold alone.

        Models are compared over all folds, in metrics of the caller's choice.
        """
        try:
            test = read_interactions(testset, "testset")
        except InvalidInputError as error:  # Surprise can train on it nevertheless
            return SplitReport((), {"all checks": f"ids that can be compared ({error})"})
        train, test = (replace(one, time=self._find_times(one)) for one in (train, test))
        return check_parts([train], {"test": test}, without=("what_this_split_can_tell_apart",))

    def _find_times(self, part: Interactions) -> Floats | None:
        """Return the times of the rows of a split; None if ratings have none."""
        if self._timed is None:
            return None
        return np.append(np.asarray(self._timed.time), np.nan)[self._timed.find_rows(part)]

    @lazy_property
    def _timed(self) -> Interactions | None:
        """All ratings, if each has a time."""
        with suppress(InvalidInputError):  # folds in files, or no times
            is_timed = all(row[3] is not None for row in get_ratings(self.data))
            return read_interactions(self.data, "ratings") if is_timed else None
        return None

    def warn_of_leaks(self) -> None:
        """Warn once of all training ratings in testsets.

        Splits are made while no warning can point at the caller.
        """
        every = [finding for report in self.reports for finding in report.find("error")]
        leaks = [finding for finding in every if finding.kind == "pairs_in_both_parts"]
        if leaks:
            warn_of_leak(
                f"are in the trainset of their split ({len(leaks)} of {len(self.reports)} splits)",
                sum(finding.numbers["count"] for finding in leaks),
                sum(report.n_rows.get("test", 0) for report in self.reports),
                leaks[0].names["rows"],
                if_some="the model has seen them, and scores better than on new ratings",
                if_all="the score is that of the training set, and does not describe new ratings",
            )


def _check_split(place: int, split: Any) -> Split:
    """Return a trainset and the rows of a testset.

    Raises
    ------
    InvalidInputError
        They have another form, a part is empty, or a rating is no number.
    """
    pair = list(split) if isinstance(split, Iterable) and not _is_trainset(split) else []
    if len(pair) != 2 or not _is_trainset(pair[0]) or not isinstance(pair[1], Iterable):
        msg = f"Split {place} of cv is {quote(split)}, not (trainset, testset)."
        raise InvalidInputError(msg)
    trainset, rows = pair[0], list(pair[1])  # a generator can be read only once
    testset = [tuple(row) if isinstance(row, Iterable) else (row,) for row in rows]
    if not trainset.n_ratings or not testset:
        which = "testset" if trainset.n_ratings else "trainset"
        msg = f"Split {place} of cv has an empty {which}. Are there too few ratings?"
        raise InvalidInputError(msg)
    wrong = [row for row, own in zip(rows, testset, strict=True) if len(own) != 3]
    if wrong:
        msg = (
            f"Split {place} of cv has {quote(wrong[0])} in its testset, not (user, item, "
            "rating). Make it with data.construct_testset(raw_ratings)."
        )
        raise InvalidInputError(msg)
    grades = to_floats(list(map(itemgetter(2), testset)), "rating")
    Rows.check_finite(grades, "rating", f"correct the testset of split {place} of cv")
    return trainset, testset


def _iterate_splits(splitter: Any, data: Any) -> Iterator[Any]:
    try:
        splits = splitter.split(data)
        if not isinstance(splits, Iterable):
            msg = f"cv.split(data) returns {quote(splits)}, not pairs of trainset and testset."
            raise InvalidInputError(msg)
        yield from splits
    except RecsysNdcgError:
        raise
    except ValueError as error:  # Surprise's splitters reject data by it
        msg = f"cv cannot split the data: {error}"
        raise InvalidInputError(msg) from error


def _is_trainset(one: Any) -> bool:
    return not isinstance(one, type) and all(hasattr(one, name) for name in _TRAINSET)


def _resolve_catalogue(plan: Plan, lists: GroupedLists, known: Mapping[str, Any]) -> Plan:
    """Return a plan for ranked catalogues, resolved with all ratings before any fold is trained."""
    if not any(one.metric.needs for one in plan.measurements):
        return plan.resolve(plan.facts_of(lists), lists)
    rows = Interactions.of(lists.users[lists.user_of_row], lists.items)
    ready = replace(
        plan, background=Background.of(train=rows, catalogue=np.asarray(lists.item_ids), **known)
    )
    lists = ready.add_background(replace(lists, protocol="catalogue"))
    # only the facts: these are all ratings, not lists
    return replace(ready.resolve(ready.facts_of(lists)), background=None)
