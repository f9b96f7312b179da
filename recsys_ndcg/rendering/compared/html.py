"""A comparison as a part of a web page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from recsys_ndcg.rendering.compared.cells import head, table
from recsys_ndcg.rendering.html import page_table
from recsys_ndcg.rendering.table import signature_texts

if TYPE_CHECKING:
    from recsys_ndcg.rendering.compared.view import Compared


def fragment(comparison: Compared) -> str:
    """Return the leaderboard of the first metric, the verdict, the remarks and the signatures."""
    first = comparison.metrics[0]
    found = table(comparison, first)
    lines = "".join(f"<li>{escape(line)}</li>\n" for line in comparison.remarks)
    codes = "<br>\n".join(map(escape, signature_texts(comparison)))
    return (
        f"<p>{escape(head(comparison))}<br>\n{escape(found.note)}</p>\n"
        f"{page_table(found.cells)}\n"
        f"<p>{escape(comparison.verdict_in(first))}</p>\n"
        f"<ul>\n{lines}</ul>\n<p><code>{codes}</code></p>"
    )
