"""ir_measures: `calc_aggregate` on dictionaries, with its default provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures
from ir_measures import P, R, nDCG
from libraries.dicts import dicts

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "ir_measures"
MEASURES = {"ndcg@10": nDCG @ 10, "precision@10": P(rel=8) @ 10, "recall@10": R(rel=8) @ 10}


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Make the dictionaries, and compute the metrics."""
    found = ir_measures.calc_aggregate([*MEASURES.values()], *dicts(frame))
    return {name: found[measure] for name, measure in MEASURES.items()}
