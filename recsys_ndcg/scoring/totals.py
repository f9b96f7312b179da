"""Totals: what is left of scores when users are summed up, and can be summed up further."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, column_lengths, column_sums, divide
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import Means, Measured, Scores, adjusted, same

#: Roles whose means are kept, by what must be measured for them: other orders of the same lists,
#: extreme orders of the ties, other labels.
LEVELS = ("chance", "worst", "best")
TIES = ("lowest", "highest")
LABELS = ("judged", "zero", "top")
_SUMMED = ("tied", "unlabelled", "unlisted", "missing", "impossible")


@dataclass(frozen=True, eq=False)
class Moments:
    """Two columns of numbers for each measurement, summed up: arrays of shape (n_measurements,).

    The centred values of both columns, x and y, are kept as the triangle of their QR
    decomposition: nothing is squared, so nothing overflows, and where y is nearly a multiple of
    x, what is left of it is not lost in the difference of two large numbers.

    Parameters
    ----------
    count : int64 array
        How many numbers there are in each column.
    sum_x, sum_y : float64 arrays
        Their sums.
    length, along, rest : float64 arrays
        The length of the centred x; that of the part of the centred y along it; that of the rest.
    """

    count: Positions
    sum_x: Floats
    sum_y: Floats
    length: Floats
    along: Floats
    rest: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats, among: Flags) -> Moments:
        """Sum up two tables of shape (n_users, n_measurements), where `among` says so."""
        count = among.sum(axis=0)
        x, y = np.where(among, x, 0.0), np.where(among, y, 0.0)
        sum_x, sum_y = column_sums(x), column_sums(y)
        number = np.maximum(count, 1)
        x = np.where(among, x - sum_x / number, 0.0)
        y = np.where(among, y - sum_y / number, 0.0)
        return cls(count, sum_x, sum_y, *_triangle(x, y))

    def __add__(self, other: Moments) -> Moments:
        """Return those of the numbers of both (Chan, Golub & LeVeque 1983)."""
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
        """The mean of x, NaN of no numbers."""
        return divide(self.sum_x, self.count)

    @property
    def ratio(self) -> Floats:
        """The sum of y over that of x, NaN where that is 0."""
        return divide(self.sum_y, self.sum_x)

    @property
    def residual(self) -> Floats:
        """The length of y - ratio · x over all numbers: what the ratio leaves open."""
        slope = self.ratio
        length: Floats = np.hypot(self.along - slope * self.length, self.rest)
        return length


@dataclass(frozen=True, eq=False)
class Totals(Measured):
    """Counts, means and moments of scores, by measurement: they merge in any order and grouping.

    The median is not among them: it needs the users (`Scores.median`).

    Parameters
    ----------
    measurements : tuple of Measurement
        What was measured.
    scores : Moments
        Of the scores of the users who have one (x and y the same).
    parts : Moments
        Of their denominators (x) and numerators (y), where both are their own.
    undefined : int64 array, shape (n_measurements,)
        How many users have no score.
    short_of : int64 array, shape (n_measurements,)
        How many lists are shorter than each cutoff.
    counts : mapping of str to int
        ``"users"``; ``"ratings"``, rows as they came; ``"candidates"``, the items that these were
        chosen from; ``"left_out"``, users who are left out of any column; ``"trivial"``, those who
        are so under each measurement that has orders; all others as in
        `recsys_ndcg.Report.counts`.
    trivial : int64 array, shape (n_measurements,)
        How many users with a score have the same in every order; 0 as long as no orders are
        measured, as what follows.
    excess, deviation : float64 arrays, shape (n_measurements,)
        What all numerators together have more than in random order, and the standard deviation of
        that: their squares add up.
    roles : mapping of str to Means
        The mean scores in other roles (`Scores.roles`), as far as they were measured, over the
        users who have a score, those of labels over all; and ``"moved"``, the share of those whose
        score is another with ties in another order.
    highest : float
        The highest grade that was known of when ``"top"`` was measured; NaN if none was.
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
        """Sum up the scores of some users, or of all, in every role that they have."""
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
        """Return the same with more roles, in which scores of the same users are given."""
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
            means["moved"] = _moved(scores, scored)
        found = replace(self, roles={**self.roles, **means}, highest=np.fmax(self.highest, highest))
        return _with_orders(found, scores) if "deviation" in roles else found

    def with_means(self, means: Mapping[str, Floats]) -> Totals:
        """Return the same with more roles, of which a file has the means alone."""
        once = np.ones(len(self.measurements), dtype=np.int64)
        known = {role: Means(once, mean) for role, mean in means.items()}
        return replace(self, roles={**self.roles, **known})

    def __add__(self, other: Totals) -> Totals:
        """Return the totals of the users of both, who were measured alike."""
        highest = float(np.fmax(self.highest, other.highest))
        mine, theirs = self._up_to(highest), other._up_to(highest)
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

    def _up_to(self, highest: float) -> Totals:
        """Return the same where there are grades up to another one, at least as high.

        What unlabelled items would score if they were of the top grade was measured for a lower
        one: that number is not known any more, unless a convention or the threshold says it.
        """
        known = replace(self, highest=highest)
        top = self.roles.get("top")
        as_before = highest == self.highest or math.isnan(highest)
        if as_before or top is None or not self.counts["unlabelled"]:
            return known
        settled = [
            one.convention.max_grade is not None
            or (one.threshold is not None and self.highest <= highest <= one.threshold)
            for one in self.measurements
        ]
        top = replace(top, total=np.where(settled, top.total, np.nan))
        return replace(known, roles={**self.roles, "top": top})

    def mean_of(self, role: str) -> Floats:
        """Return the mean scores in a role, NaN where it was not measured."""
        if role in self.roles:
            return self.roles[role].mean
        return np.full(len(self.measurements), np.nan)

    @property
    def z(self) -> Floats:
        """What all users together have more than chance, in standard deviations."""
        return divide(self.excess, self.deviation, self.deviation > 0)

    @property
    def n_scored(self) -> Positions:
        """How many users have a score."""
        return self.scores.count

    @property
    def mean(self) -> Floats:
        """The mean over the users who have a score; NaN where nobody has."""
        return self.scores.mean_x

    @property
    def pooled(self) -> Floats:
        """The sum of the numerators over the sum of the denominators."""
        return self.scored(self.parts.ratio)

    @property
    def adjusted(self) -> Floats:
        """The mean less chance, over what the best order has more."""
        return adjusted(self.mean, self.mean_of("chance"), self.mean_of("best"))


