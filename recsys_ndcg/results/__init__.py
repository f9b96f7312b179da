"""The types of results, for annotations: ``def best(segments: rn.results.Segments) -> str``."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
