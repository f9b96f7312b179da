"""What is looked at before anything is trained: the splits, the ratings, and the measures."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace
from inspect import getattr_static, isfunction
from itertools import chain, starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise import Trainset
from surprise.dataset import DatasetAutoFolds, DatasetUserFolds
from surprise.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown, warn
from recsys_ndcg.input.ids import Coded, encode
from recsys_ndcg.input.rows import Rows, check_finite
from recsys_ndcg.input.tuples import read_ids, read_numbers
from recsys_ndcg.lists.assembly import group
from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.scoring import facts_for
from recsys_ndcg.surprise.leakage import watched
from recsys_ndcg.surprise.model_selection.raw_ratings import ratings_of
from recsys_ndcg.surprise.model_selection.splits import (
    LeaveLastOut,
    LeaveNOut,
    TimeSplit,
    UserKFold,
)
from recsys_ndcg.surprise.trainsets import Ratings
from recsys_ndcg.surprise.traps import warn_of_training

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.surprise.leakage import Leak
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan

#: What gives each rating of a dataset to one part of a split, or to none.
_PARTING = {
    KFold,
    LeaveLastOut,
    LeaveNOut,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSplit,
    UserKFold,
}


def iterator_of(cv: Any, data: Any) -> Any:
    """Return what splits the data, as Surprise understands it.

    Raises
    ------
    InvalidInputError
        It cannot split, or not this data into so many folds.
    """
    if cv is None or isinstance(cv, numbers.Integral):
        n_splits = 5 if cv is None else int(cv)
        most = len(ratings_of(data))
        if isinstance(cv, bool) or not 2 <= n_splits <= most:
            msg = f"cv={cv}, but {most} ratings make between 2 and {most} folds."
            raise InvalidInputError(msg)
        return KFold(n_splits=n_splits)
    bound = not isinstance(cv, type) or not isfunction(getattr_static(cv, "split", None))
    if callable(getattr(cv, "split", None)) and bound and not isinstance(cv, str | bytes):
        return cv
    msg = (
        f"cv must be None, a number of folds, or have a method split, not {shown(cv)}. Folds that "
        "there are already are given by an object whose split(data) returns them."
    )
    raise InvalidInputError(msg)


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of jobs that joblib has no meaning for."""
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        msg = f"n_jobs must be a whole number, -1 for all processors, not {shown(n_jobs)}."
        raise InvalidInputError(msg)


def watched_splits(
    iterator: Any, data: Any, kind: Any, leaks: list[Leak]
) -> Iterator[tuple[Any, list[Any]]]:
    """Give checked splits on, and add to `leaks` what each has, if it may have any.

    Parameters
    ----------
    iterator, data, kind
        As for `checked_splits`.
    leaks : list of Leak
        Which stays empty where no rating can be in both parts of a split.
    """
    splits = checked_splits(iterator, data, kind)
    return splits if _parted(iterator, data) else watched(splits, leaks)


def _parted(iterator: Any, data: Any) -> bool:
    """Tell splits that part the ratings, where no user rates an item twice."""
    if type(iterator) not in _PARTING or type(data) is not DatasetAutoFolds:
        return False
    users, items = (_coded(list(map(itemgetter(side), data.raw_ratings))) for side in (0, 1))
    pairs = pd.Index(users * (items.max(initial=0) + 1) + items)
    return bool(pairs.is_unique)


def _coded(raw: list[Any]) -> Positions:
    """Return whole numbers for ids that are equal where a trainset takes them for one."""
    ids = read_ids(raw, "id")
    codes = ids.codes if isinstance(ids, Coded) else encode(ids, "id")[1]
    return codes.astype(np.int64)


