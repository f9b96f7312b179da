"""Train and measure the cells of an experiment, in this process or in workers.

A cell is one model on one fold of one seed. Cells are independent: a killed process does not affect
other cells.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import cloudpickle
import numpy as np
from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError, label_messages
from recsys_ndcg.folds import FoldPlan, FoldRun
from recsys_ndcg.report import build_tracker_keys

if TYPE_CHECKING:
    from recsys_ndcg.experiments.models import Model

_MAX_MESSAGE = 300  # characters of a message; the traceback has all of it


class Cell(NamedTuple):
    """One model in one fold of one seed."""

    model: str
    seed: int
    fold: int

    def __str__(self) -> str:
        """Return the cell's name in messages."""
        return f"{self.model}, seed {self.seed}, fold {self.fold}"


class Task(NamedTuple):
    """The input of a worker.

    Parameters
    ----------
    cell : Cell
        The cell to run.
    model : Model
        The model, of which a copy is trained.
    trainset, testset
        The split.
    split : str
        A digest of the split.
    plan : FoldPlan
        The measures.
    """

    cell: Cell
    model: Model
    trainset: Any
    testset: list[Any]
    split: str
    plan: FoldPlan


@dataclass(frozen=True)
class Result:
    """The result of training one model on one fold.

    Parameters
    ----------
    cell : Cell
        The model, seed and fold.
    fold : FoldRun
        The values of all measures, the scores of every user, and the times.
    peak_memory : float
        The process's peak memory meanwhile, in megabytes.
    split : str
        A digest of the trainset and the testset.
    warnings : tuple of str
        The messages of the warnings.
    """

    cell: Cell
    fold: FoldRun
    peak_memory: float
    split: str
    warnings: tuple[str, ...] = ()

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
        """Seconds to fit, to predict and to measure, and megabytes of memory."""
        return {
            "fit_seconds": self.fold.fit_time,
            "predict_seconds": self.fold.test_time + self.fold.rank_time,
            "measure_seconds": self.fold.measure_time,
            "peak_memory_mb": self.peak_memory,
        }

    def to_metrics(self) -> dict[str, float]:
        """Return scores and costs as one flat dict of numbers, under keys that trackers take."""
        values = {**self.scores, **self.costs}
        keys = build_tracker_keys(values)
        return {keys[name]: value for name, value in values.items() if math.isfinite(value)}


class Failure(NamedTuple):
    """The error of a cell."""

    cell: Cell
    error: str
    traceback: str


def _get_peak_memory() -> float:
    """Return the peak memory of this process in megabytes, NaN if the system does not report it.

    Only Linux can reset it; elsewhere it is the peak since the process started.
    """
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        if peak := re.search(r"VmHWM:\s*(\d+) kB", status):
            return int(peak[1]) * 1024 / 1e6
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - not on Windows

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return float("nan")