def _moved(scores: Scores, scored: Flags) -> Means:
    """Return for which share of the users who have a score the order of ties makes a difference."""
    low, high = scores.roles["lowest"], scores.roles["highest"]
    moved = scored & ~np.isnan(high) & ~same(low, high)
    known = [one.has_tie_range for one in scores.measurements]
    return Means(np.where(known, scored.sum(axis=0), 0), moved.sum(axis=0).astype(np.float64))


def _with_orders(totals: Totals, scores: Scores) -> Totals:
    """Return totals with what the other orders of all lists come to."""
    fixed, moving = scores.fixed, scores.moving
    moved = ~fixed & ~np.isnan(scores.roles["best"])
    return replace(
        totals,
        trivial=scores.trivial.sum(axis=0),
        counts={**totals.counts, "trivial": int((fixed.any(axis=1) & ~moved.any(axis=1)).sum())},
        excess=column_sums(np.where(moving, scores.excess, 0.0)),
        deviation=column_lengths(np.where(moving, scores.roles["deviation"], 0.0)),
    )


def _triangle(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the triangle of the QR decomposition of [x, y], column by column.

    Both are of shape (n, n_measurements); modified Gram-Schmidt.
    """
    length = column_lengths(x)
    unit = np.divide(x, length, where=length != 0, out=np.zeros_like(x))
    along = column_sums(unit * y)
    return length, along, column_lengths(y - unit * along)
