"""Blocks of users that fit the processor's cache, and threads that work through them.

NumPy lets go of the interpreter while it sorts.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

import numpy as np

from recsys_ndcg.arrays import Positions
from recsys_ndcg.errors import InvalidInputError, shown

_ROWS = 1 << 19  # of a block at most
_SHARED = 1 << 17  # rows: fewer take longer to hand out than to work through
_FEW = 1 << 15  # of a column, of whatever it is
_CELLS = 1 << 19

Item = TypeVar("Item")
Result = TypeVar("Result")

_allowed: ContextVar[int | None] = ContextVar("_allowed", default=None)


_thread = threading.local()  # a thread of a pool has the event that cancels its work
_NEVER = threading.Event()


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_rows: int | None = None,
    show: Callable[[float], None] | None = None,
) -> list[Result]:
    """Return the results in the order of the items.

    If several items fail, the error of the first is raised. A thread that works for such a call
    does what it is asked for itself.

    Parameters
    ----------
    work : callable
        Takes an item.
    items : sequence
        What it is called with.
    n_rows : int, optional
        The number of rows in all items: a few rows are not worth starting threads.
    show : callable, optional
        Is called with the share of the items that are done.

    Examples
    --------
    >>> in_threads(abs, [-1, 2])
    [1, 2]
    """
    _keep_memory()
    size = min(n_threads(), len(items))
    few = n_rows is not None and n_rows < _FEW
    results: Iterator[Result] = map(work, items)
    if size < 2 or few or hasattr(_thread, "cancelled"):
        return _collect(results, len(items), show)
    cancelled = threading.Event()
    pool = ThreadPoolExecutor(size, "recsys_ndcg", setattr, (_thread, "cancelled", cancelled))
    try:
        with suppress(RuntimeError):  # no thread can be started: the caller does the work
            results = pool.map(work, items)
        return _collect(results, len(items), show)
    except BaseException:
        cancelled.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _collect(
    results: Iterator[Result], n_items: int, show: Callable[[float], None] | None
) -> list[Result]:
    collected = []
    for result in results:
        collected.append(result)
        if show is not None:
            show(len(collected) / n_items)
    return collected


def heed() -> None:
    """Raise if the caller has cancelled this work.

    Long work in `in_threads` calls it now and then, so that an interrupt need not wait for it.
    """
    if getattr(_thread, "cancelled", _NEVER).is_set():
        raise _CancelledError


class _CancelledError(Exception):
    """Raised in a thread whose results nobody waits for."""


def n_threads() -> int:
    """Return how many threads may work at once.

    As `at_most` says, else one for each core that this process may use. Where that is one of
    several that share the cores, as those of joblib and of `multiprocessing.Pool` do, it is as
    many as joblib tells the libraries beneath, or one.
    """
    said = allowed()
    if said is not None:
        return said
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdecimal() and int(told):
        return min(int(told), _cores())
    processes = sys.modules.get("multiprocessing.process")
    return 1 if processes and processes.current_process().daemon else _cores()


def allowed() -> int | None:
    """Return how many threads `at_most` allows, None where nobody said."""
    return _allowed.get()


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Use no more threads than this, -1 for as many as there are cores; None changes nothing.

    Raises
    ------
    InvalidInputError
        It is no such number.

    Examples
    --------
    >>> with at_most(1):
    ...     n_threads()
    1
    """
    if n_jobs is not None and (type(n_jobs) is not int or not (n_jobs == -1 or n_jobs > 0)):
        msg = f"n_jobs is a number of threads from 1 on, or -1 for all cores, not {shown(n_jobs)}."
        raise InvalidInputError(msg)
    before = _allowed.set(allowed() if n_jobs is None else _cores() if n_jobs == -1 else n_jobs)
    try:
        yield
    finally:
        _allowed.reset(before)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _keep_memory() -> None:
    """Have the allocator of glibc keep what is given back, up to 64 MB, in place of unmapping it.

    It does so of itself as soon as a program has given back an array of nearly 32 MB. Before, each
    temporary array of a block is new memory, which takes longer to map than to fill.
    """
    np.empty((32 << 20) - (64 << 10), dtype=np.uint8)


def slices_of(n_rows: int) -> list[slice]:
    """Return blocks of rows, whosever they are.

    Examples
    --------
    >>> slices_of(3)
    [slice(0, 3, None)]
    """
    size = min(_ROWS, _SHARED)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def blocks_of(offsets: Positions, width: Positions | None = None) -> list[tuple[int, int]]:
    """Return runs of users, first and last, with about equally many rows.

    Parameters
    ----------
    offsets : int64 array, shape (n_users + 1,)
        Where each user's rows start.
    width : int64 array, shape (n_users,), optional
        How many columns each user's row of a table needs; a block's table stays small, too.

    Examples
    --------
    >>> blocks_of(np.array([0, 2, 3]))
    [(0, 2)]
    """
    n_users, n_rows = len(offsets) - 1, int(offsets[-1])
    # a block for each thread: between calls of NumPy they wait for each other
    size = min(_ROWS, max(-(-n_rows // n_threads()), _SHARED))
    by_rows = np.searchsorted(offsets, np.arange(0, n_rows + size, size))
    by_users = np.arange(0, n_users + size, size)
    edges = np.unique(np.concatenate([by_rows, by_users]).clip(max=n_users)).tolist()
    runs = list(itertools.pairwise(edges))
    return runs if width is None else [one for run in runs for one in _halves(*run, width)]


def _halves(first: int, last: int, width: Positions) -> list[tuple[int, int]]:
    """Return a run of users, halved until each part's table is small."""
    if last - first == 1 or int(width[first:last].max()) * (last - first) <= _CELLS:
        return [(first, last)]
    middle = (first + last) // 2
    return [*_halves(first, middle, width), *_halves(middle, last, width)]
