"""A cell of an experiment: one model in one fold of one seed, trained and measured."""

from __future__ import annotations

import math
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, about, shown
from recsys_ndcg.experiments.peak import Peak
from recsys_ndcg.report.tracking import keys
from recsys_ndcg.surprise.model_selection.folds import Fold, fold_of

if TYPE_CHECKING:
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan


class Cell(NamedTuple):
    """One model in one fold of one seed."""

    model: str
    seed: int
    fold: int

    def __str__(self) -> str:
        """Return it as messages name it."""
        return f"{self.model}, seed {self.seed}, fold {self.fold}"


class Task(NamedTuple):
    """What a worker gets.

    Parameters
    ----------
    cell : Cell
        Of which this is.
    algo, trainset, testset
        Unfitted, and a split.
    split : str
        A digest of the split.
    plan : FoldPlan
        What is measured.
    """

    cell: Cell
    algo: Any
    trainset: Any
    testset: list[Any]
    split: str
    plan: FoldPlan


@dataclass(frozen=True)
class Result:
    """What came of a cell.

    Parameters
    ----------
    cell : Cell
        Of which this is.
    fold : Fold
        The values of all measures, the scores of every user, and the times.
    peak_memory : float
        The most memory that the process took meanwhile, in megabytes.
    split : str
        A digest of what it was trained on, and tested.
    said : tuple of str
        What was warned of.
    """

    cell: Cell
    fold: Fold
    peak_memory: float
    split: str
    said: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.cell.model

    @property
    def scores(self) -> dict[str, float]:
        """The value of every measure."""
        return {name: float(value) for name, value in self.fold.test.items()}

    @property
    def costs(self) -> dict[str, float]:
        """Seconds to fit and to test, and megabytes of memory."""
        return {
            "fit_time": self.fold.fit_time,
            "test_time": self.fold.test_time,
            "peak_memory_mb": self.peak_memory,
        }

    def to_metrics(self) -> dict[str, float]:
        """Return scores and costs as one flat dict of numbers, under keys that trackers take."""
        told = {**self.scores, **self.costs}
        names = keys(told)
        return {names[name]: value for name, value in told.items() if math.isfinite(value)}


@dataclass(frozen=True)
class Failure:
    """What went wrong in a cell."""

    cell: Cell
    error: str
    traceback: str


def worked(task: Task) -> Result | Failure:
    """Train and measure, and catch what goes wrong."""
    before = np.random.get_state()  # noqa: NPY002 - what algorithms of Surprise may draw from
    np.random.seed(task.cell.seed)  # noqa: NPY002
    try:
        with about("") as said:
            peak = Peak()
            fold = fold_of(_checking(task.algo), task.trainset, task.testset, task.plan)
        if fold.diverged:
            return failure_of(task.cell, fold.diverged)
        return Result(task.cell, fold, peak.megabytes, task.split, tuple(said))
    except Exception as error:  # noqa: BLE001 - whatever a model raises, the others go on
        return failure_of(task.cell, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002


def failure_of(cell: Cell, error: Exception) -> Failure:
    """Return what is said of an error."""
    return Failure(cell, _first_line(error), "".join(traceback.format_exception(error)))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    told = lines[0] if lines else ""
    return told if isinstance(error, InvalidInputError) else f"{type(error).__name__}: {told}"


def _checking(algo: Any) -> Any:
    """Let an algorithm's `test` check that its predictions are those of the testset."""
    own = algo.test

    def test(testset: list[Any]) -> list[Any]:
        predictions = list(own(testset))
        _check_pairs(predictions, testset)
        return predictions

    algo.test = test
    return algo


def _check_pairs(predictions: list[Any], testset: list[Any]) -> None:
    """Refuse predictions of other pairs than were asked for."""
    rows, wanted = ([tuple(row[:3]) for row in each] for each in (predictions, testset))
    if rows == wanted:
        return
    asked, told = Counter(wanted), Counter(rows)
    if told == asked:
        return
    missing, more = list((asked - told).elements()), list((told - asked).elements())
    first = f"{shown(missing[0])} is missing" if missing else f"{shown(more[0])} was not asked for"
    msg = (
        f"test() returns predictions of other pairs than asked for: {len(missing)} of "
        f"{asked.total()} (user, item, rating) are missing, {len(more)} are others; {first}."
    )
    raise InvalidInputError(msg)
