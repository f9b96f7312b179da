"""Reads predictions in any form (tables, tuples, files, Surprise) into checked columns."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
