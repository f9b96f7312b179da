"""Surprise, evaluated by ranking: the plug-in whose import line is the only change.

>>> from recsys_ndcg.surprise import accuracy, cross_validate, GridSearchCV, RandomizedSearchCV
"""

from __future__ import annotations

from recsys_ndcg.surprise.library import library as _library

_library("recsys_ndcg.surprise")  # says what to install, before the imports below fail

from recsys_ndcg.surprise import accuracy  # noqa: E402
from recsys_ndcg.surprise.catalogue.catalogue import (  # noqa: E402
    evaluate_catalogue,
    predict_all,
    rank_catalogue,
)
from recsys_ndcg.surprise.estimates.popularity import MostPopular  # noqa: E402
from recsys_ndcg.surprise.model_selection.measures import make_measure  # noqa: E402
from recsys_ndcg.surprise.model_selection.search import GridSearchCV, RandomizedSearchCV  # noqa: E402
from recsys_ndcg.surprise.model_selection.splits import (  # noqa: E402
    LeaveLastOut,
    LeaveNOut,
    TimeSplit,
    UserKFold,
)
from recsys_ndcg.surprise.model_selection.validation import cross_validate  # noqa: E402

__all__ = [
    "GridSearchCV",
    "LeaveLastOut",
    "LeaveNOut",
    "MostPopular",
    "RandomizedSearchCV",
    "TimeSplit",
    "UserKFold",
    "accuracy",
    "cross_validate",
    "evaluate_catalogue",
    "make_measure",
    "predict_all",
    "rank_catalogue",
]
