"""What the plug-in says where it is asked to: the only place of it that prints."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

Result = TypeVar("Result")
_FEW = 8


def say(text: str) -> None:
    """Print, as Surprise does under ``verbose=True``."""
    print(text)  # noqa: T201


def table(title: str, frame: pd.DataFrame) -> None:
    """Print a table of results below a title, a row for each of its columns."""
    rows = frame.T.map(_written).rename_axis(columns=None)
    say(f"{title}\n\n{rows.to_string()}\n")


def _written(value: float) -> str:
    if isnan(value):
        return "-"
    return f"{value:.0f}" if value.is_integer() and abs(value) > 1 else f"{value:.4f}"


def with_progress(results: Iterable[Result], total: int | None) -> Iterator[Result]:
    """Give results on, with a bar of progress if there are many and a person watches."""
    try:
        from rich.console import Console  # noqa: PLC0415 - may be absent
        from rich.progress import track  # noqa: PLC0415
    except ImportError:
        yield from results
        return
    console = Console(stderr=True)
    if console.is_terminal and (total or 0) >= _FEW:
        results = track(results, "Fitting", total=total, console=console, transient=True)
    yield from results
