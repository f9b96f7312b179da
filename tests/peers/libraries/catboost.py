"""CatBoost: ``eval_metric``, a group at a time, so that its mean over groups is that one's value.

It knows the given list alone, and all of it needs a grade: unlabelled items get 0. ``border`` is
strict, so it is set between the threshold and the next lower half star.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from catboost.utils import eval_metric

from tests.peers.cases import Case, per_user

DISTRIBUTION = "catboost"
GRADED = {"ndcg": "NDCG", "dcg": "DCG"}
BINARY = {"precision": "PrecisionAt", "recall": "RecallAt", "ap": "MAP", "rr": "MRR"}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    cutoffs = (f"@{case.k}", f"top={case.k};"), ("", "")
    answers: dict[str, dict[str, Any]] = {"catboost": {}, "catboost_exp": {}}
    for preset, names, option in (
        ("catboost", GRADED, "type=Base"),
        ("catboost", BINARY, f"border={case.threshold - 0.25}"),
        ("catboost_exp", GRADED, "type=Exp"),
    ):
        for (metric, name), (at, top) in product(names.items(), cutoffs):
            values = {
                user: _value(f"{name}:{top}{option}", grades, [*case.run[user].values()])
                for user, grades in case.grades().items()
            }
            answers[preset][metric + at] = per_user(values)
    return answers


def _value(name: str, grades: list[float], estimates: list[float]) -> Any:
    """Return a metric of one list."""
    return eval_metric(grades, estimates, name, group_id=[0] * len(grades))[0]
