"""pytrec_eval: trec_eval's measures on dictionaries, with whole grades."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from libraries.dicts import dicts
from pytrec_eval import RelevanceEvaluator

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "pytrec_eval-terrier"
NAMES = {"ndcg@10": "ndcg_cut_10", "precision@10": "P_10", "recall@10": "recall_10"}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Make the dictionaries, and compute the metrics."""
    qrels, run = dicts(frame)
    found = RelevanceEvaluator(qrels, {*NAMES.values()}, relevance_level=8).evaluate(run)
    return {ours: fmean(one[name] for one in found.values()) for ours, name in NAMES.items()}
