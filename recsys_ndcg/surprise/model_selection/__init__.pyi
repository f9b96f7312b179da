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
from recsys_ndcg.surprise.model_selection.search import GridSearchCV as GridSearchCV
from recsys_ndcg.surprise.model_selection.search import RandomizedSearchCV as RandomizedSearchCV
from recsys_ndcg.surprise.model_selection.validation import cross_validate as cross_validate

__all__: list[str]  # noqa: PYI035 - computed from the lines above
