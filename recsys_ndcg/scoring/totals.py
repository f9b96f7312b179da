"""Totals: mergeable sums of scores over users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, column_norms, column_sums, divide
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import Means, MetricColumns, Scores, adjust_for_chance, nearly_equal

#: Roles whose means are kept, by what they need: other orders of the same lists, extreme orders of
#: the ties, other labels.
LEVELS = ("chance", "worst", "best")
TIES = ("lowest", "highest")
LABELS = ("judged", "zero", "top")
_SUMMED = ("tied", "unlabelled", "unlisted", "missing", "impossible")


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of two columns, x and y, for each measurement: arrays of shape (n_measurements,).

    The centred values of both columns are kept as the triangle of their QR decomposition: nothing
    is squared, so nothing overflows, and if y is nearly a multiple of x, the rest is not lost in
    the difference of two large numbers.

    Parameters
    ----------
    count : int64 array
        The number of values in each column.
    sum_x, sum_y : float64 arrays
        The sums of the columns.
    length, along, rest : float64 arrays
        The length of the centred x; the length of the part of the centred y along x, and of the
        rest of y.
    """

    count: Positions
    sum_x: Floats
    sum_y: Floats
    length: Floats
    along: Floats
    rest: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats, among: Flags) -> Moments:
        """Return the moments of two tables (n_users, n_measurements), of the cells `among` them."""
        count = among.sum(axis=0)
        x, y = np.where(among, x, 0.0), np.where(among, y, 0.0)
        sum_x, sum_y = column_sums(x), column_sums(y)
        number = np.maximum(count, 1)
        x = np.where(among, x - sum_x / number, 0.0)
        y = np.where(among, y - sum_y / number, 0.0)
        return cls(count, sum_x, sum_y, *_triangle(x, y))

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both sets of values (Chan, Golub & LeVeque 1983)."""
        count = self.count + other.count
        mine, theirs = np.maximum(self.count, 1), np.maximum(other.count, 1)
        both = np.where((self.count > 0) & (other.count > 0), 1.0, 0.0)
        weight = both * np.sqrt(mine / np.maximum(count, 1)) * np.sqrt(theirs)
        zero = np.zeros(len(count))
        apart_x = weight * (self.sum_x / mine - other.sum_x / theirs)
        apart_y = weight * (self.sum_y / mine - other.sum_y / theirs)
        x = np.array([self.length, zero, other.length, zero, apart_x])
        y = np.array([self.along, self.rest, other.along, other.rest, apart_y])
        return Moments(count, self.sum_x + other.sum_x, self.sum_y + other.sum_y, *_triangle(x, y))

    @property
    def mean_x(self) -> Floats:
        """The mean of x, NaN without values."""
        return divide(self.sum_x, self.count)

    @property
    def ratio(self) -> Floats:
        """The sum of y over the sum of x, NaN if that is 0."""
        return divide(self.sum_y, self.sum_x)

    @property
    def residual(self) -> Floats:
        """The length of y - ratio · x over all values."""
        slope = self.ratio
        length: Floats = np.hypot(self.along - slope * self.length, self.rest)
        return length


@dataclass(frozen=True, eq=False)
class Totals(MetricColumns):
    """Counts, means and moments of scores, by measurement; they merge in any order and grouping.

    The median is not among them: it needs the users (`Scores.median`).

    Parameters
    ----------
    measurements : tuple of Measurement
        What was measured.
    scores : Moments
        The moments of the scores (x and y are the same).
    parts : Moments
        The moments of denominators (x) and numerators (y) of users whose denominator is not 0.
    undefined : int64 array, shape (n_measurements,)
        The number of users whose denominator is 0.
    short_of : int64 array, shape (n_measurements,)
        The number of lists that are shorter than each cutoff.
    counts : mapping of str to int
        ``"users"``; ``"ratings"``, the rows as they were read; ``"candidates"``, the items that
        these were chosen from; ``"left_out"``, users left out of any column; ``"trivial"``, users
        who are trivial under every measurement that has orders; all others as in
        `recsys_ndcg.Report.counts`.
    trivial : int64 array, shape (n_measurements,)
        The number of users with a score that is the same in every order. Like the next two, 0
        until orders are measured.
    excess, deviation : float64 arrays, shape (n_measurements,)
        The sum of all numerators minus its mean in random order, and its standard deviation.
    roles : mapping of str to Means
        The mean scores in other roles (`Scores.roles`), if measured, over the users who have a
        score, in roles of labels over all users; and ``"moved"``, the share of users whose score
        depends on the order of ties.
    highest : float
        The highest grade known when ``"top"`` was measured; NaN if there was none.
    """

    measurements: tuple[Measurement, ...]
    scores: Moments
    parts: Moments
    undefined: Positions
    short_of: Positions
    counts: Mapping[str, int]
    trivial: Positions
    excess: Floats
    deviation: Floats
    roles: Mapping[str, Means] = field(default_factory=dict)
    highest: float = math.nan

    @classmethod
    def of(cls, scores: Scores) -> Totals:
        """Sum up scores in every role that they have."""
        values, counts = scores.per_user, scores.counts
        ks = [one.metric.k or 0 for one in scores.measurements]
        none = np.zeros(len(ks))
        totals = cls(
            measurements=scores.measurements,
            scores=Moments.of(values, values, ~np.isnan(values)),
            parts=Moments.of(scores.denominator, scores.numerator, scores.defined),
            undefined=scores.undefined.sum(axis=0),
            short_of=np.array([int((counts.n_items < k).sum()) for k in ks]),
            counts={
                "users": len(scores.users),
                "ratings": int(counts.ratings.sum()),
                "candidates": int(counts.candidates.sum()),
                "short": int((counts.n_items < max(ks)).sum()),
                "trivial": 0,
                **{name: int(getattr(counts, name).sum()) for name in _SUMMED},
                "duplicates": int(counts.repeats.sum()),
                "left_out": int(scores.left_out.any(axis=1).sum()),
            },
            trivial=none.astype(np.int64),
            excess=none,
            deviation=none,
        )
        return totals.with_roles_of(scores)

    def with_roles_of(self, scores: Scores, highest: float = math.nan) -> Totals:
        """Return the totals with the roles of scores of the same users added."""
        roles = scores.roles
        if not roles:
            return self
        scored = ~np.isnan(scores.per_user)
        means = {
            role: Means.of(table, None if role in LABELS else scored)
            for role, table in roles.items()
            if role in {*LEVELS, *TIES, *LABELS}
        }
        if "highest" in roles:
            means["moved"] = _count_moved(scores, scored)
        found = replace(self, roles={**self.roles, **means}, highest=np.fmax(self.highest, highest))
        return _add_orders(found, scores) if "deviation" in roles else found

    def with_means(self, means: Mapping[str, Floats]) -> Totals:
        """Return the totals with more roles, of which a file has only the means."""
        ones = np.ones(len(self.measurements), dtype=np.int64)
        known = {role: Means(ones, mean) for role, mean in means.items()}
        return replace(self, roles={**self.roles, **known})

    def __add__(self, other: Totals) -> Totals:
        """Return the totals of the users of both; the measurements must be the same."""
        highest = float(np.fmax(self.highest, other.highest))
        mine, theirs = self._with_highest(highest), other._with_highest(highest)
        both = [role for role in mine.roles if role in theirs.roles]
        return Totals(
            self.measurements,
            scores=mine.scores + theirs.scores,
            parts=mine.parts + theirs.parts,
            undefined=mine.undefined + theirs.undefined,
            short_of=mine.short_of + theirs.short_of,
            counts={name: count + theirs.counts[name] for name, count in mine.counts.items()},
            trivial=mine.trivial + theirs.trivial,
            excess=mine.excess + theirs.excess,
            deviation=np.hypot(mine.deviation, theirs.deviation),
            roles={role: mine.roles[role] + theirs.roles[role] for role in both},
            highest=highest,
        )

    def _with_highest(self, highest: float) -> Totals:
        """Return the totals for a highest grade of all data, at least as high as here.

        The role ``"top"`` was measured with the lower grade: it becomes NaN unless the convention
        or the threshold sets the top grade.
        """
        known = replace(self, highest=highest)
        top = self.roles.get("top")
        is_same = highest == self.highest or math.isnan(highest)
        if is_same or top is None or not self.counts["unlabelled"]:
            return known
        is_set = [
            one.convention.max_grade is not None
            or (one.threshold is not None and self.highest <= highest <= one.threshold)
            for one in self.measurements
        ]
        top = replace(top, total=np.where(is_set, top.total, np.nan))
        return replace(known, roles={**self.roles, "top": top})

    def mean_of(self, role: str) -> Floats:
        """Return the mean scores in a role, NaN if it was not measured."""
        if role in self.roles:
            return self.roles[role].mean
        return np.full(len(self.measurements), np.nan)

    @property
    def z(self) -> Floats:
        """The excess of all users over chance, in standard deviations."""
        return divide(self.excess, self.deviation, self.deviation > 0)

    @property
    def n_scored(self) -> Positions:
        """The number of users with a score."""
        return self.scores.count

    @property
    def mean(self) -> Floats:
        """The mean score; NaN if no user has one."""
        return self.scores.mean_x

    @property
    def pooled(self) -> Floats:
        """The sum of the numerators over the sum of the denominators."""
        return self.score_ratios(self.parts.ratio)

    @property
    def adjusted(self) -> Floats:
        """(mean - chance) / (best - chance)."""
        return adjust_for_chance(self.mean, self.mean_of("chance"), self.mean_of("best"))


def _count_moved(scores: Scores, scored: Flags) -> Means:
    """Return the share of users with a score that depends on the order of ties."""
    low, high = scores.roles["lowest"], scores.roles["highest"]
    moved = scored & ~np.isnan(high) & ~nearly_equal(low, high)
    known = [one.has_tie_range for one in scores.measurements]
    return Means(np.where(known, scored.sum(axis=0), 0), moved.sum(axis=0).astype(np.float64))


def _add_orders(totals: Totals, scores: Scores) -> Totals:
    """Return totals with the sums over other orders of all lists."""
    fixed, varying = scores.order_independent, scores.order_dependent
    moved = ~fixed & ~np.isnan(scores.roles["best"])
    return replace(
        totals,
        trivial=scores.trivial.sum(axis=0),
        counts={**totals.counts, "trivial": int((fixed.any(axis=1) & ~moved.any(axis=1)).sum())},
        excess=column_sums(np.where(varying, scores.excess, 0.0)),
        deviation=column_norms(np.where(varying, scores.roles["deviation"], 0.0)),
    )


def _triangle(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the triangle of the QR decomposition of [x, y], column by column.

    Both are of shape (n, n_measurements); modified Gram-Schmidt.
    """
    length = column_norms(x)
    unit = np.divide(x, length, where=length != 0, out=np.zeros_like(x))
    along = column_sums(unit * y)
    return length, along, column_norms(y - unit * along)
