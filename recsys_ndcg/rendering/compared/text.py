"""A comparison as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors.visible import printable
from recsys_ndcg.rendering.compared.cells import head, table
from recsys_ndcg.rendering.table import signature_lines
from recsys_ndcg.rendering.text import aligned

if TYPE_CHECKING:
    from recsys_ndcg.rendering.compared.view import Compared


def text(comparison: Compared) -> str:
    """Return the leaderboard of the first metric, the verdict, the remarks and the signatures."""
    first = comparison.metrics[0]
    found = table(comparison, first)
    below = [
        comparison.verdict_in(first),
        *(f"- {line}" for line in comparison.remarks),
        *signature_lines(comparison),
    ]
    above = map(printable, [head(comparison), found.note])
    return "\n".join([*above, aligned(found.cells, "model"), *map(printable, below)])
