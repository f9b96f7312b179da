"""RecBole: its evaluator, which rounds means to four decimals by default.

Its collector hands it, for each user of the evaluation data, which of the top k of all items are
positive and how many positives there are. That matrix is drawn up here from the user's list
alone, equal scores in the order of the input, as the collector's torch.topk has no stable one;
a user without a list has no hits. What reaches the threshold is positive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from recbole.evaluator import Evaluator
from recbole.evaluator.collector import DataStruct

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "recbole"
METRICS = {
    "ndcg": "NDCG", "precision": "Precision", "recall": "Recall",
    "ap": "MAP", "hit": "Hit", "rr": "MRR",
}  # fmt: skip


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"mean": value}}}."""
    rows = []
    for user, liked in case.liked().items():
        hits = [int(item in liked) for item in case.best_first(user)[: case.k]]
        rows.append(hits + [0] * (case.k - len(hits)) + [len(liked)])
    given = DataStruct()
    given.set("rec.topk", torch.tensor(rows))
    config = {"metrics": list(METRICS.values()), "topk": [case.k], "metric_decimal_place": 4}
    means = Evaluator(config).evaluate(given)
    answers = {
        f"{name}@{case.k}": {"mean": float(means[f"{metric.lower()}@{case.k}"])}
        for name, metric in METRICS.items()
    }
    return {"recbole": answers}
