"""Facts: the little one must know of all lists to settle what is measured and to see mistakes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import add, itemgetter

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.lists.grouped_lists import GroupedLists

_MOST, _NEARLY = 0.5, 0.95
_ENDS = 2  # values of a scale, at least
_TIMES = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_FIRST, _LAST = 631_152_000, 2_524_608_000  # the years from 1990 to 2050 in seconds


def find_suspicions(facts: Facts) -> Iterator[str]:
    """Return a sentence for each thing that looks like a mistake, with what to do.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> from recsys_ndcg.lists.facts import Facts
    >>> lists = RankedLists.from_tuples({"ann": [(4.5, 5)], "bob": [(2.0, 1)]})
    >>> [told.partition(":")[0] for told in find_suspicions(Facts.of(lists))]
    ['2 of 2 users have one item']
    """
    if facts.placement_choices is not None:  # made here, of none of the user's mistakes
        return
    is_rated = facts.protocol == "rated"
    if is_rated and facts.users > 1 and facts.single / facts.users > _MOST:
        yield (
            f"{facts.single} of {facts.users} users have one item: any order of it is perfect, so "
            "these users say nothing about the model."
        )
    yield from _times("estimated", facts.estimated.lowest, facts.estimated.highest)
    yield from _times("true", facts.listed.lowest, facts.listed.highest)
    if is_rated and facts.estimated.count >= FEW_ROWS and not facts.order_only:
        yield from _exchanged(facts)
        yield from _at_a_bound(facts)


def _times(name: str, low: float, high: float) -> Iterator[str]:
    """Tell of numbers that are all moments of these decades."""
    for unit, scale in _TIMES.items():
        if low / scale >= _FIRST and high / scale < _LAST and high >= low:
            first, last = (str(np.datetime64(int(end / scale), "s"))[:10] for end in (low, high))
            yield (
                f"{name}: all values are times in {unit}, from {first} to {last}. Was the column "
                "of the timestamps taken? Name the right one with columns= (--columns)."
            )


def _exchanged(facts: Facts) -> Iterator[str]:
    """Tell of estimates that stand where ratings do, and true values that do not."""
    if facts.scale_grades is None or facts.is_constant:
        return
    estimated, (grades, off_steps) = facts.estimated, facts.scale_grades
    n_labelled = facts.ratings - facts.unlabelled
    if off_steps.count <= _MOST * n_labelled or _on_a_scale(grades.few):
        return
    # grades too, as logarithms of counts
    if grades.few is not None and len(grades.few) <= min(FEW, _MOST * n_labelled):
        return
    yield (
        "The columns estimated and true look swapped: the estimates are the steps of a scale "
        f"from {estimated.lowest:g} to {estimated.highest:g}, as ratings are, and true values such "
        f"as {quote(off_steps.lowest)} are not. Rows are (user, item, estimated, true), but "
        "Surprise's (uid, iid, r_ui, est) have the true rating first: give them as Predictions, or "
        "a table with columns= (--columns)."
    )


def _at_a_bound(facts: Facts) -> Iterator[str]:
    """Tell of estimates that are one value, or were cut to one end of the scale.

    Clipping turns the NaN of a model of Surprise's that diverged into the top rating, so that
    nothing else of it can be seen in predictions. Nearly all are enough, if that is the top indeed.
    """
    estimated, top = facts.estimated, facts.listed.highest
    ends = {estimated.lowest: estimated.at_lowest, estimated.highest: estimated.at_highest}
    # scores are 0 where a model knows nothing
    counted = [one for one in sorted(ends.items()) if one[0] or estimated.lowest != one[0]]
    bound, n_there = max(counted or ends.items(), key=itemgetter(1))
    share = n_there / estimated.count
    if share == 1 or (share >= _NEARLY and bound >= top > -np.inf):
        so_many = f"All {n_there}" if share == 1 else f"{n_there} of {estimated.count}"
        scale = f", or its rating_scale ends there (the true values run to {top:g})"
        yield (
            f"{so_many} estimates are {bound:g}: their order is random, and so is the score. The "
            "model may have diverged, for Surprise's predict() cuts NaN to the top of the "
            "rating_scale: look at algo.predict(user, item, clip=False), and train with a smaller "
            "learning rate or more regularisation. Else it estimates the same for everything"
            f"{scale if top > bound else ''}."
        )
    elif share > _MOST and top > -np.inf and not _classes(facts):
        yield (
            f"{share:.1%} of the estimates are exactly {bound}, while the true values run from "
            f"{facts.listed.lowest} to {top}: was the model given the wrong rating_scale? Those "
            "items are tied."
        )


def _classes(facts: Facts) -> bool:
    """Tell estimates of a classifier, of which one may well be the most frequent.

    Only the two ends, where more than two are to be estimated, are huge estimates that were cut.
    """
    if facts.scale_grades is None:
        return False
    estimates, grades = facts.estimated.few or (), facts.scale_grades[0].few
    return len(estimates) > _ENDS or (grades is not None and len(grades) <= _ENDS)


_LOOKS = (1000, 1 << 16)  # rows that tell at once that a column is an ordinary one
_SCALES = ((0.5, 20), (0.1, 1), (5, 100))  # a step, and the widest from the least to the most
_NEAR = 1e-6  # of a step, for 0.1 + 0.2 is not 0.3
_STEPS = 41  # of a scale, at most
#: More distinct values than grades mostly have.
FEW = 21
#: Of fewer rows, nothing can be told.
FEW_ROWS = 10


@dataclass(frozen=True)
class Grades:
    """The bounds of some true values.

    Parameters
    ----------
    lowest, highest : float
        NaN where nothing is labelled.
    is_binary : bool
        Whether all are 0 or 1.
    distinct : tuple of float, optional
        All that occur, in ascending order; None where nobody asked.
    """

    lowest: float
    highest: float
    is_binary: bool
    distinct: tuple[float, ...] | None = None

    @classmethod
    def of(cls, true: Floats, *, distinct: bool = False) -> Grades:
        """Look at true values, NaN where unlabelled."""
        lowest = float(np.fmin.reduce(true, initial=np.inf))
        highest = float(np.fmax.reduce(true, initial=-np.inf))
        if lowest > highest:
            return cls(np.nan, np.nan, is_binary=True, distinct=() if distinct else None)
        binary = lowest >= 0 and highest <= 1
        is_binary = binary and bool(((true == 0) | (true == 1) | np.isnan(true)).all())
        values = np.sort(pd.unique(true[~np.isnan(true)])) if distinct else None
        return cls(lowest, highest, is_binary, None if values is None else tuple(values.tolist()))

    def __add__(self, other: Grades) -> Grades:
        """Return those of both."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = tuple(sorted({*self.distinct, *other.distinct}))
        lowest = float(np.fmin(self.lowest, other.lowest))
        highest = float(np.fmax(self.highest, other.highest))
        return Grades(lowest, highest, self.is_binary and other.is_binary, distinct)

    @property
    def values(self) -> Floats:
        """All that occur if they were asked for, else the ends."""
        if self.distinct is not None:
            return np.array(self.distinct)
        return np.array([end for end in (self.lowest, self.highest) if not math.isnan(end)])


