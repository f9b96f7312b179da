"""rankereval: its metrics, with every default; a score that it leaves undefined (NaN) is left out.

It takes ranked items, so equal scores are in the order of the input. NDCG takes the grades, the
others the relevant items. `HitRate` is missing here, as it is undefined for users with several
relevant items.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from rankereval import (
    AP,
    DCG,
    F1,
    NDCG,
    BinaryLabels,
    NumericLabels,
    Precision,
    Rankings,
    Recall,
    ReciprocalRank,
)

from tests.peers.cases import Case, per_user

DISTRIBUTION = "rankereval"
METRICS = {
    "ndcg": NDCG, "dcg": DCG, "precision": Precision, "recall": Recall, "f1": F1, "ap": AP,
    "rr": ReciprocalRank,
}  # fmt: skip


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    users = sorted(case.labels | case.run)
    items = sorted({item for own in (*case.labels.values(), *case.run.values()) for item in own})
    liked, place = case.liked(), {item: number for number, item in enumerate(items)}
    grades = np.zeros((len(users), len(items)))
    for row, user in enumerate(users):
        for item, grade in case.labels.get(user, {}).items():
            grades[row, place[item]] = grade
    relevant = [sorted(place[item] for item in liked.get(user, ())) for user in users]
    labels = {True: NumericLabels.from_matrix(grades), False: None}
    labels[False] = BinaryLabels.from_positive_indices(relevant)
    ranked = [[place[item] for item in case.best_first(user)] for user in users]
    with warnings.catch_warnings(action="ignore"):  # of users without a list
        rankings = Rankings.from_ranked_indices(ranked)
    answers = {}
    for name, metric in METRICS.items():
        values = metric(k=case.k).score(labels[name.endswith("dcg")], rankings).tolist()
        known = {user: one for user, one in zip(users, values, strict=True) if not math.isnan(one)}
        answers[f"{name}@{case.k}"] = per_user(known)
    return {"rankereval": answers}
