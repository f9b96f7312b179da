"""Audit: what stands beside the score, so that it can be read: chance, ties, labels, counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.metrics.judged import Judged
from recsys_ndcg.report.orders import Orders
from recsys_ndcg.scoring.measuring import Block, in_blocks, with_ties
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.totals import Means, Totals

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.scores import Scores

TIES_MATTER = 0.001  # a range this wide changes the third decimal

#: The columns that `Report.audit` describes; the first ones stand in the summary, too.
LEVELS = ("chance", "lift", "tie_low", "tie_high")
BESIDE = (
    "worst",
    "best",
    "trivial",
    "decided_by_ties",
    "short",
    "skipped",
    "unlabelled",
    "judged",
    "unlabelled_zero",
    "unlabelled_top",
)


@dataclass(frozen=True, eq=False)
class _Passed:
    """What one pass over the lists tells beside their scores, of some users."""

    chance: Means
    orders: Orders
    judged: Means
    zero: Means
    top: Means

    def __add__(self, other: _Passed) -> _Passed:
        return _Passed(
            self.chance + other.chance,
            self.orders + other.orders,
            self.judged + other.judged,
            self.zero + other.zero,
            self.top + other.top,
        )


class Audit:
    """Chance level, tie range and counts of a report, each worked out when first read.

    Parameters
    ----------
    lists : GroupedLists
        What was measured.
    facts : Facts
        What is known of them.
    plan : Plan
        Settled: how they were measured.
    scores : Scores
        The result.
    ties : Orders
        The worst and best order of all ties.
    """

    def __init__(
        self, lists: GroupedLists, facts: Facts, plan: Plan, scores: Scores, ties: Orders
    ) -> None:
        self._lists = lists
        self._facts = facts
        self._plan = plan
        self._scores = scores
        self._ties = ties

    @cached_property
    def totals(self) -> Totals:
        """The scores, summed up."""
        return Totals.of(self._scores)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One row per metric: chance, lift, tie_low and tie_high, of means over users."""
        mean, chance = self.totals.mean, self._passed.chance.mean
        bounded = np.array([metric.bounded for metric in self._plan.metrics])
        low, high = self.tie_range
        lift = (mean - chance) / np.where(bounded & (chance < 1), 1 - chance, np.nan)
        columns = dict(zip(LEVELS, (chance, lift, low, high), strict=True))
        return pd.DataFrame(columns, index=self._plan.names)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per metric: the levels, extreme orders, shares of users, and unlabelled items."""
        passed, totals = self._passed, self.totals
        unlabelled = bool(self._facts.unlabelled)
        columns = (
            passed.orders.worst.mean,
            passed.orders.best.mean,
            _share(passed.orders.fixed, np.where(self._ordered, totals.n_scored, 0)),
            _share(self._ties.moved, totals.n_scored),
            totals.short_of / totals.users,
            1 - totals.n_scored / totals.users,
            np.full(len(totals.names), totals.unlabelled / max(totals.ratings, 1)),
            passed.judged.mean,
            passed.zero.mean if unlabelled else totals.mean,
            passed.top.mean if unlabelled else totals.mean,
        )
        return self.levels.assign(**dict(zip(BESIDE, columns, strict=True)))

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self._ties.worst.mean, self._ties.best.mean

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters."""
        if self.totals.tied < TIES_MATTER * self.totals.users:
            return None
        low, high = self.tie_range
        width = np.where([metric.bounded for metric in self._plan.metrics], high - low, 0.0)
        widest = int(np.nan_to_num(width).argmax())
        if not width[widest] >= TIES_MATTER:
            return None
        return self._plan.names[widest], float(low[widest]), float(high[widest])

    @property
    def counts(self) -> dict[str, int]:
        """How many users and rows need a second look."""
        totals = self.totals
        undefined = zip(totals.names, totals.undefined.tolist(), strict=True)
        return {
            "users": totals.users,
            "ratings": totals.ratings,
            "short": totals.short,
            "trivial": self._passed.orders.trivial,
            "tied": totals.tied,
            "unlabelled": totals.unlabelled,
            "unlisted": totals.unlisted,
            "missing": totals.missing,
            "impossible": totals.impossible,
            "duplicates": totals.duplicates,
            "left_out": totals.left_out_users,
            **{f"undefined {metric}": number for metric, number in undefined},
        }

    @property
    def _ordered(self) -> list[bool]:
        return [metric.orders for metric in self._plan.metrics]

    @cached_property
    def _passed(self) -> _Passed:
        """Measure everything in one pass: blind, and as if unlabelled items had a grade."""
        n = len(self._plan.measurements)
        own = self._plan.measurements
        blind = [self._blind(one, ties) for ties in ("expected", "worst", "best") for one in own]
        others = [make(one) for make in (self._judged, self._zero, self._top) for one in own]
        plan = Plan((*blind, *others))
        plan = plan.with_reasons(with_ties(self._facts, self._lists, plan.measurements))

        def passed(block: Block, users: slice) -> _Passed:
            own, found = self._scores.per_user[users], block.scores(plan.measurements).per_user
            chance, worst, best, *others = (
                found[:, first : first + n] for first in range(0, 6 * n, n)
            )
            return _Passed(
                Means.of(chance, ~np.isnan(own)),
                Orders.of(own, worst, best),
                *map(Means.of, others),
            )

        return reduce(add, in_blocks(self._lists, plan.measurements, passed))

    def _blind(self, one: Measurement, ties: str) -> Measurement:
        """Measure random order, or an extreme one."""
        blind = replace(one.under(ties=ties), blind=True)
        return blind if one.metric.orders else _without(blind)

    def _judged(self, one: Measurement) -> Measurement:
        """Measure how much of the first k is labelled; an empty list has no such share."""
        known = replace(one, metric=Judged(one.metric.k), blind=not self._facts.unlabelled)
        return known.under(ties="expected", undefined="skip", unlabelled="zero")

    def _zero(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were irrelevant."""
        undefined = "skip" if one.convention.undefined == "raise" else one.convention.undefined
        other = one.under(unlabelled="zero", undefined=undefined)
        return other if self._facts.unlabelled and one.metric.orders else _without(other)

    def _top(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were of the top grade."""
        return replace(self._zero(one), unlabelled_as=self._top_grade(one))

    def _top_grade(self, one: Measurement) -> float:
        """Return the top of the scale: `max_grade`, or the highest that is there or relevant."""
        if one.convention.max_grade is not None:
            return one.convention.max_grade
        highest = self._facts.all_true.highest
        return highest if one.threshold is None else max(highest, one.threshold)


def _without(one: Measurement) -> Measurement:
    return replace(one, reason="there is no such number")


def _share(which: Positions, among: Positions) -> Floats:
    share: Floats = np.divide(which, among, where=among > 0, out=np.full(len(which), np.nan))
    return share
