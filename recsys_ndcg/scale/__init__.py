"""More data than memory, and than one machine: users brought together, measured, and merged."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
