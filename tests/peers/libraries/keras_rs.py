"""Keras RS: its ranking metrics, one list at a time, with every default, on PyTorch.

It knows the given lists alone: unlabelled items get 0. NDCG and DCG take the grades, the others
whether an item is relevant. It shuffles equal scores: users with any are left out.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"

import torch
from keras_rs import metrics

from tests.peers.cases import Case, per_user

DISTRIBUTION = "keras-rs"
METRICS = {
    "ndcg": "NDCG", "dcg": "DCG", "precision": "PrecisionAtK", "recall": "RecallAtK",
    "ap": "MeanAveragePrecision", "rr": "MeanReciprocalRank",
}  # fmt: skip


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers = {}
    for name, metric in METRICS.items():
        values, refused = {}, {}
        labels = case.grades() if name.endswith("dcg") else case.relevance()
        for user, own in labels.items():
            estimated = torch.tensor([[*case.run[user].values()]])
            if len(estimated.unique()) < estimated.numel():
                refused[user] = "it shuffles equal scores"
                continue
            asked = getattr(metrics, metric)(k=case.k)
            values[user] = float(asked(torch.tensor([own]), estimated))
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"keras_rs": answers}
