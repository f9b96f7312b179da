"""XGBoost: the scores are the ``base_margin`` of an untrained booster, which evaluates these.

One list at a time, so that its mean over lists is that one's value. It knows the given list
alone, and all of it needs a whole grade: unlabelled items get 0. ``map`` and ``pre`` take binary
labels alone, so they are given the relevance. Without ``@k`` XGBoost cuts at 32; it is not asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import Booster, DMatrix
from xgboost.core import XGBoostError

from tests.peers.cases import Case, per_user

DISTRIBUTION = "xgboost-cpu"  # the same code without CUDA's 400 MB


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers: dict[str, Any] = {}
    for metric, name in (("ndcg", "ndcg"), ("precision", "pre"), ("ap", "map")):
        labels = case.grades() if metric == "ndcg" else case.relevance()
        try:
            values = {
                user: _value(f"{name}@{case.k}", labels[user], list(own.values()))
                for user, own in case.run.items()
            }
            answers[f"{metric}@{case.k}"] = per_user(values)
        except XGBoostError as error:  # a stack trace follows its message
            message = str(error).splitlines()[0].rsplit(": ", 1)[1]
            answers[f"{metric}@{case.k}"] = {"refused": message}
    return {"xgboost": answers}


def _value(name: str, labels: list[float], values: list[float]) -> float:
    """Return a metric of one list."""
    data = DMatrix(
        np.zeros((len(labels), 1)), labels, group=[len(labels)], base_margin=values, nthread=1
    )
    booster = Booster({"objective": "rank:ndcg", "eval_metric": name, "nthread": 1}, [data])
    return float(booster.eval(data).rsplit(":", 1)[1])
