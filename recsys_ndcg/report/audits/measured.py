"""What stands beside scores, measured of the same lists when it is first asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import refuse
from recsys_ndcg.lazy import lazy
from recsys_ndcg.lists.candidates import CandidateLists
from recsys_ndcg.lists.truth import truth_by_user
from recsys_ndcg.metrics.judged import Judged
from recsys_ndcg.parallel import at_most
from recsys_ndcg.report.audits.audit import FROM_LISTS, Audit
from recsys_ndcg.report.audits.levels import Levels, Orders
from recsys_ndcg.report.audits.stored import StoredAudit
from recsys_ndcg.report.audits.tally import Tally, from_lists
from recsys_ndcg.report.audits.tie_range import TieRange, scores_and_ties
from recsys_ndcg.report.signatures import signatures
from recsys_ndcg.scoring.measuring import Block, facts_for, in_blocks, with_ties
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.totals import Means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.scores import Scores

_SOME = 1000  # users who tell whether random order has to be measured of all
_EXTREMES = ("expected", "worst", "best")


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
    highest : float, optional
        The highest grade there is, of which these lists may be a part; NaN where it is not known.
    """

    def __init__(  # noqa: PLR0913 - what was measured, of what, and how
        self,
        scores: Scores,
        lists: GroupedLists,
        facts: Facts,
        plan: Plan,
        ties: TieRange,
        *,
        highest: float | None = None,
    ) -> None:
        super().__init__(signatures(scores.measurements, scores.n_scored, facts))
        self._scores = scores
        self._highest = facts.all_true.highest if highest is None else highest
        self._lists = lists
        self._facts = facts
        self._plan = plan
        self._ties = ties

    @classmethod
    def of(
        cls, lists: GroupedLists, facts: Facts, plan: Plan, *, highest: float | None = None
    ) -> MeasuredAudit:
        """Measure lists by a settled plan, and hold undefined scores to it.

        Raises
        ------
        InvalidInputError
            A score is undefined where it must not be.
        """
        scores, ties = scores_and_ties(lists, plan)
        refuse(scores.objection())
        return cls(scores, lists, facts, plan, ties, highest=highest)

    @property
    def scores(self) -> Scores:
        """The scores of every user."""
        return self._scores

    @property
    def lists(self) -> GroupedLists:
        """What was measured."""
        return self._lists

    @lazy
    def truth(self) -> NDArray[np.uint32]:
        """A digest of what is known of each user."""
        with at_most(self.n_jobs):
            return truth_by_user(self._lists)

    def take(self, users: Positions) -> MeasuredAudit:
        """Return that of some users: the same as measuring their lists alone."""
        with at_most(self.n_jobs):
            lists = self._lists.take(users)
            return self.of(lists, facts_for(lists, self._plan.measurements), self._plan)

    def stored(self) -> StoredAudit:
        """Return what is known of every user without the lists, and nothing that looks at them."""
        unknown = pd.DataFrame(np.nan, self.totals.names, [*FROM_LISTS])
        orders = self.levels.orders
        return StoredAudit(self.scores, orders, unknown, self.signatures, self.truth)

    def measured_by(self, measurements: tuple[Measurement, ...]) -> MeasuredAudit:
        """Return that of other measurements of the same lists."""
        with at_most(self.n_jobs):
            facts, plan = facts_for(self._lists, measurements), Plan(measurements)
            return self.of(self._lists, facts, plan.settled(facts, self._lists))

    @lazy
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        with at_most(self.n_jobs):
            return Levels(self.scores, Orders.concat(self._orders()))

    @lazy
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        return from_lists(self.totals, self._ties, self._labels)

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        known = [one.has_tie_range for one in self.measurements]
        low, high = (np.where(known, one.mean, np.nan) for one in (self._ties.low, self._ties.high))
        return low, high

    def below_chance(self, **bounds: float) -> tuple[str, float, float] | None:
        """Return the same; random order is measured for all users only if some are below it."""
        if self.n_users > _SOME:
            some = self.take(np.linspace(0, self.n_users - 1, _SOME).astype(np.intp))
            if some.below_chance(far=0, sure=0) is None:
                return None
        return super().below_chance(**bounds)

    @lazy
    def tally(self) -> Tally:
        """All of it, summed up."""
        return Tally(
            self._facts,
            self.totals,
            self.level_totals,
            self._ties,
            self._labels,
            self._highest,
        )

    def _orders(self) -> list[Orders]:
        """Measure random order and the extreme ones, block by block."""
        lists = CandidateLists.behind(self._lists)
        wanted = [[self._blind(one, ties) for one in self._plan.measurements] for ties in _EXTREMES]
        plan = self._settled(wanted)
        random = plan.measurements[: len(wanted[0])]

        def measured(block: Block) -> Orders:
            scores = block.scores(plan.measurements)
            chance, worst, best = np.hsplit(scores.per_user, len(wanted))
            deviation = block.deviations(random)
            expected = np.where(np.isnan(deviation), np.nan, scores.numerator[:, : len(random)])
            return Orders(chance, worst, best, expected, deviation)

        return in_blocks(lists, plan.measurements, measured)

    @lazy
    def _labels(self) -> Means:
        """How much is labelled, and the scores as if unlabelled items had a grade."""
        kinds = (self._judged, self._zero, self._top)
        wanted = [[kind(one) for one in self._plan.measurements] for kind in kinds]
        if not self._facts.unlabelled:
            return self._all_labelled(wanted)
        plan = self._settled(wanted)

        def measured(block: Block) -> Floats:
            return block.scores(plan.measurements).per_user

        with at_most(self.n_jobs):  # blocks hang on the threads: their sums are not for the report
            return Means.of(np.concatenate(in_blocks(self._lists, plan.measurements, measured)))

    def _all_labelled(self, wanted: list[list[Measurement]]) -> Means:
        """Return the same where no item lacks a grade: nothing of it has to be measured."""
        listed = ~self.scores.left_out & (self.scores.counts.n_items > 0)[:, None]
        own = self.scores.per_user
        table = np.hstack([np.where(listed, 1.0, np.nan), own, own])
        plan = Plan(tuple(chain(*wanted))).with_reasons(self._facts)
        return Means.of(np.where([one.reason != "" for one in plan.measurements], np.nan, table))

    def _settled(self, wanted: list[list[Measurement]]) -> Plan:
        """Return a plan of all measurements, with the reason beside what has no number."""
        plan = Plan(tuple(chain(*wanted)))
        return plan.with_reasons(with_ties(self._facts, self._lists, plan.measurements))

    def _blind(self, one: Measurement, ties: str) -> Measurement:
        """Measure random order, or an extreme one."""
        blind = replace(one.extreme(ties), blind=True)
        if not one.metric.orders:
            return blind.without("its score has no order")
        why = "" if self._lists.candidates is None else one.draw_objection(self._facts)
        return blind.without(why) if why else blind

    def _judged(self, one: Measurement) -> Measurement:
        """Measure how much of the first k is labelled; an empty list has no such share."""
        known = replace(one, metric=Judged(one.metric.k))
        return known.under(ties="expected", undefined="skip", unlabelled="zero")

    def _zero(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were irrelevant."""
        undefined = "skip" if one.convention.undefined == "raise" else one.convention.undefined
        other = one.under(unlabelled="zero", undefined=undefined)
        if one.metric.orders and one.metric.own_ties is None:
            return other
        return other.without("its score hangs on more than the labels")

    def _top(self, one: Measurement) -> Measurement:
        """Measure as if unlabelled items were of the top grade."""
        if math.isnan(self._highest) and one.convention.max_grade is None:
            return one.without("the highest grade of all users is not known")
        return replace(self._zero(one), unlabelled_as=self._top_grade(one))

    def _top_grade(self, one: Measurement) -> float:
        """Return the top of the scale: `max_grade`, or the highest that is there or relevant."""
        if one.convention.max_grade is not None:
            return one.convention.max_grade
        return self._highest if one.threshold is None else max(self._highest, one.threshold)
