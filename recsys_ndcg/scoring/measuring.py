"""All columns that share a sort in one pass over blocks of users."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists, prepare
from recsys_ndcg.metrics import Metric
from recsys_ndcg.parallel import map_in_threads, split_users
from recsys_ndcg.ranking import GradedLists, Ranking, SortedLists
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import ListCounts, Scores

Result = TypeVar("Result")


def in_blocks(
    lists: GroupedLists, measurements: tuple[Measurement, ...], work: Callable[[Block], Result]
) -> list[Result]:
    """Return what is made of each block of users, in their order.

    Parameters
    ----------
    lists : GroupedLists
        As they came.
    measurements : tuple of Measurement
        What is measured, as far as it decides how deep lists are ranked and what items need.
    work : callable
        Takes a block.
    """
    depths = [one.metric.depth for one in measurements]
    depth = None if None in depths else max(one for one in depths if one is not None)
    if any(one.convention.ties.startswith("text") for one in measurements):
        lists = lists.with_text_order()
    width = lists.n_places
    blocks = split_users(lists.offsets, width if depth is None else np.minimum(width, depth))

    return map_in_threads(lambda users: work(Block(lists.between(*users), depth)), blocks)


@dataclass(eq=False, repr=False)
class Block:
    """Some users, with whatever several measurements share worked out once.

    Parameters
    ----------
    lists : GroupedLists
        The lists of these users, as they came.
    depth : int, optional
        How many ranks are looked at.
    """

    lists: GroupedLists
    depth: int | None
    _cache: Cache = field(default_factory=Cache, init=False)

    def scores(self, measurements: tuple[Measurement, ...]) -> Scores:
        """Fill a column for each measurement; the lists are counted as the first one has them."""
        first, shape = measurements[0], (len(self.lists), len(measurements))
        numerator, denominator = np.full(shape, np.nan), np.full(shape, np.nan)
        left_out = np.zeros(shape, dtype=bool)
        for place, one in enumerate(measurements):
            if not one.reason:
                numerator[:, place], denominator[:, place] = self._parts(one)
                left_out[:, place] = self._left_out(one)
        key = "counts", self._graded(first), self._sorted(first), first.threshold
        counts = self._cache.get_or_compute(key, lambda: self._counts(first))
        return Scores(measurements, self.lists.users, numerator, denominator, left_out, counts)

    def deviations(self, measurements: tuple[Measurement, ...]) -> Floats:
        """Return the standard deviations of the numerators over all orders of the lists."""
        found = np.full((len(self.lists), len(measurements)), np.nan)
        for place, one in enumerate(measurements):
            if not one.reason:
                found[:, place] = one.metric.deviation(self._ranking(one, self._key(one)))
        return found

    def any_tied(self, measurements: tuple[Measurement, ...]) -> bool:
        """Tell whether any of the measurements has ties at the ranks that are looked at."""
        return any(self._sorted(one).runs.shared for one in measurements if not one.reason)

    def _parts(self, one: Measurement) -> tuple[Floats, Floats]:
        key = self._key(one)
        return self._cache.get_or_compute(
            (one.metric, key), lambda: _collected(one.metric, self._ranking(one, key))
        )

    def _ranking(self, one: Measurement, key: Hashable) -> Ranking:
        return self._cache.get_or_compute(
            key,
            lambda: Ranking(self._graded(one), self._sorted(one), one.convention, one.threshold),
        )

    def _key(self, one: Measurement) -> Hashable:
        """Tell rankings apart; where nothing is tied, the rule for ties makes no difference."""
        in_order = self._sorted(one)
        ties = one.convention.ties if in_order.runs.shared else ""
        return self._graded(one), in_order, one.threshold, ties, one.choices

    def _sorted(self, one: Measurement) -> SortedLists:
        """Sort the rows once for all that compare the same estimates of them."""
        tolerance = None if one.blind else one.convention.tie_tolerance
        return self._cache.get_or_compute(
            ("in order", self._rows(one), tolerance, one.blind),
            lambda: SortedLists(self._graded(one).lists, one.convention, self.depth, one.blind),
        )

    def _graded(self, one: Measurement) -> GradedLists:
        """Prepare the lists once for all that see the same items and labels."""
        impossible, filtered = self._rows(one)
        unlisted = one.convention.unlisted
        if impossible != "drop" and not len(self.lists.unlisted_true):
            unlisted = "count"
        # where impossible predictions go depends on the step that estimates are rounded to
        step = one.convention.tie_tolerance if impossible == "last" else None
        return self._cache.get_or_compute(
            ("graded", impossible, step, filtered, unlisted, one.unlabelled_as, one.blind),
            lambda: GradedLists(
                prepare(self.lists, one.convention, unlabelled_as=one.unlabelled_as),
                best_first=one.blind,
            ),
        )

    def _rows(self, one: Measurement) -> tuple[str, bool]:
        """Tell apart which rows there are, where the choices that decide it make a difference."""
        impossible, filtered = one.rows
        if self.lists.impossible is None:
            impossible = "rank"
        return impossible, filtered and self._has_unlabelled

    @lazy_property
    def _has_unlabelled(self) -> bool:
        return self.lists.n_unlabelled > 0

    def _left_out(self, one: Measurement) -> Flags:
        """Tell whom the convention leaves out."""
        graded, convention = self._graded(one), one.convention
        left_out = np.zeros(len(self.lists), dtype=bool)
        if convention.mean_over == "labelled":
            left_out |= graded.n_labelled == 0
        elif convention.mean_over == "relevant":
            left_out |= graded.n_relevant(one.threshold) == 0
        if convention.missing_user == "skip":
            left_out |= graded.lists.missing
        if convention.short_list == "drop":
            left_out |= graded.lists.n_items < one.short_below
        return left_out

    def _counts(self, one: Measurement) -> ListCounts:
        lists, graded = self.lists, self._graded(one)
        n = len(lists)
        known = one.threshold is not None
        return ListCounts(
            n_items=graded.lists.n_items,
            n_relevant=graded.n_relevant(one.threshold) if known else np.full(n, np.nan),
            tied=np.isfinite(self._sorted(one).first_tie),
            missing=graded.lists.missing,
            ratings=lists.n_items,
            candidates=lists.n_items if lists.candidates is None else lists.candidates,
            unlabelled=lists.unlabelled_by_user,
            unlisted=lists.n_unlisted,
            impossible=lists.impossible_by_user,
            repeats=np.zeros(n, dtype=np.int64) if lists.repeats is None else lists.repeats,
        )


def _collected(metric: Metric, ranking: Ranking) -> tuple[Floats, Floats]:
    """Return the numerator and the denominator of every user."""
    with np.errstate(over="ignore"):  # said of the scores, by name
        numerator, denominator = metric.numerator(ranking), metric.denominator(ranking)
    if metric.bounded:  # what exceeds 1 is the last digit of a sum
        numerator = np.minimum(numerator, denominator)
    return numerator, denominator
