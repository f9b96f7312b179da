"""Charts of plain numbers with text alternatives, the only files that need Vega-Altair."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
