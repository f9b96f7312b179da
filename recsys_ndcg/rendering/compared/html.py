"""A comparison as a part of a web page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from recsys_ndcg.rendering.compared.cells import head, table
from recsys_ndcg.rendering.html import page_codes, page_fold, page_list, page_table
from recsys_ndcg.rendering.table import signature_texts

if TYPE_CHECKING:
    from recsys_ndcg.rendering.compared.view import Compared


def fragment(comparison: Compared) -> str:
    """Return the verdict, the leaderboard of the first metric, the remarks and the signatures."""
    first = comparison.metrics[0]
    found = table(comparison, first)
    return (
        f"<p><strong>{escape(comparison.verdict_in(first))}</strong></p>\n"
        f"<p>{escape(head(comparison))}<br>\n{escape(found.note)}</p>\n"
        f"{page_table(found.cells)}\n"
        f"{page_list(comparison.remarks)}\n"
        f"{page_fold('Signatures', page_codes(signature_texts(comparison)))}"
    )
