"""recsys_ndcg: every user's scores and their means, with the exact mean over ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recsys_ndcg as rn

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "recsys-ndcg"


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Evaluate a frame."""
    report = rn.evaluate(frame, metrics=["ndcg@10", "precision@10", "recall@10"], threshold=4)
    report.per_user  # noqa: B018 - computed when first read
    return report.mean.to_dict()
