"""A cell of an experiment: one model in one fold of one seed, trained and measured."""

from __future__ import annotations

import math
import re
import sys
import traceback
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, about
from recsys_ndcg.folds import FoldRun, fold_of
from recsys_ndcg.report import tracker_keys

if TYPE_CHECKING:
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.folds import FoldPlan

_LONGEST = 300  # characters of a message, all of which is in the traceback
_RESET = "5"  # what Linux takes for it: the peak is what there is now
_UNIT = 1 if sys.platform == "darwin" else 1024


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
    trainset, testset
        A split.
    split : str
        A digest of the split.
    plan : FoldPlan
        What is measured.
    """

    cell: Cell
    model: Model
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
    fold : FoldRun
        The values of all measures, the scores of every user, and the times.
    peak_memory : float
        The most memory that the process took meanwhile, in megabytes.
    split : str
        A digest of what it was trained on, and tested.
    said : tuple of str
        What was warned of.
    """

    cell: Cell
    fold: FoldRun
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
        names = tracker_keys(told)
        return {names[name]: value for name, value in told.items() if math.isfinite(value)}


@dataclass(frozen=True)
class Failure:
    """What went wrong in a cell."""

    cell: Cell
    error: str
    traceback: str


class Peak:
    """The most memory that this process has had since the object was made.

    Linux alone forgets what was before; elsewhere it is the most since the process began.
    """

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text(_RESET, encoding="ascii")

    @property
    def megabytes(self) -> float:
        """How much, NaN where the system does not say."""
        with suppress(OSError):
            told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
            found = re.search(r"VmHWM:\s*(\d+) kB", told)
            if found:
                return int(found[1]) * 1024 / 1e6
        with suppress(ImportError):
            import resource  # noqa: PLC0415 - not on Windows

            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT / 1e6
        return float("nan")


def run_fold(task: Task) -> Result | Failure:
    """Train a model on a fold and measure it; catch whatever it raises but Ctrl-C."""
    before = np.random.get_state()  # noqa: NPY002 - what algorithms of Surprise may draw from
    np.random.seed(task.cell.seed)  # noqa: NPY002
    try:
        with chdir("."), about("") as said:  # which a model may change
            peak = Peak()
            model = task.model.fresh(task.cell.seed)
            fold = fold_of(model, task.trainset, task.testset, task.plan)
        if fold.diverged:
            return failure_of(task, fold.diverged)
        return Result(task.cell, fold, peak.megabytes, task.split, tuple(said))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a model raises, the others go on
        return failure_of(task, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002


def failure_of(task: Task, error: BaseException) -> Failure:
    """Return what is said of an error."""
    return Failure(task.cell, _first_line(error), "".join(traceback.format_exception(error)))


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - an error of somebody's own may not even say what it is
        lines = []
    told = lines[0] if lines else ""
    if isinstance(error, InvalidInputError):
        return told
    return f"{type(error).__name__}: {told[:_LONGEST]}"
