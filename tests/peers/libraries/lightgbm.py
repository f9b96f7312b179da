"""LightGBM: the scores are the ``init_score`` of an untrained booster, which evaluates these.

One list at a time, so that its mean over lists is that one's value. It knows the given list
alone, and all of it needs a whole grade: unlabelled items get 0. ``map`` takes any label above
0.5 as relevant, so it is given the relevance.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from lightgbm import Booster, Dataset, register_logger
from lightgbm.basic import LightGBMError

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "lightgbm"

register_logger(logging.getLogger(DISTRIBUTION))  # which prints on standard output otherwise


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    grades = case.grades()
    relevance = {
        user: [float(grade >= case.threshold) for grade in own] for user, own in grades.items()
    }
    answers: dict[str, Any] = {}
    for metric, name, labels in (("ndcg", "ndcg", grades), ("ap", "map", relevance)):
        try:
            answers[f"{metric}@{case.k}"] = {
                "per_user": {
                    user: _value(name, labels[user], list(own.values()), case.k)
                    for user, own in case.run.items()
                },
                "refused": {},
            }
        except LightGBMError as error:
            answers[f"{metric}@{case.k}"] = {"refused": str(error).splitlines()[0].rstrip(",")}
    return {"lightgbm": answers}


def _value(name: str, labels: list[float], values: list[float], k: int) -> float:
    """Return a metric of one list."""
    parameters = {
        "objective": "lambdarank",
        "metric": name,
        "eval_at": [k],
        "verbosity": -1,
        "num_threads": 1,
    }
    data = Dataset(np.zeros((len(labels), 1)), labels, group=[len(labels)], init_score=values)
    return float(Booster(parameters, data).eval_train()[0][2])
