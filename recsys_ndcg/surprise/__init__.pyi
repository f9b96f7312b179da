from types import ModuleType

from surprise import NMF as NMF
from surprise import SVD as SVD
from surprise import AlgoBase as AlgoBase
from surprise import BaselineOnly as BaselineOnly
from surprise import CoClustering as CoClustering
from surprise import Dataset as Dataset
from surprise import KNNBaseline as KNNBaseline
from surprise import KNNBasic as KNNBasic
from surprise import KNNWithMeans as KNNWithMeans
from surprise import KNNWithZScore as KNNWithZScore
from surprise import NormalPredictor as NormalPredictor
from surprise import Prediction as Prediction
from surprise import PredictionImpossible as PredictionImpossible
from surprise import Reader as Reader
from surprise import SlopeOne as SlopeOne
from surprise import SVDpp as SVDpp
from surprise import Trainset as Trainset
from surprise import dump as dump
from surprise import get_dataset_dir as get_dataset_dir
from surprise.accuracy import fcp as fcp
from surprise.accuracy import mae as mae
from surprise.accuracy import mse as mse
from surprise.accuracy import rmse as rmse
from surprise.model_selection import KFold as KFold
from surprise.model_selection import LeaveOneOut as LeaveOneOut
from surprise.model_selection import PredefinedKFold as PredefinedKFold
from surprise.model_selection import RepeatedKFold as RepeatedKFold
from surprise.model_selection import ShuffleSplit as ShuffleSplit
from surprise.model_selection import train_test_split as train_test_split

from recsys_ndcg.folds.measures import make_measure as make_measure
from recsys_ndcg.folds.splits import LeaveLastOut as LeaveLastOut
from recsys_ndcg.folds.splits import LeaveNOut as LeaveNOut
from recsys_ndcg.folds.splits import UserKFold as UserKFold
from recsys_ndcg.folds.time_splits import RollingTime as RollingTime
from recsys_ndcg.folds.time_splits import TimeSplit as TimeSplit
from recsys_ndcg.surprise import accuracy as accuracy
from recsys_ndcg.surprise import model_selection as model_selection
from recsys_ndcg.surprise.algorithm import CheckedAlgorithm as CheckedAlgorithm  # unlisted
from recsys_ndcg.surprise.catalogue import evaluate_catalogue as evaluate_catalogue
from recsys_ndcg.surprise.catalogue import predict_all as predict_all
from recsys_ndcg.surprise.catalogue import rank_catalogue as rank_catalogue
from recsys_ndcg.surprise.estimates import MostPopular as MostPopular
from recsys_ndcg.surprise.library import import_library as import_library  # unlisted
from recsys_ndcg.surprise.model_selection.search import GridSearchCV as GridSearchCV
from recsys_ndcg.surprise.model_selection.search import RandomizedSearchCV as RandomizedSearchCV
from recsys_ndcg.surprise.model_selection.validation import cross_validate as cross_validate
from recsys_ndcg.surprise.traps import warn_of_truncation as warn_of_truncation  # unlisted

__version__: str
builtin_datasets: ModuleType
dataset: ModuleType
prediction_algorithms: ModuleType
reader: ModuleType
similarities: ModuleType
trainset: ModuleType
utils: ModuleType

__all__: list[str]  # noqa: PYI035 - computed from the lines above
