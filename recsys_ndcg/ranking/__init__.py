"""The only sort: lists in order of their estimates, and the tables that metrics read."""

from __future__ import annotations

from recsys_ndcg.ranking.ranked import rank
from recsys_ndcg.ranking.ranking import Ranking

__all__ = ["Ranking", "rank"]
