"""A comparison as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.rendering.compared.cells import LEADERBOARD, head, table
from recsys_ndcg.rendering.markdown import as_line, escaped, fenced, piped
from recsys_ndcg.rendering.table import signature_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.rendering.compared.cells import Table
    from recsys_ndcg.rendering.compared.view import Compared


def markdown(comparison: Compared, metric: str, kinds: Sequence[str] = (LEADERBOARD,)) -> str:
    """Return tables, how the models were tested, the verdict, the remarks and the signatures."""
    found = [table(comparison, metric, kind) for kind in kinds]
    tables = [part for one in found for part in (tabulated(one), "", f"{as_line(one.note)}.", "")]
    said = [f"{as_line(head(comparison))}.", "", as_line(comparison.verdict_in(metric)), ""]
    lines = [f"- {as_line(line)}" for line in comparison.remarks]
    codes = fenced(signature_texts(comparison))
    return "\n".join([*tables, *said, *lines, *([""] if lines else []), *codes, ""])


def tabulated(found: Table) -> str:
    """Return a table, what stands out in it in bold."""
    shown = found.cells.map(escaped)
    for name in ("model", "mean") if found.bold else ():
        shown[name] = [
            f"**{text.strip()}**" if row in found.bold else text
            for row, text in enumerate(shown[name])
        ]
    return piped(shown.rename(columns=escaped), left=2)