def checked_splits(iterator: Any, data: Any, kind: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Give splits on, after a look at each, and at what the first one is to be trained on.

    Raises
    ------
    InvalidInputError
        There are none, or one is not a trainset and a testset with something in them.
    """
    looked = starmap(_looked_at, enumerate(_splits_of(iterator, data), 1))
    first = next(looked, None)
    if first is None:
        msg = "cv gives no split of the data."
        raise InvalidInputError(msg)
    trainset, _ = first
    if isinstance(kind, type):  # a search may be given a function that makes algorithms
        warn_of_training(kind, Ratings.by_user(trainset), trainset.rating_scale)
    return chain([first], looked)


def _splits_of(iterator: Any, data: Any) -> Iterator[Any]:
    try:
        splits = iterator.split(data)
        if not isinstance(splits, Iterable):
            msg = f"cv.split(data) gives {shown(splits)}, not pairs of trainset and testset."
            raise InvalidInputError(msg)
        yield from splits
    except RecsysNdcgError:
        raise
    except ValueError as error:  # as Surprise's splits refuse data
        msg = f"cv cannot split the data: {error}"
        raise InvalidInputError(msg) from error


def _looked_at(place: int, split: Any) -> tuple[Any, list[Any]]:
    """Return a trainset and a testset, given as any pair of a trainset and rows."""
    pair = list(split) if isinstance(split, Iterable) and not isinstance(split, Trainset) else []
    if len(pair) != 2 or not isinstance(pair[0], Trainset) or not isinstance(pair[1], Iterable):
        msg = f"Split {place} of cv is {shown(split)}, not (trainset, testset)."
        raise InvalidInputError(msg)
    trainset, testset = pair[0], list(pair[1])  # a generator could be gone through but once
    if not trainset.n_ratings or not testset:
        which = "testset" if trainset.n_ratings else "trainset"
        msg = f"Split {place} of cv has an empty {which}. Are there too few ratings?"
        raise InvalidInputError(msg)
    usual = set(map(type, testset)) <= {tuple, list} and set(map(len, testset)) == {3}
    for row, given in enumerate(() if usual else testset):
        if not isinstance(given, tuple | list) and isinstance(given, Iterable):
            testset[row] = tuple(given)
        if not isinstance(given, Iterable) or len(testset[row]) != 3:
            msg = (
                f"Split {place} of cv has {shown(given)} in its testset, not (user, item, rating). "
                "Make it with data.construct_testset(raw_ratings)."
            )
            raise InvalidInputError(msg)
    grades = read_numbers(list(map(itemgetter(2), testset)), "rating")
    check_finite(grades, "rating", f"correct the testset of split {place} of cv")
    return trainset, testset


def settled_plan(plan: FoldPlan, data: Any, cv: Any) -> FoldPlan:
    """Return the plan with its threshold, if the ratings can be ranked by it.

    Raises
    ------
    InvalidInputError
        The data is no dataset, or a rating no number; a metric needs a threshold, a rating has no
        gain, a user and item stand there twice, or a catalogue is to be ranked for the ratings
        that it leaves out.
    """
    if plan.train and plan.catalogue is not None:
        msg = (
            f"{', '.join(plan.catalogue_names)} leaves out what a user rated in training, so that "
            "it is 0 on the trainset. Ask for it without return_train_measures."
        )
        raise InvalidInputError(msg)
    lists = _lists_of(data, cv, plan)
    if lists is None:
        return plan
    plan = plan.each(lambda one: one.settled(facts_for(lists, one.measurements), lists))
    facts, plans = Facts.of(lists), filter(None, (plan.rated, plan.catalogue))
    for told in dict.fromkeys(chain.from_iterable(one.doubts(facts) for one in plans)):
        warn(told)
    return plan


def _lists_of(data: Any, cv: Any, plan: FoldPlan) -> RankedLists | None:
    """Return all ratings as lists; None if nothing ranks, or of folds that are read when split."""
    if _is_known_to_cv(data, cv):
        return None
    ratings = ratings_of(data)
    grades = read_numbers(list(map(itemgetter(2), ratings)), "rating")
    check_finite(grades, "rating", "correct the rows of the dataset, or leave them out")
    first = plan.rated or plan.catalogue
    if first is None:
        return None
    user, item = (
        read_ids(list(map(itemgetter(place), ratings)), column)
        for place, column in enumerate(("user", "item"))
    )
    columns = {"user": user, "item": item, "estimated": grades, "true": grades}
    lists = group(Rows(columns, "dataset"), first.duplicates, RankedLists)
    return lists if plan.rated is not None else replace(lists, protocol="catalogue")


def _is_known_to_cv(data: Any, cv: Any) -> bool:
    """Tell data that only `cv` can read: folds in files, or what a splitter of one's own takes."""
    if cv is None or isinstance(cv, numbers.Integral):
        return False
    ours = type(cv).__module__.partition(".")[0] in ("surprise", "recsys_ndcg")
    return isinstance(data, DatasetUserFolds) or not (ours or hasattr(data, "raw_ratings"))
