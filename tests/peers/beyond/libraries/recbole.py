"""RecBole: its evaluator, which is given the matrix of recommended items and the item counts.

A matrix has k items for every user: it is not asked about shorter lists. Items are numbered from 1,
as 0 is its padding item, so it has one item more than the catalogue.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from recbole.evaluator import Evaluator
from recbole.evaluator.collector import DataStruct

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "recbole"
TAIL = "TailPercentage"
MEASURES = ("AveragePopularity", "GiniIndex", "ItemCoverage", "ShannonEntropy", TAIL)
RATIOS = {f"{TAIL}(tail_ratio=0.5)": 0.5, f"{TAIL}(tail_ratio=2)": 2}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean}}}."""
    lists = [case.best_first(user)[: case.k] for user in case.run]
    asked = {**dict.fromkeys(MEASURES), **RATIOS}
    if any(len(own) < case.k for own in lists):
        return {"recbole": {name: {"refused": "lists of unequal length"} for name in asked}}
    given = DataStruct()
    given.set("rec.items", torch.tensor(lists))
    given.set("data.num_items", len(case.catalogue) + 1)
    given.set("data.count_items", Counter(item for _, item in case.train))
    answers = {}
    for measure, ratio in asked.items():
        name, _, _ = measure.partition("(")
        config = {"metrics": [name], "topk": [case.k], "metric_decimal_place": 15,
                  "tail_ratio": ratio}  # fmt: skip
        (value,) = Evaluator(config).evaluate(given).values()
        answers[measure] = {"value": float(value)}
    return {"recbole": answers}
