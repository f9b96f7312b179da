"""cross_validate: Surprise's, with ranking metrics and the scores of every user."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from surprise.model_selection import KFold

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.folds import CheckedSplits, FoldPlan, FoldRun, Measure, average_scores, run_folds
from recsys_ndcg.input import make_index
from recsys_ndcg.split_checks import SplitReport
from recsys_ndcg.surprise.algorithm import Algorithm
from recsys_ndcg.surprise.library import add_missing_names, print_line
from recsys_ndcg.surprise.traps import warn_of_truncation

if TYPE_CHECKING:
    from recsys_ndcg.comparison import ModelScores


_NAME_WIDTH, _CELL_WIDTH = 18, 8  # Surprise's


def pool_scores(runs: Sequence[FoldRun]) -> dict[str, float]:
    """Return the pooled score of each ranking measure over folds; empty if a fold diverged."""
    pooled: dict[str, float] = {}
    if not any(run.diverged for run in runs):
        for protocol, names in runs[0].names.items():
            totals = reduce(add, (run.audits[protocol].totals for run in runs))
            pooled |= dict(zip(names, totals.pooled.tolist(), strict=True))
    return pooled


def tabulate_users(runs: Sequence[FoldRun]) -> pd.DataFrame:
    """Return the scores of every user in folds, indexed by fold and user, a column per measure."""
    tables = {}
    for place, run in enumerate(runs, 1):
        parts = [
            pd.DataFrame(one.per_user, make_index(one.users, "user"), run.names[name], copy=True)
            for name, audit in run.audits.items()
            for one in [audit.scores]
        ]
        tables[place] = pd.concat(parts, axis=1) if parts else pd.DataFrame()
    return pd.concat(tables, names=["fold", "user"])


class CrossValidation(dict[str, Any]):
    """The result of `cross_validate`: Surprise's dict, with users' scores and pooled scores.

    Parameters
    ----------
    runs : sequence of FoldRun
        The model on each fold.
    split_reports : sequence of SplitReport
        The checks of the folds.

    Attributes
    ----------
    per_user : pandas.DataFrame
        Indexed by fold and user, with a column per ranking measure; also rmse and mae if rated
        lists are ranked.
    pooled : pandas.Series
        By measure: the sum of all folds' numerators over the sum of their denominators.
    n_users : list of int
        Number of users in each testset.
    split_checks : pandas.DataFrame
        What `recsys_ndcg.check_split` finds in each fold, indexed by fold and check.
    """

    def __init__(self, runs: Sequence[FoldRun], split_reports: Sequence[SplitReport] = ()) -> None:
        super().__init__()
        self.split_reports = tuple(split_reports)
        for name in runs[0].test:
            self[f"test_{name}"] = np.asarray([run.test[name] for run in runs])
            if runs[0].train:
                self[f"train_{name}"] = np.asarray([run.train[name] for run in runs])
        self["fit_time"] = tuple(run.fit_time for run in runs)
        self["test_time"] = tuple(run.test_time for run in runs)
        self._runs = runs

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user in every fold."""
        return tabulate_users(self._runs)

    @property
    def split_checks(self) -> pd.DataFrame:
        """What `recsys_ndcg.check_split` finds in each fold."""
        return SplitReport.tabulate(dict(enumerate(self.split_reports, 1)), ["fold"])

    @property
    def pooled(self) -> pd.Series[float]:
        """The pooled score of each ranking measure over all folds."""
        return pd.Series(pool_scores(self._runs), name="pooled", dtype=float)

    @property
    def averaged_scores(self) -> ModelScores:
        """The scores averaged within each user, for `recsys_ndcg.compare`."""
        return average_scores(self._runs)

    @property
    def n_users(self) -> list[int]:
        """Number of users in each testset."""
        return [run.n_users for run in self._runs]

    def to_frame(self) -> pd.DataFrame:
        """Return a table of the folds, their mean and standard deviation, and pooled scores."""
        folds = pd.DataFrame(dict(self), index=pd.RangeIndex(1, len(self._runs) + 1))
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
    convention: ConventionLike = None,
    features: Any = None,
    progress: bool = True,
) -> CrossValidation:
    """Run cross-validation as in Surprise, also with ranking metrics.

    Parameters
    ----------
    algo : surprise.AlgoBase
        As in Surprise, it is fitted on every fold, and stays fitted on the last one. With
        ``n_jobs`` above 1 copies are fitted.
    data : surprise.Dataset
        The ratings.
    measures : names, functions of predictions, or what `make_measure` returns
        ``"rmse"``, ``"mae"``, ``"mse"`` and ``"fcp"`` are Surprise's; ``"ndcg@10"`` ranks each
        user's test ratings, ``"recall@10:catalogue"`` all items that the user did not rate in
        training. Without measures only the times are returned.
    cv : int or splitter, optional
        As in Surprise; an object has a method ``split(data)`` that returns trainsets and testsets,
        such as `UserKFold`, `LeaveNOut`, `LeaveLastOut`, `TimeSplit` or `RollingTime`.
    return_train_measures, n_jobs, pre_dispatch
        As in Surprise.
    verbose : bool
        Whether to print Surprise's summary, with the pooled scores of ranking measures and their
        numbers of users.
    threshold : float, optional
        Ratings at or above it count as relevant; binary metrics need it.
    convention : Convention or str, optional
        All other choices, or a library's name: each metric is then measured as in that library.
        Estimates that differ by less than 1e-9 are tied.
    features : table, optional
        The features of the items, as in `recsys_ndcg.evaluate`. The other knowledge of measures
        such as ``"coverage@10:catalogue"`` is each fold's trainset.
    progress : bool
        Whether to show a progress bar for long jobs, in a terminal or a notebook.

    Returns
    -------
    CrossValidation
        A dict with Surprise's keys and values, and the scores of every user.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        Before anything is trained: a measure is unknown or lacks its threshold, the ratings have
        no gains, or all users have one test rating. Later: the model diverged.

    Warns
    -----
    DataWarning
        Test ratings are in their trainset; all estimates of a user are equal; ratings are outside
        the scale, or truncated by the algorithm.

    Notes
    -----
    A rated metric equals ``accuracy`` on ``algo.test(testset)``; with ``:catalogue`` it equals
    `evaluate_catalogue`, on unclipped estimates.

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
    plan = FoldPlan.of(
        measures,
        threshold,
        convention,
        return_train_measures=return_train_measures,
        features=features,
    )
    _check_algorithm(algo)
    splits = CheckedSplits(data, cv, KFold, "cv")
    splits.check_n_jobs(n_jobs)
    plan = splits.resolve(plan)
    # workers, also threads, get a copy each; without workers every fold fits the caller's algorithm
    needs_copies = effective_n_jobs(n_jobs) != 1
    parts = splits.iterate(partial(warn_of_truncation, type(algo)))
    tasks = ((Algorithm(copy.deepcopy(algo) if needs_copies else algo), *split) for split in parts)
    runs = run_folds(
        tasks, plan, splits.n_folds, progress=progress, n_jobs=n_jobs, pre_dispatch=pre_dispatch
    )
    splits.warn_of_leaks()
    for run in runs:
        if run.diverged:
            raise run.diverged
    kind = type(algo).__name__
    FoldRun.warn_of_random_order(kind, [one.without_order for one in runs], "folds")
    found = CrossValidation(runs, splits.reports)
    if verbose:
        names = ", ".join(one.name.upper() for one in plan.measures)
        print_line(f"Evaluating {names} of algorithm {kind} on {len(runs)} split(s).\n")
        _print_aligned(_build_summary(plan.measures, runs))
    return found


def _check_algorithm(algo: Any) -> None:
    if isinstance(algo, type):
        msg = f"algo must be an algorithm, not its class: write {algo.__name__}()."
        raise InvalidInputError(msg)
    if not callable(getattr(algo, "fit", None)) or not callable(getattr(algo, "test", None)):
        msg = f"algo must be an algorithm of Surprise, with fit and test, not {quote(algo)}."
        raise InvalidInputError(msg)


def _build_summary(measures: Sequence[Measure], runs: Sequence[FoldRun]) -> list[list[str]]:
    """Return a heading and the rows of the measures, the numbers of users and the times.

    Ranking measures have a second row with the pooled score in the column of the mean.
    """
    names = [one.name for one in measures]
    ranked = [one.name for one in measures if one.metric is not None]
    table = [["", *(f"Fold {place}" for place in range(1, len(runs) + 1)), "Mean", "Std"]]
    if not names:
        table.append([])  # Surprise prints an empty line
    for part in ("test", "train") if runs[0].train else ("test",):
        table += [
            _format_row(f"{name.upper()} ({part}set)", (getattr(one, part)[name] for one in runs))
            for name in names
        ]
    if ranked:
        sums, blank = pool_scores(runs), [""] * len(runs)
        table += [[f"{name.upper()} (pooled)", *blank, f"{sums[name]:.4f}"] for name in ranked]
        users = [one.n_users for one in runs]
        means = [f"{np.mean(users):.1f}", f"{np.std(users):.1f}"]
        table.append(["Users (testset)", *map(str, users), *means])
    table.append(_format_row("Fit time", (one.fit_time for one in runs), digits=2))
    table.append(_format_row("Test time", (one.test_time for one in runs), digits=2))
    return table


def _format_row(name: str, values: Iterable[Any], digits: int = 4) -> list[str]:
    """Return the name, the values of the folds, their mean and their standard deviation."""
    each = list(values)
    return [name, *(f"{one:.{digits}f}" for one in [*each, np.mean(each), np.std(each)])]


def _print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Print a table with the widths of Surprise's summary, or wider if a cell needs it.

    Parameters
    ----------
    rows : sequence of sequences of str
        A heading, and rows of at most as many cells; the first cell is the row's name.
    """
    head, *body = rows
    name = max([_NAME_WIDTH, *(len(row[0]) + 1 for row in body if row)])
    cell = max([_CELL_WIDTH, *(len(one) + 1 for row in body for one in row[1:])])
    for row in rows:
        cells = [*row, *[""] * (len(head) - len(row))] if row else []
        print_line("".join(f"{one:<{cell if place else name}}" for place, one in enumerate(cells)))


add_missing_names(__name__, "surprise.model_selection.validation")
