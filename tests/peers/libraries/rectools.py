"""RecTools: the per-user values of its metrics, each with the defaults.

Any interaction counts as relevant, so it is given the labels from the threshold on. It takes
ranks, not scores: they are drawn up here, best first, equal scores in the order of the input.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

from tests.peers.cases import Case, per_user

DISTRIBUTION = "rectools"
METRICS = {
    "ndcg": NDCG, "precision": Precision, "recall": Recall, "f1": F1Beta,
    "ap": MAP, "hit": HitRate, "rr": MRR,
}  # fmt: skip


def build_tables(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ranked lists and the relevant items."""
    liked = pd.DataFrame(
        [(user, item) for user, own in case.liked().items() for item in own],
        columns=["user_id", "item_id"],
    )
    ranked = pd.DataFrame(
        [
            (user, item, rank)
            for user in case.run
            for rank, item in enumerate(case.best_first(user), 1)
        ],
        columns=["user_id", "item_id", "rank"],
    )
    return ranked, liked


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {}}}}."""
    answers = {}
    for name, metric in METRICS.items():
        values = metric(k=case.k).calc_per_user(*build_tables(case))
        answers[f"{name}@{case.k}"] = per_user(values)
    return {"rectools": answers}
