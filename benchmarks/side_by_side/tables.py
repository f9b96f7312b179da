"""Tables of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a heading, each column as wide as it must be.

    The first column starts at the left, the others end at the right.
    """
    shown = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def seconds(value: float) -> str:
    """Return seconds with three digits that mean something."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def spread(values: Sequence[float]) -> str:
    """Return between which ratios some are; of a single one, that it is one."""
    return f"{ratio(min(values))}-{ratio(max(values))}" if len(values) > 1 else "one"


def ratio(value: float) -> str:
    """Return how many times."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
