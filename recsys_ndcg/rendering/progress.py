"""A bar that shows how far a long job is, where a person watches."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from contextvars import copy_context
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from recsys_ndcg.rendering.bars import bar_here
from recsys_ndcg.rendering.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from recsys_ndcg.rendering.bars import Bar

Item = TypeVar("Item")

_SOON = 1.0  # seconds: what is done by then was not worth a bar
_BETWEEN = 0.2
_one = threading.Lock()  # whoever holds it has the bar: what a job does inside of it shows none


@contextmanager
def progress_bar(*, wanted: bool, after: float = _SOON) -> Iterator[Callable[[str, float], None]]:
    """Show steps of a job on the terminal or in the notebook, and nothing anywhere else.

    There is one bar at a time: a job that is a part of another one shows none, and neither does a
    process that another one started. It is gone in the end.

    Parameters
    ----------
    wanted : bool
        Whether anything is shown at all.
    after : float
        Seconds: a job that ends sooner shows nothing.

    Yields
    ------
    callable
        Takes what is done now, and how much of it, from 0 to 1; below 0 where that is not known.
        Any thread may call it, as often as it likes.
    """
    steps = Steps()
    bar = bar_here() if wanted and not _is_worker() else None
    if bar is None or not _one.acquire(blocking=False):
        yield lambda _what, _share: None
        return
    over = threading.Event()
    # a thread of its own, so that time is seen to pass while a step lasts
    showing = threading.Thread(
        target=copy_context().run, args=(_shown, bar, steps, over, after), daemon=True
    )
    try:
        with suppress(RuntimeError):  # no more threads can be started
            showing.start()
        yield steps.set
    finally:
        over.set()
        if showing.ident is not None:
            showing.join()
        _one.release()


def _is_worker() -> bool:
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _shown(bar: Bar, steps: Steps, over: threading.Event, after: float) -> None:
    if over.wait(after):
        return
    with suppress(OSError, ValueError), bar:  # there is nothing more to write to
        while True:
            if lines := steps.lines(monotonic()):
                bar.show(lines)
            if over.wait(_BETWEEN):
                return


def followed(
    items: Iterable[Item], what: str, total: int | None, *, wanted: bool
) -> Generator[Item, None, None]:
    """Give items on, with a bar that counts them, until it is closed.

    Whoever may fail between two items closes it (`contextlib.closing`), lest the bar stays.

    Parameters
    ----------
    items : iterable
        What is given on.
    what : str
        What is done with them.
    total : int, optional
        How many there will be.
    wanted : bool
        Whether anything is shown.

    Examples
    --------
    >>> list(followed("ab", "Reading", 2, wanted=True))
    ['a', 'b']
    """
    with progress_bar(wanted=wanted) as show:
        show(what, 0.0 if total else -1.0)
        for done, item in enumerate(items, start=1):
            yield item
            show(what, done / total if total else -1.0)
