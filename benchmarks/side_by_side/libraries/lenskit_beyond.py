"""LensKit: `RunAnalysis` on list collections made from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
from lenskit.metrics import ListGini, MeanPopRank, RunAnalysis
from libraries.recommendations import N_ITEMS, K, split_rows

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "lenskit"
NAMES = {"user": "user_id", "item": "item_id"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass the recommendations with their ranks, as their own truth too."""
    training, lists = (rows.rename(columns=NAMES) for rows in split_rows(frame))
    lists = lists.rename(columns={"estimated": "score"})
    lists["rank"] = 1 - lists["score"].astype(int)
    analysis = RunAnalysis()
    analysis.add_metric(MeanPopRank(from_interactions_df(training), k=K), label="popularity@10")
    analysis.add_metric(ListGini(k=K, items=N_ITEMS), label="gini@10")
    outputs = ItemListCollection.from_df(lists, UserIDKey)
    found = analysis.measure(outputs, outputs)
    summary = found.list_summary()["mean"]
    return {"popularity@10": summary["popularity@10"], "gini@10": found.global_metrics()["gini@10"]}
