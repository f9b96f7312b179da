"""RecTools: `calc_metrics` on ranks, which are computed here, and on the relevant items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.best_ten import K, best_ten, liked
from rectools.metrics import NDCG, Precision, Recall, calc_metrics

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "rectools"
METRICS = {"ndcg@10": NDCG(K), "precision@10": Precision(K), "recall@10": Recall(K)}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Compute the metrics of the best items, which get ranks here."""
    best = best_ten(frame)
    ranked = best[["user", "item"]].assign(rank=best.groupby("user").cumcount() + 1)
    names = {"user": "user_id", "item": "item_id"}
    relevant = liked(frame)[["user", "item"]].rename(columns=names)
    return calc_metrics(METRICS, ranked.rename(columns=names), relevant)
