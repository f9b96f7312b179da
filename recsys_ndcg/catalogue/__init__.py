"""All items that a user has not rated: their estimates, and where the test items stand."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
