"""Cells one after the other, or in processes of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.experiments.cells import Failure, Result, failure_of, worked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from recsys_ndcg.experiments.cells import Task

    Outcome = Result | Failure

_LOOKS = 1.0  # seconds between looks whether there is anybody to work for
_ENDED = (
    "its process was ended from outside or by the model itself, perhaps for lack of memory; "
    "n_jobs=1 takes the least"
)


def outcomes(tasks: Iterable[Task], n_jobs: int | None) -> Generator[Outcome, None, None]:
    """Give what comes of tasks as it comes.

    With several jobs each worker is a process, and none of them outlives this generator. One that
    is killed takes no more with it than its own cell.
    """
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from map(worked, tasks)
        return
    pool = _Pool(workers)
    try:
        for task in tasks:
            pool.begin(task)
            if len(pool.running) > workers:  # one waits, so that no worker does
                yield from pool.finished()
        while pool.running:
            yield from pool.finished()
    except BaseException:  # whatever stops it, they do not go on
        pool.end()
        raise
    pool.end(kill=False)


class _Pool:
    """Workers, and what they are doing."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor = _executor(workers)
        self.running: dict[Future[Outcome], Task] = {}

    def begin(self, task: Task) -> None:
        """Have a task done."""
        self.running[self._executor.submit(worked, task)] = task

    def finished(self) -> Iterator[Outcome]:
        """Wait for some of what is running, and give it."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        lost = []
        for one in done:
            task = self.running.pop(one)
            found = _outcome(one, task)
            if found is None:
                lost.append(task)
            else:
                yield found
        if lost:
            lost += self.running.values()
            self.running.clear()
            yield from self._alone(lost)

    def _alone(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Do again, each in a worker of its own, what was running when one of them died."""
        self.end()
        for task in sorted(tasks, key=lambda one: one.cell):
            self._executor = _executor(1)
            found = _outcome(self._executor.submit(worked, task), task)
            self.end()
            yield failure_of(task.cell, InvalidInputError(_ENDED)) if found is None else found
        self._executor = _executor(self._workers)

    def end(self, *, kill: bool = True) -> None:
        """End the workers, whatever they are doing; or let them go, as they have nothing to do."""
        with _silent_threads():
            self._executor.shutdown(kill_workers=kill)


def _executor(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, initializer=_depend, initargs=(os.getpid(),))


def _outcome(future: Future[Outcome], task: Task) -> Outcome | None:
    """Return what came of a task; None if its worker died, or one beside it."""
    try:
        return future.result()
    except BrokenProcessPool:
        return None
    except Exception as error:  # noqa: BLE001 - what cannot be sent to a worker, or back
        return failure_of(task.cell, error)


@contextmanager
def _silent_threads() -> Iterator[None]:
    """Keep the thread that serves workers from telling that they are gone."""
    before = threading.excepthook
    threading.excepthook = lambda _: None
    try:
        yield
    finally:
        threading.excepthook = before


def _depend(asking: int) -> None:
    """Leave Ctrl-C to the process that asked, and end with it, also where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(asking,), daemon=True).start()


def _end_with(asking: int) -> None:
    while os.getppid() == asking:
        time.sleep(_LOOKS)
    os._exit(1)
