"""What is known besides the lists: training rows, the catalogue, features of items."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
