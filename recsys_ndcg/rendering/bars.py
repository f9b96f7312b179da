"""What a bar of progress is made of: by rich on a terminal, of HTML in a notebook."""

from __future__ import annotations

import os
import sys
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from rich.progress import Progress, TaskID

    from recsys_ndcg.rendering.steps import Line


class Bar(Protocol):
    """What shows lines until it is left, and is gone then."""

    def __enter__(self) -> Self: ...  # noqa: D105
    def __exit__(self, *_: object) -> None: ...  # noqa: D105
    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines in place of those before."""


def bar_here() -> Bar | None:
    """Return a bar for where this runs; None where nobody watches, or rich is absent."""
    # who has a notebook has imported it
    shell_here = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if getattr(shell_here(), "kernel", None) is not None:
        return _Notebook()
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    try:
        import rich.progress  # noqa: F401, PLC0415 - an extra
    except ImportError:
        return None
    return _Terminal()


class _Terminal:
    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.progress import (  # noqa: PLC0415 - an extra
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[times]}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            # what is printed meanwhile stands above the bar, if it goes to the same terminal
            redirect_stdout=_is_terminal(sys.stdout, sys.__stdout__),
            redirect_stderr=_is_terminal(sys.stderr, sys.__stderr__),
        )
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, lines: Sequence[Line]) -> None:
        if self._bar is None:
            return
        shown = {line.what for line in lines}
        for what in self._tasks.keys() - shown:
            self._bar.remove_task(self._tasks.pop(what))
        for line in lines:
            total = None if line.share is None else 1.0
            now: dict[str, Any] = {
                "total": total,
                "completed": line.share or 0,
                "times": line.times,
            }
            if line.what in self._tasks:
                self._bar.update(self._tasks[line.what], **now)
            else:
                self._tasks[line.what] = self._bar.add_task(line.what, **now)
        self._bar.refresh()


def _is_terminal(stream: Any, original: Any) -> bool:
    return stream is not None and stream is original and bool(stream.isatty())


class _Notebook:
    def __init__(self) -> None:
        self._place: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._place is not None:
            self._place.update(_bundle(""), raw=True)

    def show(self, lines: Sequence[Line]) -> None:
        bundle = _bundle("<br>".join(map(_html, lines)))
        if self._place is None:
            from IPython.display import display  # noqa: PLC0415 - there, in a notebook

            self._place = display(bundle, raw=True, display_id=True)
        else:
            self._place.update(bundle, raw=True)


def _bundle(html: str) -> dict[str, str]:
    return {"text/html": html, "text/plain": ""}


def _html(line: Line) -> str:
    bar, percent = "<progress></progress>", ""
    if line.share is not None:
        bar = f'<progress value="{line.share:.3f}"></progress>'
        percent = f"{line.share:.0%}, "
    return f"{escape(line.what)} {bar} {percent}{line.times}"
