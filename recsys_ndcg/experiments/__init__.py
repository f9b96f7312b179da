"""Experiments: models trained and evaluated over folds and seeds, kept in a folder that resumes."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
