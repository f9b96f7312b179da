"""recommenders: the functions of its pandas evaluation module, which share a cached join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.best_ten import K, best_ten, liked
from recommenders.evaluation import python_evaluation as library

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "recommenders"
METRICS = {
    "ndcg@10": library.ndcg_at_k,
    "precision@10": library.precision_at_k,
    "recall@10": library.recall_at_k,
}
COLUMNS = {"col_user": "user", "col_item": "item", "col_prediction": "estimated"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Call each function with the lists and the relevant items."""
    # the library caches the last join, so all runs after the first would be too fast
    library.merge_ranking_true_pred.__wrapped__.cache_clear()
    predicted = best_ten(frame)[["user", "item", "estimated"]]
    true = liked(frame).rename(columns={"true": "rating"})
    return {name: one(true, predicted, k=K, **COLUMNS) for name, one in METRICS.items()}
