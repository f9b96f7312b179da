"""Split ratings into folds, and fit, predict and measure every model on every fold.

The splitters can be used without Surprise.

>>> from recsys_ndcg.folds import LeaveLastOut, LeaveNOut, TimeSplit, UserKFold
"""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
