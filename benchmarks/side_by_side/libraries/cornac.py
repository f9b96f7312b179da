"""cornac: its ranking metrics, called user by user as in its own evaluation."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from cornac.metrics import NDCG, Precision, Recall

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "cornac"
METRICS = {"ndcg@10": NDCG(k=10), "precision@10": Precision(k=10), "recall@10": Recall(k=10)}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Sort all rows by user and estimate, and score each user with a relevant item."""
    user = frame["user"].to_numpy()
    order = np.lexsort((-frame["estimated"].to_numpy(), user))
    user, item = user[order], frame["item"].to_numpy()[order]
    relevant = frame["true"].to_numpy()[order] >= 4
    starts = np.flatnonzero(np.append(True, user[1:] != user[:-1])).tolist()
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    for first, last in pairwise([*starts, len(user)]):
        liked = item[first:last][relevant[first:last]]
        if len(liked):
            for name, metric in METRICS.items():
                found[name].append(metric.compute(gt_pos=liked, pd_rank=item[first:last]))
    return {name: fmean(values) for name, values in found.items()}