@dataclass(frozen=True)
class ColumnSummary:
    """A column of numbers, NaN left out.

    Parameters
    ----------
    count : int
        How many there are.
    lowest, highest : float
        Infinite where there are none.
    at_lowest, at_highest : int
        How many are these.
    few : tuple of float, optional
        The distinct ones in ascending order, if they are no more than a scale has.
    """

    count: int
    lowest: float
    highest: float
    at_lowest: int
    at_highest: int
    few: tuple[float, ...] | None

    @classmethod
    def of(cls, values: Floats) -> ColumnSummary:
        """Look at numbers, none of them NaN."""
        lowest = float(values.min(initial=np.inf)) + 0.0  # -0.0 is 0.0
        highest = float(values.max(initial=-np.inf)) + 0.0
        at_lowest, at_highest = (int(np.count_nonzero(values == end)) for end in (lowest, highest))
        return cls(len(values), lowest, highest, at_lowest, at_highest, _few_of(values))

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        """Return the summary of both columns together."""
        both = (self, other)
        lowest, highest = min(one.lowest for one in both), max(one.highest for one in both)
        few = None
        if self.few is not None and other.few is not None:
            few = _few_of(np.array(self.few + other.few))
        return ColumnSummary(
            self.count + other.count,
            lowest,
            highest,
            sum(one.at_lowest for one in both if one.lowest == lowest),
            sum(one.at_highest for one in both if one.highest == highest),
            few,
        )


