"""Ranking evaluation for recommenders: every score comes with the choices that it depends on."""

from recsys_ndcg.lazy import attach_stub
from recsys_ndcg.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
