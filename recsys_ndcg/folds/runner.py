"""Every model in every fold: one after the other, or in processes.

`run_in_order` is for folds that belong together, by joblib with whatever backend is set: the first
error ends all. `run_each` is for those that stand alone, in processes that may be killed without
harm to other folds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.folds.fitting import fitted_and_tested
from recsys_ndcg.folds.folds import BegunFold, FoldRun, fold_of
from recsys_ndcg.progress import followed

if TYPE_CHECKING:
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

    def dispatched() -> Iterator[Any]:
        for model, trainset, testset in tasks:
            begun.append(BegunFold.of(trainset, testset, plan))
            yield delayed(fitted_and_tested)(model, trainset, testset, plan.job)

    results = _results(dispatched(), parallel)
    try:
        # a fold is ranked while others are fitted, by workers that import nothing for that
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


def run_each(
    work: Callable[[Task], Outcome],
    failed: Callable[[Task, BaseException], Outcome],
    tasks: Iterable[Task],
    n_jobs: int | None,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each task as soon as it is finished.

    With several jobs each worker is a process, and none of them outlives this generator. If one is
    killed, the tasks that run then are run once more at the end, each alone; one whose worker is
    killed again has failed.

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
    broken: list[Task] = []
    yield from _in_processes(work, failed, tasks, n_workers, broken)
    for task in broken:
        killed: list[Task] = []
        yield from _in_processes(work, failed, [task], 1, killed)
        if killed:
            yield failed(task, InvalidInputError(_KILLED))


def _in_processes(
    work: Callable[[Task], Outcome],
    failed: Callable[[Task, BaseException], Outcome],
    tasks: Iterable[Task],
    n_workers: int,
    broken: list[Task],
) -> Iterator[Outcome]:
    """Yield outcomes; note the tasks that ran when a worker was killed, and go on with others."""
    left = iter(tasks)
    is_last = False
    while not is_last:
        pool = ProcessPoolExecutor(
            n_workers, initializer=_depend_on_parent, initargs=(os.getpid(),)
        )
        is_whole = True
        outcomes: list[Outcome] = []
        running: dict[Future[Outcome], Task] = {}
        try:
            while True:
                if is_whole:
                    for task in islice(left, n_workers - len(running)):
                        running[_submit(pool, work, task)] = task
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
                        outcomes.append(failed(task, error))
        finally:
            _end(pool, kill=bool(running) or not is_whole)


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[Task], Outcome], task: Task
) -> Future[Outcome]:
    try:
        found: Future[Outcome] = pool.submit(work, task)
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
