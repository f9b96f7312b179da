"""torchmetrics: its retrieval metrics, all users in one update, with every default.

It knows the given lists alone, in the order of the input: unlabelled items get 0, NDCG takes
the grades and the others whether an item reaches the threshold. Its `aggregation` is handed the
values of the users, in their order, so that it serves here to see them instead of their mean.
It holds scores as float32 and, but for NDCG, orders equal ones by sorts that are not stable, even
the one that groups the rows by user: users with equal scores are left out there.
"""

from __future__ import annotations

from typing import Any

import torch
from torchmetrics import retrieval

from tests.peers.cases import Case, per_user

DISTRIBUTION = "torchmetrics"
METRICS = {
    "ndcg": "NormalizedDCG", "precision": "Precision", "recall": "Recall",
    "ap": "MAP", "hit": "HitRate", "rr": "MRR",
}  # fmt: skip


def keep_values(values: torch.Tensor, dim: int | None = None) -> torch.Tensor:  # noqa: ARG001
    """Aggregate nothing."""
    return values


def build_tensors(case: Case) -> list[torch.Tensor]:
    """Return the user, the score and the grade of each row."""
    rows = [
        (place, score, grade)
        for place, (user, grades) in enumerate(case.grades().items())
        for score, grade in zip(case.run[user].values(), grades, strict=True)
    ]
    return [torch.tensor(column) for column in zip(*rows, strict=True)]


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    indexes, estimates, grades = build_tensors(case)
    tied = {
        user: "its order of equal scores is not stable"
        for user, own in case.run.items()
        if len(torch.tensor(list(own.values())).unique()) < len(own)
    }
    answers = {}
    for name, metric in METRICS.items():
        target = grades if name == "ndcg" else grades >= case.threshold
        kind = getattr(retrieval, f"Retrieval{metric}")
        asked = kind(top_k=case.k, aggregation=keep_values)
        asked.update(estimates, target, indexes=indexes)
        values = dict(zip(case.run, asked.compute().tolist(), strict=True))
        answers[f"{name}@{case.k}"] = per_user(values, None if name == "ndcg" else tied)
    return {"torchmetrics": answers}
