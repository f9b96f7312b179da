"""What is looked at before anything is trained: the splits, the ratings, and the measures."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from inspect import getattr_static, isfunction
from itertools import chain, starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recsys_ndcg.arrays import Floats
from recsys_ndcg.catalogue import Leak, Ratings, Training
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, quote, warn
from recsys_ndcg.folds.splits import UserKFold, ratings_of
from recsys_ndcg.input import Rows, floats, objects
from recsys_ndcg.lists import Facts, RankedLists, group

if TYPE_CHECKING:
    from recsys_ndcg.folds.measures import FoldPlan

    Split = tuple[Any, list[Any]]

_TRAINSET = ("ur", "n_users", "n_items", "n_ratings", "to_raw_uid", "to_raw_iid", "rating_scale")


def _splitter_of(given: Any, data: Any, kind: type, name: str) -> Any:
    """Return what splits the data: folds of a kind for a number."""
    if given is None or isinstance(given, numbers.Integral):
        n_splits, most = 5 if given is None else int(given), len(ratings_of(data))
        if isinstance(given, bool) or not 2 <= n_splits <= most:
            msg = f"{name}={given}, but {most} ratings make between 2 and {most} folds."
            raise InvalidInputError(msg)
        return kind(n_splits)
    bound = not isinstance(given, type) or not isfunction(getattr_static(given, "split", None))
    if not callable(getattr(given, "split", None)) or not bound or isinstance(given, str | bytes):
        msg = (
            f"{name} must be None, a number of folds, or have a method split, not {quote(given)}. "
            "Folds that there are already are given by an object whose split(data) returns them."
        )
        raise InvalidInputError(msg)
    return given


class Splits:
    """The ratings of a dataset, looked at before and while they are split.

    Parameters
    ----------
    data : object
        The dataset, of Surprise or in its shape.
    given : splitter, int or None
        What splits, or how many folds; 5 by default.
    kind : class
        Of folds, for a number.
    name : str
        What this is called where it is given.

    Raises
    ------
    InvalidInputError
        It cannot split, or not this data into so many folds.

    Attributes
    ----------
    is_usual : bool
        Whether it splits into a number of folds.
    leaks : list of Leak
        What each split had, where a rating can be in both parts of one. A warning has to wait:
        splits are taken where no caller can be named.
    """

    def __init__(self, data: Any, given: Any, kind: type = UserKFold, name: str = "splits") -> None:
        self.data, self.is_usual = data, given is None or isinstance(given, numbers.Integral)
        self.splitter = _splitter_of(given, data, kind, name)
        self.leaks: list[Leak] = []

    def settled(self, plan: FoldPlan, n_jobs: int | None) -> FoldPlan:
        """Return the plan with its threshold, if the ratings can be ranked by it.

        Raises
        ------
        InvalidInputError
            There can be no such number of jobs; the data is no dataset, or a rating no number; a
            metric needs a threshold, a rating has no gain, a user and item stand there twice, or a
            catalogue is to be ranked for the ratings that it leaves out.
        """
        if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
            msg = f"n_jobs must be a whole number, -1 for all processors, not {quote(n_jobs)}."
            raise InvalidInputError(msg)
        if plan.train and plan.catalogue is not None:
            told = ", ".join(plan.names("catalogue").values())
            msg = (
                f"{told} leaves out what a user rated in training, so "
                "that it is 0 on the trainset. Ask for it without return_train_measures."
            )
            raise InvalidInputError(msg)
        ours = type(self.splitter).__module__.partition(".")[0] in ("surprise", "recsys_ndcg")
        # the splitter alone can read folds in files, or what one of the user's own takes
        if hasattr(self.data, "folds_files") or not (ours or hasattr(self.data, "raw_ratings")):
            return plan
        ratings = ratings_of(self.data)
        grades = floats(list(map(itemgetter(2), ratings)), "rating")
        Rows.check_finite(grades, "rating", "correct the rows of the dataset, or leave them out")
        first = plan.rated or plan.catalogue
        if first is None:
            return plan
        columns: dict[str, Any] = {"estimated": grades, "true": grades}
        for place, column in enumerate(("user", "item")):
            columns[column] = objects(list(map(itemgetter(place), ratings)), column)
        lists = group(Rows(columns, "dataset"), first.duplicates, RankedLists)
        if plan.rated is None:
            lists = replace(lists, protocol="catalogue")
        plan = plan.each(lambda one: one.settled(one.facts_of(lists), lists))
        facts, plans = Facts.of(lists), filter(None, (plan.rated, plan.catalogue))
        for told in dict.fromkeys(chain.from_iterable(one.doubts(facts) for one in plans)):
            warn(told)
        return plan

    @property
    def n_folds(self) -> int | None:
        """How many folds there will be, None where the splitter does not say."""
        try:
            given = self.splitter
            return int(given.get_n_folds() if hasattr(given, "get_n_folds") else given.n_splits)
        except Exception:  # noqa: BLE001 - a splitter of the user's own may raise anything
            return None

    def by(self, look: Callable[[Floats], object], splitter: Any = None) -> Iterator[Split]:
        """Give the splits, after a look at each; `look` gets the ratings of the first trainset.

        Parameters
        ----------
        look : callable
            Warns of them.
        splitter : object, optional
            The same with another seed.

        Raises
        ------
        InvalidInputError
            There are none, or one is not a trainset and a testset with something in them.
        """
        splits = _splits_of(splitter or self.splitter, self.data)
        checked = starmap(self._checked, enumerate(splits, 1))
        first = next(checked, None)
        if first is None:
            msg = "cv gives no split of the data."
            raise InvalidInputError(msg)
        trainset = first[0]
        ratings = Ratings(trainset.ur, trainset.n_users)
        ratings.warn_of_scale(trainset.rating_scale)
        look(ratings.values)
        return chain([first], checked)

    def _checked(self, place: int, split: Any) -> Split:
        """Return a trainset and a testset, given as a pair of a trainset and rows."""
        pair = list(split) if isinstance(split, Iterable) and not _is_trainset(split) else []
        if len(pair) != 2 or not _is_trainset(pair[0]) or not isinstance(pair[1], Iterable):
            msg = f"Split {place} of cv is {quote(split)}, not (trainset, testset)."
            raise InvalidInputError(msg)
        trainset, rows = pair[0], list(pair[1])  # a generator could be gone through but once
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
        grades = floats(list(map(itemgetter(2), testset)), "rating")
        Rows.check_finite(grades, "rating", f"correct the testset of split {place} of cv")
        users, items = (list(map(itemgetter(side), testset)) for side in (0, 1))
        self.leaks.append(Training(trainset).leak(users, items))
        return trainset, testset

    def warn_of_leaks(self) -> None:
        """Warn of testsets that have ratings of their trainsets, once for all of them."""
        found = [one for one in self.leaks if one.n_seen]
        if not found:
            return
        n_seen = sum(one.n_seen for one in found)
        n_rows = sum(one.n_rows for one in self.leaks)
        found[0]._replace(n_seen=n_seen, n_rows=n_rows).warn(
            f"are in the trainset of their split ({len(found)} of {len(self.leaks)} splits)",
            "the model has seen them, and scores better than on new ratings",
            "the score is that of the training set, and says nothing of new ratings",
        )


def _splits_of(iterator: Any, data: Any) -> Iterator[Any]:
    try:
        splits = iterator.split(data)
        if not isinstance(splits, Iterable):
            msg = f"cv.split(data) gives {quote(splits)}, not pairs of trainset and testset."
            raise InvalidInputError(msg)
        yield from splits
    except RecsysNdcgError:
        raise
    except ValueError as error:  # as Surprise's splits refuse data
        msg = f"cv cannot split the data: {error}"
        raise InvalidInputError(msg) from error


def _is_trainset(one: Any) -> bool:
    return not isinstance(one, type) and all(hasattr(one, name) for name in _TRAINSET)
