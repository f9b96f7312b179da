"""Rows of users and items that are no predictions: ratings, histories, splits, in any form."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
