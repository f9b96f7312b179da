"""Reports: scores, the values to compare them with, segments, explanations and saved files."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
