"""Lists of items grouped by user, as given and as a convention prepares them."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
