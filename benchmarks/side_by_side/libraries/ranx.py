"""ranx: `evaluate` on objects made from dictionaries, with whole grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.dicts import dicts
from ranx import Qrels, Run, evaluate

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "ranx"
NAMES = {"ndcg@10": "ndcg@10", "precision@10": "precision@10-l8", "recall@10": "recall@10-l8"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Make the dictionaries, and compute the metrics."""
    qrels, run = dicts(frame)
    found = evaluate(Qrels.from_dict(qrels), Run.from_dict(run), [*NAMES.values()])
    return {ours: found[name] for ours, name in NAMES.items()}
