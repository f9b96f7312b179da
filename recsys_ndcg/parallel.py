"""Threads for blocks of users: NumPy releases the interpreter's lock while it sorts."""

from __future__ import annotations

import os
import sys
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import chain, pairwise, repeat
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from recsys_ndcg.arrays import Positions
from recsys_ndcg.errors import InvalidInputError, quote

_MAX_ROWS = 1 << 18  # in a block, so that it fits the processor's cache
_MIN_ROWS = 1 << 17  # in a block: a smaller one takes longer to start than to compute
_FEW_ROWS = 1 << 17  # a single thread is as fast
_MAX_CELLS = 1 << 18

Item = TypeVar("Item")
Result = TypeVar("Result")

_thread_limit: ContextVar[int | None] = ContextVar("_thread_limit", default=None)
_local = threading.local()  # in one of our threads it has an attribute: the event that cancels it
_NEVER = threading.Event()


def map_in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_rows: int | None = None,
    show: Callable[[float], None] | None = None,
) -> list[Result]:
    """Call a function with each item in threads, and return the results in the items' order.

    If several items fail, the error of the first is raised. Nested calls run in their own thread.

    Parameters
    ----------
    work : callable
        The function.
    items : sequence
        Its arguments.
    n_rows : int, optional
        The number of rows in all items: a few rows are not worth starting threads.
    show : callable, optional
        Called with the share of the items that are done.

    Examples
    --------
    >>> map_in_threads(abs, [-1, 2])
    [1, 2]
    """
    _reuse_freed_memory()
    alone = hasattr(_local, "cancelled") or (n_rows is not None and n_rows < _FEW_ROWS)
    size = 1 if alone else min(count_threads(), len(items))
    calls = [()] * size if size > 1 else []  # a single thread is the caller's own
    results: list[Any] = [None] * len(items)
    errors: dict[int, BaseException] = {}
    # No executor and no Thread: they take locks in Python for each item and at the start, and if an
    # interrupt of the caller comes just then, the lock stays taken, and threads wait for it forever
    left, cancelled = enumerate(items), threading.Event()
    done, ended = SimpleQueue[int | None](), SimpleQueue[None]()

    def finish_items() -> Iterator[int]:
        for place, item in left:
            try:
                results[place] = work(item)
            except BaseException as error:  # noqa: BLE001 - the caller gets the first
                errors[place] = error
                deque(left, maxlen=0)  # no thread starts another item
                return
            yield place

    def work_in_thread() -> None:
        _local.cancelled = cancelled
        deque(map(done.put, chain(finish_items(), [None])), maxlen=0)
        ended.put(None)

    threads: list[int] = []
    try:
        with suppress(RuntimeError):  # no more threads can be started
            # one call, in which no interrupt can come between a start and its count
            threads.extend(map(start_new_thread, repeat(work_in_thread), calls))
        finished = chain.from_iterable(iter(done.get, None) for _ in threads)
        for n_done, _ in enumerate(finished if threads else finish_items(), start=1):
            if show is not None:
                show(n_done / len(items))
        if errors:
            raise errors[min(errors)]
    finally:
        cancelled.set()
        deque(left, maxlen=0)
        for _ in threads:
            ended.get()
        errors.clear()  # an error that is kept by its own traceback keeps the data, too
    return results


def raise_if_cancelled() -> None:
    """Raise if the caller of `map_in_threads` was interrupted.

    Long computations call this now and then, so that an interrupt need not wait for them.
    """
    if getattr(_local, "cancelled", _NEVER).is_set():
        raise _CancelledError


class _CancelledError(Exception):
    """Ends the work of a thread whose caller was interrupted."""


def count_threads() -> int:
    """Return how many threads to use: the limit of `limit_threads`, else one per core.

    Worker processes share the cores: joblib sets OMP_NUM_THREADS in its workers, and a worker of
    `multiprocessing.Pool`, which is a daemon, gets one thread.
    """
    limit = get_thread_limit()
    if limit is not None:
        return limit
    setting = os.environ.get("OMP_NUM_THREADS", "")
    if setting.isdecimal() and int(setting):
        return min(int(setting), _count_cores())
    processes = sys.modules.get("multiprocessing.process")
    return 1 if processes and processes.current_process().daemon else _count_cores()


def get_thread_limit() -> int | None:
    """Return the limit that `limit_threads` has set, or None."""
    return _thread_limit.get()


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the number of threads: -1 means one per core, None keeps the current limit.

    Raises
    ------
    InvalidInputError
        `n_jobs` is none of these.

    Examples
    --------
    >>> with limit_threads(1):
    ...     count_threads()
    1
    """
    if n_jobs is not None and (type(n_jobs) is not int or not (n_jobs == -1 or n_jobs > 0)):
        msg = f"n_jobs must be 1 or more threads, or -1 for all cores, not {quote(n_jobs)}."
        raise InvalidInputError(msg)
    if n_jobs is None:
        n_jobs = get_thread_limit()
    token = _thread_limit.set(_count_cores() if n_jobs == -1 else n_jobs)
    try:
        yield
    finally:
        _thread_limit.reset(token)


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _reuse_freed_memory() -> None:
    """Make glibc's allocator reuse freed memory of up to 64 MB instead of unmapping it.

    It does so once a program has freed an array of nearly 32 MB. Before that, each temporary
    array of a block is mapped anew, which takes longer than filling it.
    """
    np.empty((32 << 20) - (64 << 10), dtype=np.uint8)


def split_users(offsets: Positions, width: Positions | None = None) -> list[tuple[int, int]]:
    """Split users into blocks of about equally many rows.

    Parameters
    ----------
    offsets : int64 array, shape (n_users + 1,)
        Where each user's rows start.
    width : int64 array, shape (n_users,), optional
        The number of columns that each user needs in a table; a block's table stays small.

    Returns
    -------
    list of tuple of int
        Each block's first user, and the user after its last.

    Examples
    --------
    >>> split_users(np.array([0, 2, 3]))
    [(0, 2)]
    """
    n_users, n_rows = len(offsets) - 1, int(offsets[-1])
    # one block per thread: between NumPy's calls threads wait for each other
    size = min(_MAX_ROWS, max(-(-n_rows // count_threads()), _MIN_ROWS))
    by_rows = np.searchsorted(offsets, np.arange(0, n_rows + size, size))
    by_users = np.arange(0, n_users + size, size)
    edges = np.unique(np.concatenate([by_rows, by_users]).clip(max=n_users)).tolist()
    blocks = list(pairwise(edges))
    return blocks if width is None else [half for one in blocks for half in _halve(*one, width)]


def _halve(first: int, last: int, width: Positions) -> list[tuple[int, int]]:
    """Halve a block of users until each part's table is small."""
    if last - first == 1 or int(width[first:last].max()) * (last - first) <= _MAX_CELLS:
        return [(first, last)]
    middle = (first + last) // 2
    return [*_halve(first, middle, width), *_halve(middle, last, width)]
