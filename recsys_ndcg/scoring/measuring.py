"""Measuring blocks of users: one pass over the lists, one sort for all columns that share it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, compute_offsets
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists, prepare_lists
from recsys_ndcg.metrics import Metric, OverLists
from recsys_ndcg.parallel import map_in_threads, split_users
from recsys_ndcg.ranking import (
    Exposures,
    GradedLists,
    Ranking,
    SampledRanking,
    SortedLists,
    rank_sorted_lists,
)
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import ListCounts, Scores

_ROUNDING = 1e-9

Result = TypeVar("Result")


def map_blocks(
    lists: GroupedLists, measurements: tuple[Measurement, ...], work: Callable[[Block], Result]
) -> list[Result]:
    """Call a function with each block of users in threads, and return the results in order.

    Parameters
    ----------
    lists : GroupedLists
        The lists as they were read.
    measurements : tuple of Measurement
        They decide how deep lists are ranked, and whether items are ordered as text.
    work : callable
        The function, called with a `Block`.
    """
    depths = [one.metric.depth for one in measurements]
    depth = None if None in depths else max(depth for depth in depths if depth is not None)
    by_text = any(one.convention.tie_rule.by == "text" for one in measurements)
    if by_text and lists.item_codes is not None:
        lists = lists.with_columns(text=lists.find_text_places())
    n_read = lists.pool.count_ranks(lists)
    n_read = n_read if depth is None else np.minimum(n_read, depth)
    blocks = split_users(lists.offsets, n_read)
    return map_in_threads(lambda users: work(Block(lists.take(slice(*users)), depth)), blocks)


def look_up_estimates(lists: GroupedLists, estimated: Floats) -> GroupedLists:
    """Return lists with the estimates at the places in their column `place`."""
    return lists.with_columns(estimated=estimated[lists.columns["place"]])


@dataclass(eq=False, repr=False)
class Block(Cache):
    """Some users, with a cache of the sorts and rankings that several measurements share.

    Parameters
    ----------
    lists : GroupedLists
        The lists of these users, as they were read.
    depth : int, optional
        The number of ranks that are read.
    """

    lists: GroupedLists
    depth: int | None
    _labels: tuple[Block, Floats] | None = field(default=None, init=False)

    def with_estimates(self, estimated: Floats) -> Block:
        """Return the block with other estimates; what depends on the labels alone is kept.

        The column `place` of the lists has positions in `estimated`.
        """
        block = Block(self.lists, self.depth)
        block._labels = self, estimated
        return block

    def score(self, measurements: tuple[Measurement, ...]) -> Scores:
        """Fill a column for each measurement; list counts are those under the first measurement."""
        first, shape = measurements[0], (len(self.lists), len(measurements))
        numerator, denominator = np.full(shape, np.nan), np.full(shape, np.nan)
        left_out = np.zeros(shape, dtype=bool)
        for column, one in enumerate(measurements):
            if not one.no_score_reason:
                numerator[:, column], denominator[:, column] = self._get_fractions(one)
                left_out[:, column] = self._find_left_out(one)
        key = "counts", self._get_graded(first), self._get_sorted(first), first.threshold
        needs = {name for one in measurements for name in (*one.metric.needs, *one.metric.marks)}
        counts = self.get_or_compute(key, lambda: self._count_items(first, needs))
        exposures = tuple(self._get_exposures(one) for one in measurements)
        if not any(exposures):
            exposures = ()
        users, tables = self.lists.users, (numerator, denominator, left_out)
        return Scores(measurements, users, *tables, counts, exposures=exposures)

    def compute_deviations(self, measurements: tuple[Measurement, ...]) -> Floats:
        """Compute the standard deviations of the numerators over all orders of the lists."""
        deviations = np.full((len(self.lists), len(measurements)), np.nan)
        for column, one in enumerate(measurements):
            if not one.no_score_reason:
                deviations[:, column] = one.metric.deviation(self.get_ranking(one))
        return deviations

    def find_tied(self, measurements: tuple[Measurement, ...]) -> Positions:
        """Return the users with ties at the ranks that are read, or all users if most have ties."""
        is_tied = np.zeros(len(self.lists), dtype=bool)
        for one in measurements:
            if not one.no_score_reason:
                groups = self._get_sorted(one).tie_groups
                is_tied[groups.user[groups.size > 1]] = True
        has_many = 2 * np.count_nonzero(is_tied) > len(is_tied)
        return np.arange(len(is_tied)) if has_many else np.flatnonzero(is_tied)

    def take(self, users: Positions) -> Block:
        """Return some users; all of them share the sorts of this block."""
        return self if len(users) == len(self.lists) else Block(self.lists.take(users), self.depth)

    def _get_exposures(self, one: Measurement) -> Exposures | None:
        """Return who was shown what, for a measurement of all lists together; else None."""
        metric = one.metric
        # candidates that are not drawn yet were shown to nobody
        if one.no_score_reason or not isinstance(metric, OverLists) or self.lists.pool.is_drawn:
            return None
        key = metric.exposure_key(one.convention), self._ranking_key(one)
        return self.get_or_compute(key, lambda: metric.collect(self.get_ranking(one)))

    def _get_fractions(self, one: Measurement) -> tuple[Floats, Floats]:
        return self.get_or_compute(
            (one.metric, self._ranking_key(one)),
            lambda: _compute_fractions(one.metric, self.get_ranking(one)),
        )

    def get_ranking(self, one: Measurement) -> Ranking:
        """Return the ranking under a measurement's choices, computed once."""
        return self.get_or_compute(self._ranking_key(one), lambda: self._make_ranking(one))

    def _make_ranking(self, one: Measurement) -> Ranking:
        graded, sorted_lists = self._get_graded(one), self._get_sorted(one)
        return rank_sorted_lists(graded, sorted_lists, one.convention, one.threshold)

    def _ranking_key(self, one: Measurement) -> Hashable:
        """Return a key that differs between rankings: with the rule for ties if there are ties."""
        sorted_lists = self._get_sorted(one)
        # candidates without a row are tied, too
        has_ties = sorted_lists.tie_groups.has_ties or self.lists.pool.is_drawn
        ties = one.convention.ties if has_ties else ""
        return self._get_graded(one), sorted_lists, one.threshold, ties, one.choices_key

    def _get_sorted(self, one: Measurement) -> SortedLists:
        """Sort the rows, once for all measurements that compare the same estimates."""
        tolerance = None if one.all_tied else one.convention.tie_tolerance
        key = "sorted", self._rows_key(one), tolerance, one.all_tied

        def sort() -> SortedLists:
            lists = self._get_graded(one).lists
            return SortedLists(lists, one.convention, self.depth, one.all_tied)

        return self.get_or_compute(key, sort)

    def _get_graded(self, one: Measurement) -> GradedLists:
        """Prepare the lists, once for all measurements with the same items and labels."""
        impossible, _ = rows_key = self._rows_key(one)
        unlisted = one.convention.unlisted
        if impossible != "drop" and not len(self.lists.unlisted["true"]):
            # no label is unlisted, so the choice has no effect (with impossible="drop", labels of
            # dropped predictions may become unlisted)
            unlisted = "count"
        # with "last", the estimates of impossible predictions depend on the tie tolerance
        tolerance = one.convention.tie_tolerance if impossible == "last" else None
        # sorted grades no longer belong to items, or to weights
        sort_grades = one.all_tied and not one.metric.needs and self.lists.weights is None
        key = ("graded", *rows_key, tolerance, unlisted, one.unlabelled_as, sort_grades)

        def grade() -> GradedLists:
            if self._labels is not None:
                block, estimated = self._labels
                graded = block._get_graded(one)
                return graded.with_lists(look_up_estimates(graded.lists, estimated))
            lists = prepare_lists(self.lists, one.convention, unlabelled_as=one.unlabelled_as)
            return GradedLists(lists, sort_grades=sort_grades)

        return self.get_or_compute(key, grade)

    def _rows_key(self, one: Measurement) -> tuple[str, bool]:
        """Return `Measurement.rows_key` without choices that do not matter for this data."""
        impossible, is_filtered = one.rows_key
        if self.lists.impossible is None:
            impossible = "rank"
        return impossible, is_filtered and self._has_unlabelled

    @lazy_property
    def _has_unlabelled(self) -> bool:
        return bool(self.lists.pool.count_unlabelled(self.lists).any())

    def _find_left_out(self, one: Measurement) -> Flags:
        """Return the users whom the convention leaves out, as flags."""
        graded, convention = self._get_graded(one), one.convention
        left_out = np.zeros(len(self.lists), dtype=bool)
        if convention.mean_over == "labelled":
            left_out |= graded.n_labelled == 0
        elif convention.mean_over == "relevant":
            left_out |= graded.count_relevant(one.threshold) == 0
        elif convention.mean_over == "lists":
            left_out |= graded.lists.n_items == 0
        elif convention.mean_over == "train":
            train, users = graded.lists.get_background().train, graded.lists.background_users
            left_out |= train.count(np.asarray(users)) == 0
        if convention.missing_user == "skip":
            left_out |= graded.lists.missing
        if convention.short_list == "drop":
            left_out |= graded.lists.n_items < one.short_below
        return left_out

    def _count_items(self, one: Measurement, needs: set[str]) -> ListCounts:
        lists, graded = self.lists, self._get_graded(one)
        unknown, nothing = np.full(len(lists), np.nan), np.zeros(len(lists), dtype=np.int64)
        return ListCounts(
            n_items=graded.lists.n_items,
            n_relevant=unknown if one.threshold is None else graded.count_relevant(one.threshold),
            tied=np.isfinite(self._get_sorted(one).first_tie_rank),
            missing=graded.lists.missing,
            ratings=lists.n_items,
            candidates=lists.n_items if lists.pool.sizes is None else lists.pool.sizes,
            unlabelled=lists.pool.count_unlabelled(lists),
            unlisted=lists.n_unlisted,
            impossible=lists.pool.count_impossible(lists),
            repeats=nothing if lists.repeats is None else lists.repeats,
            **_count_by_background(lists, needs),
        )


