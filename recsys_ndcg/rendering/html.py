"""A report as a web page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.errors import writing
from recsys_ndcg.rendering.table import audit_cells, cells

if TYPE_CHECKING:
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
    counts = report.counts
    lines = "".join(f"<li>{escape(line)}</li>\n" for line in report.remarks)
    codes = "<br>\n".join(escape(report.signature(name).text) for name in report.metrics)
    return (
        f"<p>{counts['users']} users, {counts['ratings']} ratings</p>\n"
        f"{cells(report).to_html(index=False, border=0)}\n"
        f"<ul>\n{lines}</ul>\n"
        f"{audit_cells(report).to_html(index=False, border=0)}\n<p><code>{codes}</code></p>"
    )


def html(report: Shown, path: str | Path | None = None) -> str:
    """Return a page, and write it if a path is given."""
    page = _PAGE.format(body=fragment(report))
    if path is not None:
        with writing(path):
            Path(path).write_text(page, encoding="utf-8")
    return page
