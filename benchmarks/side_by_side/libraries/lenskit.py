"""LensKit: `RunAnalysis` on list collections made from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lenskit.data import ItemListCollection, UserIDKey
from lenskit.metrics import NDCG, Precision, Recall, RunAnalysis
from libraries.best_ten import K, best_ten, liked

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "lenskit"
METRICS = {"ndcg@10": NDCG(K), "precision@10": Precision(K), "recall@10": Recall(K)}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass the ten best items of each user with their ranks, and the relevant items."""
    names = {"user": "user_id", "item": "item_id", "estimated": "score"}
    best = best_ten(frame)[[*names]].rename(columns=names)
    best["rank"] = best.groupby("user_id").cumcount() + 1
    tests = liked(frame)[["user", "item"]].rename(columns=names)
    analysis = RunAnalysis()
    for name, metric in METRICS.items():
        analysis.add_metric(metric, label=name)
    outputs, truth = (ItemListCollection.from_df(one, UserIDKey) for one in (best, tests))
    found = analysis.measure(outputs, truth).list_metrics().mean()
    return {name: found[name] for name in METRICS}
