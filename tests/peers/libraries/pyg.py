"""PyTorch Geometric: its metrics of predicted links, one user with relevant items at a time.

It takes ranked items, so equal scores are in the order of the input; lists shorter than k are
filled up with an item that nobody likes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric import metrics

from tests.peers.cases import Case, per_user

DISTRIBUTION = "torch_geometric"
METRICS = {
    "ndcg": "NDCG", "precision": "Precision", "recall": "Recall", "f1": "F1", "ap": "MAP",
    "rr": "MRR", "hit": "HitRatio",
}  # fmt: skip


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers = {}
    for name, metric in METRICS.items():
        values = {}
        for user, liked in case.liked().items():
            items = [*{**case.run.get(user, {}), **liked}]
            ranked = [items.index(item) for item in case.best_first(user)[: case.k]]
            ranked += [len(items)] * (case.k - len(ranked))
            links = [[0] * len(liked), [items.index(item) for item in liked]]
            asked = getattr(metrics, f"LinkPred{metric}")(case.k)
            asked.update(torch.tensor([ranked]), torch.tensor(links))
            values[user] = float(asked.compute())
        answers[f"{name}@{case.k}"] = per_user(values)
    return {"pyg": answers}
