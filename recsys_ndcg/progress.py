"""Progress of a long job: its steps, and a bar on a terminal or in a notebook."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from recsys_ndcg.errors import check_flag, escape_invisible

if TYPE_CHECKING:
    from rich.table import Table

    ShowLines = Callable[[Sequence["ProgressLine"]], None]
    Bar = AbstractContextManager[ShowLines]

Item = TypeVar("Item")

_DELAY = 1.0  # seconds
_INTERVAL = 0.2
_bar_lock = threading.Lock()  # one bar at a time: the holder's inner jobs show none
_MAX_LINES = 6
_WIDTH = 30  # of a bar


@contextmanager
def progress_bar(*, enabled: bool, delay: float = _DELAY) -> Iterator[Callable[[str, float], None]]:
    """Show the steps of a job on a terminal or in a notebook; do nothing elsewhere.

    There is one bar at a time: a job within another job shows none, and neither does a worker
    process. The bar is removed at the end.

    Parameters
    ----------
    enabled : bool
        Whether to show anything.
    delay : float
        A job that takes fewer seconds shows nothing.

    Yields
    ------
    callable
        Takes a step's description, and the share of it that is done, from 0 to 1; below 0 if
        unknown. Any thread may call it, as often as it likes.

    Raises
    ------
    InvalidInputError
        `enabled`, which users call `progress`, is neither True nor False.
    """
    check_flag("progress", enabled)
    steps = Steps()
    bar = choose_bar() if enabled and not _is_worker() else None
    if bar is None or not _bar_lock.acquire(blocking=False):
        yield lambda _what, _share: None
        return
    finished = threading.Event()
    # a thread of its own, so that the clock runs during a long step
    thread = threading.Thread(
        target=copy_context().run, args=(_refresh, bar, steps, finished, delay), daemon=True
    )
    try:
        with suppress(RuntimeError):  # no more threads can be started
            thread.start()
        yield steps.set
    finally:
        finished.set()
        if thread.ident is not None:
            thread.join()
        _bar_lock.release()


def write_progress_line(line: str) -> None:
    """Write a line to standard error if no bar can be shown there; a worker writes nothing."""
    if sys.stderr is not None and choose_bar() is None and not _is_worker():
        with suppress(OSError, ValueError):  # the stream is closed
            sys.stderr.write(f"{escape_invisible(line)}\n")
            sys.stderr.flush()


def _is_worker() -> bool:
    """Return whether another process of Python started this one."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _refresh(bar: Bar, steps: Steps, finished: threading.Event, delay: float) -> None:
    """Draw the steps again and again until the job is finished."""
    if finished.wait(delay):
        return
    # rich, an extra, may be missing, and the stream closed
    with suppress(ImportError, OSError, ValueError), bar as show:
        while True:
            if lines := steps.lines(monotonic()):
                show(lines)
            if finished.wait(_INTERVAL):
                return


def iterate_with_progress(
    items: Iterable[Item], what: str, total: int | None, *, enabled: bool
) -> Generator[Item, None, None]:
    """Yield items, and show how many are done.

    A caller that may fail between two items must close the generator (`contextlib.closing`), or
    the bar stays.

    Parameters
    ----------
    items : iterable
        The items.
    what : str
        The step's description.
    total : int, optional
        The number of items.
    enabled : bool
        Whether to show anything.

    Examples
    --------
    >>> list(iterate_with_progress("ab", "Reading", 2, enabled=True))
    ['a', 'b']
    """
    with progress_bar(enabled=enabled) as show:
        show(what, 0.0 if total else -1.0)
        for done, item in enumerate(items, start=1):
            yield item
            show(what, done / total if total else -1.0)


@dataclass(frozen=True)
class ProgressLine:
    """A step to show.

    Parameters
    ----------
    what : str
        Its description.
    share : float, optional
        The share that is done, from 0 to 1; None if unknown.
    times : str
        The time that it has taken, and the estimated time left.
    """

    what: str
    share: float | None
    times: str


