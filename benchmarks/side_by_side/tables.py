"""Tables of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a heading, each column as wide as it must be.

    The first column starts at the left, as does what follows the last heading; the others end at
    the right.
    """
    shown = [head, *rows]
    widths = [
        max(len(row[place]) for row in shown if len(row) > place) for place in range(len(head))
    ]
    lines = []
    for row in shown:
        first, *others = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        lines.append("  ".join([first, *others, *row[len(head) :]]).rstrip())
    return "\n".join(lines)


def seconds(value: float) -> str:
    """Return seconds with three digits that mean something."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(value: float) -> str:
    """Return how many times."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
