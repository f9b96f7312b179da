"""Facts: a small summary of all lists, to resolve a plan and to warn about suspicious data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, add_fields
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.labels import collect_labels, remove_impossible

_MOST, _NEARLY_ALL = 0.5, 0.95
_FEW_CLASSES = 2
_TIME_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_EARLIEST, _LATEST = 631_152_000, 2_524_608_000  # the years from 1990 to 2050 in seconds


def find_suspicions(facts: Facts) -> Iterator[str]:
    """Yield a warning for each sign of a mistake in the data.

    Examples
    --------
    >>> from recsys_ndcg.lists import to_lists
    >>> from recsys_ndcg.lists.facts import Facts
    >>> lists = to_lists({"ann": [(4.5, 5)], "bob": [(2.0, 1)]})
    >>> [text.partition(":")[0] for text in find_suspicions(Facts.of(lists))]
    ['2 of 2 users have one item']
    """
    if facts.is_catalogue:  # not made from the user's lists
        return
    is_rated = facts.protocol == "rated"
    if is_rated and facts.users > 1 and facts.single / facts.users > _MOST:
        yield (
            f"{facts.single} of {facts.users} users have one item: any order of it is perfect, so "
            "these users show nothing about the model."
        )
    yield from _find_timestamps("estimated", facts.estimated.lowest, facts.estimated.highest)
    yield from _find_timestamps("true", facts.listed.lowest, facts.listed.highest)
    if is_rated and facts.estimated.count >= _MIN_ROWS and not facts.order_only:
        yield from _find_swapped_columns(facts)
        yield from _find_bound_estimates(facts)


def _find_timestamps(name: str, low: float, high: float) -> Iterator[str]:
    """Yield a warning if all numbers are times between 1990 and 2050."""
    for unit, scale in _TIME_UNITS.items():
        if low / scale >= _EARLIEST and high / scale < _LATEST and high >= low:
            first, last = (str(np.datetime64(int(end / scale), "s"))[:10] for end in (low, high))
            yield (
                f"{name}: all values are times in {unit}, from {first} to {last}. Is this the "
                "column of timestamps? Name the right column with `columns=`."
            )


def _find_swapped_columns(facts: Facts) -> Iterator[str]:
    """Yield a warning if the estimates lie on a rating scale and the true values do not."""
    if facts.scale_grades is None or facts.is_constant:
        return
    estimated, (grades, off_steps) = facts.estimated, facts.scale_grades
    n_labelled = facts.ratings - facts.unlabelled
    if off_steps.count <= _MOST * n_labelled or _is_rating_scale(grades.few):
        return
    # few distinct values are grades, too, for example logarithms of counts
    if grades.few is not None and len(grades.few) <= min(_MAX_GRADES, _MOST * n_labelled):
        return
    yield (
        "The columns estimated and true look swapped: the estimates look like ratings from "
        f"{estimated.lowest:g} to {estimated.highest:g}, but true values such as "
        f"{quote(off_steps.lowest)} do not. Rows are (user, item, estimated, true), but "
        "Surprise's (uid, iid, r_ui, est) have the true rating first: give them as Predictions, or "
        "a table with `columns=`."
    )


def _find_bound_estimates(facts: Facts) -> Iterator[str]:
    """Yield a warning if all estimates are equal, or most were clipped to one end of a scale.

    If a Surprise model diverges, clipping turns its NaN into the top rating, and the predictions
    show no other sign of it. For the top rating, nearly all estimates are enough.
    """
    estimated, top = facts.estimated, facts.listed.highest
    ends = {estimated.lowest: estimated.at_lowest, estimated.highest: estimated.at_highest}
    # a lowest score of 0 is usual for items that the model does not know
    bounds = [end for end in sorted(ends.items()) if end[0] or estimated.lowest != end[0]]
    bound, n_equal = max(bounds or ends.items(), key=itemgetter(1))
    share = n_equal / estimated.count
    if share == 1 or (share >= _NEARLY_ALL and bound >= top > -np.inf):
        count = f"All {n_equal}" if share == 1 else f"{n_equal} of {estimated.count}"
        scale = (
            f", or its rating_scale ends at {bound:g} and clips all estimates (the highest true "
            f"value is {top:g})"
        )
        yield (
            f"{count} estimates are {bound:g}: these items have no order, so the score is about "
            "that of random order. Perhaps the model diverged: its estimates are NaN, and "
            "Surprise's predict() turns NaN into the top of the rating_scale. Check "
            "algo.predict(user, item, clip=False), and train with a smaller learning rate or more "
            "regularisation. If it did not diverge, it gives all items the same estimate"
            f"{scale if top > bound else ''}."
        )
    elif share > _MOST and top > -np.inf and not _are_classes(facts):
        yield (
            f"{share:.1%} of the estimates are exactly {bound}, while the true values range from "
            f"{facts.listed.lowest} to {top}: does the model have the wrong rating_scale? Those "
            "items are tied."
        )


def _are_classes(facts: Facts) -> bool:
    """Return whether the estimates are classes, one of which may be more frequent than all others.

    Two distinct estimates for more than two grades are clipped estimates instead.
    """
    if facts.scale_grades is None:
        return False
    estimates, grades = facts.estimated.few or (), facts.scale_grades[0].few
    return len(estimates) > _FEW_CLASSES or (grades is not None and len(grades) <= _FEW_CLASSES)


_SAMPLE_SIZES = (1000, 1 << 16)  # rows: mostly enough to find more values than a scale has
_SCALES = ((0.5, 20), (0.1, 1), (5, 100))  # the step, and the widest range
_STEP_TOLERANCE = 1e-6  # of a step, because 0.1 + 0.2 is not 0.3
_MAX_STEPS = 41
_MAX_GRADES = 21  # mostly
_MIN_ROWS = 10  # fewer show nothing


@dataclass(frozen=True)
class Grades:
    """The bounds of some true values.

    Parameters
    ----------
    lowest, highest : float
        NaN if nothing is labelled.
    is_binary : bool
        Whether all are 0 or 1.
    distinct : tuple of float, optional
        All distinct values in ascending order; None if they were not requested.
    """

    lowest: float
    highest: float
    is_binary: bool
    distinct: tuple[float, ...] | None = None

    @classmethod
    def of(cls, true: Floats, *, distinct: bool = False) -> Grades:
        """Summarise true values; NaN is unlabelled."""
        lowest = float(np.fmin.reduce(true, initial=np.inf))
        highest = float(np.fmax.reduce(true, initial=-np.inf))
        if lowest > highest:
            return cls(np.nan, np.nan, is_binary=True, distinct=() if distinct else None)
        within = lowest >= 0 and highest <= 1
        is_binary = within and bool(((true == 0) | (true == 1) | np.isnan(true)).all())
        values = np.sort(pd.unique(true[~np.isnan(true)])) if distinct else None
        return cls(lowest, highest, is_binary, None if values is None else tuple(values.tolist()))

    def __add__(self, other: Grades) -> Grades:
        """Return the bounds of both parts together."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = tuple(sorted({*self.distinct, *other.distinct}))
        lowest = float(np.fmin(self.lowest, other.lowest))
        highest = float(np.fmax(self.highest, other.highest))
        return Grades(lowest, highest, self.is_binary and other.is_binary, distinct)

    def suggest_threshold(self) -> float:
        """Return a threshold that fits the scale, for a message: three quarters of the way up.

        Examples
        --------
        >>> scales = [(1, 5), (0, 2), (0, 100), (0.25, 0.75)]
        >>> [Grades(*ends, is_binary=False).suggest_threshold() for ends in scales]
        [4.0, 2.0, 75.0, 0.625]
        """
        value = self.lowest + 0.75 * (self.highest - self.lowest)
        return float(min(math.ceil(value), self.highest)) if self.highest >= 2 else value

    @property
    def values(self) -> Floats:
        """All distinct values if they were requested, else the lowest and the highest."""
        if self.distinct is not None:
            return np.array(self.distinct)
        return np.array([end for end in (self.lowest, self.highest) if not math.isnan(end)])


