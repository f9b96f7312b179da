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
from recsys_ndcg.report.orders import SAME, Orders
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

#: The columns of the audit that stand in the summary, too.
LEVELS = ("chance", "lift", "tie_low", "tie_high")
#: All of them; what they hold stands in `Report.audit`.
COLUMNS = (
    *LEVELS,
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
#: What `Report.counts` has, beside the undefined scores of each metric.
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

    @lazy
    def totals(self) -> Totals:
        """The scores, summed up."""
        return Totals.of(self._scores)

    @lazy
    def levels(self) -> pd.DataFrame:
        """One row per metric: chance, lift, tie_low and tie_high, of means over users."""
        mean, chance = self.totals.mean, self._passed.chance.mean
        bounded = np.array([metric.bounded for metric in self._plan.metrics])
        low, high = self.tie_range
        lift = (mean - chance) / np.where(bounded & (1 - chance > SAME), 1 - chance, np.nan)
        columns = dict(zip(LEVELS, (chance, lift, low, high), strict=True))
        return pd.DataFrame(columns, index=self._plan.names)

    @lazy
    def table(self) -> pd.DataFrame:
        """One row per metric: the levels, extreme orders, shares of users, and unlabelled items."""
        passed, totals = self._passed, self.totals
        unlabelled = bool(self._facts.unlabelled)
        columns: dict[str, Any] = {
            "worst": passed.orders.worst.mean,
            "best": passed.orders.best.mean,
            "trivial": _share(passed.orders.fixed, np.where(self._ordered, totals.n_scored, 0)),
            "decided_by_ties": _share(self._ties.moved, totals.n_scored),
            "short": totals.short_of / totals.users,
            "skipped": 1 - totals.n_scored / totals.users,
            "unlabelled": totals.unlabelled / max(totals.ratings, 1),
            "judged": passed.judged.mean,
            "unlabelled_zero": passed.zero.mean if unlabelled else totals.mean,
            "unlabelled_top": passed.top.mean if unlabelled else totals.mean,
        }
        return self.levels.assign(**columns)[[*COLUMNS]]

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self._ties.worst.mean, self._ties.best.mean

    @property
    def n_tied(self) -> int:
        """How many users have two items with the same estimate."""
        return int(self._scores.counts.tied.sum())

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters."""
        if self.n_tied < TIES_MATTER * len(self._scores.users):
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
        trivial = self._passed.orders.trivial
        undefined = zip(totals.names, totals.undefined.tolist(), strict=True)
        return {
            **{name: trivial if name == "trivial" else getattr(totals, name) for name in COUNTS},
            **{f"undefined {metric}": number for metric, number in undefined},
        }

    @property
    def _ordered(self) -> list[bool]:
        return [metric.orders for metric in self._plan.metrics]

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

        def passed(block: Block) -> _Passed:
            own = self._scores.per_user[block.users]
            columns = np.hsplit(block.scores(plan.measurements).per_user, len(wanted))
            found = dict(zip(wanted, columns, strict=True))
            return _Passed(
                chance=Means.of(found["chance"], ~np.isnan(own)),
                orders=Orders.of(own, found["worst"], found["best"]),
                judged=Means.of(found["judged"]),
                zero=Means.of(found["zero"]),
                top=Means.of(found["top"]),
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
