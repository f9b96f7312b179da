"""Plans of measurements, and the scores, totals and audits that they produce."""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