def _few_of(values: Floats) -> tuple[float, ...] | None:
    """Return the distinct values in ascending order, None if a scale has not as many."""
    for size in (*_LOOKS, len(values)):
        found = pd.unique(values[:size])
        if len(found) > _STEPS:
            return None
    return tuple((np.sort(found) + 0.0).tolist())  # -0.0 is 0.0


def _on_a_scale(few: tuple[float, ...] | None) -> bool:
    """Tell stars or halves of them, tenths up to 1, or percents in fives.

    Examples
    --------
    >>> [_on_a_scale(few) for few in ((1, 4.5), (0.3, 1), (20, 100), (1, 4.1))]
    [True, True, True, False]
    """
    if not few:
        return few is not None
    values = np.array(few)
    with np.errstate(over="ignore", invalid="ignore"):  # the greatest numbers are on no scale
        width = values[-1] - values[0]
        parts = [values / step for step, widest in _SCALES if width <= widest]
        return any((np.abs(one - one.round()) < _NEAR).all() for one in parts)


@dataclass(frozen=True)
class Facts:
    """What settles a plan: small, found for each part of the data, and merged.

    Parameters
    ----------
    users, single, ratings, unlabelled, missing, impossible, merged : int
        How many users there are, and how many have one item; rows; rows without a true value;
        labelled users without a list; predictions that the model could not make; repeated rows
        that were merged.
    longest : int
        The items of the longest list, with the user's labelled items that are not in it.
    listed, unlisted : Grades
        The true values of items in the lists, and of labelled items in no list.
    estimated : ColumnSummary
        The estimates.
    scale_grades : pair of ColumnSummary, optional
        Only of estimates that stand on a scale, as grades do: the grades beside them, and those of
        these that are neither whole nor halves.
    protocol, duplicates : str
        As in the lists.
    order_only, has_items : bool
        Whether estimates are an order alone, and whether items have ids.
    id_kinds : frozenset of str
        Of what types the ids of the users are.
    placement_choices : pair of Convention and float, optional
        By which choices, and which threshold, the lists hold places in place of items.
    possible : Facts, optional
        Those of the lists without impossible predictions; None where there are none.
    first_ties : mapping
        By how estimates are compared, the first rank at which any two are tied; only where a
        measurement hangs on it.
    """

    users: int
    single: int
    ratings: int
    unlabelled: int
    missing: int
    impossible: int
    merged: int
    longest: int
    listed: Grades
    unlisted: Grades
    estimated: ColumnSummary
    scale_grades: tuple[ColumnSummary, ...] | None
    protocol: str
    duplicates: str
    order_only: bool
    has_items: bool
    id_types: frozenset[str]
    placement_choices: tuple[Convention, float | None] | None = None
    possible: Facts | None = None
    first_ties: Mapping[Hashable, float] = field(default_factory=dict)

    @classmethod
    def of(cls, lists: GroupedLists, *, distinct: bool = False) -> Facts:
        """Look at lists.

        Parameters
        ----------
        lists : GroupedLists
            All of them, or a part.
        distinct : bool
            Whether to find every grade that occurs, which gains by a mapping or function need.

        Examples
        --------
        >>> from recsys_ndcg import RankedLists
        >>> facts = Facts.of(RankedLists.from_tuples({"ann": [(4.5, 5), (2.0, None)]}))
        >>> facts.unlabelled, facts.listed.highest
        (1, 5.0)
        """
        estimated, true = ColumnSummary.of(lists.estimated), lists.true
        scale_grades = possible = None
        if _on_a_scale(estimated.few):
            grades = true[~np.isnan(true)]
            scale_grades = ColumnSummary.of(grades), ColumnSummary.of(grades[grades % 0.5 != 0])
        if lists.impossible is not None:
            possible = cls.of(lists.without_impossible(), distinct=distinct)
        return cls(
            users=len(lists),
            single=int((lists.n_items == 1).sum()),
            ratings=int(lists.n_items.sum()),
            unlabelled=lists.n_unlabelled,
            missing=int(lists.missing.sum()),
            impossible=lists.n_impossible,
            merged=lists.n_merged,
            longest=int(lists.n_places.max(initial=1)),
            listed=Grades.of(true, distinct=distinct),
            unlisted=Grades.of(lists.unlisted_true, distinct=distinct),
            estimated=estimated,
            scale_grades=scale_grades,
            protocol=lists.protocol,
            duplicates=lists.duplicates,
            order_only=lists.order_only,
            has_items=lists.item_codes is not None,
            id_types=frozenset(EncodedIds.list_types(lists.users)),
            placement_choices=lists.placement_choices,
            possible=possible,
        )

    def __add__(self, other: Facts) -> Facts:
        """Return the facts of both parts together, whichever comes first.

        Raises
        ------
        InvalidInputError
            The parts were not read in the same way, or their ids can never meet.
        """
        for name in ("protocol", "duplicates", "order_only", "has_items", "placement_choices"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                msg = (
                    f"Parts of the data differ in {name}: {mine!r} and {theirs!r}. Read all alike."
                )
                raise InvalidInputError(msg)
        if self.id_types.isdisjoint(other.id_types):
            msg = (
                f"Parts of the data have users of type {'/'.join(sorted(self.id_types))} and "
                f"{'/'.join(sorted(other.id_types))}. Make them the same type."
            )
            raise InvalidInputError(msg)
        summed = ("users", "single", "ratings", "unlabelled", "missing", "impossible", "merged")
        both = {
            name: getattr(self, name) + getattr(other, name)
            for name in (*summed, "listed", "unlisted", "estimated")
        }
        possible = None
        if self.possible or other.possible:
            possible = (self.possible or self) + (other.possible or other)
        scale_grades = None
        if self.scale_grades and other.scale_grades and _on_a_scale(both["estimated"].few):
            scale_grades = tuple(map(add, self.scale_grades, other.scale_grades))
        return replace(
            self,
            **both,
            longest=max(self.longest, other.longest),
            scale_grades=scale_grades,
            id_types=self.id_types | other.id_types,
            possible=possible,
            first_ties={
                key: min(facts.first_ties.get(key, np.inf) for facts in (self, other))
                for key in {**self.first_ties, **other.first_ties}
            },
        )

    @property
    def is_constant(self) -> bool:
        """Whether all items of rated lists have the same estimate, which is said as such."""
        several = self.placement_choices is None and self.estimated.count >= FEW_ROWS
        same = self.estimated.lowest == self.estimated.highest
        return several and self.protocol == "rated" and same

    def find_threshold_suspicions(self, threshold: float) -> Iterator[str]:
        """Return what is to be said of a threshold that separates no items."""
        grades = self.all_grades
        if threshold > grades.highest:
            yield (
                f"threshold={threshold:g} is above every true value (the highest is "
                f"{grades.highest:g}), so nothing is relevant. Give the threshold of this scale."
            )
        # labels of what was liked alone are usual, but a grade of 0 says that it was not
        alike = self.protocol == "rated" and not self.unlabelled
        if threshold <= grades.lowest and (alike or grades.lowest <= 0):
            yield (
                f"threshold={threshold:g} is at or below every true value (the lowest is "
                f"{grades.lowest:g}), so every rated item is relevant. Give the threshold of this "
                "scale."
            )

    def apply_convention(self, convention: Convention) -> Facts:
        """Return the facts of what a convention leaves of the lists."""
        return self.possible or self if convention.impossible == "drop" else self

    def find_grades(self, convention: Convention) -> Grades:
        """Return the true values that count under a convention."""
        seen = self.apply_convention(convention)
        return seen.listed if convention.unlisted == "ignore" else seen.all_grades

    @property
    def all_grades(self) -> Grades:
        """The true values of all labelled items."""
        return self.listed + self.unlisted
