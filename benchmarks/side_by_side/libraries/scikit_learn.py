"""scikit-learn: `ndcg_score`, one call per list length; ties are averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.by_length import by_length
from sklearn.metrics import ndcg_score

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "scikit-learn"


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass exponential gains as grades, because its own gains are linear."""
    total, users = 0.0, 0
    for true, estimated in by_length(frame):
        if true.shape[1] > 1:
            total += ndcg_score(2**true - 1, estimated, k=10) * len(true)
            users += len(true)
    return {"ndcg@10": total / users}
