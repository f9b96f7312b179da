"""recsys_ndcg: every measure that one of the other libraries computes, with users' values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.recommendations import N_ITEMS, split_rows

import recsys_ndcg as rn

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "recsys-ndcg"
METRICS = ["popularity@10", "novelty@10", "unseen@10", "coverage@10", "gini@10"]


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Evaluate the recommendations."""
    training, lists = split_rows(frame)
    data = {"labels": None, "results": lists}
    report = rn.evaluate(data, metrics=METRICS, train=training, catalogue=range(N_ITEMS))
    report.per_user  # noqa: B018 - computed when first read
    return report.mean.to_dict()
