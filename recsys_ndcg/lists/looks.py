"""Looks: the little of lists by which mistakes are seen; those of parts merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.grouped_lists import GroupedLists

_LOOK = 1000  # rows that tell at once that a column is an ordinary one
_SCALES = ((0.5, 20), (0.1, 1), (5, 100))  # a step, and the widest from the least to the most
_NEAR = 1e-6  # of a step, for 0.1 + 0.2 is not 0.3
#: More distinct values than a scale has are not told apart.
FEW = 21


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, NaN left out.

    Parameters
    ----------
    count : int
        How many there are.
    lowest, highest : float
        Infinite where there are none.
    at_lowest, at_highest : int
        How many are these.
    steps : tuple of bool
        Whether all stand on the steps of a scale, one by one.
    """

    count: int
    lowest: float
    highest: float
    at_lowest: int
    at_highest: int
    steps: tuple[bool, ...]

    @classmethod
    def of(cls, values: Floats) -> Numbers:
        """Look at numbers, none of them NaN."""
        lowest, highest = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        at_lowest, at_highest = (int(np.count_nonzero(values == end)) for end in (lowest, highest))
        steps = (highest - lowest <= widest and _in_steps(values, step) for step, widest in _SCALES)
        return cls(len(values), lowest, highest, at_lowest, at_highest, tuple(steps))

    def __or__(self, other: Numbers) -> Numbers:
        """Return the looks of both columns together."""
        both = (self, other)
        lowest, highest = min(one.lowest for one in both), max(one.highest for one in both)
        widths = (widest for _, widest in _SCALES)
        return Numbers(
            self.count + other.count,
            lowest,
            highest,
            sum(one.at_lowest for one in both if one.lowest == lowest),
            sum(one.at_highest for one in both if one.highest == highest),
            tuple(
                mine and theirs and highest - lowest <= widest
                for mine, theirs, widest in zip(self.steps, other.steps, widths, strict=True)
            ),
        )

    @property
    def on_a_scale(self) -> bool:
        """Whether all are stars or halves of them, tenths up to 1, or percents in fives.

        Examples
        --------
        >>> some = ([1, 4.5], [0.3, 1], [20, 100], [1, 4.1])
        >>> [Numbers.of(np.array(one, dtype=float)).on_a_scale for one in some]
        [True, True, True, False]
        """
        return any(self.steps)


def _in_steps(values: Floats, step: float) -> bool:
    # the greatest numbers overflow, and are on no scale
    with np.errstate(over="ignore", invalid="ignore"):
        for some in (values[:_LOOK], values):
            steps = some / step
            if not (np.abs(steps - steps.round()) < _NEAR).all():
                return False
    return True


@dataclass(frozen=True)
class Grading:
    """What is looked at where estimates stand on a scale, as grades do.

    Parameters
    ----------
    estimates, grades : frozenset of float
        Their distinct values, of which more than `FEW` are not told.
    true : Numbers
        The grades.
    n_off : int
        How many are neither whole nor halves.
    off : float
        The least of those, NaN if there is none.
    """

    estimates: frozenset[float]
    grades: frozenset[float]
    true: Numbers
    n_off: int
    off: float

    @classmethod
    def of(cls, estimated: Floats, true: Floats) -> Grading:
        """Look at both columns, without NaN."""
        off = true[true % 0.5 != 0]
        least = float(off.min()) if len(off) else np.nan
        return cls(_distinct(estimated), _distinct(true), Numbers.of(true), len(off), least)

    def __or__(self, other: Grading) -> Grading:
        """Return the looks of both parts together."""
        return Grading(
            frozenset(sorted(self.estimates | other.estimates)[: FEW + 1]),
            frozenset(sorted(self.grades | other.grades)[: FEW + 1]),
            self.true | other.true,
            self.n_off + other.n_off,
            float(np.fmin(self.off, other.off)),
        )


def _distinct(values: Floats) -> frozenset[float]:
    return frozenset(np.sort(pd.unique(values))[: FEW + 1].tolist())


@dataclass(frozen=True)
class Looks:
    """The little of lists by which mistakes are seen.

    Parameters
    ----------
    users, single : int
        How many there are, and how many of them have one item.
    estimated : Numbers
        The estimates.
    lowest, highest : float
        Of the true values; infinite where there are none.
    grading : Grading, optional
        Only of estimates that stand on a scale.
    protocol : str
        As of the lists.
    order_only, made_here : bool
        Whether estimates are an order alone, and whether the lists were made by this package.
    """

    users: int
    single: int
    estimated: Numbers
    lowest: float
    highest: float
    grading: Grading | None
    protocol: str
    order_only: bool
    made_here: bool

    @classmethod
    def of(cls, lists: GroupedLists) -> Looks:
        """Look at lists, all of them or a part."""
        numbers, true = Numbers.of(lists.estimated), lists.true
        grading = None
        if numbers.on_a_scale:
            grading = Grading.of(lists.estimated, true[~np.isnan(true)])
        return cls(
            users=len(lists),
            single=int((lists.n_items == 1).sum()),
            estimated=numbers,
            lowest=float(np.fmin.reduce(true, initial=np.inf)),
            highest=float(np.fmax.reduce(true, initial=-np.inf)),
            grading=grading,
            protocol=lists.protocol,
            order_only=lists.order_only,
            made_here=lists.placed_under is not None,
        )

    def __or__(self, other: Looks) -> Looks:
        """Return the looks of both parts together."""
        some = [one for one in (self, other) if one.estimated.count] or [self]
        estimated = self.estimated | other.estimated
        return Looks(
            self.users + other.users,
            self.single + other.single,
            estimated,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            _joined([one.grading for one in some]) if estimated.on_a_scale else None,
            self.protocol,
            self.order_only,
            self.made_here,
        )

    @property
    def constant(self) -> bool:
        """Whether all estimates are the same."""
        return self.estimated.lowest == self.estimated.highest


def _joined(gradings: list[Grading | None]) -> Grading | None:
    whole: Grading | None = gradings[0]
    for one in gradings[1:]:
        whole = None if whole is None or one is None else whole | one
    return whole
