"""Folds one after the other, or each in a process of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.experiments.cells import Failure, Result, failure_of, run_fold

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Future

    from recsys_ndcg.experiments.cells import Task

    Outcome = Result | Failure

_INTERVAL = 1.0  # seconds after which a worker looks again whether its parent is there
_SIGNAL_AT_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG, for `prctl` of Linux
_KILLED = (
    "its process was ended from outside or by the model itself, perhaps for lack of memory; "
    "n_jobs=1 takes the least"
)


def run_tasks(tasks: Iterable[Task], n_jobs: int | None) -> Generator[Outcome, None, None]:
    """Yield the outcome of each task as soon as it is finished.

    With several jobs each worker is a process, and none of them outlives this generator. The task
    of a worker that is killed is run once more at the end, alone, and fails if it is killed again.
    """
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1:
        yield from map(run_fold, tasks)
        return
    workers = _Workers()
    try:
        for task in tasks:
            finished = workers.wait() if len(workers.running) == n_workers else []
            workers.begin(task)
            yield from finished
        while workers.running:
            yield from workers.wait()
        for task in workers.killed:
            yield _run_alone(task)
    except BaseException:
        workers.end(kill=True)
        raise
    workers.end(kill=False)


class _Workers:
    """Processes with one task each: if one is killed, the others keep running."""

    def __init__(self) -> None:
        self.running: dict[Future[Outcome], tuple[ProcessPoolExecutor, Task]] = {}
        self.killed: list[Task] = []
        self._idle: list[ProcessPoolExecutor] = []

    def begin(self, task: Task) -> None:
        """Run a task in a worker that has nothing to do, or in a new one."""
        while self._idle:
            worker = self._idle.pop()
            with suppress(BrokenProcessPool):  # it was killed while it had nothing to do
                self.running[worker.submit(run_fold, task)] = worker, task
                return
        worker = _new_worker()
        self.running[worker.submit(run_fold, task)] = worker, task

    def wait(self) -> list[Outcome]:
        """Wait until a task is done, and return the outcomes of all that are."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        found = []
        for future in done:
            worker, task = self.running.pop(future)
            outcome = _outcome(future, task)
            if outcome is None:
                _end(worker, kill=True)
                self.killed.append(task)
            else:
                self._idle.append(worker)
                found.append(outcome)
        return found

    def end(self, *, kill: bool) -> None:
        """End all workers; or let them go, if they have nothing to do."""
        for worker in [*self._idle, *(worker for worker, _ in self.running.values())]:
            _end(worker, kill=kill)


def _run_alone(task: Task) -> Outcome:
    worker = _new_worker()
    try:
        outcome = _outcome(worker.submit(run_fold, task), task)
    finally:
        _end(worker, kill=True)
    return failure_of(task.cell, InvalidInputError(_KILLED)) if outcome is None else outcome


def _outcome(future: Future[Outcome], task: Task) -> Outcome | None:
    """Return the outcome of a task; None if its worker was killed."""
    error = future.exception()
    if error is None:
        return future.result()
    # whatever else it is: something that cannot be sent to a worker, or back
    return None if isinstance(error, BrokenProcessPool) else failure_of(task.cell, error)


def _new_worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, initializer=_depend_on_parent, initargs=(os.getpid(),))


def _end(worker: ProcessPoolExecutor, *, kill: bool) -> None:
    with _silent_threads():
        worker.shutdown(kill_workers=kill)


@contextmanager
def _silent_threads() -> Iterator[None]:
    """Keep the thread that serves a worker from printing that the worker is gone."""
    before = threading.excepthook
    threading.excepthook = lambda _: None
    try:
        yield
    finally:
        threading.excepthook = before


def _depend_on_parent(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it ends, also if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # elsewhere than on Linux
        # a thread has to wait for compiled code that does not let others run
        ctypes.CDLL(None).prctl(_SIGNAL_AT_DEATH_OF_PARENT, signal.SIGKILL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os._exit(1)