def run_task(
    task: Task, show: Callable[[str, float], object] = lambda *_: None
) -> Result | Failure:
    """Train a model on a fold and measure it; any error but Ctrl-C becomes a failure.

    `show` gets the share of the catalogue that is ranked.
    """
    show_share = partial(show, f"{task.cell}: ranking the catalogue")
    before = np.random.get_state()  # noqa: NPY002 - some algorithms of Surprise draw from it
    np.random.seed(task.cell.seed)  # noqa: NPY002
    try:
        with chdir("."), label_messages("") as messages:  # a model may change the directory
            with suppress(OSError):  # on Linux, 5 resets the peak (man 5 proc)
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            model = task.model.copy_unfitted(task.cell.seed)
            fold = FoldRun.of(model, task.trainset, task.testset, task.plan, show_share)
        if fold.diverged:
            return _build_failure(task, fold.diverged)
        return Result(task.cell, fold, _get_peak_memory(), task.split, tuple(messages))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - no model's error stops the others
        return _build_failure(task, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _build_failure(task: Task, error: BaseException) -> Failure:
    """Return a failure with the first line of an error's message, and its traceback."""
    message = ""
    with suppress(Exception):  # a user's error class may fail to format its message
        message = str(error).strip().partition("\n")[0]
    if not isinstance(error, InvalidInputError):
        message = f"{type(error).__name__}: {message[:_MAX_MESSAGE]}"
    return Failure(task.cell, message, "".join(traceback.format_exception(error)))


def run_cells(
    tasks: Iterable[Task], n_jobs: int | None, show: Callable[[str, float], object]
) -> Generator[Result | Failure, None, None]:
    """Yield the result or failure of each task as soon as it is finished.

    With several jobs each worker is a process, and none of them outlives this generator. If one is
    killed, the tasks that were running are repeated at the end, each in a process of its own; a
    task whose worker is killed again has failed.

    Parameters
    ----------
    tasks : iterable
        Read one by one, as workers become free.
    n_jobs : int, optional
        As for joblib.
    show : callable
        Gets the steps of a task in this process: a description, and the share that is done.
    """
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1:
        yield from (run_task(task, show) for task in tasks)
        return
    broken: list[Task] = []
    yield from _run_in_processes(tasks, n_workers, broken)
    for task in broken:
        killed: list[Task] = []
        yield from _run_in_processes([task], 1, killed)
        if killed:
            msg = "its process was killed, or the model ended it; `n_jobs=1` needs less memory"
            yield _build_failure(task, InvalidInputError(msg))


def _run_in_processes(
    tasks: Iterable[Task], n_workers: int, broken: list[Task]
) -> Iterator[Result | Failure]:
    """Yield outcomes; collect the tasks that a killed worker interrupted, and run the others."""
    left, is_last = iter(tasks), False
    while not is_last:
        is_whole = True
        outcomes: list[Result | Failure] = []
        running: dict[Future[Path], Task] = {}
        with TemporaryDirectory(prefix="recsys_ndcg") as folder:
            marker = Path(folder, "open")  # a file that is there while the pool is
            marker.touch()
            begin = partial(_follow_parent, os.getpid(), marker)
            pool = ProcessPoolExecutor(n_workers, initializer=begin)
            try:
                while True:
                    if is_whole:
                        for task in islice(left, n_workers - len(running)):
                            running[_submit(pool, task, Path(folder))] = task
                        is_last = len(running) < n_workers
                    yield from outcomes  # while the workers go on
                    if not running:
                        break
                    outcomes.clear()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        task, error = running.pop(future), future.exception()
                        if error is None:
                            outcomes.append(_take(future.result()))
                        elif isinstance(error, BrokenProcessPool):
                            is_whole = False
                            broken.append(task)
                        else:  # an object cannot be sent to a worker, or back
                            outcomes.append(_build_failure(task, error))
            finally:
                marker.unlink(missing_ok=True)
                pool.shutdown(kill_workers=bool(running) or not is_whole)


def _submit(pool: ProcessPoolExecutor, task: Task, folder: Path) -> Future[Path]:
    """Send a task as a file: of a long message, a killed worker may leave a part in the pipe."""
    try:
        future: Future[Path] = pool.submit(_run_file, _put(task, folder))
    except Exception as error:  # noqa: BLE001 - it cannot be sent, or an idle worker was killed
        future = Future()
        future.set_exception(error)
    return future


def _run_file(file: Path) -> Path:
    """Run the task of a file in a worker, and return the file of its outcome."""
    return _put(run_task(_take(file)), file.parent)


def _put(value: Task | Result | Failure, folder: Path) -> Path:
    file = folder / uuid4().hex
    file.write_bytes(cloudpickle.dumps(value))
    return file


def _take(file: Path) -> Any:
    value = pickle.loads(file.read_bytes())  # noqa: S301 - written by `_put`
    file.unlink()
    return value


def _follow_parent(parent: int, marker: Path) -> None:
    """Leave Ctrl-C to the parent, and exit with it or when the pool's marker is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # not Linux
        # PR_SET_PDEATHSIG; unlike the thread below, it does not wait for code that keeps the GIL
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    threading.Thread(target=_exit_after, args=(parent, marker), daemon=True).start()


def _exit_after(parent: int, marker: Path) -> None:
    """Exit when the parent or the marker is gone; else a killed worker's lock may prevent it."""
    while os.getppid() == parent and marker.exists():
        time.sleep(1.0)
    os._exit(1)
