"""Metrics in the form that other libraries call: one file per library, none imported here."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
