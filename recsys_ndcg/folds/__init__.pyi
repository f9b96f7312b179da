from recsys_ndcg.folds.checks import Splits as Splits
from recsys_ndcg.folds.fitting import Measure as Measure
from recsys_ndcg.folds.folds import FoldRun as FoldRun
from recsys_ndcg.folds.folds import FoldRuns as FoldRuns
from recsys_ndcg.folds.folds import Ranked as Ranked
from recsys_ndcg.folds.folds import rated_lists as rated_lists
from recsys_ndcg.folds.folds import run_in_order as run_in_order
from recsys_ndcg.folds.measures import FoldPlan as FoldPlan
from recsys_ndcg.folds.measures import lower_is_better as lower_is_better
from recsys_ndcg.folds.measures import make_measure as make_measure
from recsys_ndcg.folds.measures import resolved as resolved
from recsys_ndcg.folds.splits import LeaveLastOut as LeaveLastOut
from recsys_ndcg.folds.splits import LeaveNOut as LeaveNOut
from recsys_ndcg.folds.splits import TimeSplit as TimeSplit
from recsys_ndcg.folds.splits import UserKFold as UserKFold
from recsys_ndcg.folds.splits import ratings_of as ratings_of
from recsys_ndcg.folds.splits import seconds_of as seconds_of

__all__: list[str]  # noqa: PYI035 - computed from the lines above
