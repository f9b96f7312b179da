"""Every model in every fold: one after the other, or in processes.

`run_in_order` is for folds that belong together, by joblib with whatever backend is set: the first
error ends all. `run_each` is for those that stand alone, each in a process of its own that may be
killed without harm to the others.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import warnings
from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.folds.fitting import sent
from recsys_ndcg.folds.folds import BegunFold, fold_of
from recsys_ndcg.progress import followed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

    from recsys_ndcg.folds.folds import FoldRun
    from recsys_ndcg.folds.measures import FoldPlan

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

_INTERVAL = 1.0  # seconds after which a worker looks again whether its parent is there
_SIGNAL_AT_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG, for `prctl` of Linux
_KILLED = (
    "its process was ended from outside or by the model itself, perhaps for lack of memory; "
    "n_jobs=1 takes the least"
)


def run_in_order(
    tasks: Iterable[tuple[Any, Any, Any]],
    plan: FoldPlan,
    total: int | None,
    *,
    progress: bool = True,
    **parallel: Any,
) -> list[FoldRun]:
    """Run folds, given as model, trainset and testset.

    Parameters
    ----------
    tasks : iterable
        Taken one by one as they are needed.
    plan : FoldPlan
        What to measure.
    total : int, optional
        How many there are, for the bar of progress.
    progress : bool
        Whether there is a bar.
    **parallel
        For joblib.
    """
    if plan.catalogue is not None or effective_n_jobs(parallel.get("n_jobs")) == 1:
        # all items are ranked where the model is, which is larger than anything that comes of it
        jobs = (delayed(fold_of)(*task, plan) for task in tasks)
        return list(followed(_results(jobs, parallel), "Fitting", total, wanted=progress))
    begun: deque[BegunFold] = deque()
    results = _results(_dispatched(tasks, plan, begun), parallel)
    try:
        # a fold is ranked while others are fitted
        ranked = (begun.popleft().fold(one) for one in results)
        return list(followed(ranked, "Fitting", total, wanted=progress))
    finally:  # stop the workers, also where a fold is refused while others are fitted
        with warnings.catch_warnings():  # joblib's, of what they did in vain
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            results.close()


def _results(jobs: Iterable[Any], parallel: dict[str, Any]) -> Generator[Any, None, None]:
    """Yield what comes of jobs, in their order."""
    try:
        workers = Parallel(return_as="generator", **parallel)
    except ValueError:  # a backend that gives everything in the end, so that no bar can follow
        workers = Parallel(**parallel)
    yield from workers(jobs)


def _dispatched(
    tasks: Iterable[tuple[Any, Any, Any]], plan: FoldPlan, begun: deque[BegunFold]
) -> Iterator[Any]:
    """Yield jobs for workers, and keep of each what its predictions are ranked with."""
    for model, trainset, testset in tasks:
        fold = BegunFold.of(trainset, testset, plan)
        begun.append(fold.without_ratings())
        yield delayed(sent)(model, trainset, testset, plan.job)


def run_each(
    work: Callable[[Task], Outcome],
    failed: Callable[[Task, BaseException], Outcome],
    tasks: Iterable[Task],
    n_jobs: int | None,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each task as soon as it is finished.

    With several jobs each worker is a process, and none of them outlives this generator. The task
    of a worker that is killed is run once more at the end, alone, and fails if it is killed again.

    Parameters
    ----------
    work : callable
        Returns the outcome of a task.
    failed : callable
        Returns that of a task whose worker is killed, or that cannot be sent to one.
    tasks : iterable
        Taken one by one as they are needed.
    n_jobs : int, optional
        As for joblib.
    """
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1:
        yield from map(work, tasks)
        return
    workers = _Workers(work, failed)
    try:
        for task in tasks:
            finished = workers.wait() if len(workers.running) == n_workers else []
            workers.begin(task)
            yield from finished
        while workers.running:
            yield from workers.wait()
        for task in workers.killed:
            yield workers.run_alone(task)
    except BaseException:
        workers.end(kill=True)
        raise
    workers.end(kill=False)


class _Workers(Generic[Task, Outcome]):
    """Processes with one task each: if one is killed, the others keep running."""

    def __init__(
        self, work: Callable[[Task], Outcome], failed: Callable[[Task, BaseException], Outcome]
    ) -> None:
        self._work, self._failed = work, failed
        self.running: dict[Future[Outcome], tuple[ProcessPoolExecutor, Task]] = {}
        self.killed: list[Task] = []
        self._idle: list[ProcessPoolExecutor] = []

    def begin(self, task: Task) -> None:
        """Run a task in a worker that has nothing to do, or in a new one."""
        while self._idle:
            worker = self._idle.pop()
            with suppress(BrokenProcessPool):  # it was killed while it had nothing to do
                self.running[worker.submit(self._work, task)] = worker, task
                return
        worker = _new_worker()
        self.running[worker.submit(self._work, task)] = worker, task

    def wait(self) -> list[Outcome]:
        """Wait until a task is done, and return the outcomes of all that are."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        found = []
        for future in done:
            worker, task = self.running.pop(future)
            outcome = self._outcome(future, task)
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

    def run_alone(self, task: Task) -> Outcome:
        """Return the outcome of a task in a worker of its own, while no other is busy."""
        worker = _new_worker()
        try:
            outcome = self._outcome(worker.submit(self._work, task), task)
        finally:
            _end(worker, kill=True)
        return self._failed(task, InvalidInputError(_KILLED)) if outcome is None else outcome

    def _outcome(self, future: Future[Outcome], task: Task) -> Outcome | None:
        """Return the outcome of a task; None if its worker was killed."""
        error = future.exception()
        if error is None:
            return future.result()
        # whatever else it is: something that cannot be sent to a worker, or back
        return None if isinstance(error, BrokenProcessPool) else self._failed(task, error)


def _new_worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, initializer=_depend_on_parent, initargs=(os.getpid(),))


def _end(worker: ProcessPoolExecutor, *, kill: bool) -> None:
    """End a worker, and keep the thread that serves it from printing that it is gone."""
    before = threading.excepthook
    threading.excepthook = lambda _: None
    try:
        worker.shutdown(kill_workers=kill)
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
