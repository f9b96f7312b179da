"""LightGBM: the scores are the ``init_score`` of an untrained booster, which evaluates these.

One list at a time, so that its mean over lists is that one's value. It knows the given list
alone, and all of it needs a whole grade: unlabelled items get 0. ``map`` takes any label above
0.5 as relevant, so it is given the relevance.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from lightgbm import Booster, Dataset, register_logger
from lightgbm.basic import LightGBMError

from tests.peers.cases import Case, per_user

DISTRIBUTION = "lightgbm"

register_logger(logging.getLogger(DISTRIBUTION))  # which prints on standard output otherwise


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers: dict[str, Any] = {}
    for metric, name, labels in (("ndcg", "ndcg", case.grades()), ("ap", "map", case.relevance())):
        try:
            values = {
                user: _value(name, labels[user], list(own.values()), case.k)
                for user, own in case.run.items()
            }
            answers[f"{metric}@{case.k}"] = per_user(values)
        except LightGBMError as error:
            answers[f"{metric}@{case.k}"] = {"refused": str(error).splitlines()[0].rstrip(",")}
    return {"lightgbm": answers}


def _value(name: str, labels: list[float], values: list[float], k: int) -> float:
    """Return a metric of one list."""
    parameters = {"metric": name, "eval_at": [k], "verbosity": -1, "num_threads": 1}
    parameters["objective"] = "lambdarank"
    data = Dataset(np.zeros((len(labels), 1)), labels, group=[len(labels)], init_score=values)
    return float(Booster(parameters, data).eval_train()[0][2])
