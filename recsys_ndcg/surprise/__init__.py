"""Surprise, evaluated by ranking: the plug-in whose import line is the only change.

All that ``surprise`` and ``surprise.model_selection`` offer is here under the same names.
Cross-validation, searches and `accuracy` are ours; everything else is Surprise's own.

>>> from recsys_ndcg.surprise import SVD, Dataset, Reader, accuracy, cross_validate, KFold
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.surprise.library import library as _library

_library("recsys_ndcg.surprise")  # says what to install, before the imports below fail

from surprise import (  # noqa: E402
    NMF,
    SVD,
    AlgoBase,
    BaselineOnly,
    CoClustering,
    Dataset,
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    KNNWithZScore,
    NormalPredictor,
    Prediction,
    PredictionImpossible,
    Reader,
    SlopeOne,
    SVDpp,
    Trainset,
    dump,
    get_dataset_dir,
)
from surprise import __version__ as __version__  # noqa: E402 - which a script may print

from recsys_ndcg.surprise import accuracy, model_selection  # noqa: E402
from recsys_ndcg.surprise.accuracy import fcp, mae, mse, rmse  # noqa: E402
from recsys_ndcg.surprise.catalogue.catalogue import (  # noqa: E402
    evaluate_catalogue,
    predict_all,
    rank_catalogue,
)
from recsys_ndcg.surprise.estimates.popularity import MostPopular  # noqa: E402
from recsys_ndcg.surprise.library import stand_for_library as _stand_for_library  # noqa: E402
from recsys_ndcg.surprise.model_selection import (  # noqa: E402
    GridSearchCV,
    KFold,
    LeaveLastOut,
    LeaveNOut,
    LeaveOneOut,
    PredefinedKFold,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    TimeSplit,
    UserKFold,
    cross_validate,
    make_measure,
    train_test_split,
)

if TYPE_CHECKING:  # put in place by the line below when the program runs
    from surprise import builtin_datasets as builtin_datasets
    from surprise import dataset as dataset
    from surprise import prediction_algorithms as prediction_algorithms
    from surprise import reader as reader
    from surprise import similarities as similarities
    from surprise import trainset as trainset
    from surprise import utils as utils

_stand_for_library(__name__)

__all__ = [
    "NMF",
    "SVD",
    "AlgoBase",
    "BaselineOnly",
    "CoClustering",
    "Dataset",
    "GridSearchCV",
    "KFold",
    "KNNBaseline",
    "KNNBasic",
    "KNNWithMeans",
    "KNNWithZScore",
    "LeaveLastOut",
    "LeaveNOut",
    "LeaveOneOut",
    "MostPopular",
    "NormalPredictor",
    "PredefinedKFold",
    "Prediction",
    "PredictionImpossible",
    "RandomizedSearchCV",
    "Reader",
    "RepeatedKFold",
    "SVDpp",
    "ShuffleSplit",
    "SlopeOne",
    "TimeSplit",
    "Trainset",
    "UserKFold",
    "accuracy",
    "cross_validate",
    "dump",
    "evaluate_catalogue",
    "fcp",
    "get_dataset_dir",
    "mae",
    "make_measure",
    "model_selection",
    "mse",
    "predict_all",
    "rank_catalogue",
    "rmse",
    "train_test_split",
]
