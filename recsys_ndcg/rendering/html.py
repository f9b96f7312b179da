"""A report as a part of a web page, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.rendering.table import audit_cells, cells, rows_line, signature_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.rendering.view import Shown


def fragment(report: Shown, verdict: str) -> str:
    """Return the verdict, the table and the remarks, and folded the audit and the signatures."""
    return (
        f"<p><strong>{escape(verdict)}</strong></p>\n<p>{rows_line(report)}</p>\n"
        f"{page_table(cells(report))}\n"
        f"{page_list(report.remarks)}\n"
        f"{page_fold('Audit', page_table(audit_cells(report)))}\n"
        f"{page_fold('Signatures', page_codes(signature_texts(report)))}"
    )


def page_fold(title: str, inside: str) -> str:
    """Return what somebody may ask for."""
    return f"<details><summary>{title}</summary>\n{inside}\n</details>"


def page_list(lines: Iterable[str]) -> str:
    """Return sentences as a list."""
    entries = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
    return f"<ul>\n{entries}</ul>"


def page_codes(lines: Iterable[str]) -> str:
    """Return lines as code."""
    codes = "<br>\n".join(map(escape, lines))
    return f"<p><code>{codes}</code></p>"


def page_table(frame: pd.DataFrame) -> str:
    """Return a table of text, in which nothing is cut and nothing acts."""
    with pd.option_context("display.max_colwidth", None):
        return frame.to_html(index=False, border=0)
