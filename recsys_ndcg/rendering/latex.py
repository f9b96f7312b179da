"""A report as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.table import cells

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown


def latex(report: Shown) -> str:
    """Return a table in the manner of booktabs, below remarks and signatures as comments."""
    with needing("jinja2", job="LaTeX", extra="report"):
        shown = cells(report)
        sides = "l" + "r" * (len(shown.columns) - 1)
        table = shown.to_latex(index=False, escape=True, column_format=sides)
    comments = [f"% {line}" for line in report.remarks]
    comments += [f"% {report.signature(name)}" for name in report.metrics]
    return "\n".join([*comments, table])
