"""Ranking whole catalogues: estimates of all items, and the ranks of the test items."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
