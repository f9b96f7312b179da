"""Surprise, evaluated by ranking: the plug-in whose import line is the only change.

All that ``surprise`` and ``surprise.model_selection`` offer is here under the same names.
Cross-validation, searches and `accuracy` are ours; everything else is Surprise's own.

>>> from recsys_ndcg.surprise import SVD, Dataset, Reader, accuracy, cross_validate, KFold
"""

from __future__ import annotations

from pkgutil import iter_modules as _iter_modules
from typing import TYPE_CHECKING, Any

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
from surprise.accuracy import fcp, mae, mse, rmse  # noqa: E402
from surprise.model_selection import (  # noqa: E402
    KFold,
    LeaveOneOut,
    PredefinedKFold,
    RepeatedKFold,
    ShuffleSplit,
    train_test_split,
)

from recsys_ndcg.lazy import imported as _imported  # noqa: E402
from recsys_ndcg.surprise.library import stand_for_library as _stand_for_library  # noqa: E402

if TYPE_CHECKING:  # found by `__getattr__` when the program runs, or by the line below
    from surprise import builtin_datasets as builtin_datasets
    from surprise import dataset as dataset
    from surprise import prediction_algorithms as prediction_algorithms
    from surprise import reader as reader
    from surprise import similarities as similarities
    from surprise import trainset as trainset
    from surprise import utils as utils

    from recsys_ndcg.surprise import accuracy, model_selection
    from recsys_ndcg.surprise.catalogue.catalogue import (
        evaluate_catalogue,
        predict_all,
        rank_catalogue,
    )
    from recsys_ndcg.surprise.estimates.popularity import MostPopular
    from recsys_ndcg.surprise.model_selection import (
        GridSearchCV,
        LeaveLastOut,
        LeaveNOut,
        RandomizedSearchCV,
        TimeSplit,
        UserKFold,
        cross_validate,
        make_measure,
    )

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

#: Where each name of ours is: looked up when it is first asked for, as every worker of a search
#: imports this package, and pandas takes memory of its own in each.
_PLACES = {
    "GridSearchCV": "model_selection.search",
    "LeaveLastOut": "model_selection.splits",
    "LeaveNOut": "model_selection.splits",
    "MostPopular": "estimates.popularity",
    "RandomizedSearchCV": "model_selection.search",
    "TimeSplit": "model_selection.splits",
    "UserKFold": "model_selection.splits",
    "cross_validate": "model_selection.validation",
    "evaluate_catalogue": "catalogue.catalogue",
    "make_measure": "model_selection.measures",
    "predict_all": "catalogue.catalogue",
    "rank_catalogue": "catalogue.catalogue",
}
_ROOMS = {one.name: one.name for one in _iter_modules(__path__)}


if not TYPE_CHECKING:  # or every name would be known to a type checker

    def __getattr__(name: str) -> Any:
        """Import what a name stands for, and keep it."""
        value = globals()[name] = _imported(__name__, name, _ROOMS | _PLACES)
        return value


def __dir__() -> list[str]:
    """List what is not imported yet with the other names."""
    return sorted({*globals(), *__all__})
