"""Levels: what every user's score is to be read against, which is the order of the same list."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import Columns, Record, column_lengths, column_sums
from recsys_ndcg.lazy import lazy
from recsys_ndcg.scoring.totals import Means

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats, Positions
    from recsys_ndcg.scoring.scores import Scores

_SAME = 1e-12  # of the higher of two scores: less is the last digits of their sums


@dataclass(frozen=True, eq=False)
class Orders(Columns):
    """What other orders of the same lists score: arrays of shape (n_users, n_measurements).

    Parameters
    ----------
    chance, worst, best : float64 arrays
        Random order, and the extreme ones; NaN where there is no such number.
    expected, deviation : float64 arrays
        Mean and standard deviation of the numerator under random order; NaN of metrics that are
        not linear.
    """

    chance: Floats
    worst: Floats
    best: Floats
    expected: Floats
    deviation: Floats


NAMES = [one.name for one in fields(Orders)]


@dataclass(frozen=True, eq=False)
class LevelTotals(Record):
    """What is left of levels when users are summed up: arrays of shape (n_measurements,).

    Parameters
    ----------
    chance, worst, best : Means
        Of these orders, over the users who have a score.
    trivial : int64 array
        How many of those score the same in every order.
    n_trivial : int
        How many users do so under each measurement that has orders.
    excess, deviation : float64 arrays
        What all numerators together have more than in random order, and the standard deviation
        of that: their squares add up.
    """

    chance: Means
    worst: Means
    best: Means
    trivial: Positions
    n_trivial: int
    excess: Floats
    deviation: Floats

    def __add__(self, other: LevelTotals) -> LevelTotals:
        """Return those of the users of both."""
        return LevelTotals(
            self.chance + other.chance,
            self.worst + other.worst,
            self.best + other.best,
            self.trivial + other.trivial,
            self.n_trivial + other.n_trivial,
            self.excess + other.excess,
            np.hypot(self.deviation, other.deviation),
        )

    @property
    def z(self) -> Floats:
        """What all users together have more than chance, in standard deviations."""
        return _ratio(self.excess, self.deviation, self.deviation > 0)


class Levels:
    """Scores beside what other orders of the same lists score.

    Parameters
    ----------
    scores : Scores
        The users' own.
    orders : Orders
        Of the same users under the same measurements.
    """

    def __init__(self, scores: Scores, orders: Orders) -> None:
        self.scores = scores
        self.orders = orders

    @lazy
    def fixed(self) -> Flags:
        """Whose list scores the same in every order: shape (n_users, n_measurements)."""
        return same(self.orders.worst, self.orders.best)

    @property
    def trivial(self) -> Flags:
        """The same, of the users who have a score."""
        return np.asarray(self.fixed & ~np.isnan(self.scores.per_user))

    @lazy
    def adjusted(self) -> Floats:
        """Each score less chance, over what the best order has more; NaN of trivial users."""
        return adjusted(self.scores.per_user, self.orders.chance, self.orders.best)

    @lazy
    def z(self) -> Floats:
        """Each numerator less its mean under random order, over its standard deviation."""
        moving = self._random
        return _ratio(self._excess, self.orders.deviation, moving)

    @lazy
    def totals(self) -> LevelTotals:
        """The levels, summed up."""
        scored, moving = ~np.isnan(self.scores.per_user), self._random
        return LevelTotals(
            chance=Means.of(self.orders.chance, scored),
            worst=Means.of(self.orders.worst, scored),
            best=Means.of(self.orders.best, scored),
            trivial=self.trivial.sum(axis=0),
            n_trivial=self._n_trivial,
            excess=column_sums(np.where(moving, self._excess, 0.0)),
            deviation=column_lengths(np.where(moving, self.orders.deviation, 0.0)),
        )

    @property
    def _n_trivial(self) -> int:
        """How many users score the same in every order under each measurement that has orders."""
        moved = ~self.fixed & ~np.isnan(self.orders.best)
        return int((self.fixed.any(axis=1) & ~moved.any(axis=1)).sum())

    @property
    def _random(self) -> Flags:
        """Whose numerator varies under random order, and has a mean."""
        varies = ~np.isnan(self.orders.deviation) & ~self.fixed & ~np.isnan(self.orders.best)
        return np.asarray(varies & self.scores.defined)

    @property
    def _excess(self) -> Floats:
        """How much more the list collects than in random order."""
        return self.scores.numerator - self.orders.expected


def same(low: Floats, high: Floats) -> Flags:
    """Tell which scores differ by the last digits of a sum alone; NaN is not the same."""
    with np.errstate(invalid="ignore"):  # infinite scores are refused as soon as all are known
        return np.asarray(np.abs(high - low) <= _SAME * np.abs(high))


def adjusted(score: Floats, chance: Floats, best: Floats) -> Floats:
    """Return (score - chance) / (best - chance), NaN where that is 0 (Hubert & Arabie 1985).

    Examples
    --------
    >>> adjusted(np.array([0.75, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    array([0.5, nan])
    """
    open_ = ~same(chance, best) & ~np.isnan(best - chance)
    return _ratio(score - chance, best - chance, open_)


def _ratio(top: Floats, bottom: Floats, where: Flags) -> Floats:
    ratio: Floats = np.divide(top, bottom, where=where, out=np.full(top.shape, np.nan))
    return ratio
