"""A bar that shows how far a long job is, where a person watches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Callable[[str, float], None]]:
    """Show steps of a job on the terminal or in the notebook, and nothing anywhere else.

    Parameters
    ----------
    wanted : bool
        Whether anything is shown at all.

    Yields
    ------
    callable
        Takes what is done now, and how much of it, from 0 to 1; below 0 where that is not known.

    Raises
    ------
    MissingExtraError
        rich is not installed.
    """
    watched = False
    if wanted:
        with needing("rich", job="A progress bar", extra="cli"):
            from rich.console import Console  # noqa: PLC0415 - an extra
            from rich.progress import (  # noqa: PLC0415 - an extra
                BarColumn,
                Progress,
                TaskID,
                TaskProgressColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
        console = Console(stderr=True)
        watched = console.is_terminal or console.is_jupyter
    if not watched:
        yield lambda _what, _share: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, share: float) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=1.0)
            bar.update(tasks[what], completed=max(share, 0.0))

        yield show
