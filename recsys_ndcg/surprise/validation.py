"""cross_validate: as Surprise's, with ranking metrics and the scores of every user."""

from __future__ import annotations

import copy
import numbers
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise import Dataset, Trainset
from surprise.model_selection import KFold

from recsys_ndcg.adapters.rows import Rows, check_finite, floats, objects
from recsys_ndcg.assembly import group
from recsys_ndcg.errors import DivergedModelError, InvalidInputError, shown
from recsys_ndcg.evaluation import source_of
from recsys_ndcg.ranked_lists import RankedLists
from recsys_ndcg.surprise import printing
from recsys_ndcg.surprise.folds import Plan, pooled, run
from recsys_ndcg.surprise.measures import resolved
from recsys_ndcg.surprise.tolerance import with_tolerance
from recsys_ndcg.surprise.training import warn_of_training
from recsys_ndcg.surprise.trainsets import Ratings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recsys_ndcg.convention import Convention
    from recsys_ndcg.surprise.folds import Fold


class CrossValidation(dict[str, Any]):
    """What `cross_validate` returns: Surprise's dict, and what it leaves out.

    Parameters
    ----------
    folds : sequence of Fold
        What came of each.

    Attributes
    ----------
    per_user : pandas.DataFrame
        Indexed by fold and user, a column per ranking measure; rmse and mae beside rated ones.
    pooled : pandas.Series
        By measure: the sum of the numerators of all folds over that of the denominators.
    n_users : list of int
        How many users each testset has.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        super().__init__()
        for name in folds[0].test:
            self[f"test_{name}"] = np.asarray([fold.test[name] for fold in folds])
            if folds[0].train:
                self[f"train_{name}"] = np.asarray([fold.train[name] for fold in folds])
        self["fit_time"] = tuple(fold.fit_time for fold in folds)
        self["test_time"] = tuple(fold.test_time for fold in folds)
        self._folds = folds

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user in every fold."""
        tables = {fold: one.per_user for fold, one in enumerate(self._folds, 1)}
        return pd.concat(tables, names=["fold", "user"])

    @property
    def pooled(self) -> pd.Series[float]:
        """The scores of all folds' users as one sum over another."""
        return pd.Series(pooled(self._folds), name="pooled", dtype=float)

    @property
    def n_users(self) -> list[int]:
        """How many users each testset has."""
        return [fold.n_users for fold in self._folds]

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each fold, their mean and standard deviation, and pooled."""
        folds = pd.DataFrame(dict(self), index=pd.RangeIndex(1, len(self._folds) + 1))
        folds = folds.assign(test_users=self.n_users).astype(float)
        table = folds.rename(index=lambda place: f"fold {place}")
        table.loc["mean"] = folds.mean()
        table.loc["std"] = folds.std(ddof=0)
        table.loc["pooled"] = self.pooled.rename(lambda name: f"test_{name}")
        return table.rename_axis("fold")


def cross_validate(  # noqa: PLR0913, PLR0917 - Surprise's signature, and two more
    algo: Any,
    data: Any,
    measures: Iterable[Any] = ("rmse", "mae"),
    cv: Any = None,
    return_train_measures: bool = False,  # noqa: FBT001, FBT002
    n_jobs: int = 1,
    pre_dispatch: int | str = "2*n_jobs",
    verbose: bool = False,  # noqa: FBT001, FBT002
    *,
    threshold: float | None = None,
    convention: Convention | None = None,
) -> CrossValidation:
    """Run cross-validation as Surprise does, with ranking metrics among the measures.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Copied, so that it stays as it is.
    data : surprise.Dataset
        The ratings.
    measures : names, functions of predictions, or what `make_measure` returns
        ``"rmse"``, ``"mae"``, ``"mse"`` and ``"fcp"`` are Surprise's own; ``"ndcg@10"`` ranks each
        user's test ratings, ``"recall@10:catalogue"`` all items that the user did not rate in
        training.
    cv : int or iterator, optional
        As in Surprise; or `UserKFold`, `LeaveNOut`, `LeaveLastOut`, `TimeSplit`.
    return_train_measures, n_jobs, pre_dispatch
        As in Surprise.
    verbose : bool
        Whether to print the values, with how many users they are of.
    threshold : float, optional
        From which rating an item is relevant; binary metrics need it.
    convention : Convention, optional
        Every other choice that moves a number; estimates are equal to at least 1e-9.

    Returns
    -------
    CrossValidation
        A dict with Surprise's keys and values; and the scores of every user.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        Before anything is trained: a measure is unknown or lacks its threshold, the ratings have
        no gains, all users have one test rating. Later: the model diverged.

    Notes
    -----
    A rated metric is the one of ``accuracy`` on ``algo.test(testset)``; under ``:catalogue`` it is
    that of `evaluate_catalogue`, on unclipped estimates.

    Examples
    --------
    >>> from surprise import BaselineOnly, Dataset, Reader
    >>> from surprise.model_selection import KFold
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings()[["user", "item", "rating"]]
    >>> data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))
    >>> folds = KFold(2, random_state=0)
    >>> model = BaselineOnly(verbose=False)
    >>> found = cross_validate(model, data, ["rmse", "ndcg@10", "ndcg@10:catalogue"], cv=folds)
    >>> found.to_frame().round(3)[["test_rmse", "test_ndcg@10", "test_ndcg@10:catalogue"]]
            test_rmse  test_ndcg@10  test_ndcg@10:catalogue
    fold
    fold 1      0.877         0.808                   0.049
    fold 2      0.876         0.808                   0.069
    mean        0.877         0.808                   0.059
    std         0.001         0.000                   0.010
    pooled      0.877         0.771                   0.079
    """
    chosen = resolved(measures)
    plan = Plan(chosen, threshold, with_tolerance(convention), train=return_train_measures)
    if isinstance(algo, type):
        msg = f"algo is an algorithm, {algo.__name__}(), not its class."
        raise InvalidInputError(msg)
    plan = checked(plan, data, cv)
    # one copy that every fold fits anew, as Surprise does with the original, or a copy for each
    own = copy.deepcopy(algo) if n_jobs == 1 else None
    iterator = iterator_of(cv)
    splits = watched(iterator.split(data), type(algo))
    tasks = ((own or copy.deepcopy(algo), *split) for split in splits)
    total = getattr(iterator, "n_splits", None)
    folds = run(tasks, plan, total, n_jobs=n_jobs, pre_dispatch=pre_dispatch)
    diverged = [fold.diverged for fold in folds if fold.diverged]
    if diverged:
        raise DivergedModelError(diverged[0])
    found = CrossValidation(folds)
    if verbose:
        printing.table(f"{type(algo).__name__}, {len(folds)} folds", found.to_frame())
    return found


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


def watched(splits: Iterable[Any], kind: type) -> Iterator[Any]:
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


def checked(plan: Plan, data: Any, cv: Any) -> Plan:
    """Return the plan with its threshold, if the ratings can be ranked by it.

    Raises
    ------
    InvalidInputError
        The data is no dataset, or a rating no number; a metric needs a threshold, a rating has no
        gain, a user and item stand there twice, or a catalogue is to be ranked for the ratings
        that it leaves out.
    """
    if plan.train and plan.ranking("catalogue"):
        names = ", ".join(one.name for one in plan.ranking("catalogue"))
        msg = (
            f"{names} leaves out what a user rated in training, so that it is 0 on the trainset. "
            "Ask for it without return_train_measures."
        )
        raise InvalidInputError(msg)
    lists = _lists_of(data, cv, plan)
    metrics = [one.metric for one in plan.measures if one.metric]
    if lists is None or not metrics:
        return plan
    return replace(
        plan, threshold=source_of(lists, metrics, None, plan.threshold, plan.convention).threshold
    )


def _lists_of(data: Any, cv: Any, plan: Plan) -> RankedLists | None:
    """Return all ratings as lists; None of predefined folds, which are read as they are split."""
    if not isinstance(data, Dataset):
        msg = f"data must be a surprise.Dataset, not {shown(data)}: Dataset.load_from_df(...)."
        raise InvalidInputError(msg)
    rows = getattr(data, "raw_ratings", None)
    if rows is None:
        if isinstance(cv, numbers.Integral | None):
            msg = "Data of load_from_folds() has its folds already: pass cv=PredefinedKFold()."
            raise InvalidInputError(msg)
        return None
    if not rows:
        msg = "The dataset has no ratings."
        raise InvalidInputError(msg)
    user, item, rating, *_ = (list(column) for column in zip(*rows, strict=True))
    grades = floats(rating, "rating")
    check_finite(grades, "rating", "correct the rows of the dataset, or leave them out")
    if not any(one.metric for one in plan.measures):
        return None
    columns = Rows(objects(user, "user"), objects(item, "item"), grades, grades, table="dataset")
    protocol = "rated" if plan.ranking("rated") else "catalogue"
    return RankedLists(**group(columns, plan.convention.duplicates), protocol=protocol)
