"""Ranking: the tables that metrics read, one row per user and one column per rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, row_sums
from recsys_ndcg.convention import Convention
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.graded_lists import GradedLists, make_gain_key
from recsys_ndcg.ranking.ordering import sort_descending
from recsys_ndcg.ranking.sorted_lists import SortedLists
from recsys_ndcg.ranking.tie_groups import Cells, TieGroups, compute_first_hits, compute_hits_so_far

_GRADE = "grade"


@dataclass(frozen=True, eq=False)
class ItemValues:
    """A value for each item of each list, such as its popularity.

    Parameters
    ----------
    key : hashable
        Equal for equal values of the same lists.
    by_row : float64 array, one entry per row
        The values.
    by_item : float64 array, shape (n_items,), optional
        The values of candidates without a row, by their position in `item_ids`; None if they are
        0.
    largest_first : bool
        Whether the best order of a list begins with the largest value.
    """

    key: Hashable
    by_row: Floats
    by_item: Floats | None = None
    largest_first: bool = True

    @lazy_property
    def has_missing(self) -> bool:
        """Whether some items have no value, NaN."""
        tables = [self.by_row, *([] if self.by_item is None else [self.by_item])]
        return any(bool(np.isnan(table).any()) for table in tables)

    @lazy_property
    def without_missing(self) -> ItemValues:
        """The values, 0 for items without one."""
        return self._map("values", lambda one: np.where(np.isnan(one), 0.0, one))

    @lazy_property
    def flags(self) -> ItemValues:
        """1 for items with a value, 0 for others."""
        return self._map("flags", lambda one: (~np.isnan(one)).astype(np.float64))

    def _map(self, name: str, change: Callable[[Floats], Floats]) -> ItemValues:
        if not self.has_missing and name == "values":
            return self
        by_item = None if self.by_item is None else change(self.by_item)
        return replace(self, key=(name, self.key), by_row=change(self.by_row), by_item=by_item)


def weighted_sum(table: Floats, weights: Floats) -> Floats:
    """Return the weighted sum of a table over the ranks that have a weight: shape (n_users,).

    Parameters
    ----------
    table : float64 array, shape (n_users, width)
        The values at each rank.
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        The weight of each rank.
    """
    return row_sums(table[:, : weights.shape[-1]] * weights)


def compute_weight_norm(weights: Floats, n_items: Positions) -> Floats:
    r"""Return the Euclidean norm of the centred weights of all ranks of each list.

    .. math:: \sqrt{\sum_{r=1}^n (w_r - \bar w)^2}

    Parameters
    ----------
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        The weights of the first ranks; further ranks have the weight 0.
    n_items : int64 array, shape (n_users,)
        The number of ranks of each list.

    Examples
    --------
    >>> compute_weight_norm(np.array([1.0, 0.5]), np.array([2, 1])).round(4)
    array([0.3536, 0.    ])
    """
    index: slice | Positions = slice(None)
    if weights.ndim == 1:  # only the length of a list matters
        n_items, index = np.unique(n_items, return_inverse=True)
    n_ranks = weights.shape[-1]
    is_rank = np.arange(n_ranks) < n_items[:, None]
    table = np.where(is_rank, weights, 0.0)
    unit = table.max(axis=1, initial=0.0)
    table = np.divide(table, unit[:, None], where=unit[:, None] > 0, out=np.zeros_like(table))
    mean = row_sums(table) / np.maximum(n_items, 1)
    centred = np.where(is_rank, table - mean[:, None], 0.0)
    n_further = np.maximum(n_items - n_ranks, 0)
    norm: Floats = unit * np.sqrt(row_sums(centred * centred) + n_further * (mean * mean))
    return norm[index]


@dataclass(eq=False, repr=False)
class Ranking(Cache):
    """Lists in ranked order, as tables of shape (n_users, width), each computed when first read.

    The width is the number of ranks to read, or the length of the longest list (with the user's
    labelled items that are not in it) if that is less. Past the end of a list the tables hold 0.
    Under ``ties="expected"`` items with equal estimates contribute their mean at each of the ranks
    that they share; else the tables hold one concrete order.

    Parameters
    ----------
    graded : GradedLists
        The gains and relevance of the items.
    sorted_lists : SortedLists
        The same lists, sorted up to the width of the tables.
    convention : Convention
        All choices.
    threshold : float, optional
        The least grade of a relevant item.

    Attributes
    ----------
    gain : float64 array, shape (n_users, width)
        The (expected) gain at each rank, at least 0, times the weight of the label.
    relevance, labelled : float64 arrays, shape (n_users, width)
        The probability that the item at each rank is relevant, times the weight of its label if
        labels have weights; and that it is labelled.
    relevance_so_far : float64 array, shape (n_users, width)
        E[rel_r · (relevant items at ranks up to r)], for average precision.
    first_hit : float64 array, shape (n_users, width)
        P(the first relevant item is at rank r), for reciprocal rank and hit rate.
    ideal_gain : float64 array, shape (n_users, width)
        The gain at each rank of the ideal list: of all the user's labelled items, or of those in
        the list, best first; under ``ideal="max"`` the gain of the top grade in every cell.
    discount : float64 array, shape (width,)
        The weight of each rank.
    n_items, n_labelled, n_relevant, n_recommended : arrays, shape (n_users,)
        The number of items in each list, of the user's labelled and of relevant items (in the list
        or not), and of recommended items, which are the first ones of the list.
    error : float64 array, one entry per row
        Estimated minus true, NaN for unlabelled rows: the only column that is not by rank.
    top_gain : float
        The gain of the top grade.
    """

    graded: GradedLists
    sorted_lists: SortedLists
    convention: Convention
    threshold: float | None = None

    @property
    def n_items(self) -> Positions:
        """The number of items in each list."""
        return self.graded.lists.n_items

    @property
    def missing(self) -> Flags:
        """Users with labels but without a list."""
        return self.graded.lists.missing

    @property
    def n_labelled(self) -> Floats:
        """The number of labelled items of each user, in the list or not."""
        return self.graded.n_labelled

    @property
    def n_relevant(self) -> Floats:
        """The number of relevant items of each user, in the list or not."""
        return self.graded.count_relevant(self.threshold)

    @lazy_property
    def n_recommended(self) -> Floats | Positions:
        """The number of recommended items of each list, which are its first ones."""
        if self.convention.recommend_from is None:
            return self.n_items
        return self.lists.pool.count_recommended(self.lists, self.convention, self.threshold)

    @lazy_property
    def _width(self) -> int:
        """The number of ranks in the tables."""
        n_ranks, depth = self.lists.pool.count_ranks(self.lists), self.sorted_lists.depth
        longest = int(n_ranks.max(initial=1))
        return longest if depth is None else min(depth, longest)

    @property
    def discount(self) -> Floats:
        """The weight of each rank, shape (width,)."""
        return self.weights(None)

    def width(self, k: int | None) -> int:
        """Return how many of the first k ranks the tables have."""
        return self._width if k is None else min(k, self._width)

    def count_shown(self, k: int | None) -> Positions:
        """Return the number of items among the first k of each list."""
        return self.n_items if k is None else np.minimum(self.n_items, k)

    def weights(self, k: int | None) -> Floats:
        """Return the weights of the first k ranks, as far as the tables have them."""
        n = self.width(k)
        return self.get_or_compute(n, lambda: self.convention.compute_discounts(n))

    @lazy_property
    def top_gain(self) -> float:
        """The gain of the top grade; 1 for binary gains without a top grade."""
        top = self.convention.max_grade
        if top is None:
            return 1.0
        grade = np.array([top], dtype=np.float64)
        return float(self.convention.compute_gains(grade, self.threshold)[0])

    @lazy_property
    def ideal_gain(self) -> Floats:
        """The gain at each rank of the ideal list; under ``max`` the gain of the top grade."""
        if self.convention.ideal == "max":
            return np.full((len(self.n_items), self._width), self.top_gain)
        return self.graded.compute_ideal_gains(self.convention, self.threshold, self._width)

    @lazy_property
    def gain(self) -> Floats:
        """The gain at each rank, 0 past the end of a list."""
        groups = self._groups_by_gain
        gains = self.graded.compute_gains(self.convention, self.threshold, groups.rows)
        return self._fill_table(groups, groups.compute_means(gains))

    @lazy_property
    def relevance(self) -> Floats:
        """The probability that the item at each rank is relevant, times the weight of its label."""
        if self.is_weighted:
            return self._binary.gain
        return self._average_flags(self._relevant)

    @property
    def is_weighted(self) -> bool:
        """Whether labels have weights, which multiply gains and relevance."""
        return self.lists.weights is not None

    @lazy_property
    def _binary(self) -> Ranking:
        """The same lists with relevance as gain."""
        choices = {"gain": "binary", "ideal": "global", "max_grade": None}
        return replace(self, convention=self.convention.replace(**choices))

    def sum_relevance(self, k: int | None = None) -> Floats:
        """Return the sum of the k largest weights of each user's relevant items, in a list or not.

        Without weights it is the number of relevant items, at most k.
        """
        if not self.is_weighted:
            return self.n_relevant if k is None else np.minimum(self.n_relevant, k)
        if k is None:
            return self.graded.sum_gains(self._binary.convention, self.threshold)
        return row_sums(self._binary.ideal_gain[:, :k])

    @lazy_property
    def labelled(self) -> Floats:
        """The probability that the item at each rank is labelled."""
        return self._average_flags(self.graded.labelled)

    @lazy_property
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision."""
        groups, (relevant, hits_before) = self._unordered_groups, self._hits
        cells = self._get_cells(groups)
        group, place = cells.group, cells.place
        hits = compute_hits_so_far(relevant[group], groups.size[group], hits_before[group], place)
        return self._hide_missing_ranks(cells.fill_table(hits))

    @lazy_property
    def first_hit(self) -> Floats:
        """P(the first relevant item is at rank r), for reciprocal rank and hit rate."""
        groups, (relevant, _) = self._unordered_groups, self._hits
        hit = np.flatnonzero(relevant > 0)
        hit = hit[np.diff(groups.user[hit], prepend=-1) > 0]  # the first group of each user
        table = np.zeros((len(self.n_items), self._width))
        if not groups.has_ties:
            hit = hit[groups.n_before[hit] < self._width]
            table[groups.user[hit], groups.n_before[hit]] = 1
            return self._hide_missing_ranks(table)
        table[groups.user[hit]] = compute_first_hits(
            groups.n_before[hit], groups.size[hit], relevant[hit], self._width
        )
        return self._hide_missing_ranks(table)

    @lazy_property
    def relevant_ranks(self) -> tuple[Floats, Floats]:
        """The number of relevant items at the ranks of the tables, and the sum of their mean ranks.

        Both are of shape (n_users,), multiples of 1/2, and exact.
        """
        groups, (relevant, _) = self._unordered_groups, self._hits
        rank = groups.n_before + (groups.size + 1) / 2
        count, rank_sum = (
            np.bincount(groups.user, weights=each, minlength=len(self.n_items)).astype(np.float64)
            for each in (relevant, relevant * rank)
        )
        return count, rank_sum

    @property
    def relevant_groups(self) -> tuple[Positions, ...]:
        """The tie groups with relevant items, in ranked order.

        For each: the user; the other items ahead of it and in it; the relevant items ahead and in.
        """
        groups, hits = self._unordered_groups, self._hits
        relevant, hits_before = (np.rint(each).astype(np.int64) for each in hits)
        others, tied = groups.n_before - hits_before, groups.size - relevant
        columns = (groups.user, others, tied, hits_before, relevant)
        return tuple(column[relevant > 0] for column in columns)

    def deviation(self, worth: str, weights: Floats) -> Floats:
        r"""Return the standard deviation of Σ w·a over all orders of each list, shape (n_users,).

        .. math:: \sqrt{\frac{1}{n - 1} \sum_i (a_i - \bar a)^2 \sum_r (w_r - \bar w)^2}

        over the n items of the list, or the candidates that it is drawn from (Hoeffding 1951).
        Ranks without a weight have the weight 0.

        Parameters
        ----------
        worth : {'gain', 'relevance', 'labelled'}
            The value of an item, a.
        weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
            The weights of the first ranks, w.
        """
        graded = self.graded
        if worth == "relevance" and self.is_weighted:
            return self._binary.deviation("gain", weights)
        if worth == "gain":
            item_norm = graded.compute_gain_norm(self.convention, self.threshold)
        else:
            flags = self._relevant if worth == "relevance" else graded.labelled
            item_norm = graded.compute_flag_norm(flags)
        return self._deviate(item_norm, weights)

    def _deviate(self, item_norm: Floats, weights: Floats) -> Floats:
        """Return the standard deviation over all orders, given the norm of the centred values."""
        n_items = self.lists.pool.count_candidates(self.lists)
        weight_norm = compute_weight_norm(self._hide_missing_ranks(weights), n_items)
        return item_norm / np.sqrt(np.maximum(n_items - 1, 1)) * weight_norm

    @property
    def lists(self) -> GroupedLists:
        """The lists."""
        return self.graded.lists

    def of_items(self, values: ItemValues) -> Floats:
        """Return the (expected) value of the item at each rank: shape (n_users, width)."""
        groups, _ = self.order_by(values)
        return self._fill_table(groups, groups.compute_means(values.by_row[groups.rows]))

    def order_by(self, values: ItemValues) -> tuple[TieGroups, Cells]:
        """Return the groups of items that share their ranks, and the cells that they cover.

        The rows of a group are in the order of their values, best first.
        """
        sign = 1.0 if values.largest_first else -1.0
        groups = self._order_groups(values.key, lambda: sign * values.by_row)
        return groups, self._get_cells(groups)

    def deviation_of_items(self, values: ItemValues, weights: Floats) -> Floats:
        """Return the standard deviation of Σ w·v over all orders, as in `deviation`."""
        squares = self._sum_squares(values, self._average(values))
        return self._deviate(np.sqrt(np.maximum(squares, 0.0)), weights)

    def _average(self, values: ItemValues) -> Floats:
        """Return the mean value of all items that each list is drawn from, 0 for an empty list."""
        n_items = self.lists.pool.count_candidates(self.lists)
        return self._sum_values(values) / np.maximum(n_items, 1)

    def _sum_values(self, values: ItemValues) -> Floats:
        """Return the sum of the values of these items."""
        return self._sum_rows(values.by_row)

    def _sum_squares(self, values: ItemValues, mean: Floats) -> Floats:
        """Return the sum of the squared differences of these items from each user's mean."""
        centred = values.by_row - np.repeat(mean, np.diff(self.lists.offsets))
        return self._sum_rows(centred * centred)

    @property
    def tie_groups(self) -> TieGroups:
        """The groups of items that share their ranks, after a rule for ties without best or worst.

        Under ``ties="expected"``, ``"best"`` and ``"worst"`` they are the ties as they are.
        """
        is_single = self.convention.tie_rule.gives_each_item_a_place
        return self._single_groups if is_single else self.sorted_lists.tie_groups

    def exposure(self, weights: Floats) -> tuple[Positions, Positions, Floats]:
        """Return row, user and the expected weight of its rank, where it is not 0.

        Parameters
        ----------
        weights : float64 array, shape (n_ranks,)
            The weight of each of the first ranks: with 1 for each of the first k, the result is
            the probability to stand among them.
        """
        groups = self.tie_groups
        sums = np.append(0.0, np.cumsum(weights))
        last = len(weights)
        end = np.minimum(groups.n_before + groups.size, last)
        inside = (sums[end] - sums[np.minimum(groups.n_before, last)]) / groups.size
        share, user = inside[groups.group_of_row], groups.user[groups.group_of_row]
        kept = share > 0
        return groups.rows[kept], user[kept], share[kept]

    def _sum_rows(self, by_row: Floats) -> Floats:
        """Return the sums over each user's rows, which do not depend on their order."""
        return self.lists.sum_by_user(sort_descending(by_row, self.lists.offsets))

    @property
    def error(self) -> Floats:
        """Estimated minus true of every row, NaN for unlabelled rows."""
        return self.graded.lists.estimated - self.graded.lists.true

    def per_user(self, values: Floats | Flags) -> Floats:
        """Return the weighted sum of a column such as `error` over each user's rows, without NaN.

        Numbers are added in ascending order, so the order of the rows does not matter.
        """
        lists = self.graded.lists
        if values.dtype == np.bool_ and lists.weights is None:
            return lists.sum_by_user(values.astype(np.float64))
        numbers = np.where(np.isnan(values), 0.0, values).astype(np.float64)
        if lists.weights is not None:
            numbers *= lists.weights
        return lists.sum_by_user(-sort_descending(-numbers, lists.offsets))

    @lazy_property
    def ranks_of_rows(self) -> tuple[Positions, Positions]:
        """The rows in the tables, and the rank of each, from 0.

        Rows that share their ranks are in input order, and so are rows with equal gains under
        ``ties="best"`` and ``"worst"``.
        """
        rule, groups = self.convention.tie_rule, self.sorted_lists.tie_groups
        if rule.gives_each_item_a_place or not groups.has_ties:
            groups = self._groups_by_gain
        else:
            worst_first = rule.by == "grade" and not rule.descending  # they are reversed below
            key = self._gains if rule.by else np.zeros(len(self.error))
            in_tie, rows = groups.n_rows[groups.group_of_row] > 1, groups.rows.copy()
            tied, group = rows[in_tie], groups.group_of_row[in_tie]
            rows[in_tie] = tied[np.lexsort((-tied if worst_first else tied, -key[tied], group))]
            groups = replace(groups, rows=rows).split_into_rows(None, worst_first=worst_first)
        return groups.rows, groups.n_before

    def split_lists(self, k: int | None) -> tuple[list[Any], ...]:
        """Return the users, and estimated, true and items of the first k ranks of each list.

        The rule for ties must give each item one rank. Without item ids, items are the positions
        of the rows among the user's rows.
        """
        lists, groups = self.graded.lists, self._single_groups
        depth = self._width if k is None else k
        is_kept = groups.n_before < depth
        rows, user = groups.rows[is_kept], groups.user[is_kept]
        ends = np.searchsorted(user, np.arange(1, len(lists)))
        items = rows - lists.offsets[user] if lists.items is None else lists.items[rows]
        columns = (lists.estimated[rows], lists.true[rows], items)
        return (lists.users.tolist(), *(np.split(column, ends) for column in columns))

    @property
    def _gains(self) -> Floats:
        return self.graded.compute_gains(self.convention, self.threshold)

    @property
    def _relevant(self) -> Floats:
        return self.graded.compute_relevance(self.threshold)

    @lazy_property
    def _groups_by_gain(self) -> TieGroups:
        if self.graded.gains_rise_with_grade(self.convention):
            return self._groups_by_grade
        key = make_gain_key(self.convention, self.threshold)
        return self._order_groups(key, lambda: self._gains)

    @lazy_property
    def _groups_by_grade(self) -> TieGroups:
        return self._order_groups(_GRADE, lambda: self.graded.grades)

    @property
    def _unordered_groups(self) -> TieGroups:
        """The groups for sums of flags that rise with the grade: order in a group has no effect."""
        is_ordered = bool(self.convention.tie_rule.by)
        return self._groups_by_grade if is_ordered else self.sorted_lists.tie_groups

    @lazy_property
    def _hits(self) -> tuple[Floats, Floats]:
        """The number of relevant items in each group, and before it."""
        groups = self._unordered_groups
        relevant = groups.compute_sums(self._relevant[groups.rows])
        before = np.concatenate([[0.0], np.cumsum(relevant)])  # integers: exact
        first = np.searchsorted(groups.user, np.arange(len(self.n_items)))
        return relevant, before[:-1] - before[first][groups.user]

    def _order_groups(self, name: Hashable, values: Callable[[], Floats]) -> TieGroups:
        """Return the groups after the rule for ties; the best and worst order are by `values`.

        Under ``expected`` the rows are sorted by the values, largest first, so that sums do not
        depend on the order of the input.
        """
        rule, sorted_lists = self.convention.tie_rule, self.sorted_lists
        if not sorted_lists.tie_groups.has_ties:
            return sorted_lists.tie_groups
        if rule.gives_each_item_a_place:
            return self._single_groups
        groups = sorted_lists.tie_groups
        if not (self.graded.sort_grades and name == _GRADE):
            groups = sorted_lists.sort_groups((self.graded, name), values)
        if not rule.by:
            return groups
        return groups.split_into_rows(sorted_lists.depth, worst_first=not rule.descending)

    @lazy_property
    def _single_groups(self) -> TieGroups:
        """A group for each row, by a rule for ties that does not depend on gains."""
        rule, sorted_lists, lists = self.convention.tie_rule, self.sorted_lists, self.graded.lists
        if not sorted_lists.tie_groups.has_ties:
            return sorted_lists.tie_groups
        groups = sorted_lists.sort_groups(rule, lambda: lists.pool.compute_tie_key(lists, rule))
        places = lists.pool.find_places_in_ties(lists, groups.rows, groups.place)
        return groups.place_rows(places, sorted_lists.depth)

    def _get_cells(self, groups: TieGroups) -> Cells:
        """Return the cells that groups cover; without ties, all tables share them."""
        return self.get_or_compute(groups, lambda: Cells(groups, len(self.n_items), self._width))

    def _average_flags(self, flags: Floats) -> Floats:
        """Return the probability that the item at each rank has a flag."""
        groups = self._unordered_groups
        return self._fill_table(groups, groups.compute_sums(flags[groups.rows]) / groups.size)

    def _fill_table(self, groups: TieGroups, values: Floats) -> Floats:
        """Return a table with the value of each group at its ranks, 0 elsewhere."""
        cells = self._get_cells(groups)
        return self._hide_missing_ranks(cells.fill_table(values[cells.group]))

    def _hide_missing_ranks(self, table: Floats) -> Floats:
        """Return a table with 0 at ranks that drawn lists do not have."""
        return table
