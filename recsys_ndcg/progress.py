"""How far a long job is: its steps, and a bar where a person watches."""

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

if TYPE_CHECKING:
    from rich.table import Table

    Shows = Callable[[Sequence["Line"]], None]
    Bar = AbstractContextManager[Shows]

Item = TypeVar("Item")

_SOON = 1.0  # seconds: what is done by then was not worth a bar
_BETWEEN = 0.2
_one = threading.Lock()  # whoever holds it has the bar: what a job does inside of it shows none
_MOST = 6  # lines
_WIDTH = 30  # of a bar


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
    processes = sys.modules.get("multiprocessing.process")
    is_worker = processes is not None and processes.parent_process() is not None
    bar = bar_here() if wanted and not is_worker else None
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


def _shown(bar: Bar, steps: Steps, over: threading.Event, after: float) -> None:
    if over.wait(after):
        return
    # there is no rich, which is an extra, or nothing more to write to
    with suppress(ImportError, OSError, ValueError), bar as show:
        while True:
            if lines := steps.lines(monotonic()):
                show(lines)
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


@dataclass(frozen=True)
class Line:
    """A step as it is shown.

    Parameters
    ----------
    what : str
        What is done.
    share : float, optional
        How much of it, from 0 to 1; None where that is not known.
    times : str
        How long it has taken, and how long it may still take.
    """

    what: str
    share: float | None
    times: str


class Steps:
    """The steps that were named so far; any thread may set them while another one reads."""

    def __init__(self) -> None:
        self._steps: dict[str, tuple[float, float, float]] = {}  # began, changed, share

    def set(self, what: str, share: float) -> None:
        """Note how much is done, from 0 to 1, of a step; below 0 where that is not known."""
        now, share = monotonic(), min(share, 1.0)
        began, _, before = self._steps.get(what, (now, now, None))
        if share != before:
            self._steps[what] = began, now, share

    def lines(self, now: float) -> list[Line]:
        """Return what is shown now: what is under way, or the last step, if all are done."""
        steps = [(what, *step) for what, step in dict(self._steps).items()]
        under_way = [one for one in steps if one[-1] < 1]
        return [_line(*one, now) for one in (under_way or steps[-1:])[-_MOST:]]


def _line(what: str, began: float, changed: float, share: float, now: float) -> Line:
    times = clock((now if share < 1 else changed) - began)
    if 0 < share < 1:
        # at the pace of what is done; from then on it is counted down
        end = began + (changed - began) / share
        times += f", {clock(max(end - now, 0))} left"
    return Line(what, share if share >= 0 else None, times)


def clock(seconds: float) -> str:
    """Write seconds as people read them.

    Examples
    --------
    >>> clock(7.4), clock(3671)
    ('0:07', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bar_here() -> Bar | None:
    """Return a bar for where this runs; None where nobody watches.

    It gives a function that shows lines in place of those before, until it is left.
    """
    # who has a notebook has imported it
    shell_here = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if getattr(shell_here(), "kernel", None) is not None:
        return _in_notebook()
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return _on_terminal()


def drawn(lines: Iterable[Line]) -> Table:
    """Return lines with a bar in each, as rich shows them."""
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
def _on_terminal() -> Iterator[Shows]:
    from rich.console import Console  # noqa: PLC0415 - an extra
    from rich.live import Live  # noqa: PLC0415 - an extra

    with Live(
        console=Console(stderr=True, markup=False, highlight=False, emoji=False),
        auto_refresh=False,
        transient=True,
        # what is printed meanwhile stands above the bar, if it goes to the same terminal
        redirect_stdout=_is_terminal(sys.stdout, sys.__stdout__),
        redirect_stderr=_is_terminal(sys.stderr, sys.__stderr__),
    ) as live:
        yield lambda lines: live.update(drawn(lines), refresh=True)


def _is_terminal(stream: Any, original: Any) -> bool:
    return stream is not None and stream is original and bool(stream.isatty())


@contextmanager
def _in_notebook() -> Iterator[Shows]:
    from IPython.display import display  # noqa: PLC0415 - there, in a notebook

    place = display({"text/html": "", "text/plain": ""}, raw=True, display_id=True)

    def show(html: str) -> None:
        place.update({"text/html": html, "text/plain": ""}, raw=True)

    try:
        yield lambda lines: show("<br>".join(map(_html, lines)))
    finally:
        show("")


def _html(line: Line) -> str:
    bar, percent = "<progress></progress>", ""
    if line.share is not None:
        bar = f'<progress value="{line.share:.3f}"></progress>'
        percent = f"{line.share:.0%}, "
    return f"{escape(line.what)} {bar} {percent}{line.times}"
