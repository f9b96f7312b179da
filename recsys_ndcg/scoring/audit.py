"""Audit: scores with chance, extreme orders, ties and labels, measured when needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Positions, are_equal, column_counts
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts, GroupedLists, digest_labels, draw_from_candidates
from recsys_ndcg.metrics import Judged, OverLists, sum_random_exposures
from recsys_ndcg.parallel import get_thread_limit, limit_threads
from recsys_ndcg.ranking import ItemTotals
from recsys_ndcg.ratings import GroupedRows
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.measuring import Block, map_blocks
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.requirements import find_chance_objection
from recsys_ndcg.scoring.scores import ORDER_ROLES, ORDER_TABLES, Scores, subtract_scores
from recsys_ndcg.scoring.signature import Signature, sign_runs
from recsys_ndcg.scoring.totals import LABEL_ROLES, TIE_ROLES, Totals
from recsys_ndcg.significance import Moments

TablesByRole = dict[str, "Floats"]  # tables (n_users, n_measurements) by role

_MANY_USERS, _N_GROUPS = 1000, 200  # of the jackknife: above it, groups of users are left out
_MIN_SCORED = 30  # users with a score that show whether a mean is above chance
_EXTREMES = ("worst", "best")
#: Random order and the extreme orders are measured as one tie per list (`Measurement.all_tied`):
#: for each role, the rule that breaks this tie.
_TIES_WHEN_ALL_TIED = dict(zip(ORDER_ROLES, ("expected", *_EXTREMES), strict=True))


@dataclass(eq=False, repr=False)
class Audit:
    """Scores, and what explains them: the same lists scored in other roles (`Scores.roles`).

    Roles are, for example, random order ("chance") and the worst order ("worst"). If the lists are
    known, further roles are measured when a property first needs them. If they are not known,
    nothing more can be measured: the audit has only the roles that it was made with, either for
    every user or only as totals.

    Parameters
    ----------
    known_signatures : dict of Signature, optional
        How each metric was computed, by name, if `source` is not known.
    totals : Totals
        The totals of the scores, in the known roles.
    by_user : Scores, optional
        The scores of every user: without roles if `source` is known, otherwise in the known roles.
    source : MeasuredLists, optional
        The lists that were measured.
    known_median : float64 array, shape (n_measurements,), or callable that returns it, optional
        The median of the scores, if `by_user` is not known.
    no_scores_hint : str
        If `by_user` is None: where the users' scores are, or how to get them. A sentence for the
        error message.
    n_jobs : int, optional
        The number of threads for later measurements: by default the current limit.
    """

    known_signatures: dict[str, Signature] | None
    totals: Totals
    by_user: Scores | None = None
    source: MeasuredLists | None = None
    known_median: Floats | Callable[[], Floats] | None = None
    no_scores_hint: str = ""
    n_jobs: int | None = field(default_factory=get_thread_limit)

    @classmethod
    def of(
        cls,
        lists: GroupedLists,
        plan: Plan,
        facts: Facts | None = None,
        *,
        highest_grade: float | None = None,
    ) -> Audit:
        """Measure lists by a resolved plan.

        Parameters
        ----------
        lists : GroupedLists
            All lists, or complete lists of some users.
        plan : Plan
            The plan, resolved with the facts of all lists.
        facts : Facts, optional
            The facts of these lists (`Plan.facts_of`), by which the plan was checked; by default
            they are computed, and the plan is checked.
        highest_grade : float, optional
            The highest grade of all data, of which these lists may be a part; NaN if unknown.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed, or a score is undefined under ``undefined="raise"``.
        """
        if facts is None:
            facts = plan.facts_of(lists)
            plan.check(facts, lists)
        scores = _measure_with_tie_range(lists, plan)
        InvalidInputError.raise_if(scores.objection())
        highest = facts.all_grades.highest if highest_grade is None else highest_grade
        source = MeasuredLists(lists, facts, plan, highest)
        by_user = scores.replace_roles({})  # tables are large: only the totals keep the tie range
        return cls(None, Totals.of(scores), by_user, source)

    @lazy_property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed, by name; computed late, as parts of data need none."""
        if self.known_signatures is not None:
            return self.known_signatures
        assert self.source is not None, "one of both is known"  # noqa: S101
        return self.scores.make_signatures(self.source.facts)

    @property
    def scores(self) -> Scores:
        """The scores of every user.

        Raises
        ------
        InvalidInputError
            Only totals are known.
        """
        if self.by_user is None:
            msg = f"This report has only the totals of {self.n_users} users. {self.no_scores_hint}"
            raise InvalidInputError(msg)
        return self.by_user

    @lazy_property
    def scores_with_orders(self) -> Scores:
        """The scores of every user with the roles from other orders (`ORDER_TABLES`)."""
        if self.source is None:
            return self.scores
        with limit_threads(self.n_jobs):
            return self.scores.replace_roles(self.source.measure_order_roles())

    @lazy_property
    def label_digests(self) -> NDArray[np.uint32]:
        """A digest of each user's labels: shape (n_users,)."""
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return digest_labels(self.source.lists)
        digests = self.scores.label_digests
        assert digests is not None, "an audit without lists has scores with digests"  # noqa: S101
        return digests

    def take_orders_from(self, other: Audit) -> bool:
        """Reuse another audit's scores in other orders and digests, if only the estimates differ.

        Returns
        -------
        bool
            Whether they can be reused (`MeasuredLists.has_same_orders`).
        """
        if not (self.source and other.source and self.source.has_same_orders(other.source)):
            return False
        vars(self)["scores_with_orders"] = self.scores.replace_roles(other.scores_with_orders.roles)
        vars(self)["label_digests"] = other.label_digests
        return True

    @property
    def scores_to_save(self) -> Scores:
        """The scores of every user in all roles that a file saves."""
        return replace(self.scores_with_orders, label_digests=self.label_digests)

    @lazy_property
    def totals_with_orders(self) -> Totals:
        """The totals with the roles from other orders."""
        if self.source is None:
            return self.totals
        totals = self.totals.add_roles(self.scores_with_orders)
        if not self.scores.exposures:
            return totals
        with limit_threads(self.n_jobs):
            chance = self.source.measure_chance_exposures(self.scores)
        return replace(totals, over_lists={**totals.over_lists, "chance": chance})

    @lazy_property
    def totals_with_all_roles(self) -> Totals:
        """The totals in every role: other orders, ties and labels."""
        if self.source is None:
            return self.totals
        with limit_threads(self.n_jobs):
            labels = self.scores.replace_roles(self.source.measure_label_roles(self.scores))
        return self.totals_with_orders.add_roles(labels, self.source.highest_grade)

    @lazy_property
    def median(self) -> Floats:
        """The median score by metric; NaN if unknown."""
        if self.by_user is not None:
            return self.by_user.median
        if self.known_median is None:
            return np.full(len(self.measurements), np.nan)
        return self.known_median() if callable(self.known_median) else self.known_median

    @lazy_property
    def pseudo_values(self) -> Floats:
        """A value per user of each number of all lists together: shape (n_users, n_measurements).

        They are the jackknife's: their mean is the number, and their variance gives its interval,
        as for the mean of a score per user. θ + (n - 1)(mean of all θ without a user - θ without
        this user), for each of the n users who count, shown something or not. Of many users, groups
        are left out in turn, and users of a group share a value, scaled so that the variance stays
        right. NaN for other measurements and users.
        """
        scores = self.scores
        table = np.full(scores.per_user.shape, np.nan)
        shared: dict[Any, list[ItemTotals]] = {}
        for column, one in enumerate(scores.exposures):
            measurement = self.measurements[column]
            metric, convention = measurement.metric, measurement.convention
            if one is None or not isinstance(metric, OverLists):
                continue
            # also users who were shown nothing, so that models of the same users can be paired
            users = np.flatnonzero(~scores.left_out[:, column])
            if not len(users):
                continue
            n_groups = len(users) if len(users) <= _MANY_USERS else _N_GROUPS
            key = id(one), users.tobytes()
            if key not in shared:
                whole = one.take(users).sum()
                parts = (one.take(users[group::n_groups]).sum() for group in range(n_groups))
                shared[key] = [whole - part for part in parts]
            without = np.array([metric.value(part, convention) for part in shared[key]])
            scale = (n_groups - 1) * np.sqrt(len(users) / n_groups)
            values = self.totals.mean[column] + scale * (without.mean() - without)
            table[users, column] = values[np.arange(len(users)) % n_groups]
        return table

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
        """Return the audit of some users, given by their positions in ascending order.

        The result is the same as measuring only their lists. Without lists, the roles in
        `TIE_ROLES` and `LABEL_ROLES` are unknown.
        """
        if self.source is not None:
            with limit_threads(self.n_jobs):
                return Audit.of(self.source.lists.take(users), self.source.plan)
        scores = self.scores.take(users)
        counted = zip(self.signatures.items(), scores.n_scored, strict=True)
        signatures = {name: sign_runs([signature], n) for (name, signature), n in counted}
        return Audit(signatures, Totals.of(scores), scores)

    def exceeds_chance(
        self, measurements: tuple[Measurement, ...], n_users: int, n_errors: float
    ) -> bool:
        """Return whether a sample of users scores above chance in every one of some metrics.

        It does not if too few of the sample have a score. Metrics without chance do not count. The
        lists must be known.

        Parameters
        ----------
        measurements : tuple of Measurement
            The metrics.
        n_users : int
            The largest number of users.
        n_errors : float
            How many standard errors each mean must be above the mean of random order.
        """
        assert self.source is not None, "checked by the caller"  # noqa: S101
        users: Any = slice(None)
        if n_users < self.n_users:
            users = np.linspace(0, self.n_users - 1, n_users).astype(np.intp)
        lists = self.source.lists.take(users)
        sample = replace(self.source, lists=lists, plan=Plan(measurements))
        with limit_threads(self.n_jobs):
            chance = sample.measure_order_roles(("chance",))["chance"]
        columns = [self.measurements.index(measurement) for measurement in measurements]
        scores = self.scores.per_user[users][:, columns]
        above = subtract_scores(scores, chance)
        moments = Moments.of(None, above, ~np.isnan(above))
        n_scored = np.maximum(moments.count, 2)
        error = moments.residual / np.sqrt(n_scored * (n_scored - 1))
        enough = np.minimum(self.totals.score_moments.count[columns], _MIN_SCORED)
        has_few = column_counts(~np.isnan(scores)) < enough
        return not (has_few | (moments.ratio < n_errors * error)).any()

    def without_lists(self) -> Audit:
        """Return the audit without its lists, with the roles that are saved for every user."""
        return Audit(self.signatures, Totals.of(self.scores_to_save), self.scores_to_save)

    def measure_others(self, measurements: tuple[Measurement, ...]) -> Audit:
        """Return the audit of other measurements of the same lists, which must be known."""
        lists = self.lists
        assert lists is not None, "checked by the caller"  # noqa: S101
        with limit_threads(self.n_jobs):
            plan = Plan(measurements)
            facts = plan.facts_of(lists)
            return self.of(lists, plan.resolve(facts, lists), facts)


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """Lists that were measured as they are, and can be measured in other roles.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    facts : Facts
        Their facts.
    plan : Plan
        The resolved plan by which they were measured.
    highest_grade : float
        The highest grade of all data; NaN if unknown.
    """

    lists: GroupedLists
    facts: Facts
    plan: Plan
    highest_grade: float

    def measure_order_roles(self, tables: Sequence[str] = ORDER_TABLES) -> TablesByRole:
        """Measure random, best and worst orders of the lists, or of their candidates if known.

        Parameters
        ----------
        tables : sequence of str
            Which of `ORDER_TABLES` are wanted.
        """
        candidates = draw_from_candidates(self.lists, self._find_marked_items())
        needs_items = np.array([bool(one.metric.needs) for one in self.plan.measurements])
        of_items = self._measure_orders(candidates, tables)
        if not self.lists.pool.is_catalogue or not needs_items.any():
            return of_items
        # lists of a ranked catalogue count the unlabelled items, whose values are needed here
        of_grades = self._measure_orders(self.lists, tables)
        return {
            role: np.where(needs_items, table, of_grades[role]) for role, table in of_items.items()
        }

    def _measure_orders(self, lists: GroupedLists, tables: Sequence[str]) -> TablesByRole:
        by_role, n_metrics = self._list_order_measurements(tables), len(self.plan.measurements)
        measurements = tuple(chain(*by_role))

        def measure(block: Block) -> list[Floats]:
            scores = block.score(measurements)
            roles = np.hsplit(scores.per_user, len(by_role))
            if "deviation" not in tables:
                return roles
            # of random order, which is the first role
            deviation = block.compute_deviations(measurements[:n_metrics])
            mean_numerator = np.where(np.isnan(deviation), np.nan, scores.numerator[:, :n_metrics])
            return [*roles, mean_numerator, deviation]

        parts = zip(*map_blocks(lists, measurements, measure), strict=True)
        names = [table for table in ORDER_TABLES if table in tables]
        return {role: np.concatenate(part) for role, part in zip(names, parts, strict=True)}

    def _list_order_measurements(self, tables: Sequence[str]) -> list[list[Measurement]]:
        """Return a list of measurements for each of `ORDER_ROLES` that is wanted."""
        return [
            [self._with_all_tied(measurement, ties) for measurement in self.plan.measurements]
            for role, ties in _TIES_WHEN_ALL_TIED.items()
            if role in tables
        ]

    def has_same_orders(self, other: MeasuredLists) -> bool:
        """Return whether the scores in `ORDER_ROLES` are the same, to the last bit.

        They are if the lists differ only in the estimates, and no metric may read these when all
        are tied, as metrics of items and of the user's own may.
        """
        mine, theirs = (
            {
                "how": one._list_order_measurements(ORDER_ROLES),
                "of": one.lists.with_columns(estimated=None),
            }
            for one in (self, other)
        )
        return are_equal(mine, theirs) and not any(
            one.metric.needs or one.metric.custom_class or one.convention.recommend_from is not None
            for one in self.plan.measurements
        )

    def measure_chance_exposures(self, scores: Scores) -> tuple[ItemTotals | None, ...]:
        """Return the sums by item in random order, for measurements of all lists together."""
        totals: list[ItemTotals | None] = [None] * len(self.plan.measurements)
        for column, one in enumerate(self.plan.measurements):
            if not isinstance(one.metric, OverLists) or one.metric.no_chance:
                continue
            kept = ~scores.left_out[:, column]
            if self.lists.pool.sizes is not None or self.lists.pool.is_catalogue:
                totals[column] = sum_random_exposures(one.metric, one.convention, self.lists, kept)
            else:
                random = self._with_all_tied(one, "expected")
                exposures = Plan((random,)).measure(self.lists).exposures
                totals[column] = exposures[0].sum(kept) if exposures and exposures[0] else None
        return tuple(totals)

    def measure_label_roles(self, scores: Scores) -> TablesByRole:
        """Measure the labelled share, and the scores as if unlabelled items had a grade.

        Parameters
        ----------
        scores : Scores
            The scores in their own role.
        """
        changes = (
            self._to_labelled_share,
            self._with_unlabelled_as_zero,
            self._with_unlabelled_as_top,
        )
        plan = Plan(tuple(change(one) for change in changes for one in self.plan.measurements))
        plan = plan.with_reasons_for_no_score(plan.facts_of(self.lists, self.facts))
        if not self.facts.unlabelled:  # all items are labelled: the scores are the same
            has_items = ~scores.left_out & (scores.counts.n_items > 0)[:, None]
            tables = np.where(has_items, 1.0, np.nan), scores.per_user, scores.per_user
            is_measured = np.array([not one.no_score_reason for one in plan.measurements])
            rows = is_measured.reshape(len(tables), -1)
            masked = (np.where(row, table, np.nan) for row, table in zip(rows, tables, strict=True))
            return dict(zip(LABEL_ROLES, masked, strict=True))

        def measure(block: Block) -> Floats:  # keeps only the scores of each block
            return block.score(plan.measurements).per_user

        table = np.concatenate(map_blocks(self.lists, plan.measurements, measure))
        return dict(zip(LABEL_ROLES, np.hsplit(table, len(LABEL_ROLES)), strict=True))

    def _find_marked_items(self) -> list[GroupedRows]:
        """Return the items whose values depend on the user, in some of the metrics."""
        known = self.facts.background
        marks = {mark for one in self.plan.measurements for mark in one.metric.marks}
        return [] if known is None else [getattr(known, mark) for mark in sorted(marks)]

    def _with_all_tied(self, measurement: Measurement, ties: str) -> Measurement:
        """Return the measurement of random order (``"expected"``) or of an extreme order."""
        all_tied = measurement.with_ties(ties, all_tied=True)
        if not measurement.metric.depends_on_order:
            return all_tied.without_score("its score does not depend on the order")
        reason = find_chance_objection(measurement, self.facts, self.lists)
        reason = reason or all_tied.tie_objection
        return all_tied.without_score(reason) if reason else all_tied

    def _to_labelled_share(self, measurement: Measurement) -> Measurement:
        """Return the measurement of the share of the first k items that is labelled."""
        share = replace(measurement, metric=Judged(measurement.metric.k))
        if not measurement.metric.per_user:
            return share.without_score("it is not a score of each user")
        return share.with_choices(ties="expected", undefined="skip", unlabelled="zero")

    def _with_unlabelled_as_zero(self, measurement: Measurement) -> Measurement:
        """Return the measurement in which unlabelled items have gain 0 and are irrelevant."""
        undefined = measurement.convention.undefined
        undefined = "skip" if undefined == "raise" else undefined
        zero = measurement.with_choices(unlabelled="zero", undefined=undefined)
        metric = measurement.metric
        if measurement.is_weighted:
            return zero.without_score("the weights of unlabelled items are not known")
        if metric.depends_on_order and metric.own_ties is None and metric.per_user:
            return zero
        return zero.without_score("it compares estimates with ratings or has its own rule for ties")

    def _with_unlabelled_as_top(self, measurement: Measurement) -> Measurement:
        """Return the measurement in which unlabelled items have the top grade.

        The top grade: `max_grade`, else the larger of the highest grade and the threshold.
        """
        top = measurement.convention.max_grade
        if top is None:
            if math.isnan(self.highest_grade):
                return measurement.without_score("the highest grade of all users is not known")
            threshold = measurement.threshold
            top = self.highest_grade if threshold is None else max(self.highest_grade, threshold)
        # `unlabelled_as` gives them a grade, so that unlabelled="zero" has no effect
        return replace(self._with_unlabelled_as_zero(measurement), unlabelled_as=top)


def _measure_with_tie_range(lists: GroupedLists, plan: Plan) -> Scores:
    """Measure lists, also with ties in their worst and in their best order, in one pass."""
    has_range = [measurement.has_known_tie_range for measurement in plan.measurements]

    def score_block(block: Block) -> Scores:
        scores = block.score(plan.measurements)
        ranges = [np.where(has_range, scores.per_user, np.nan) for _ in TIE_ROLES]
        if len(tied := block.find_tied(plan.measurements)):
            orders = [[one.with_ties(rule) for one in plan.measurements] for rule in _EXTREMES]
            tables = np.hsplit(block.take(tied).score(tuple(chain(*orders))).per_user, 2)
            for scores_in_order, table in zip(ranges, tables, strict=True):
                scores_in_order[tied] = np.where(has_range, table, np.nan)
        return replace(scores, roles=dict(zip(TIE_ROLES, ranges, strict=True)))

    return Scores.concat(map_blocks(lists, plan.measurements, score_block))
