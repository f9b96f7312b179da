from recsys_ndcg.folds.measures import make_measure as make_measure
from recsys_ndcg.folds.splits import LeaveLastOut as LeaveLastOut
from recsys_ndcg.folds.splits import LeaveNOut as LeaveNOut
from recsys_ndcg.folds.splits import TimeSplit as TimeSplit
from recsys_ndcg.folds.splits import UserKFold as UserKFold

__all__: list[str]  # noqa: PYI035 - computed from the lines above
