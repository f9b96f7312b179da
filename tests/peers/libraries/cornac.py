"""cornac: the metrics of its ranking evaluation, user by user, for users with something relevant.

Its loop visits the users of the test set, passes over those without a rating from the threshold
on, and has a model rank every item of the training set for each. Here `pd_rank` is the user's
list alone, best first and equal scores in the order of the input, as a model's order of them is
not stable; users without a list are refused, for whom its models fall back on a default score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cornac.metrics import MRR, NDCG, FMeasure, HitRatio, Precision, Recall

from tests.peers.cases import Case, per_user

DISTRIBUTION = "cornac"
METRICS = {"ndcg": NDCG, "precision": Precision, "recall": Recall, "f1": FMeasure, "hit": HitRatio}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    metrics = {f"{name}@{case.k}": metric(k=case.k) for name, metric in METRICS.items()}
    metrics["rr"] = MRR()
    answers: dict[str, Any] = {name: per_user({}, {}) for name in metrics}
    for user, items in case.liked().items():
        liked = np.array(list(items))
        for name, metric in metrics.items():
            if user not in case.run:
                answers[name]["refused"][user] = "it has no users without a list"
                continue
            try:
                value = metric.compute(gt_pos=liked, pd_rank=np.array(case.best_first(user)))
            except ValueError as error:
                answers[name]["refused"][user] = str(error)
            else:
                answers[name]["per_user"][user] = float(value)
    return {"cornac": answers}
