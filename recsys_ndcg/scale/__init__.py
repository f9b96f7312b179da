"""Data larger than memory or than one machine: evaluated in batches of whole users."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
