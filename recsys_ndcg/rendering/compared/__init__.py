"""Comparisons for people to read: text, Markdown, LaTeX, HTML."""

from recsys_ndcg.rendering.compared.cells import LEADERBOARD, PAIRS, SEGMENTS, head, table
from recsys_ndcg.rendering.compared.html import fragment
from recsys_ndcg.rendering.compared.latex import latex, tabular
from recsys_ndcg.rendering.compared.markdown import markdown, tabulated
from recsys_ndcg.rendering.compared.text import text

__all__ = [
    "LEADERBOARD",
    "PAIRS",
    "SEGMENTS",
    "fragment",
    "head",
    "latex",
    "markdown",
    "table",
    "tabular",
    "tabulated",
    "text",
]
