"""cross_validate: as Surprise's, with ranking metrics and the scores of every user."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from surprise.model_selection import KFold

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.folds import CheckedSplits, FoldPlan, FoldRun, FoldRuns, Measure, run_folds
from recsys_ndcg.surprise.algorithm import Algorithm
from recsys_ndcg.surprise.library import complete, say
from recsys_ndcg.surprise.traps import warn_of_truncation

if TYPE_CHECKING:
    from recsys_ndcg.comparison import ModelScores


_NAME, _CELL = 18, 8  # as wide as Surprise's


class CrossValidation(dict[str, Any]):
    """What `cross_validate` returns: Surprise's dict, and what it leaves out.

    Parameters
    ----------
    folds : sequence of FoldRun
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

    def __init__(self, folds: Sequence[FoldRun]) -> None:
        super().__init__()
        for name in folds[0].test:
            self[f"test_{name}"] = np.asarray([fold.test[name] for fold in folds])
            if folds[0].train:
                self[f"train_{name}"] = np.asarray([fold.train[name] for fold in folds])
        self["fit_time"] = tuple(fold.fit_time for fold in folds)
        self["test_time"] = tuple(fold.test_time for fold in folds)
        self._folds = FoldRuns(folds)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user in every fold."""
        return self._folds.per_user

    @property
    def pooled(self) -> pd.Series[float]:
        """The scores of all folds' users as one sum over another."""
        return pd.Series(self._folds.pooled, name="pooled", dtype=float)

    @property
    def averaged_scores(self) -> ModelScores:
        """The same averaged within each user, for `recsys_ndcg.compare`."""
        return self._folds.averaged_scores

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


def cross_validate(  # noqa: PLR0913, PLR0917 - Surprise's signature, and a few more
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
    convention: Convention | str | None = None,
    progress: bool = True,
) -> CrossValidation:
    """Run cross-validation as Surprise does, with ranking metrics among the measures.

    Parameters
    ----------
    algo : surprise.AlgoBase
        As in Surprise it is fitted fold after fold, and stays fitted on the last one; with
        ``n_jobs`` above 1 it is copied, and stays as it is.
    data : surprise.Dataset
        The ratings.
    measures : names, functions of predictions, or what `make_measure` returns
        ``"rmse"``, ``"mae"``, ``"mse"`` and ``"fcp"`` are Surprise's own; ``"ndcg@10"`` ranks each
        user's test ratings, ``"recall@10:catalogue"`` all items that the user did not rate in
        training. Without any, there are the times alone.
    cv : int or splitter, optional
        As in Surprise: an object has ``split(data)``, which gives trainsets and testsets; or
        `UserKFold`, `LeaveNOut`, `LeaveLastOut`, `TimeSplit`.
    return_train_measures, n_jobs, pre_dispatch
        As in Surprise.
    verbose : bool
        Whether to print Surprise's summary; of ranking measures it has the pooled scores, too, and
        how many users they are of.
    threshold : float, optional
        From which rating an item is relevant; binary metrics need it.
    convention : Convention or str, optional
        Every other choice that moves a number, or a library's name: each metric as that library
        measures it. Estimates are equal to at least 1e-9.
    progress : bool
        Whether a bar counts the folds, where a person watches a job that takes long.

    Returns
    -------
    CrossValidation
        A dict with Surprise's keys and values; and the scores of every user.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        Before anything is trained: a measure is unknown or lacks its threshold, the ratings have
        no gains, all users have one test rating. Later: the model diverged.

    Warns
    -----
    DataWarning
        Test ratings are in their trainset; the algorithm estimates the same for all items of a
        user; ratings are outside the scale, or cut by the algorithm.

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
    plan = FoldPlan.of(measures, threshold, convention, return_train_measures=return_train_measures)
    _check_algorithm(algo)
    splits = CheckedSplits(data, cv, KFold, "cv")
    splits.check_n_jobs(n_jobs)
    plan = splits.resolve(plan)
    # workers get a copy each, by threads too; alone, every fold fits the caller's own anew
    alone = effective_n_jobs(n_jobs) == 1
    parts = splits.iterate(partial(warn_of_truncation, type(algo)))
    tasks = ((Algorithm(algo if alone else copy.deepcopy(algo)), *split) for split in parts)
    folds = run_folds(
        tasks, plan, splits.n_folds, progress=progress, n_jobs=n_jobs, pre_dispatch=pre_dispatch
    )
    splits.warn_of_leaks()
    for fold in folds:
        if fold.diverged:
            raise fold.diverged
    FoldRuns.warn_of_random_order(
        type(algo).__name__, [one.names_without_order for one in folds], "folds"
    )
    found = CrossValidation(folds)
    if verbose:
        asked = ", ".join(one.name.upper() for one in plan.measures)
        name = type(algo).__name__
        say(f"Evaluating {asked} of algorithm {name} on {len(folds)} split(s).\n")
        _print_aligned(_summary(plan.measures, folds))
    return found


def _check_algorithm(algo: Any) -> None:
    if isinstance(algo, type):
        msg = f"algo is an algorithm, {algo.__name__}(), not its class."
        raise InvalidInputError(msg)
    if not callable(getattr(algo, "fit", None)) or not callable(getattr(algo, "test", None)):
        msg = f"algo is an algorithm of Surprise, which has fit and test, not {quote(algo)}."
        raise InvalidInputError(msg)


def _summary(measures: Sequence[Measure], folds: Sequence[FoldRun]) -> list[list[str]]:
    """Return a head, a row for every measure, and those of the times.

    Measures that rank have their pooled score besides, below the mean of the folds, and the number
    of users that each testset has.
    """
    names = [one.name for one in measures]
    ranked = [one.name for one in measures if one.metric is not None]
    table = [["", *(f"Fold {place}" for place in range(1, len(folds) + 1)), "Mean", "Std"]]
    if not names:
        table.append([])  # as Surprise leaves their line empty
    for part in ("test", "train") if folds[0].train else ("test",):
        table += [
            _row(f"{name.upper()} ({part}set)", (getattr(one, part)[name] for one in folds))
            for name in names
        ]
    if ranked:
        sums, blank = FoldRuns(folds).pooled, [""] * len(folds)
        table += [[f"{name.upper()} (pooled)", *blank, f"{sums[name]:.4f}"] for name in ranked]
        users = [one.n_users for one in folds]
        means = [f"{np.mean(users):.1f}", f"{np.std(users):.1f}"]
        table.append(["Users (testset)", *map(str, users), *means])
    table.append(_row("Fit time", (one.fit_time for one in folds), digits=2))
    table.append(_row("Test time", (one.test_time for one in folds), digits=2))
    return table


def _row(name: str, values: Iterable[Any], digits: int = 4) -> list[str]:
    """Return a value for each fold, their mean and their standard deviation."""
    each = list(values)
    return [name, *(f"{one:.{digits}f}" for one in [*each, np.mean(each), np.std(each)])]


def _print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Print a title and the rows of a table below it, in the widths of Surprise's summary.

    A column is wider where a name or a number would run into the next one.

    Parameters
    ----------
    rows : sequence of sequences of str
        A head, and rows of at most as many cells: the first the name of the row.
    """
    head, *body = rows
    name = max([_NAME, *(len(row[0]) + 1 for row in body if row)])
    cell = max([_CELL, *(len(one) + 1 for row in body for one in row[1:])])
    for row in rows:
        cells = [*row, *[""] * (len(head) - len(row))] if row else []
        say("".join(f"{one:<{cell if place else name}}" for place, one in enumerate(cells)))


complete(__name__, "surprise.model_selection.validation")
