"""RePlay: the per-user values of its metrics.

Any row of the truth counts as relevant, so it is given the labels from the threshold on. It
orders equal scores by what holds them: data frames are the preset's, as its documentation's
examples are, dictionaries are the preset replay_dict's.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall

from tests.peers.cases import Case, per_user

DISTRIBUTION = "replay-rec"
METRICS = {
    "ndcg": NDCG, "precision": Precision, "recall": Recall, "ap": MAP, "hit": HitRate, "rr": MRR,
}  # fmt: skip


def build_tables(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the lists and the relevant items."""
    return (
        pd.DataFrame(
            [(user, *row) for user, own in case.run.items() for row in own.items()],
            columns=["query_id", "item_id", "rating"],
        ),
        pd.DataFrame(
            [(user, item) for user, own in case.liked().items() for item in own],
            columns=["query_id", "item_id"],
        ),
    )


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {}}}}."""
    truth = {user: list(own) for user, own in case.liked().items()}
    lists = {user: list(own.items()) for user, own in case.run.items()}
    frames = build_tables(case)
    answers: dict[str, dict[str, Any]] = {"replay": {}, "replay_dict": {}}
    for name, metric in METRICS.items():
        for preset, given in (("replay", frames), ("replay_dict", (lists, truth))):
            (values,) = metric(case.k, mode=PerUser())(*given).values()
            answers[preset][f"{name}@{case.k}"] = per_user(values)
    return answers
