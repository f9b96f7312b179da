"""Tables of plain text."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The headings of the cells of `format_times`.
TIMES = ["CPU", "ratio", "wall", "ratio"]


def describe_machine() -> str:
    """Return the processor, the versions, the number of cores and their load."""
    versions = f"NumPy {np.__version__}, pandas {pd.__version__}"
    cores = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return f"{platform.machine()}, Python {platform.python_version()}, {versions}; {cores}"


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


def format_times(seconds: Iterable[float], ratios: Iterable[float]) -> list[str]:
    """Return the cells of CPU seconds, their ratio, wall seconds, and their ratio."""
    pairs = zip(seconds, ratios, strict=True)
    return [cell for took, ratio in pairs for cell in (format_seconds(took), format_ratio(ratio))]


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
