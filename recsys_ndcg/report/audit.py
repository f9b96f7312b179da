"""Audit: what stands beside the score, so that it can be read: chance, ties, labels, counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.lazy import lazy
from recsys_ndcg.metrics.judged import Judged
from recsys_ndcg.report.levels import Levels, Orders, adjusted
from recsys_ndcg.scoring.measuring import Block, in_blocks, with_ties
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.totals import Means, Totals

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.tie_range import TieRange
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.scores import Scores

TIES_MATTER = 0.001  # a range this wide changes the third decimal

#: The columns of the audit that stand in the summary, too.
LEVELS = ("chance", "adjusted", "tie_low", "tie_high")
#: Those that take a look at the lists; the others follow from the scores of every user.
FROM_LISTS = (
    "tie_low",
    "tie_high",
    "decided_by_ties",
    "judged",
    "unlabelled_zero",
    "unlabelled_top",
)
#: What `Report.counts` has, beside the undefined and trivial users of each metric.
COUNTS = (
    "users",
    "ratings",
    "short",
    "trivial",
    "tied",
    "unlabelled",
    "unlisted",
    "missing",
    "impossible",
    "duplicates",
    "left_out",
)


class Audit:
    """What stands beside some scores.

    Parameters
    ----------
    scores : Scores
        Of every user.
    """

    def __init__(self, scores: Scores) -> None:
        self.scores = scores

    @lazy
    def totals(self) -> Totals:
        """The scores, summed up."""
        return Totals.of(self.scores)

    @property
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        raise NotImplementedError

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        raise NotImplementedError

    @lazy
    def table(self) -> pd.DataFrame:
        """One row per metric: the levels, extreme orders, shares of users, and unlabelled items."""
        totals, levels, others = self.totals, self.levels, self.from_lists
        chance, best = levels.mean("chance"), levels.mean("best")
        ordered = ~np.isnan(best)
        columns: dict[str, Any] = {
            "chance": chance,
            "adjusted": adjusted(totals.mean, chance, best),
            "z": levels.z_of_all,
            "worst": levels.mean("worst"),
            "best": best,
            "trivial": share(levels.trivial.sum(axis=0), np.where(ordered, totals.n_scored, 0)),
            "tie_low": others["tie_low"].to_numpy(),
            "tie_high": others["tie_high"].to_numpy(),
            "decided_by_ties": others["decided_by_ties"].to_numpy(),
            "short": totals.short_of / totals.users,
            "skipped": 1 - totals.n_scored / totals.users,
            "unlabelled": totals.unlabelled / max(totals.ratings, 1),
            "judged": others["judged"].to_numpy(),
            "unlabelled_zero": others["unlabelled_zero"].to_numpy(),
            "unlabelled_top": others["unlabelled_top"].to_numpy(),
        }
        return pd.DataFrame(columns, index=totals.names)

    @property
    def counts(self) -> dict[str, int]:
        """How many users and rows need a second look."""
        totals, levels = self.totals, self.levels
        by_metric = {
            "undefined": totals.undefined.tolist(),
            "trivial": levels.trivial.sum(axis=0).tolist(),
        }
        return {
            **{
                name: levels.n_trivial if name == "trivial" else getattr(totals, name)
                for name in COUNTS
            },
            **{
                f"{what} {metric}": number
                for what, numbers in by_metric.items()
                for metric, number in zip(totals.names, numbers, strict=True)
            },
        }

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self.from_lists["tie_low"].to_numpy(), self.from_lists["tie_high"].to_numpy()

    @property
    def n_tied(self) -> int:
        """How many users have two items with the same estimate."""
        return int(self.scores.counts.tied.sum())

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters."""
        if self.n_tied < TIES_MATTER * len(self.scores.users):
            return None
        low, high = self.tie_range
        width = np.where([one.metric.bounded for one in self.scores.measurements], high - low, 0.0)
        widest = int(np.nan_to_num(width).argmax())
        if not width[widest] >= TIES_MATTER:
            return None
        return self.scores.names[widest], float(low[widest]), float(high[widest])


@dataclass(frozen=True, eq=False)
class _Passed:
    """What one pass over the lists tells beside their scores, of some users."""

    orders: tuple[Orders, ...]
    judged: Means
    zero: Means
    top: Means

    def __add__(self, other: _Passed) -> _Passed:
        return _Passed(
            (*self.orders, *other.orders),
            self.judged + other.judged,
            self.zero + other.zero,
            self.top + other.top,
        )


