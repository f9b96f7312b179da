"""CatBoost: `eval_metric` on rows grouped by user; ties are in their worst order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from catboost.utils import eval_metric

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "catboost"
NAMES = {
    "ndcg@10": "NDCG:top=10",
    "precision@10": "PrecisionAt:top=10;border=3.75",
    "recall@10": "RecallAt:top=10;border=3.75",
}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Group the rows by user, and compute the metrics."""
    order = np.argsort(frame["user"].to_numpy(), kind="stable")
    user, true, estimated = (
        frame[name].to_numpy()[order] for name in ("user", "true", "estimated")
    )
    return {
        ours: eval_metric(true, estimated, name, group_id=user)[0] for ours, name in NAMES.items()
    }
