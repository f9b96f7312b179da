"""Documents as text, Markdown, LaTeX, HTML and pages, and their charts."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
