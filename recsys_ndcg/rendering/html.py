"""A report as a web page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.rendering.table import audit_cells, cells, rows_line, signature_texts
from recsys_ndcg.rendering.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recsys_ndcg.rendering.view import Shown

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ranking evaluation</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem;
  padding: 0 1rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }}
th:first-child, td:first-child {{ text-align: left; }}
code {{ font-size: .8rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>Ranking evaluation</h1>
{body}
</body>
</html>
"""


def fragment(report: Shown) -> str:
    """Return the table, the remarks, the audit and the signatures, for a notebook or a page."""
    return (
        f"<p>{rows_line(report)}</p>\n"
        f"{page_table(cells(report))}\n"
        f"{page_list(report.remarks)}\n"
        f"{page_table(audit_cells(report))}\n{page_codes(signature_texts(report))}"
    )


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


def html(report: Shown, path: str | Path | None = None) -> str:
    """Return a page, and write it if a path is given."""
    page = _PAGE.format(body=fragment(report))
    if path is not None:
        write_whole(path, page)
    return page
