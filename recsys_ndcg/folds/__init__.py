"""Ratings in folds, and every model in every fold: split, fit, predict, measure.

The splits are here also where Surprise is not installed.

>>> from recsys_ndcg.folds import LeaveLastOut, LeaveNOut, TimeSplit, UserKFold
"""

from recsys_ndcg.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
