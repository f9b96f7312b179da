"""The only sort: lists in order of their estimates, and the tables that metrics read."""

from __future__ import annotations

from recsys_ndcg.ranking.ranking import Ranking, rank

__all__ = ["Ranking", "rank"]
