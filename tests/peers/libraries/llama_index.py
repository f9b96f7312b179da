"""LlamaIndex: its retrieval metrics on the first k items of each list and the relevant ones.

It takes ranked items, so equal scores are in the order of the input, and rejects a user without
a list or without relevant items. `NDCG` is missing here, as its ideal is not cut at k.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.evaluation.retrieval.metrics import (
    MRR,
    AveragePrecision,
    HitRate,
    Precision,
    Recall,
)

from tests.peers.cases import Case, per_user

DISTRIBUTION = "llama-index-core"
METRICS = {
    "precision": Precision, "recall": Recall, "ap": AveragePrecision, "rr": MRR, "hit": HitRate,
}  # fmt: skip


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers = {}
    for name, metric in METRICS.items():
        values, refused = {}, {}
        for user, liked in case.liked().items():
            retrieved = case.best_first(user)[: case.k]
            try:
                found = metric().compute(expected_ids=[*liked], retrieved_ids=retrieved)
            except ValueError as error:
                refused[user] = str(error)
                continue
            values[user] = found.score
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"llama_index": answers}
