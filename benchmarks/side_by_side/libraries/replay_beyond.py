"""RePlay: `OfflineMetrics` on polars tables, which are faster there than pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from libraries.recommendations import K, split_rows
from replay.metrics import Coverage, Novelty, OfflineMetrics, Surprisal

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "replay-rec"
NAMES = {"Novelty@10": "unseen@10", "Surprisal@10": "novelty@10", "Coverage@10": "coverage@10"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass the recommendations, as their own truth, and the training rows."""
    training, lists = (
        pl.DataFrame({name: rows[name].to_numpy() for name in rows}) for rows in split_rows(frame)
    )
    names = {"query_id": "user", "item_id": "item"}
    lists = lists.select(**names, rating="estimated")
    metrics = OfflineMetrics([Novelty(K), Surprisal(K), Coverage(K)])
    found = metrics(lists, lists, training.select(**names))
    return {NAMES[name]: value for name, value in found.items()}
