"""Reports for people to read: text, Markdown, LaTeX, HTML."""

from recsys_ndcg.rendering.html import fragment
from recsys_ndcg.rendering.latex import latex
from recsys_ndcg.rendering.markdown import markdown
from recsys_ndcg.rendering.table import cells, signature_lines
from recsys_ndcg.rendering.text import text

__all__ = ["cells", "fragment", "latex", "markdown", "signature_lines", "text"]
