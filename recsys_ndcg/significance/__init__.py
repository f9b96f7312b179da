"""Confidence intervals, significance tests, corrections and power, on plain arrays."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