def _count_by_background(lists: GroupedLists, needs: set[str]) -> dict[str, Floats]:
    """Return the number of each user's listed items that are cold, outside, or were seen.

    0 if it is unknown or not needed, and for a `CataloguePool`, whose items are all inside.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    needs : set of str
        What the metrics need to know, and which items of a user they depend on.
    """
    counts = {name: np.zeros(len(lists)) for name in ("cold", "outside", "seen")}
    known, codes = lists.background, lists.item_codes
    if not needs or known is None or codes is None or lists.pool.is_catalogue:
        return counts
    if known.in_catalogue is not None:
        counts["outside"] = lists.sum_by_user(~known.in_catalogue[codes])
    if known.history is not None and "train" in needs:
        counts["cold"] = lists.sum_by_user(~known.in_train[codes])
    if "history" in needs:
        counts["seen"] = lists.sum_by_user(lists.is_seen)
    return counts


@dataclass(eq=False, repr=False, kw_only=True)
class SampledBlock(Block):
    """Some users' relevant items among sampled ones, scored by the mean over all samples.

    Parameters
    ----------
    whole : Block
        The same users with all items, labelled 0 or 1.
    n_sampled : int
        The number of items in each sample.
    replacement : bool
        Whether an item can be sampled more than once.
    """

    whole: Block
    n_sampled: int
    replacement: bool

    @classmethod
    def of(cls, lists: GroupedLists, n_sampled: int, *, replacement: bool) -> SampledBlock:
        """Return a block of users; the rows of each are the relevant items, then a sample."""
        n_relevant = lists.sum_by_user(lists.true == 1).astype(np.int64)
        sizes = np.stack([n_relevant, np.full_like(n_relevant, n_sampled)], axis=1)
        true = np.repeat(np.tile([1.0, 0.0], len(lists)), sizes.ravel())
        drawn = GroupedLists(
            users=lists.users,
            offsets=compute_offsets(sizes.sum(axis=1)),
            columns={"true": true, "estimated": np.zeros_like(true)},
            item_ids=None,
            unlisted_offsets=np.zeros(len(lists) + 1, dtype=np.int64),
            unlisted={"true": true[:0]},
            missing=lists.missing,
            protocol="sampled",
        )
        whole = Block(lists, None)
        return cls(drawn, None, whole=whole, n_sampled=n_sampled, replacement=replacement)

    def _make_ranking(self, one: Measurement) -> Ranking:
        if one.all_tied:
            return super()._make_ranking(one)
        return SampledRanking(
            self._get_graded(one),
            self._get_sorted(one),
            one.convention,
            one.threshold,
            whole=self.whole.get_ranking(one),
            n_sampled=self.n_sampled,
            replacement=self.replacement,
        )


def _compute_fractions(metric: Metric, ranking: Ranking) -> tuple[Floats, Floats]:
    """Return the numerator and the denominator of every user."""
    with np.errstate(over="ignore"):  # `Scores.objection` names the metric
        numerator = np.asarray(metric.numerator(ranking))
        denominator = np.asarray(metric.denominator(ranking))
    for side, kind in {"numerator": numerator.dtype, "denominator": denominator.dtype}.items():
        if kind.kind not in "biuf":
            msg = f"The {side} of {metric} must be an array of real numbers, not of {kind}."
            raise InvalidInputError(msg)
    if metric.bounded:  # rounding can put a sum just above 1
        # a sum can be more than 1, under list_over="one"
        is_sum = (denominator > 0) & (numerator > (1 + _ROUNDING) * denominator)
        numerator = np.where(is_sum, numerator, np.minimum(numerator, denominator))
    return numerator, denominator
