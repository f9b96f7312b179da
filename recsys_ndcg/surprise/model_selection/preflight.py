"""What is looked at before anything is trained: the splits, the ratings, and the measures."""

from __future__ import annotations

import numbers
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from surprise import Trainset
from surprise.dataset import DatasetUserFolds
from surprise.model_selection import KFold

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.rows import Rows, check_finite, floats, objects
from recsys_ndcg.lists.assembly import group
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.scoring import facts_for
from recsys_ndcg.surprise.model_selection.raw_ratings import ratings_of
from recsys_ndcg.surprise.trainsets import Ratings
from recsys_ndcg.surprise.traps import warn_of_training

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recsys_ndcg.surprise.model_selection.folds import FoldPlan


def iterator_of(cv: Any) -> Any:
    """Return what splits the data, as Surprise understands it."""
    if cv is None:
        return KFold(n_splits=5)
    if isinstance(cv, numbers.Integral):
        return KFold(n_splits=cv)
    if hasattr(cv, "split") and not isinstance(cv, str | type):
        return cv
    msg = f"cv must be None, a number of folds, or have a method split, not {shown(cv)}."
    raise InvalidInputError(msg)


def checked_splits(splits: Iterable[Any], kind: type) -> Iterator[Any]:
    """Give splits on, after a look at each, and at what the first one is to be trained on.

    Raises
    ------
    InvalidInputError
        There are none, or one is not a trainset and a testset with something in them.
    """
    looked = _looked_at(splits)
    first = next(looked, None)
    if first is None:
        msg = "cv gives no split of the data."
        raise InvalidInputError(msg)
    trainset, _ = first
    warn_of_training(kind, Ratings.by_user(trainset), trainset.rating_scale)
    return chain([first], looked)


def _looked_at(splits: Iterable[Any]) -> Iterator[Any]:
    for place, split in enumerate(splits, 1):
        if not isinstance(split, tuple) or len(split) != 2 or not isinstance(split[0], Trainset):
            msg = f"Split {place} of cv is {shown(split)}, not (trainset, testset)."
            raise InvalidInputError(msg)
        trainset, testset = split
        if not trainset.n_ratings or not testset:
            which = "testset" if trainset.n_ratings else "trainset"
            msg = f"Split {place} of cv has an empty {which}. Are there too few ratings?"
            raise InvalidInputError(msg)
        yield split


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
    return plan.each(lambda one: one.settled(facts_for(lists, one.measurements), lists))


def _lists_of(data: Any, cv: Any, plan: FoldPlan) -> RankedLists | None:
    """Return all ratings as lists; None if nothing ranks, or of folds that are read when split."""
    if isinstance(data, DatasetUserFolds) and not isinstance(cv, numbers.Integral | None):
        return None
    user, item, rating, _ = (list(column) for column in zip(*ratings_of(data), strict=True))
    grades = floats(rating, "rating")
    check_finite(grades, "rating", "correct the rows of the dataset, or leave them out")
    first = plan.rated or plan.catalogue
    if first is None:
        return None
    columns = Rows(objects(user, "user"), objects(item, "item"), grades, grades, table="dataset")
    lists = group(columns, first.duplicates, RankedLists)
    return lists if plan.rated is not None else replace(lists, protocol="catalogue")
