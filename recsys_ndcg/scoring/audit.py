"""Audit: scores with chance, extreme orders, ties and labels, measured when first read."""

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
from recsys_ndcg.lists import CandidateLists, Facts, GroupedLists, digest_truth
from recsys_ndcg.metrics import Judged
from recsys_ndcg.parallel import get_thread_limit, limit_threads
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.measuring import Block, map_blocks
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.scores import ORDERS, Scores
from recsys_ndcg.scoring.signature import Signature
from recsys_ndcg.scoring.totals import LABELS, LEVELS, TIES, Totals

Roles = dict[str, "Floats"]

_TIES_IN = dict(zip(LEVELS, ("expected", "worst", "best"), strict=True))


@dataclass(eq=False, repr=False)
class Audit:
    """Scores, and the other roles of the same lists (`Scores.roles`) that explain them.

    If the lists are known, other roles are measured when they are first read. Else there are the
    scores of every user in some roles, or only totals.

    Parameters
    ----------
    signatures : dict of Signature
        How each metric was computed, by name.
    totals : Totals
        The totals of the scores, in the known roles.
    by_user : Scores, optional
        The scores of every user, in the known roles.
    source : MeasuredLists, optional
        The lists that were measured.
    known_median : float64 array, shape (n_measurements,), or callable that returns it, optional
        The median of the scores, if `by_user` is not known.
    where : str
        A sentence: where the scores of each user are, or how to get them, if they are not here.
    n_jobs : int, optional
        The number of threads for later measurements: by default the current limit.
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
        """Measure lists by a settled plan.

        Parameters
        ----------
        lists : GroupedLists
            All lists, or complete lists of some users.
        plan : Plan
            Settled against the facts of all lists.
        facts : Facts, optional
            The facts of these lists (`Plan.facts_of`), if they are known.
        highest : float, optional
            The highest grade of all data, of which these lists may be a part; NaN if unknown.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed, or a score is undefined under ``undefined="raise"``.
        """
        facts = facts or plan.facts_of(lists)
        plan.check(facts, lists)
        scores = _measure_with_tie_range(lists, plan)
        InvalidInputError.raise_if(scores.objection())
        top = facts.all_grades.highest if highest is None else highest
        source = MeasuredLists(lists, facts, plan, top)
        return cls(scores.make_signatures(facts), Totals.of(scores), scores.with_roles({}), source)

    @property
    def scores(self) -> Scores:
        """The scores of every user.

        Raises
        ------
        InvalidInputError
            Only totals are known.
        """
        if self.by_user is None:
            msg = f"This report has only the totals of {self.n_users} users. {self.where}"
            raise InvalidInputError(msg)
        return self.by_user

    @lazy_property
    def full_scores(self) -> Scores:
        """The scores of every user with the roles from other orders (`ORDERS`)."""
        if self.source is None:
            return self.scores
        with limit_threads(self.n_jobs):
            return self.scores.with_roles(self.source.measure_orders())

    @lazy_property
    def truth(self) -> NDArray[np.uint32]:
        """A digest of each user's labels: shape (n_users,)."""
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return digest_truth(self.source.lists)
        known = self.scores.truth
        assert known is not None, "scores without lists have it"  # noqa: S101
        return known

    @property
    def kept_scores(self) -> Scores:
        """The scores of every user in all roles that a file keeps."""
        return replace(self.full_scores, truth=self.truth)

    @lazy_property
    def order_totals(self) -> Totals:
        """The totals with the roles from other orders."""
        if self.source is None:
            return self.totals
        return self.totals.with_roles_of(self.full_scores)

    @lazy_property
    def full_totals(self) -> Totals:
        """The totals in every role: other orders, ties and labels."""
        if self.source is None:
            return self.totals
        with limit_threads(self.n_jobs):
            labels = self.scores.with_roles(self.source.measure_labels(self.scores))
        return self.order_totals.with_roles_of(labels, self.source.highest)

    @lazy_property
    def median(self) -> Floats:
        """The median score by metric; NaN if unknown."""
        if self.by_user is not None:
            return self.by_user.median
        if self.known_median is None:
            return np.full(len(self.measurements), np.nan)
        return self.known_median() if callable(self.known_median) else self.known_median

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """The measurements."""
        return self.totals.measurements

    @property
    def n_users(self) -> int:
        """The number of users."""
        return self.totals.counts["users"]

    @property
    def lists(self) -> GroupedLists | None:
        """The lists that were measured, if they are known."""
        return None if self.source is None else self.source.lists

    @property
    def protocol(self) -> str:
        """The protocol: what was ranked, such as ``"rated"`` or ``"catalogue"``."""
        return str(next(iter(self.signatures.values())).fields["protocol"])

    def take(self, users: Positions) -> Audit:
        """Return the audit of some users, given by their places in ascending order.

        It is the same as measuring only their lists. Without the lists, the roles of ties and
        labels are unknown.
        """
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return Audit.of(self.source.lists.take(users), self.source.plan)
        scores = self.scores.take(users)
        signed = zip(self.signatures.items(), scores.n_scored, strict=True)
        signatures = {name: one.with_users(count) for (name, one), count in signed}
        return Audit(signatures, Totals.of(scores), scores)

    def without_lists(self) -> Audit:
        """Return the audit with only what a file keeps."""
        return Audit(self.signatures, Totals.of(self.kept_scores), self.kept_scores)

    def measure_again(self, measurements: tuple[Measurement, ...]) -> Audit:
        """Return the audit of other measurements of the same lists, which must be known."""
        lists = self.lists
        assert lists is not None, "checked by the caller"  # noqa: S101
        with limit_threads(self.n_jobs):
            plan = Plan(measurements)
            facts = plan.facts_of(lists)
            return self.of(lists, plan.settle(facts, lists), facts)


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """Lists that were measured, from which other roles are measured.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    facts : Facts
        Their facts.
    plan : Plan
        The settled plan by which they were measured.
    highest : float
        The highest grade of all data; NaN if unknown.
    """

    lists: GroupedLists
    facts: Facts
    plan: Plan
    highest: float

    def measure_orders(self) -> Roles:
        """Measure random order and the extreme orders."""
        lists = CandidateLists.from_lists(self.lists)
        wanted = {
            role: [self._in_order(one, ties) for one in self.plan.measurements]
            for role, ties in _TIES_IN.items()
        }
        plan = self._settle(wanted)
        width = len(self.plan.measurements)

        def measure(block: Block) -> list[Floats]:
            scores = block.score(plan.measurements)
            deviation = block.compute_deviations(plan.measurements[:width])
            expected = np.where(np.isnan(deviation), np.nan, scores.numerator[:, :width])
            return [*np.hsplit(scores.per_user, len(wanted)), expected, deviation]

        parts = zip(*map_blocks(lists, plan.measurements, measure), strict=True)
        return {role: np.concatenate(part) for role, part in zip(ORDERS, parts, strict=True)}

    def measure_labels(self, scores: Scores) -> Roles:
        """Measure the labelled share, and the scores as if unlabelled items had a grade.

        Parameters
        ----------
        scores : Scores
            The scores in their own role.
        """
        kinds = (self._judged, self._as_zero, self._as_top)
        wanted = {
            role: [kind(one) for one in self.plan.measurements]
            for role, kind in zip(LABELS, kinds, strict=True)
        }
        plan = self._settle(wanted)
        if self.facts.unlabelled:

            def measure(block: Block) -> Floats:  # keeps only the scores of each block
                return block.score(plan.measurements).per_user

            found = np.concatenate(map_blocks(self.lists, plan.measurements, measure))
        else:  # nothing has to be measured
            listed = ~scores.left_out & (scores.counts.n_items > 0)[:, None]
            judged = np.where(listed, 1.0, np.nan)
            known = [not one.reason for one in plan.measurements]
            found = np.where(known, np.hstack([judged, scores.per_user, scores.per_user]), np.nan)
        return dict(zip(wanted, np.hsplit(found, len(wanted)), strict=True))

    def _settle(self, wanted: dict[str, list[Measurement]]) -> Plan:
        """Return a plan of all measurements, with reasons in those that cannot be computed."""
        plan = Plan(tuple(chain(*wanted.values())))
        return plan.with_reasons(plan.facts_of(self.lists, self.facts))

    def _in_order(self, one: Measurement, ties: str) -> Measurement:
        """Return the measurement of random order, or of an extreme order."""
        all_tied = replace(one.with_ties(ties), all_tied=True)
        if not one.metric.orders:
            return all_tied.without_score("its score does not depend on the order")
        why = "" if self.lists.candidates is None else one.draw_objection(self.facts)
        return all_tied.without_score(why) if why else all_tied

    def _judged(self, one: Measurement) -> Measurement:
        """Return the measurement of the labelled share of the first k."""
        known = replace(one, metric=Judged(one.metric.k))
        return known.with_choices(ties="expected", undefined="skip", unlabelled="zero")

    def _as_zero(self, one: Measurement) -> Measurement:
        """Return the measurement in which unlabelled items are irrelevant."""
        undefined = "skip" if one.convention.undefined == "raise" else one.convention.undefined
        other = one.with_choices(unlabelled="zero", undefined=undefined)
        if one.metric.orders and one.metric.own_ties is None:
            return other
        return other.without_score("its score depends on more than the labels")

    def _as_top(self, one: Measurement) -> Measurement:
        """Return the measurement in which unlabelled items have the top grade.

        It is `max_grade`, or the highest grade of the data or the threshold.
        """
        if math.isnan(self.highest) and one.convention.max_grade is None:
            return one.without_score("the highest grade of all users is not known")
        top = self.highest if one.threshold is None else max(self.highest, one.threshold)
        if one.convention.max_grade is not None:
            top = one.convention.max_grade
        return replace(self._as_zero(one), unlabelled_as=top)


def _measure_with_tie_range(lists: GroupedLists, plan: Plan) -> Scores:
    """Measure lists, and the same with ties in their worst and best order, in one pass."""
    extremes = [
        tuple(one.with_ties(ties) for one in plan.measurements) for ties in ("worst", "best")
    ]
    has_range = [one.has_tie_range for one in plan.measurements]

    def score_block(block: Block) -> Scores:
        own = block.score(plan.measurements)
        is_tied = block.has_ties(plan.measurements)
        tables = [block.score(one).per_user if is_tied else own.per_user for one in extremes]
        ranges = [np.where(has_range, table, np.nan) for table in tables]
        return replace(own, roles=dict(zip(TIES, ranges, strict=True)))

    return Scores.concat(map_blocks(lists, plan.measurements, score_block))
