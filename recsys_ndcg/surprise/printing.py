"""What the plug-in says where it is asked to: the only place of it that prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME, _CELL = 18, 8  # as wide as Surprise's


def say(text: str) -> None:
    """Print, as Surprise does under ``verbose=True``."""
    print(text)  # noqa: T201


def aligned(rows: Sequence[Sequence[str]]) -> None:
    """Print a title and the rows of a table below it, in the widths of Surprise's summary.

    A column is wider where a name or a number would run into the next one.

    Parameters
    ----------
    rows : sequence of sequences of str
        A head, and rows of at most as many cells: the first the name of the row.
    """
    head, *body = rows
    name = max([_NAME, *(len(row[0]) + 1 for row in body if row)])
    cell = max([_CELL, *(len(one) + 1 for row in body for one in row[1:])])
    for row in rows:
        cells = [*row, *[""] * (len(head) - len(row))] if row else []
        say("".join(f"{one:<{cell if place else name}}" for place, one in enumerate(cells)))