@dataclass(frozen=True)
class ColumnSummary:
    """The bounds of a column of numbers, without NaN.

    Parameters
    ----------
    count : int
        The number of values.
    lowest, highest : float
        Infinite if there is no value.
    at_lowest, at_highest : int
        The number of values equal to each bound.
    few : tuple of float, optional
        The distinct values in ascending order, if a rating scale can have as many.
    """

    count: int
    lowest: float
    highest: float
    at_lowest: int
    at_highest: int
    few: tuple[float, ...] | None

    @classmethod
    def of(cls, values: Floats) -> ColumnSummary:
        """Summarise numbers; none of them is NaN."""
        lowest = float(values.min(initial=np.inf)) + 0.0  # -0.0 is 0.0
        highest = float(values.max(initial=-np.inf)) + 0.0
        at_lowest, at_highest = (int(np.count_nonzero(values == end)) for end in (lowest, highest))
        return cls(len(values), lowest, highest, at_lowest, at_highest, _list_few(values))

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        """Return the summary of both columns together."""
        both, count = (self, other), self.count + other.count
        lowest, highest = min(one.lowest for one in both), max(one.highest for one in both)
        at_lowest = sum(one.at_lowest for one in both if one.lowest == lowest)
        at_highest = sum(one.at_highest for one in both if one.highest == highest)
        few = None
        if self.few is not None and other.few is not None:
            few = _list_few(np.array(self.few + other.few))
        return ColumnSummary(count, lowest, highest, at_lowest, at_highest, few)


