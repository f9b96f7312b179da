"""Audit: scores, and what they are to be read against, measured when it is first asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import CandidateLists, Facts, GroupedLists, truth_by_user
from recsys_ndcg.metrics import Judged
from recsys_ndcg.parallel import get_thread_limit, limit_threads
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.measuring import Block, in_blocks
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.scores import ORDERS, Scores
from recsys_ndcg.scoring.signature import Signature
from recsys_ndcg.scoring.totals import LABELS, LEVELS, TIES, Totals

Roles = dict[str, "Floats"]

_TIES_IN = dict(zip(LEVELS, ("expected", "worst", "best"), strict=True))


@dataclass(eq=False, repr=False)
class Audit:
    """Scores, and what they are to be read against.

    Either the lists are at hand: other roles of the scores (`Scores.roles`) are measured when they
    are first asked for. Or the scores of every user are known in some roles. Or users were summed
    up, and their totals alone are known.

    Parameters
    ----------
    signatures : dict of Signature
        How each metric was computed, by name.
    totals : Totals
        The scores, summed up, in the roles that are known.
    by_user : Scores, optional
        Of every user, with the roles that are known.
    source : MeasuredLists, optional
        What was measured.
    known_median : float64 array, shape (n_measurements,), or callable that returns it, optional
        Of the scores, where users were summed up.
    where : str
        Where the scores of each user are then, or how to have them: a sentence.
    n_jobs : int, optional
        On how many threads whatever is asked for later is measured: as many as now are allowed.
    """

    signatures: dict[str, Signature]
    totals: Totals
    by_user: Scores | None = None
    source: MeasuredLists | None = None
    known_median: Floats | Callable[[], Floats] | None = None
    where: str = ""
    n_jobs: int | None = field(default_factory=get_thread_limit)

    @classmethod
    def of(
        cls,
        lists: GroupedLists,
        plan: Plan,
        facts: Facts | None = None,
        *,
        highest: float | None = None,
    ) -> Audit:
        """Measure lists by a plan that has its threshold, and hold undefined scores to it.

        Parameters
        ----------
        lists : GroupedLists
            All, or of some users all that they have.
        plan : Plan
            Settled for all.
        facts : Facts, optional
            What is known of these lists, if somebody looked already (`Plan.facts_of`).
        highest : float, optional
            The highest grade there is, of which these lists may be a part; NaN where it is not
            known.

        Raises
        ------
        InvalidInputError
            Something cannot be computed of them, or a score is undefined where it must not be.
        """
        facts = facts or plan.facts_of(lists)
        plan.check(facts, lists)
        scores = _scores_and_ties(lists, plan)
        InvalidInputError.raise_if(scores.objection())
        top = facts.all_true.highest if highest is None else highest
        source = MeasuredLists(lists, facts, plan, top)
        return cls(scores.sign(facts), Totals.of(scores), scores.with_roles({}), source)

    @property
    def scores(self) -> Scores:
        """The scores of every user.

        Raises
        ------
        InvalidInputError
            Users were summed up.
        """
        if self.by_user is None:
            msg = f"This report sums up {self.n_users} users, and does not keep each. {self.where}"
            raise InvalidInputError(msg)
        return self.by_user

    @lazy_property
    def full_scores(self) -> Scores:
        """The same with what other orders of the same lists score, user by user."""
        if self.source is None:
            return self.scores
        with limit_threads(self.n_jobs):
            return self.scores.with_roles(self.source.orders())

    @lazy_property
    def truth(self) -> NDArray[np.uint32]:
        """A digest of what is known of each user: shape (n_users,)."""
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return truth_by_user(self.source.lists)
        known = self.scores.truth
        assert known is not None, "kept wherever lists are not"  # noqa: S101
        return known

    @property
    def kept_scores(self) -> Scores:
        """What is known of every user without the lists."""
        return replace(self.full_scores, truth=self.truth)

    @lazy_property
    def order_totals(self) -> Totals:
        """The same with other orders of the lists."""
        if self.source is None:
            return self.totals
        return self.totals.with_roles_of(self.full_scores)

    @lazy_property
    def full_totals(self) -> Totals:
        """The same with other labels: in every role there is."""
        if self.source is None:
            return self.totals
        with limit_threads(self.n_jobs):
            labels = self.scores.with_roles(self.source.labels(self.scores))
        return self.order_totals.with_roles_of(labels, self.source.highest)

    @lazy_property
    def median(self) -> Floats:
        """The median of the scores by metric, which totals do not have; NaN if it is not known."""
        if self.by_user is not None:
            return self.by_user.median
        if self.known_median is None:
            return np.full(len(self.measurements), np.nan)
        return self.known_median() if callable(self.known_median) else self.known_median

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was measured."""
        return self.totals.measurements

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return self.totals.counts["users"]

    @property
    def lists(self) -> GroupedLists | None:
        """What was measured, if it is at hand."""
        return None if self.source is None else self.source.lists

    @property
    def protocol(self) -> str:
        """What was ranked: ratings, lists that somebody supplied, or a catalogue."""
        told: str = next(iter(self.signatures.values())).fields["protocol"]
        return told

    def take(self, users: Positions) -> Audit:
        """Return that of some users, given by their places in ascending order.

        It is the same as measuring their lists alone. Without the lists, what takes a look at them
        (ties, labels) is not known of them.
        """
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return Audit.of(self.source.lists.take(users), self.source.plan)
        scores = self.scores.take(users)
        signed = zip(self.signatures.items(), scores.n_scored, strict=True)
        over = {name: one.over(count) for (name, one), count in signed}
        return Audit(over, Totals.of(scores), scores)

    def without_lists(self) -> Audit:
        """Return what is known of every user without the lists, and nothing that looks at them."""
        return Audit(self.signatures, Totals.of(self.kept_scores), self.kept_scores)

    def measured_by(self, measurements: tuple[Measurement, ...]) -> Audit:
        """Return that of other measurements of the same lists, if they are at hand."""
        lists = self.lists
        assert lists is not None, "asked before"  # noqa: S101
        with limit_threads(self.n_jobs):
            plan = Plan(measurements)
            facts = plan.facts_of(lists)
            return self.of(lists, plan.settled(facts, lists), facts)


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """Lists that were measured, and how: whatever other role of the scores is asked for.

    Parameters
    ----------
    lists : GroupedLists
        What was measured.
    facts : Facts
        What is known of them.
    plan : Plan
        Settled: how they were measured.
    highest : float
        The highest grade there is; NaN where it is not known.
    """

    lists: GroupedLists
    facts: Facts
    plan: Plan
    highest: float

    def orders(self) -> Roles:
        """Measure random order and the extreme ones."""
        lists = CandidateLists.behind(self.lists)
        wanted = {
            role: [self._blind(one, ties) for one in self.plan.measurements]
            for role, ties in _TIES_IN.items()
        }
        plan = self._settled(wanted)
        width = len(self.plan.measurements)

        def measured(block: Block) -> list[Floats]:
            scores = block.scores(plan.measurements)
            deviation = block.deviations(plan.measurements[:width])
            expected = np.where(np.isnan(deviation), np.nan, scores.numerator[:, :width])
            return [*np.hsplit(scores.per_user, len(wanted)), expected, deviation]

        parts = zip(*in_blocks(lists, plan.measurements, measured), strict=True)
        return {role: np.concatenate(part) for role, part in zip(ORDERS, parts, strict=True)}

    def labels(self, scores: Scores) -> Roles:
        """Measure how much is labelled, and the scores as if unlabelled items had a grade.

        Parameters
        ----------
        scores : Scores
            The users' own.
        """
        kinds = (self._judged, self._zero, self._top)
        wanted = {
            role: [kind(one) for one in self.plan.measurements]
            for role, kind in zip(LABELS, kinds, strict=True)
        }
        plan = self._settled(wanted)
        if self.facts.unlabelled:

            def measured(block: Block) -> Floats:  # the rest is dropped block by block
                return block.scores(plan.measurements).per_user

            found = np.concatenate(in_blocks(self.lists, plan.measurements, measured))
        else:  # nothing of it has to be measured
            listed = ~scores.left_out & (scores.counts.n_items > 0)[:, None]
            judged = np.where(listed, 1.0, np.nan)
            known = [not one.reason for one in plan.measurements]
            found = np.where(known, np.hstack([judged, scores.per_user, scores.per_user]), np.nan)
        return dict(zip(wanted, np.hsplit(found, len(wanted)), strict=True))

    def _settled(self, wanted: dict[str, list[Measurement]]) -> Plan:
        """Return a plan of all measurements, with the reason beside what has no number."""
        plan = Plan(tuple(chain(*wanted.values())))
        return plan.with_reasons(plan.facts_of(self.lists, self.facts))

    def _blind(self, one: Measurement, ties: str) -> Measurement:
        """Measure random order, or an extreme one."""
        blind = replace(one.extreme(ties), blind=True)
        if not one.metric.orders:
            return blind.without("its score has no order")
        why = "" if self.lists.candidates is None else one.draw_objection(self.facts)
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
        """Measure as if unlabelled items were of the top of the scale.

        That is `max_grade`, or the highest grade that is there or relevant.
        """
        if math.isnan(self.highest) and one.convention.max_grade is None:
            return one.without("the highest grade of all users is not known")
        top = self.highest if one.threshold is None else max(self.highest, one.threshold)
        if one.convention.max_grade is not None:
            top = one.convention.max_grade
        return replace(self._zero(one), unlabelled_as=top)


def _scores_and_ties(lists: GroupedLists, plan: Plan) -> Scores:
    """Measure lists by a settled plan, and with all ties in their extreme orders, in one pass."""
    extremes = [tuple(one.extreme(ties) for one in plan.measurements) for ties in ("worst", "best")]
    has_range = [one.has_tie_range for one in plan.measurements]

    def scored(block: Block) -> Scores:
        own = block.scores(plan.measurements)
        # where nothing is tied, every order is the same
        is_tied = block.any_tied(plan.measurements)
        tables = [block.scores(one).per_user if is_tied else own.per_user for one in extremes]
        ranges = [np.where(has_range, table, np.nan) for table in tables]
        return replace(own, roles=dict(zip(TIES, ranges, strict=True)))

    return Scores.concat(in_blocks(lists, plan.measurements, scored))