class MeasuredAudit(Audit):
    """What stands beside scores, measured of the same lists when it is first asked for.

    Parameters
    ----------
    scores : Scores
        Of every user.
    lists : GroupedLists
        What was measured.
    facts : Facts
        What is known of them.
    plan : Plan
        Settled: how they were measured.
    ties : TieRange
        The worst and best order of all ties.
    """

    def __init__(
        self, scores: Scores, lists: GroupedLists, facts: Facts, plan: Plan, ties: TieRange
    ) -> None:
        super().__init__(scores)
        self._lists = lists
        self._facts = facts
        self._plan = plan
        self._ties = ties

    @lazy
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        return Levels(self.scores, Orders.concat(self._passed.orders))

    @lazy
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        passed, totals = self._passed, self.totals
        low, high = self.tie_range
        unlabelled = bool(self._facts.unlabelled)
        columns = (
            low,
            high,
            np.where(self._obeys, share(self._ties.moved, totals.n_scored), np.nan),
            passed.judged.mean,
            passed.zero.mean if unlabelled else totals.mean,
            passed.top.mean if unlabelled else totals.mean,
        )
        return pd.DataFrame(dict(zip(FROM_LISTS, columns, strict=True)), index=totals.names)

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        low, high = (
            np.where(self._obeys, one.mean, np.nan) for one in (self._ties.low, self._ties.high)
        )
        return low, high

    @property
    def _obeys(self) -> list[bool]:
        """Whether each metric breaks ties as it is told, and which order is best is known."""
        return [one.own_ties is None and one.best_first for one in self._plan.metrics]

    @lazy
    def _passed(self) -> _Passed:
        """Measure everything in one pass: blind, and as if unlabelled items had a grade."""
        wanted = {
            "chance": [self._blind(one, "expected") for one in self._plan.measurements],
            "worst": [self._blind(one, "worst") for one in self._plan.measurements],
            "best": [self._blind(one, "best") for one in self._plan.measurements],
            "judged": [self._judged(one) for one in self._plan.measurements],
            "zero": [self._zero(one) for one in self._plan.measurements],
            "top": [self._top(one) for one in self._plan.measurements],
        }
        plan = Plan(tuple(one for each in wanted.values() for one in each))
        plan = plan.with_reasons(with_ties(self._facts, self._lists, plan.measurements))
        random = plan.measurements[: len(wanted["chance"])]

        def passed(block: Block) -> _Passed:
            scores = block.scores(plan.measurements)
            chance, worst, best, *others = np.hsplit(scores.per_user, len(wanted))
            deviation = block.deviations(random)
            expected = np.where(np.isnan(deviation), np.nan, scores.numerator[:, : len(random)])
            orders = Orders(chance, worst, best, expected, deviation)
            return _Passed((orders,), *(Means.of(each) for each in others))

        return reduce(add, in_blocks(self._lists, plan.measurements, passed))

    def _blind(self, one: Measurement, ties: str) -> Measurement:
        """Measure random order, or an extreme one."""
        blind = replace(one.extreme(ties), blind=True)
        return blind if one.metric.orders else blind.without("its score has no order")

    def _judged(self, one: Measurement) -> Measurement:
        """Measure how much of the first k is labelled; an empty list has no such share."""
        known = replace(one, metric=Judged(one.metric.k), blind=not self._facts.unlabelled)
        return known.under(ties="expected", undefined="skip", unlabelled="zero")

    def _zero(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were irrelevant."""
        undefined = "skip" if one.convention.undefined == "raise" else one.convention.undefined
        other = one.under(unlabelled="zero", undefined=undefined)
        if self._facts.unlabelled and one.metric.orders and one.metric.own_ties is None:
            return other
        return other.without("nothing is unlabelled")

    def _top(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were of the top grade."""
        return replace(self._zero(one), unlabelled_as=self._top_grade(one))

    def _top_grade(self, one: Measurement) -> float:
        """Return the top of the scale: `max_grade`, or the highest that is there or relevant."""
        if one.convention.max_grade is not None:
            return one.convention.max_grade
        highest = self._facts.all_true.highest
        return highest if one.threshold is None else max(highest, one.threshold)


def share(which: Positions, among: Positions) -> Floats:
    """Return how many of some there are, NaN of none."""
    found: Floats = np.divide(which, among, where=among > 0, out=np.full(len(which), np.nan))
    return found
