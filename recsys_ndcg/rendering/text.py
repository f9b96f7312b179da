"""A report as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.rendering.table import cells, signature_lines

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown


def text(report: Shown) -> str:
    """Return the summary, the remarks and the signatures."""
    counts = report.counts
    head = f"{counts['users']} users, {counts['ratings']} ratings"
    shown = cells(report)
    shown["metric"] = shown["metric"].str.ljust(shown["metric"].str.len().max())
    table = shown.to_string(index=False)
    return "\n".join([head, table, *report.remarks, *signature_lines(report)])
