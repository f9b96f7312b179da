"""Several models on the same users: which is better, for whom, and how certain that is."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
