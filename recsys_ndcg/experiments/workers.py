"""Train and measure models on folds, in this process or in workers.

Runs are independent: a killed process does not affect others.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import format_exception
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import cloudpickle
import numpy as np
from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.errors import InvalidInputError, label_messages
from recsys_ndcg.folds import FoldRun

if TYPE_CHECKING:
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.folds import Fold

_MAX_MESSAGE = 300  # characters of a message; the traceback has all of it


#: A model and the fold to train it on.
Task = tuple["Model", "Fold"]


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


def run_task(task: Task, show: Callable[[str, float], object] = lambda *_: None) -> FoldRun:
    """Train a model on a fold and measure it; any error but Ctrl-C ends only this run.

    `show` gets the share of the catalogue that is ranked.
    """
    model, fold = task
    show_share = partial(show, f"{model.name}, {fold}: ranking the catalogue")
    before = np.random.get_state()  # noqa: NPY002 - some algorithms of Surprise draw from it
    np.random.seed(fold.seed)  # noqa: NPY002
    try:
        with chdir("."), label_messages("") as messages:  # a model may change the directory
            with suppress(OSError):  # on Linux, 5 resets the peak (man 5 proc)
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            run = fold.run(model.copy_unfitted(fold.seed), show_share)
        if run.diverged:
            return _fail(task, run.diverged)
        run = replace(run, model=model.name, warnings=tuple(messages))
        return replace(run, peak_memory=_get_peak_memory())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - no model's error stops the others
        return _fail(task, error)
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _fail(task: Task, error: BaseException) -> FoldRun:
    """Return a run that failed, with the first line of an error's message, and its traceback."""
    message = ""
    with suppress(Exception):  # a user's error class may fail to format its message
        message = str(error).strip().partition("\n")[0]
    if not isinstance(error, InvalidInputError):
        message = f"{type(error).__name__}: {message[:_MAX_MESSAGE]}"
    traceback = "".join(format_exception(error))
    model, fold = task
    return FoldRun(model.name, fold.seed, fold.number, error=message, traceback=traceback)


def run_tasks(
    tasks: Iterable[Task], n_jobs: int | None, show: Callable[[str, float], object]
) -> Generator[FoldRun, None, None]:
    """Yield the run of each task as soon as it is finished or has failed.

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
            yield _fail(task, InvalidInputError(msg))


def _run_in_processes(
    tasks: Iterable[Task], n_workers: int, broken: list[Task]
) -> Iterator[FoldRun]:
    """Yield runs; collect the tasks that a killed worker interrupted, and run the others."""
    left, is_last = iter(tasks), False
    while not is_last:
        is_whole = True
        finished: list[FoldRun] = []
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
                    yield from finished  # while the workers go on
                    if not running:
                        break
                    finished.clear()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        task, error = running.pop(future), future.exception()
                        if error is None:
                            finished.append(_take(future.result()))
                        elif isinstance(error, BrokenProcessPool):
                            is_whole = False
                            broken.append(task)
                        else:  # an object cannot be sent to a worker, or back
                            finished.append(_fail(task, error))
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
    """Run the task of a file in a worker, and return the file of its result."""
    return _put(run_task(_take(file)), file.parent)


def _put(value: Task | FoldRun, folder: Path) -> Path:
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
