"""Ranking evaluation for recommenders, with every choice that moves the number beside it."""

from recsys_ndcg.lazy import attach_stub
from recsys_ndcg.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