class Steps:
    """The steps of a job; any thread may set them while another one reads."""

    def __init__(self) -> None:
        self._steps: dict[str, tuple[float, float, float]] = {}  # start, last change, share

    def set(self, what: str, share: float) -> None:
        """Set the share of a step that is done, from 0 to 1; below 0 if unknown."""
        now, share = monotonic(), min(share, 1.0)
        start, _, before = self._steps.get(what, (now, now, None))
        if share != before:
            self._steps[what] = start, now, share

    def lines(self, now: float) -> list[ProgressLine]:
        """Return the lines to show: the unfinished steps, or the last step if all are done."""
        steps = [(what, *step) for what, step in dict(self._steps).items()]
        unfinished = [step for step in steps if step[-1] < 1]
        return [_make_line(*step, now) for step in (unfinished or steps[-1:])[-_MAX_LINES:]]


def _make_line(what: str, start: float, changed: float, share: float, now: float) -> ProgressLine:
    times = format_duration((now if share < 1 else changed) - start)
    if 0 < share < 1:
        # extrapolated from the last change, and counted down from there
        end = start + (changed - start) / share
        times += f", {format_duration(max(end - now, 0))} left"
    return ProgressLine(what, share if share >= 0 else None, times)


def format_duration(seconds: float) -> str:
    """Return seconds as minutes and seconds, with hours if there are any.

    Examples
    --------
    >>> format_duration(7.4), format_duration(3671)
    ('0:07', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def choose_bar() -> Bar | None:
    """Return a bar for a notebook or a terminal; None if there is neither.

    Entering it gives a function that replaces the lines shown so far.
    """
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if getattr(get_shell(), "kernel", None) is not None:
        return _show_in_notebook()
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return _show_on_terminal()


def build_table(lines: Iterable[ProgressLine]) -> Table:
    """Return a table of rich's: a row with a bar for each line."""
    from rich.progress_bar import ProgressBar  # noqa: PLC0415 - an extra
    from rich.table import Table  # noqa: PLC0415 - an extra

    table = Table.grid(padding=(0, 1))
    for line in lines:
        total = None if line.share is None else 1.0
        share = "" if line.share is None else f"{line.share:.0%}"
        bar = ProgressBar(total=total, completed=line.share or 0.0, width=_WIDTH)
        table.add_row(line.what, bar, share, line.times)
    return table


@contextmanager
def _show_on_terminal() -> Iterator[ShowLines]:
    from rich.console import Console  # noqa: PLC0415 - an extra
    from rich.live import Live  # noqa: PLC0415 - an extra

    with Live(
        console=Console(stderr=True, markup=False, highlight=False, emoji=False),
        auto_refresh=False,
        transient=True,
        # print above the bar, if the output goes to the same terminal
        redirect_stdout=_is_terminal(sys.stdout, sys.__stdout__),
        redirect_stderr=_is_terminal(sys.stderr, sys.__stderr__),
    ) as live:
        yield lambda lines: live.update(build_table(lines), refresh=True)


def _is_terminal(stream: Any, original: Any) -> bool:
    return stream is not None and stream is original and bool(stream.isatty())


@contextmanager
def _show_in_notebook() -> Iterator[ShowLines]:
    from IPython.display import display  # noqa: PLC0415 - only a notebook has it

    place = display({"text/html": "", "text/plain": ""}, raw=True, display_id=True)

    def show(html: str) -> None:
        place.update({"text/html": html, "text/plain": ""}, raw=True)

    try:
        yield lambda lines: show("<br>".join(map(_format_html, lines)))
    finally:
        show("")


def _format_html(line: ProgressLine) -> str:
    bar, percent = "<progress></progress>", ""
    if line.share is not None:
        bar = f'<progress value="{line.share:.3f}"></progress>'
        percent = f"{line.share:.0%}, "
    return f"{escape(line.what)} {bar} {percent}{line.times}"
