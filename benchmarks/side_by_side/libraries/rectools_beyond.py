"""RecTools: `calc_metrics` on ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.recommendations import N_ITEMS, K, split_rows
from rectools.metrics import AvgRecPopularity, CatalogCoverage, MeanInvUserFreq, calc_metrics

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "rectools"
METRICS = {
    "popularity@10": AvgRecPopularity(K),
    "novelty@10": MeanInvUserFreq(K),
    "coverage@10": CatalogCoverage(K),
}
NAMES = {"user": "user_id", "item": "item_id"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Compute the metrics; ranks are the negative estimates plus one."""
    training, lists = (rows.rename(columns=NAMES) for rows in split_rows(frame))
    lists = lists.assign(rank=1 - lists["estimated"].astype(int))
    given = {"prev_interactions": training, "catalog": range(N_ITEMS)}
    return calc_metrics(METRICS, lists, **given)
