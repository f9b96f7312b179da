"""A report as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors.visible import printable
from recsys_ndcg.rendering.table import cells, rows_line, signature_lines

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering.view import Shown


def text(report: Shown) -> str:
    """Return the summary, the remarks and the signatures.

    What standard output cannot write, such as ± in a terminal of ASCII alone, is written
    differently: ``print(report)`` asks for this text, and cannot say for whom.
    """
    lines = map(printable, [*report.remarks, *signature_lines(report)])
    return "\n".join([rows_line(report), aligned(cells(report), "metric"), *lines])


def aligned(frame: pd.DataFrame, left: str) -> str:
    """Return a table of text, all but one column set to the right."""
    shown = frame.map(printable).rename(columns=printable)
    shown[left] = shown[left].str.ljust(shown[left].str.len().max())
    return shown.to_string(index=False)
