from recsys_ndcg.folds.checks import CheckedSplits as CheckedSplits  # unlisted
from recsys_ndcg.folds.folds import Fold as Fold  # unlisted
from recsys_ndcg.folds.folds import FoldRun as FoldRun  # unlisted
from recsys_ndcg.folds.folds import average_scores as average_scores  # unlisted
from recsys_ndcg.folds.folds import build_rated_lists as build_rated_lists  # unlisted
from recsys_ndcg.folds.folds import run_folds as run_folds  # unlisted
from recsys_ndcg.folds.measures import FoldPlan as FoldPlan  # unlisted
from recsys_ndcg.folds.measures import Measure as Measure  # unlisted
from recsys_ndcg.folds.measures import lower_is_better as lower_is_better  # unlisted
from recsys_ndcg.folds.measures import make_measure as make_measure  # unlisted
from recsys_ndcg.folds.measures import parse_measures as parse_measures  # unlisted
from recsys_ndcg.folds.splits import LeaveLastOut as LeaveLastOut
from recsys_ndcg.folds.splits import LeaveNOut as LeaveNOut
from recsys_ndcg.folds.splits import UserKFold as UserKFold
from recsys_ndcg.folds.splits import get_ratings as get_ratings  # unlisted
from recsys_ndcg.folds.time_splits import RollingTime as RollingTime
from recsys_ndcg.folds.time_splits import TimeSplit as TimeSplit
from recsys_ndcg.folds.time_splits import parse_time as parse_time  # unlisted

__all__: list[str]  # noqa: PYI035 - computed from the lines above
