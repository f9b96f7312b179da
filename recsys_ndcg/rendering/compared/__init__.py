"""Comparisons for people to read: text, Markdown, LaTeX, HTML."""

from recsys_ndcg.rendering.compared.html import fragment
from recsys_ndcg.rendering.compared.latex import latex
from recsys_ndcg.rendering.compared.markdown import markdown
from recsys_ndcg.rendering.compared.text import text

__all__ = ["fragment", "latex", "markdown", "text"]