def _list_few(values: Floats) -> tuple[float, ...] | None:
    """Return the distinct values in ascending order; None if no rating scale has as many."""
    for size in (*_SAMPLE_SIZES, len(values)):
        distinct = pd.unique(values[:size])
        if len(distinct) > _MAX_STEPS:
            return None
    return tuple((np.sort(distinct) + 0.0).tolist())  # -0.0 is 0.0


def _is_rating_scale(few: tuple[float, ...] | None) -> bool:
    """Return whether values are stars or half stars, tenths up to 1, or multiples of 5 percent.

    Examples
    --------
    >>> [_is_rating_scale(few) for few in ((1, 4.5), (0.3, 1), (20, 100), (1, 4.1))]
    [True, True, True, False]
    """
    if not few:
        return few is not None
    values = np.array(few)
    with np.errstate(over="ignore", invalid="ignore"):  # the largest floats
        width = values[-1] - values[0]
        scaled = [values / step for step, widest in _SCALES if width <= widest]
        return any((np.abs(one - one.round()) < _STEP_TOLERANCE).all() for one in scaled)


@dataclass(frozen=True)
class WeightSummary:
    """How the weight of relevant labels is distributed.

    Parameters
    ----------
    counts : mapping of float to int
        The number of relevant labels with each weight.
    labels, in_propensity : int
        The number of all labels, and of those among the rows that propensity was estimated from.
    """

    counts: Mapping[float, int]
    labels: int = 0
    in_propensity: int = 0

    @classmethod
    def of(cls, lists: GroupedLists, threshold: float | None) -> WeightSummary | None:
        """Summarise the weights of labels of at least a threshold, or else above 0."""
        if lists.weights is None:
            return None
        least = np.nextafter(0, 1) if threshold is None else threshold
        labels = collect_labels(lists)
        weights = labels.columns["weight"][labels.columns["true"] >= least]
        values, counts = np.unique(weights, return_counts=True)
        by_weight = dict(zip(values.tolist(), counts.tolist(), strict=True))
        known, user = lists.background, labels.user.astype(np.int64)
        if known is None or known.propensity is None:
            return cls(by_weight, len(user))
        items, item = np.asarray(lists.item_ids), np.asarray(labels.item, dtype=np.int64)
        found = known.propensity.find_training_rows(lists.users, user, items, item)
        return cls(by_weight, len(user), int(found.sum()))

    def __add__(self, other: WeightSummary) -> WeightSummary:
        """Return the summary of both parts together."""
        counts = Counter(self.counts)
        counts.update(other.counts)
        return add_fields(self, other, counts=dict(sorted(counts.items())))

    @property
    def numbers(self) -> dict[str, float]:
        """The number of labels, their effective number, and the share of the heaviest 1 %.

        The effective number is (Σv)²/Σv² (Kish 1965): so many labels of equal weight would give a
        mean as precise. The heaviest 1 % are at least one label.
        """
        values, counts = np.array([*self.counts]), np.array([*self.counts.values()], dtype=float)
        n_labels, unit = counts.sum(), values.max(initial=0)
        if not unit:
            return {"labels": float(n_labels), "effective": 0.0, "top_share": np.nan}
        values = values / unit
        total = (values * counts).sum()
        n_before = np.cumsum(counts[::-1])[::-1] - counts  # heavier labels
        in_top = np.clip(np.ceil(n_labels / 100) - n_before, 0, counts)
        return {
            "labels": float(n_labels),
            "effective": float(total**2 / (values**2 * counts).sum()),
            "top_share": float((values * in_top).sum() / total),
        }


