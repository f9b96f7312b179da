"""RePlay: `OfflineMetrics` on polars tables, which are faster there than pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from libraries.best_ten import THRESHOLD, K
from replay.metrics import NDCG, OfflineMetrics, Precision, Recall

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "replay-rec"


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Pass the ten best items of each user, and the relevant items."""
    rows = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    # ties by item, as in the library
    best = rows.sort("estimated", "item", descending=True).group_by("user").head(K)
    relevant = rows.filter(pl.col("true") >= THRESHOLD)
    names = {"query_id": "user", "item_id": "item"}
    found = OfflineMetrics([NDCG(K), Precision(K), Recall(K)])(
        best.select(**names, rating="estimated"), relevant.select(**names)
    )
    return {name.lower(): value for name, value in found.items()}
