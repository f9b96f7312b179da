"""A comparison as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.rendering.compared.cells import (
    board,
    board_note,
    head,
    pairs,
    pairs_note,
    top_tier,
)
from recsys_ndcg.rendering.markdown import as_line, escaped, fenced, markdown_table, piped
from recsys_ndcg.rendering.table import signature_texts

if TYPE_CHECKING:
    from recsys_ndcg.rendering.compared.view import Compared


def markdown(comparison: Compared, metric: str, *, with_pairs: bool = False) -> str:
    """Return a leaderboard or the pairs, how they were tested, the verdict and the remarks."""
    if with_pairs:
        table = markdown_table(pairs(comparison, metric), left=2)
        note = pairs_note(comparison, metric)
    else:
        table, note = markdown_board(comparison, metric), board_note(comparison, metric)
    texts = [f"{head(comparison)}; {note}.", comparison.verdict_in(metric)]
    lines = [f"- {as_line(line)}" for line in comparison.remarks]
    codes = fenced(signature_texts(comparison))
    paragraphs = [part for one in texts for part in (as_line(one), "")]
    return "\n".join([table, "", *paragraphs, *lines, *([""] if lines else []), *codes, ""])


def markdown_board(comparison: Compared, metric: str) -> str:
    """Return a leaderboard, its top tier in bold."""
    found = board(comparison, metric)
    shown = found.map(escaped).rename(columns=escaped)
    for name in ("model", "mean"):
        place = found.columns.get_loc(name)
        for row in top_tier(comparison, metric):
            shown.iloc[row, place] = f"**{shown.iloc[row, place].strip()}**"
    return piped(shown, left=2)
