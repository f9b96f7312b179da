"""RePlay: its metrics of novelty, surprise, categories and coverage, for pandas and polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
from replay import metrics

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "replay-rec"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean, "per_user": {user: value}}}}."""
    pair = ["query_id", "item_id"]
    lists = pd.DataFrame(
        [(user, item, score) for user, own in case.run.items() for item, score in own.items()],
        columns=[*pair, "rating"],
    )
    train = pd.DataFrame(case.train, columns=pair)
    base = pd.DataFrame(case.rows("base"), columns=pair)
    base["rating"] = -base.groupby("query_id").cumcount().astype(float)
    category = lists.assign(category_id=lists["item_id"].map(case.category)).drop(columns="item_id")
    asked = {
        "CategoricalDiversity": (category,),
        "Coverage": (lists, train),
        "Novelty": (lists, train),
        "Surprisal": (lists, train),
        "Unexpectedness": (lists, base),
    }
    answers: dict[str, Any] = {}
    for kind in ("pandas", "polars"):
        for name, frames in asked.items():
            given = frames if kind == "pandas" else [pl.from_pandas(frame) for frame in frames]
            metric = getattr(metrics, name)
            answer: dict[str, Any] = {"value": float(*metric(case.k)(*given).values())}
            if name != "Coverage":
                (values,) = metric(case.k, mode=metrics.PerUser())(*given).values()
                answer["per_user"] = {int(user): float(values[user]) for user in sorted(values)}
            answers[f"{name}({kind})"] = answer
    return {"replay": answers}
