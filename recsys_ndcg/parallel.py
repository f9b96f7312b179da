"""Blocks of users that fit the processor's cache, and threads that work through them.

NumPy lets go of the interpreter while it sorts.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recsys_ndcg.arrays import Positions

_ROWS = 1 << 19  # of a block at most
_SHARED = 1 << 17  # rows: fewer take longer to hand out than to work through
_FEW = 1 << 15  # of a column, of whatever it is
_CELLS = 1 << 19

Item = TypeVar("Item")
Result = TypeVar("Result")

_allowed: ContextVar[int | None] = ContextVar("_allowed", default=None)


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_rows: int | None = None,
    show: Callable[[float], None] | None = None,
) -> list[Result]:
    """Return the results in the order of the items.

    Where several items fail, the error of the first is raised.

    Parameters
    ----------
    work : callable
        Takes an item.
    items : sequence
        What it is called with.
    n_rows : int, optional
        How many rows the items are of: few are no work for threads.
    show : callable, optional
        Is told which share of the items is done, by whatever thread has done one.

    Examples
    --------
    >>> in_threads(abs, [-1, 2])
    [1, 2]
    """
    _keep_memory()
    helpers = min(n_threads(), len(items)) - 1
    few = n_rows is not None and n_rows < _FEW
    if helpers < 1 or few or _threads.is_one():
        return [_told(work(item), place / len(items), show) for place, item in enumerate(items, 1)]
    return _Round(work, items, show).done(helpers)


def _told(result: Result, share: float, show: Callable[[float], None] | None) -> Result:
    if show is not None:
        show(share)
    return result


def heed() -> None:
    """Let a block that takes long end early, where nobody waits for it any more.

    To be called now and then by what `in_threads` works with: who interrupts the calling thread
    does not wait until the others have done their blocks.
    """
    of = _threads.round()
    if of is not None and of.dropped:
        raise _DroppedError


class _DroppedError(Exception):
    """Raised in a thread whose results nobody takes."""


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


class _Threads:
    """The threads of this process, started when they are first needed, and kept.

    A process that is forked off has none of them, and starts its own.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._mark = threading.local()

    def is_one(self) -> bool:
        """Tell whether this is one of them: it asks for no others."""
        return hasattr(self._mark, "set")

    def round(self) -> _Round[Any, Any] | None:
        """Return the round that this thread takes part in, None of a thread that called."""
        return getattr(self._mark, "round", None)

    def enter(self, one: _Round[Any, Any] | None) -> None:
        self._mark.round = one

    def start(self, work: Callable[[], None], times: int) -> list[Future[None]]:
        """Have work done so many times, each as soon as one is free."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(_cores(), "recsys_ndcg", self._set_mark)
            executor = self._executor
        # of our own, as what was handed out may yet be done where no new thread can be started
        started: list[Future[None]] = [Future() for _ in range(times)]
        with suppress(RuntimeError):  # none can, or the interpreter is about to end
            for one in started:
                executor.submit(_fulfil, one, work)
        return started

    def _set_mark(self) -> None:
        self._mark.set = True


def _fulfil(one: Future[None], work: Callable[[], None]) -> None:
    if one.set_running_or_notify_cancel():
        try:
            work()
        finally:
            one.set_result(None)


_threads = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.forget)


class _Round(Generic[Item, Result]):
    """Items that are worked on by the calling thread, and by others that are free.

    So nobody waits for a thread that is busy elsewhere.
    """

    def __init__(
        self,
        work: Callable[[Item], Result],
        items: Sequence[Item],
        show: Callable[[float], None] | None,
    ) -> None:
        self._work, self._items, self._show = work, items, show
        self._pending = iter(range(len(items)))  # each place is given out once, and in order
        self._results: dict[int, Result] = {}
        self._failed: dict[int, Exception] = {}
        self._over = self.dropped = False

    def done(self, helpers: int) -> list[Result]:
        started = _threads.start(self._help, helpers)
        try:
            self._take_part()
            self._end(started)
        except BaseException:
            self.dropped = True
            self._end(started)
            raise
        if self._failed:
            raise self._failed[min(self._failed)]
        return [self._results[place] for place in range(len(self._items))]

    def _end(self, started: list[Future[None]]) -> None:
        self._over = True
        for one in started:
            if not one.cancel():
                one.result()

    def _help(self) -> None:
        _threads.enter(self)
        try:
            self._take_part()
        finally:
            _threads.enter(None)

    def _take_part(self) -> None:
        while not self._over and (place := next(self._pending, None)) is not None:
            try:
                self._results[place] = self._work(self._items[place])
                if self._show is not None:
                    self._show(len(self._results) / len(self._items))
            except Exception as error:  # noqa: BLE001 - raised when all have stopped
                self._failed[place] = error
                self._over = True


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
    pending = list(itertools.pairwise(edges))
    if width is None:
        return pending
    pending.reverse()
    blocks = []
    while pending:
        first, last = pending.pop()
        if last - first == 1 or int(width[first:last].max()) * (last - first) <= _CELLS:
            blocks.append((first, last))
        else:
            middle = (first + last) // 2
            pending += [(middle, last), (first, middle)]
    return blocks
