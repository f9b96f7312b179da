"""Tables of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a heading, in columns as narrow as possible.

    The first column is left-aligned, the others are right-aligned.
    """
    shown = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def format_seconds(value: float) -> str:
    """Return seconds with three or more significant digits."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def format_range(values: Sequence[float]) -> str:
    """Return the range of some ratios, or "1 run" for a single ratio."""
    if len(values) == 1:
        return "1 run"
    return f"{format_ratio(min(values))}-{format_ratio(max(values))}"


def format_ratio(value: float) -> str:
    """Return a ratio with two decimals, or from 10 on as a whole number."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
