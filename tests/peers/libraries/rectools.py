"""RecTools: the per-user values of its metrics, each with the defaults.

Any interaction counts as relevant, so it is given the labels from the threshold on. It takes
ranks, not scores: they are drawn up here, best first, equal scores in the order of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "rectools"
METRICS = {
    "ndcg": NDCG,
    "precision": Precision,
    "recall": Recall,
    "f1": F1Beta,
    "ap": MAP,
    "hit": HitRate,
    "rr": MRR,
}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {}}}}."""
    liked = pd.DataFrame(
        [(user, item) for user, own in case.liked().items() for item in own],
        columns=["user_id", "item_id"],
    )
    ranked = pd.DataFrame(
        [
            (user, item, rank)
            for user, own in case.run.items()
            for rank, item in enumerate(sorted(own, key=own.__getitem__, reverse=True), 1)
        ],
        columns=["user_id", "item_id", "rank"],
    )
    answers = {}
    for name, metric in METRICS.items():
        values = metric(k=case.k).calc_per_user(ranked, liked)
        answers[f"{name}@{case.k}"] = {
            "per_user": {user: float(value) for user, value in values.items()},
            "refused": {},
        }
    return {"rectools": answers}
