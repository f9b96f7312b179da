"""TensorFlow Ranking: its Keras metrics, one list at a time, with every default.

It knows the given lists alone: unlabelled items get 0, NDCG and DCG take the grades and the
others, for which a label of 1 is relevant, whether an item reaches the threshold. It holds
scores as float32 and shuffles equal ones at random: users with any are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow_ranking as library

from tests.peers.cases import Case, per_user

DISTRIBUTION = "tensorflow-ranking"
METRICS = {
    "ndcg": "NDCG", "dcg": "DCG", "precision": "Precision", "recall": "Recall",
    "ap": "MeanAveragePrecision", "hit": "Hits", "rr": "MRR",
}  # fmt: skip


def _single(values: Any) -> np.ndarray:
    """Return numbers in the precision that it computes in."""
    return np.asarray(values, dtype=np.float32)


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    tied = {
        user: "shuffles ties at random"
        for user, own in case.run.items()
        if len(np.unique(_single(list(own.values())))) < len(own)
    }
    answers = {}
    for name, metric in METRICS.items():
        values = {}
        for user, own in case.run.items():
            grades = np.array(case.grades()[user])
            target = grades if name in {"ndcg", "dcg"} else grades >= case.threshold
            asked = getattr(library.keras.metrics, f"{metric}Metric")(topn=case.k)
            asked.update_state(_single([target]), _single([[*own.values()]]))
            values[user] = asked.result()
        answers[f"{name}@{case.k}"] = per_user(values, tied)
    return {"tensorflow_ranking": answers}
