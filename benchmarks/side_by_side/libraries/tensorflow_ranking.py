"""TensorFlow Ranking: its Keras metrics, one call per list length, in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow_ranking as library
from libraries.by_length import by_length

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "tensorflow-ranking"
METRICS = {
    "ndcg@10": library.keras.metrics.NDCGMetric,
    "precision@10": library.keras.metrics.PrecisionMetric,
    "recall@10": library.keras.metrics.RecallMetric,
}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Update each metric with the lists of each length."""
    lists = [
        (true.astype(np.float32), estimated.astype(np.float32))
        for true, estimated in by_length(frame)
    ]
    found = {}
    for name, kind in METRICS.items():
        metric = kind(topn=10)
        for true, estimated in lists:
            labels = true if name == "ndcg@10" else (true >= 4).astype(np.float32)
            metric.update_state(labels, estimated)
        found[name] = float(metric.result())
    return found
