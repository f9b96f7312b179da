"""MLflow: its metrics of retrievers, on ranked and on relevant items, a row for each list."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

from tests.peers.cases import Case, per_user

DISTRIBUTION = "mlflow-skinny"
METRICS = {"ndcg": ndcg_at_k, "precision": precision_at_k, "recall": recall_at_k}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    liked = case.liked()
    predictions = pd.Series([case.best_first(user) for user in case.run])
    targets = pd.Series([[*liked.get(user, ())] for user in case.run])
    answers = {}
    for name, metric in METRICS.items():
        with warnings.catch_warnings(action="ignore"):  # it calls itself deprecated
            found = metric(case.k).eval_fn(predictions, targets)
        answers[f"{name}@{case.k}"] = per_user(dict(zip(case.run, found.scores, strict=True)))
    return {"mlflow": answers}
