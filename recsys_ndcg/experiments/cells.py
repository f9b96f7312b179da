"""Cells of an experiment: a model in a fold of a seed, trained and measured, in processes or not.

Cells stand alone: a process may be killed without harm to others.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError, label_messages
from recsys_ndcg.folds import FoldPlan, FoldRun
from recsys_ndcg.report import build_tracker_keys

if TYPE_CHECKING:
    from recsys_ndcg.experiments.models import Model

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
        names = build_tracker_keys(told)
        return {names[name]: value for name, value in told.items() if math.isfinite(value)}


class Failure(NamedTuple):
    """What went wrong in a cell."""

    cell: Cell
    error: str
    traceback: str


def _peak_megabytes() -> float:
    """Return the most memory that this process has had, NaN where the system does not say.

    Linux alone forgets what was before; elsewhere it is the most since the process began.
    """
    with suppress(OSError):
        told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        found = re.search(r"VmHWM:\s*(\d+) kB", told)
        if found:
            return int(found[1]) * 1024 / 1e6
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - not on Windows

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return float("nan")


def run_fold(task: Task) -> Result | Failure:
    """Train a model on a fold and measure it; catch whatever it raises but Ctrl-C."""
    before = np.random.get_state()  # noqa: NPY002 - what algorithms of Surprise may draw from
    np.random.seed(task.cell.seed)  # noqa: NPY002
    try:
        with chdir("."), label_messages("") as said:  # which a model may change
            with suppress(OSError):  # on Linux, 5 begins the peak anew (man 5 proc)
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            model = task.model.fresh(task.cell.seed)
            fold = FoldRun.of(model, task.trainset, task.testset, task.plan)
        if fold.diverged:
            return _build_failure(task, fold.diverged)
        return Result(task.cell, fold, _peak_megabytes(), task.split, tuple(said))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a model raises, the others go on
        return _build_failure(task, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _build_failure(task: Task, error: BaseException) -> Failure:
    """Return the first line of an error's message, and its traceback."""
    told = ""
    with suppress(Exception):  # an error of somebody's own may not even say what it is
        told = str(error).strip().partition("\n")[0]
    if not isinstance(error, InvalidInputError):
        told = f"{type(error).__name__}: {told[:_LONGEST]}"
    return Failure(task.cell, told, "".join(traceback.format_exception(error)))


def run_cells(tasks: Iterable[Task], n_jobs: int | None) -> Generator[Result | Failure, None, None]:
    """Yield what came of each task as soon as it is finished.

    With several jobs each worker is a process, and none of them outlives this generator. If one is
    killed, the tasks that run then are run once more at the end, each alone; one whose worker is
    killed again has failed.

    Parameters
    ----------
    tasks : iterable
        Taken one by one as they are needed.
    n_jobs : int, optional
        As for joblib.
    """
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1:
        yield from map(run_fold, tasks)
        return
    broken: list[Task] = []
    yield from _in_processes(tasks, n_workers, broken)
    for task in broken:
        killed: list[Task] = []
        yield from _in_processes([task], 1, killed)
        if killed:
            msg = (
                "its process was ended from outside or by the model itself, perhaps for lack of "
                "memory; n_jobs=1 takes the least"
            )
            yield _build_failure(task, InvalidInputError(msg))


def _in_processes(
    tasks: Iterable[Task], n_workers: int, broken: list[Task]
) -> Iterator[Result | Failure]:
    """Yield outcomes; note the tasks that ran when a worker was killed, and go on with others."""
    left = iter(tasks)
    is_last = False
    while not is_last:
        pool = ProcessPoolExecutor(
            n_workers, initializer=_exit_with_parent, initargs=(os.getpid(),)
        )
        is_whole = True
        outcomes: list[Result | Failure] = []
        running: dict[Future[Result | Failure], Task] = {}
        try:
            while True:
                if is_whole:
                    for task in islice(left, n_workers - len(running)):
                        running[_submit(pool, task)] = task
                    is_last = len(running) < n_workers
                yield from outcomes  # while the workers go on
                if not running:
                    break
                outcomes.clear()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task, error = running.pop(future), future.exception()
                    if error is None:
                        outcomes.append(future.result())
                    elif isinstance(error, BrokenProcessPool):
                        is_whole = False
                        broken.append(task)
                    else:  # something that cannot be sent to a worker, or back
                        outcomes.append(_build_failure(task, error))
        finally:
            _end(pool, kill=bool(running) or not is_whole)


def _submit(pool: ProcessPoolExecutor, task: Task) -> Future[Result | Failure]:
    try:
        found: Future[Result | Failure] = pool.submit(run_fold, task)
    except BrokenProcessPool as error:  # a worker was killed while it had nothing to do
        found = Future()
        found.set_exception(error)
    return found


def _end(pool: ProcessPoolExecutor, *, kill: bool) -> None:
    """End workers, and keep the thread that serves them from printing that they are gone."""
    before = threading.excepthook
    threading.excepthook = lambda _: None
    try:
        pool.shutdown(kill_workers=kill)
    finally:
        threading.excepthook = before


def _exit_with_parent(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it ends, also if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_signal_at_parents_death = 1  # PR_SET_PDEATHSIG
    with suppress(OSError, AttributeError):  # elsewhere than on Linux
        # a thread would have to wait for compiled code that lets no others run
        ctypes.CDLL(None).prctl(set_signal_at_parents_death, signal.SIGKILL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
