"""A cell of an experiment: one model in one fold of one seed, trained and measured."""

from __future__ import annotations

import copy
import math
import os
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, about, shown
from recsys_ndcg.experiments.peak import Peak
from recsys_ndcg.report.tracking import keys
from recsys_ndcg.surprise.model_selection.folds import Fold, fold_of

if TYPE_CHECKING:
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan


_LONGEST = 300  # characters of a message, all of which is in the traceback


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
    model : Model
        Which is trained anew.
    always : bool
        Whether it takes the seed of the cell in place of its own.
    trainset, testset
        A split.
    split : str
        A digest of the split.
    plan : FoldPlan
        What is measured.
    """

    cell: Cell
    model: Model
    always: bool
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


def run_fold(task: Task) -> Result | Failure:
    """Train a model on a fold and measure it; catch whatever it raises but Ctrl-C."""
    folder = _working_directory()
    before = np.random.get_state()  # noqa: NPY002 - what algorithms of Surprise may draw from
    np.random.seed(task.cell.seed)  # noqa: NPY002
    try:
        with about("") as said:
            peak = Peak()
            algo = task.model.fresh(task.cell.seed, always=task.always)
            fold = fold_of(_guarded(algo), task.trainset, task.testset, task.plan)
        if fold.diverged:
            return failure_of(task.cell, fold.diverged)
        return Result(task.cell, fold, peak.megabytes, task.split, tuple(said))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a model raises, the others go on
        return failure_of(task.cell, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002
        with suppress(OSError):  # it was deleted
            os.chdir(folder)


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was deleted
        return ""


def failure_of(cell: Cell, error: BaseException) -> Failure:
    """Return what is said of an error."""
    return Failure(cell, _first_line(error), "".join(traceback.format_exception(error)))


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - an error of somebody's own may not even say what it is
        lines = []
    told = lines[0] if lines else ""
    if isinstance(error, InvalidInputError):
        return told
    return f"{type(error).__name__}: {told[:_LONGEST]}"


def _guarded(algo: Any) -> Any:
    """Let an algorithm have the split as its own, and check what it predicts.

    It may change what it gets: the split is that of other models, too, and what is measured.
    """
    fit, test = algo.fit, algo.test

    def fitted(trainset: Any) -> Any:
        own = _copied(trainset)
        found = fit(own)
        if getattr(algo, "trainset", None) is None:  # by which those of Surprise are known as such
            algo.trainset = own
        return found

    def tested(testset: list[Any]) -> list[Any]:
        predictions = list(test(list(testset)))
        _check_pairs(predictions, testset)
        return predictions

    algo.fit, algo.test = fitted, tested
    return algo


def _copied(trainset: Any) -> Any:
    """Return a trainset with lists of its own."""
    own = copy.copy(trainset)
    for name in ("ur", "ir"):
        lists = copy.copy(getattr(trainset, name))  # which may be a defaultdict
        lists.update((inner, list(pairs)) for inner, pairs in lists.items())
        setattr(own, name, lists)
    return own


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
