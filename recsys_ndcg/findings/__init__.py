"""Findings: what a result shows or what limits it, and the templates of their sentences."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
