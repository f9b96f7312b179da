"""A report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.table import cells

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown


def markdown(report: Shown) -> str:
    """Return a table, the remarks as a list, and the signatures as code."""
    with needing("tabulate", job="Markdown", extra="report"):
        shown = cells(report)
        sides = ("left", *["right"] * (len(shown.columns) - 1))
        table = shown.to_markdown(index=False, disable_numparse=True, colalign=sides)
    lines = [f"- {line}" for line in report.remarks]
    signatures = [f"    {report.signature(name)}" for name in report.metrics]
    return "\n".join([table, "", *lines, *([""] if lines else []), *signatures, ""])
