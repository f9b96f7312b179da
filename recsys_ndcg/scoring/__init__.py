"""What is measured, settled beforehand, and what comes of it."""

from __future__ import annotations

from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.measuring import facts_for, measure, settled_scores
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.scores import ListCounts, Scores
from recsys_ndcg.scoring.totals import Totals

__all__ = [
    "Facts",
    "ListCounts",
    "Measurement",
    "Plan",
    "Scores",
    "Totals",
    "facts_for",
    "measure",
    "settled_scores",
]
