"""How far equal estimates leave the scores open, summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.report.audits.levels import same
from recsys_ndcg.scoring.measuring import Block, in_blocks
from recsys_ndcg.scoring.scores import Scores
from recsys_ndcg.scoring.totals import Means

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring.plan import Plan


@dataclass(frozen=True, eq=False)
class TieRange:
    """The scores with all ties in their worst and in their best order, of users who have one.

    Parameters
    ----------
    low, high : Means
        Of these orders.
    moved : int64 array, shape (n_measurements,)
        How many users do not score the same in both.
    """

    low: Means
    high: Means
    moved: Positions

    @classmethod
    def of(cls, own: Floats, low: Floats, high: Floats) -> TieRange:
        """Sum up some users' scores: their own, NaN where they have none, and in both orders."""
        scored = ~np.isnan(own)
        moved = scored & ~np.isnan(high) & ~same(low, high)
        return cls(Means.of(low, scored), Means.of(high, scored), moved.sum(axis=0))

    def __add__(self, other: TieRange) -> TieRange:
        """Return that of the users of both."""
        return TieRange(self.low + other.low, self.high + other.high, self.moved + other.moved)


def scores_and_ties(lists: GroupedLists, plan: Plan) -> tuple[Scores, TieRange]:
    """Measure lists by a settled plan, and with all ties in their extreme orders, in one pass."""
    extremes = [tuple(one.extreme(ties) for one in plan.measurements) for ties in ("worst", "best")]

    def scored(block: Block) -> tuple[Scores, Floats, Floats]:
        own = block.scores(plan.measurements)
        low, high = own, own  # where nothing is tied, every order is the same
        if block.any_tied(plan.measurements):
            low, high = (block.scores(one) for one in extremes)
        return own, low.per_user, high.per_user

    parts, low, high = zip(*in_blocks(lists, plan.measurements, scored), strict=True)
    scores = Scores.concat(parts)
    return scores, TieRange.of(scores.per_user, np.concatenate(low), np.concatenate(high))
