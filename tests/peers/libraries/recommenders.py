"""recommenders: the functions of its pandas evaluation module, means over its own choice of users.

All rows of the truth count as relevant there, so it is given those from the threshold on; the
`relevancy_method="by_threshold"` it offers is a cutoff by another name. It has two average
precisions: `map_at_k` is the preset's, `map` the one of the preset recommenders_map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from recommenders.evaluation import python_evaluation as library

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "recommenders"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"mean": value}}}."""
    true = pd.DataFrame(
        [(user, item, grade) for user, own in case.liked().items() for item, grade in own.items()],
        columns=["userID", "itemID", "rating"],
    )
    predicted = pd.DataFrame(
        [(user, item, score) for user, own in case.run.items() for item, score in own.items()],
        columns=["userID", "itemID", "prediction"],
    )
    functions = {
        ("recommenders", "ndcg"): library.ndcg_at_k,
        ("recommenders", "precision"): library.precision_at_k,
        ("recommenders", "recall"): library.recall_at_k,
        ("recommenders", "ap"): library.map_at_k,
        ("recommenders_map", "ap"): library.map,
    }
    answers: dict[str, dict[str, Any]] = {}
    for (preset, metric), function in functions.items():
        mean = float(function(true, predicted, k=case.k))
        answers.setdefault(preset, {})[f"{metric}@{case.k}"] = {"mean": mean}
    return answers