@dataclass(frozen=True)
class Facts:
    """A summary of lists that is enough to resolve a plan; summaries of parts can be added.

    Parameters
    ----------
    users, single, ratings, unlabelled, missing, impossible, merged : int
        The numbers of users; users with one item; rows; rows without a true value; labelled users
        without a list; predictions that the model could not make; repeated rows that were merged.
    longest : int
        The largest number of items of a user, in the list or labelled.
    listed, unlisted : Grades
        The true values of items in the lists, and of labelled items in no list.
    estimated : ColumnSummary
        The estimates.
    scale_grades : pair of ColumnSummary, optional
        Only if the estimates lie on a rating scale: the true values, and the true values that are
        neither whole nor halves.
    protocol, duplicates : str
        As in the lists.
    order_only, has_items : bool
        Whether estimates are only an order, and whether items have ids.
    id_types : frozenset of str
        The types of the user ids.
    ranked_under : pair of Convention and float, optional
        The choices and the threshold of lists that have places instead of items.
    background : Background, optional
        What is known besides the lists.
    weights : WeightSummary, optional
        The weights of relevant labels; None if labels are not weighted.
    possible : Facts, optional
        The facts without impossible predictions; None if there is no such prediction.
    first_tie_ranks : mapping
        The first rank of any tie, inf without ties, by `Measurement.sort_key` (a way to compare
        estimates). Only for measurements that some ties leave without a score.
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
    ranked_under: tuple[Convention, float | None] | None = None
    background: Background | None = None
    weights: WeightSummary | None = None
    possible: Facts | None = None
    first_tie_ranks: Mapping[Hashable, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, lists: GroupedLists, *, keep_distinct: bool = False, threshold: float | None = None
    ) -> Facts:
        """Summarise lists.

        Parameters
        ----------
        lists : GroupedLists
            All lists, or a part of them.
        keep_distinct : bool
            Whether to find all distinct grades, which gains by a mapping or a function need.
        threshold : float, optional
            The least grade of a relevant item.

        Examples
        --------
        >>> from recsys_ndcg.lists import to_lists
        >>> facts = Facts.of(to_lists({"ann": [(4.5, 5), (2.0, None)]}))
        >>> facts.unlabelled, facts.listed.highest
        (1, 5.0)
        """
        estimated, true = ColumnSummary.of(lists.estimated), lists.true
        scale_grades = possible = None
        if _is_rating_scale(estimated.few):
            grades = true[~np.isnan(true)]
            scale_grades = ColumnSummary.of(grades), ColumnSummary.of(grades[grades % 0.5 != 0])
        if lists.impossible is not None:
            possible = cls.of(remove_impossible(lists), keep_distinct=keep_distinct)
        return cls(
            users=len(lists),
            single=int((lists.n_items == 1).sum()),
            ratings=int(lists.n_items.sum()),
            unlabelled=int(lists.pool.count_unlabelled(lists).sum()),
            missing=int(lists.missing.sum()),
            impossible=int(lists.pool.count_impossible(lists).sum()),
            merged=0 if lists.repeats is None else int(lists.repeats.sum()),
            longest=int(lists.pool.count_ranks(lists).max(initial=1)),
            listed=Grades.of(true, distinct=keep_distinct),
            unlisted=Grades.of(lists.unlisted["true"], distinct=keep_distinct),
            estimated=estimated,
            scale_grades=scale_grades,
            protocol=lists.protocol,
            duplicates=lists.duplicates,
            order_only=lists.order_only,
            has_items=lists.item_codes is not None,
            id_types=frozenset(EncodedIds.list_types(lists.users)),
            ranked_under=lists.pool.ranked_under,
            background=lists.background,
            weights=WeightSummary.of(lists, threshold),
            possible=possible,
        )

    def __add__(self, other: Facts) -> Facts:
        """Return the facts of both parts together, in either order.

        Raises
        ------
        InvalidInputError
            The parts were not read with the same options, or no id can be in both.
        """
        options = ("protocol", "duplicates", "order_only", "has_items", "ranked_under")
        kept = {name: getattr(self, name) for name in (*options, "background")}
        for name in options:
            mine, theirs = kept[name], getattr(other, name)
            if mine != theirs:
                msg = f"Parts of the data differ in {name}: {mine!r} and {theirs!r}. Use one value."
                raise InvalidInputError(msg)
        if self.id_types.isdisjoint(other.id_types):
            msg = (
                f"Parts of the data have users of type {'/'.join(sorted(self.id_types))} and "
                f"{'/'.join(sorted(other.id_types))}. Make them the same type."
            )
            raise InvalidInputError(msg)
        possible = None
        if self.possible or other.possible:
            possible = (self.possible or self) + (other.possible or other)
        both = add_fields(
            self,
            other,
            **kept,
            longest=max(self.longest, other.longest),
            id_types=self.id_types | other.id_types,
            weights=self.weights + other.weights
            if self.weights and other.weights
            else self.weights or other.weights,
            possible=possible,
            first_tie_ranks={
                key: min(facts.first_tie_ranks.get(key, np.inf) for facts in (self, other))
                for key in {**self.first_tie_ranks, **other.first_tie_ranks}
            },
        )
        return both if _is_rating_scale(both.estimated.few) else replace(both, scale_grades=None)

    @property
    def is_catalogue(self) -> bool:
        """Whether their pool is a `CataloguePool`, made by ranking a catalogue here.

        Recommendations that were read from data are not, even under the protocol "catalogue".
        """
        return self.ranked_under is not None

    @property
    def is_constant(self) -> bool:
        """Whether all items of rated lists have the same estimate (with its own warning)."""
        several = not self.is_catalogue and self.estimated.count >= _MIN_ROWS
        same = self.estimated.lowest == self.estimated.highest
        return several and self.protocol == "rated" and same

    def find_threshold_suspicions(self, threshold: float) -> Iterator[str]:
        """Yield a warning if a threshold separates no items."""
        grades = self.all_grades
        if threshold > grades.highest:
            yield (
                f"`threshold={threshold:g}` is above every true value (the highest is "
                f"{grades.highest:g}), so nothing is relevant. Give the threshold of this scale."
            )
        # data of relevant items only is usual, but a grade of 0 means irrelevant
        is_complete = self.protocol == "rated" and not self.unlabelled
        if threshold <= grades.lowest and (is_complete or grades.lowest <= 0):
            yield (
                f"`threshold={threshold:g}` is at or below every true value (the lowest is "
                f"{grades.lowest:g}), so every rated item is relevant. Give the threshold of this "
                "scale."
            )

    def apply_convention(self, convention: Convention) -> Facts:
        """Return the facts of the lists under a convention, which may drop predictions."""
        return self.possible or self if convention.impossible == "drop" else self

    def find_grades(self, convention: Convention) -> Grades:
        """Return the bounds of the true values that count under a convention."""
        facts = self.apply_convention(convention)
        return facts.listed if convention.unlisted == "ignore" else facts.all_grades

    @property
    def all_grades(self) -> Grades:
        """The bounds of the true values of all labelled items."""
        return self.listed + self.unlisted
