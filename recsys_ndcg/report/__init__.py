"""What a measurement is worth, for people: scores, what stands beside them, and signatures."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
