"""recpack: its metrics on sparse matrices, users × items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from recpack.metrics import NDCGK, PrecisionK, RecallK
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "recpack"
METRICS = {"ndcg@10": NDCGK, "precision@10": PrecisionK, "recall@10": RecallK}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Make the matrices; scores must be above 0, because 0 means absent."""
    user, item = frame["user"].to_numpy(), frame["item"].to_numpy()
    estimated, liked = frame["estimated"].to_numpy(), frame["true"].to_numpy() >= 4
    shape = user.max() + 1, item.max() + 1
    above = estimated - estimated.min() + 1
    predicted = csr_matrix((above, (user, item)), shape)
    true = csr_matrix((np.ones(liked.sum()), (user[liked], item[liked])), shape)
    found = {}
    for name, kind in METRICS.items():
        metric = kind(K=10)
        metric.calculate(true, predicted)
        found[name] = metric.value
    return found
