"""torchmetrics: its retrieval metrics, all users in one update, in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torchmetrics.retrieval import RetrievalNormalizedDCG, RetrievalPrecision, RetrievalRecall

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "torchmetrics"
METRICS = {
    "ndcg@10": RetrievalNormalizedDCG,
    "precision@10": RetrievalPrecision,
    "recall@10": RetrievalRecall,
}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass the columns as tensors."""
    user, estimated, true = (
        torch.from_numpy(frame[name].to_numpy(copy=True)) for name in ("user", "estimated", "true")
    )
    found = {}
    for name, kind in METRICS.items():
        metric = kind(top_k=10)
        metric.update(estimated, true if name == "ndcg@10" else true >= 4, indexes=user)
        found[name] = float(metric.compute())
    return found
