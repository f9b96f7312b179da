"""Checks of a split into training, validation and test rows, before any model is trained."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
