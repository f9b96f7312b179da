"""Totals: mergeable sums of scores over users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    add_fields,
    column_counts,
    column_norms,
    column_sums,
    divide,
)
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.metrics import OverLists
from recsys_ndcg.ranking import ItemTotals
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import (
    ORDER_ROLES,
    Means,
    MetricColumns,
    Scores,
    adjust_for_chance,
    nearly_equal,
)
from recsys_ndcg.significance import Moments

#: More roles whose means are kept: extreme orders of ties; the labelled share, and scores if
#: unlabelled items were irrelevant or of the top grade.
TIE_ROLES = ("lowest", "highest")
ITEM_COUNTS = ("cold", "outside", "seen")
LABEL_ROLES = ("judged", "zero", "top")
_SUMMED_COUNTS = ("tied", "unlabelled", "unlisted", "missing", "impossible", *ITEM_COUNTS)


@dataclass(frozen=True, eq=False)
class Totals(MetricColumns):
    """Counts, means and moments of scores, by measurement; they merge in any order and grouping.

    There is no median: it needs every user's score (`Scores.median`).

    Parameters
    ----------
    measurements : tuple of Measurement
        What was measured.
    score_moments : Moments
        The moments of the scores (y; x is 1), so that their ratio is the mean.
    ratio_moments : Moments
        The moments of denominators (x) and numerators (y) of users whose denominator is not 0.
    n_undefined : int64 array, shape (n_measurements,)
        The number of users whose denominator is 0 and who are not left out.
    n_short : int64 array, shape (n_measurements,)
        The number of lists that are shorter than each cutoff.
    counts : mapping of str to int
        ``"users"``; ``"ratings"``, the rows as read; ``"candidates"``, the items that these were
        chosen from; ``"left_out"``, users left out of a column; ``"trivial"``, users who are
        trivial under every measurement that reads the order; all others as in
        `recsys_ndcg.Report.counts`.
    trivial : int64 array, shape (n_measurements,)
        The number of users with a score that is the same in every order. Like `excess` and
        `deviation`, 0 until other orders are measured.
    excess, deviation : float64 arrays, shape (n_measurements,)
        The sum of all numerators minus the mean of this sum in random order, and the sum's standard
        deviation in random order.
    roles : mapping of str to Means
        The mean scores in other roles (`Scores.roles`), if measured: over users with a score, or
        over all users for `LABEL_ROLES`; and ``"decided_by_ties"``, the share of users whose score
        depends on the order of ties.
    room_moments : Moments, optional
        The moments of best - chance (x) and score - chance (y) of the users for whom all three are
        known, if other orders are measured.
    highest_grade : float
        The highest grade known when ``"top"`` was measured; NaN if there was none.
    over_lists : mapping of str to tuple of ItemTotals or None
        For each measurement of all lists together, its sums by item; None for others: of the lists,
        ``"own"``, and of random order, ``"chance"``.
    known_values : mapping of str to float64 array, shape (n_measurements,)
        Such measurements in other roles, as a file has them; NaN for others.
    """

    measurements: tuple[Measurement, ...]
    score_moments: Moments
    ratio_moments: Moments
    n_undefined: Positions
    n_short: Positions
    counts: Mapping[str, int]
    trivial: Positions
    excess: Floats
    deviation: Floats
    roles: Mapping[str, Means] = field(default_factory=dict)
    room_moments: Moments | None = None
    highest_grade: float = math.nan
    over_lists: Mapping[str, tuple[ItemTotals | None, ...]] = field(default_factory=dict)
    known_values: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: Scores) -> Totals:
        """Sum up scores in every role that they have."""
        values, counts = scores.per_user, scores.counts
        ks = [one.metric.k or 0 for one in scores.measurements]
        zeros = np.zeros(len(ks))
        totals = cls(
            measurements=scores.measurements,
            score_moments=Moments.of(None, values, ~np.isnan(values)),
            ratio_moments=Moments.of(scores.denominator, scores.numerator, scores.is_defined),
            n_undefined=column_counts(scores.is_undefined),
            n_short=np.array([int((counts.n_items < k).sum()) for k in ks]),
            counts={
                "users": len(scores.users),
                "ratings": int(counts.ratings.sum()),
                "candidates": int(counts.candidates.sum()),
                "short": int((counts.n_items < max(ks)).sum()),
                "trivial": 0,
                **{name: int(getattr(counts, name).sum()) for name in _SUMMED_COUNTS},
                "duplicates": int(counts.repeats.sum()),
                "left_out": int(np.any([*scores.left_out.T], axis=0).sum()),
            },
            trivial=zeros.astype(np.int64),
            excess=zeros,
            deviation=zeros,
            over_lists={"own": scores.sum_exposures()} if scores.exposures else {},
        )
        return totals.add_roles(scores)

    def add_roles(self, scores: Scores, highest_grade: float = math.nan) -> Totals:
        """Add the mean scores in the roles that `scores` of the same users have."""
        roles = scores.roles
        if not roles:
            return self
        has_score = ~np.isnan(scores.per_user)
        means = {
            role: Means.of(table, None if role in LABEL_ROLES else has_score)
            for role, table in roles.items()
            if role in {*ORDER_ROLES, *TIE_ROLES, *LABEL_ROLES}
        }
        if "highest" in roles:
            low, high = roles["lowest"], roles["highest"]
            depends = ~np.isnan(high) & ~nearly_equal(low, high)
            has_range = [one.has_known_tie_range for one in scores.measurements]
            means["decided_by_ties"] = Means.of(depends.astype(np.float64), has_score & has_range)
        highest = np.fmax(self.highest_grade, highest_grade)
        totals = replace(self, roles={**self.roles, **means}, highest_grade=highest)
        return _add_order_sums(totals, scores) if "deviation" in roles else totals

    def with_means(self, means: Mapping[str, Floats]) -> Totals:
        """Return the totals with more roles, from the means that a file has.

        The file does not have the number of users behind each mean, so the result can be shown, but
        must not be added to other totals.
        """
        ones = np.ones(len(self.measurements), dtype=np.int64)  # so that total / count is the mean
        added = {role: Means(ones, mean) for role, mean in means.items()}
        return replace(self, roles={**self.roles, **added})

    def __add__(self, other: Totals) -> Totals:
        """Return the totals of the users of both; the measurements must be the same."""
        highest = float(np.fmax(self.highest_grade, other.highest_grade))
        mine, theirs = self._drop_low_top(highest), other._drop_low_top(highest)
        deviation = np.hypot(mine.deviation, theirs.deviation)
        fixed = {"measurements": self.measurements, "highest_grade": highest, "known_values": {}}
        return add_fields(mine, theirs, deviation=deviation, **fixed)

    def _drop_low_top(self, highest: float) -> Totals:
        """Return the totals, given the highest grade of all data.

        If `highest` is above `self.highest_grade`, the role ``"top"`` was measured with too low a
        grade and becomes NaN, unless the top grade is `max_grade`, or a threshold that no grade
        exceeds.
        """
        top_means = self.roles.get("top")
        is_same = highest == self.highest_grade or math.isnan(highest)
        if is_same or top_means is None or not self.counts["unlabelled"]:
            return self
        is_top_fixed = [
            one.convention.max_grade is not None
            or (one.threshold is not None and self.highest_grade <= highest <= one.threshold)
            for one in self.measurements
        ]
        total = np.where(is_top_fixed, top_means.total, np.nan)
        return replace(self, roles={**self.roles, "top": replace(top_means, total=total)})

    def mean_of(self, role: str) -> Floats:
        """Return the mean scores in a role, NaN if it was not measured."""
        empty = np.full(len(self.measurements), np.nan)
        means = self.roles[role].mean if role in self.roles else empty
        return np.where(self.is_over_lists, self._values_over_lists(role), means)

    def mean_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of Student's interval for each mean; never outside [0, 1] if bounded."""
        return self.score_moments.find_interval(level, **self.kinds)

    @property
    def kinds(self) -> dict[str, Flags]:
        """Which scores have bounds, for the functions that compute intervals."""
        each = [one.kinds for one in self.measurements]
        return {name: np.array([one[name] for one in each]) for name in each[0]}

    @lazy_property
    def is_over_lists(self) -> Flags:
        """Whether each measurement is of all lists together."""
        return np.array([not one.metric.per_user for one in self.measurements], dtype=bool)

    @property
    def values_over_lists(self) -> dict[str, Floats]:
        """The measurements of all lists together in each role, NaN for others."""
        return {role: self._values_over_lists(role) for role in ("own", *ORDER_ROLES)}

    def _values_over_lists(self, role: str) -> Floats:
        """Return the measurements of all lists together in a role, NaN for others."""
        values = self.known_values.get(role, np.full(len(self.measurements), np.nan)).copy()
        source = self.over_lists.get("chance" if role == "chance" else "own", ())
        for column, totals in enumerate(source):
            one = self.measurements[column]
            if totals is None or not isinstance(one.metric, OverLists):
                continue
            if role == "own":
                values[column] = one.metric.value(totals, one.convention)
            elif role == "chance":
                values[column] = one.metric.chance(totals, one.convention)
            elif role in ("worst", "best"):
                values[column] = one.metric.ends(totals, one.convention)[role == "best"]
        return values

    @property
    def z(self) -> Floats:
        """The excess of all users over chance, in standard deviations."""
        return divide(self.excess, self.deviation, self.deviation > 0)

    @property
    def n_scored(self) -> Positions:
        """The number of users with a score, or of lists of measurements of all together."""
        counts = self.score_moments.count + self._n_lists
        return np.where(self.is_over_lists & np.isnan(self._own_values_over_lists), 0, counts)

    @property
    def n_without_value(self) -> Positions:
        """The number of users whose denominator is 0; all lists if a number of all is undefined."""
        return self.n_undefined + np.where(self.n_scored == 0, self._n_lists, 0)

    @property
    def _n_lists(self) -> Positions:
        """The number of lists of measurements of all together, 0 for others."""
        own = self.over_lists.get("own", [None] * len(self.measurements))
        lists = [0 if one is None else round(one.users["lists"]) for one in own]
        return np.array(lists, dtype=np.int64)

    @property
    def mean(self) -> Floats:
        """The mean score, NaN if no user has one; or the number of all lists together."""
        means = self.score_moments.ratio
        return np.where(self.is_over_lists, self._own_values_over_lists, means)

    @lazy_property
    def _own_values_over_lists(self) -> Floats:
        return self._values_over_lists("own")

    @property
    def pooled(self) -> Floats:
        """The sum of the numerators over the sum of the denominators."""
        return self.scores_from_ratios(self.ratio_moments.ratio)

    @property
    def adjusted(self) -> Floats:
        """(mean - chance) / (best - chance), NaN for numbers of all lists together."""
        adjusted = adjust_for_chance(self.mean, self.mean_of("chance"), self.mean_of("best"))
        return np.where(self.is_over_lists, np.nan, adjusted)


def _add_order_sums(totals: Totals, scores: Scores) -> Totals:
    """Return totals with the numbers of trivial users, the sums that give z, and the room."""
    room = scores.roles["best"] - scores.roles["chance"]
    above = scores.per_user - scores.roles["chance"]
    is_fixed, has_z = scores.order_independent, scores.has_z
    varies = ~is_fixed & ~np.isnan(scores.roles["best"])
    # by columns, which is faster
    some_fixed, some_vary = (np.any([*table.T], axis=0) for table in (is_fixed, varies))
    return replace(
        totals,
        trivial=column_counts(scores.trivial),
        counts={**totals.counts, "trivial": int((some_fixed & ~some_vary).sum())},
        excess=column_sums(np.where(has_z, scores.excess, 0.0)),
        deviation=column_norms(np.where(has_z, scores.roles["deviation"], 0.0)),
        room_moments=Moments.of(room, above, ~np.isnan(room + above)),
    )
