"""Cross-validation, searches and splits, as in the library's own module of that name."""

from __future__ import annotations

from surprise.model_selection import (
    KFold,
    LeaveOneOut,
    PredefinedKFold,
    RepeatedKFold,
    ShuffleSplit,
    train_test_split,
)

from recsys_ndcg.surprise.model_selection.measures import make_measure
from recsys_ndcg.surprise.model_selection.search import GridSearchCV, RandomizedSearchCV
from recsys_ndcg.surprise.model_selection.splits import (
    LeaveLastOut,
    LeaveNOut,
    TimeSplit,
    UserKFold,
)
from recsys_ndcg.surprise.model_selection.validation import cross_validate

__all__ = [
    "GridSearchCV",
    "KFold",
    "LeaveLastOut",
    "LeaveNOut",
    "LeaveOneOut",
    "PredefinedKFold",
    "RandomizedSearchCV",
    "RepeatedKFold",
    "ShuffleSplit",
    "TimeSplit",
    "UserKFold",
    "cross_validate",
    "make_measure",
    "train_test_split",
]
