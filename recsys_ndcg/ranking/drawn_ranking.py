"""DrawnRanking: lists that are drawn from candidates, which have no order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, sort_distinct
from recsys_ndcg.convention import Convention
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ranking.graded_lists import GradedLists
from recsys_ndcg.ranking.ranking import ItemValues, Ranking
from recsys_ndcg.ranking.sorted_lists import SortedLists


@dataclass(eq=False, repr=False)
class DrawnRanking(Ranking):
    """Lists that are drawn from candidates: items have the values of any of them."""

    def _hide_missing_ranks(self, table: Floats) -> Floats:
        return np.where(np.arange(table.shape[-1]) < self.n_items[:, None], table, 0.0)

    @lazy_property
    def _others(self) -> tuple[Positions, Positions, Positions]:
        """The candidates without a row: the catalogue, and pairs of user and item to leave out.

        Both are positions among `item_ids`; the pairs are distinct, in order, and in the catalogue.
        """
        lists = self.lists
        is_candidate = np.asarray(lists.get_background().is_candidate)
        user, item = lists.user_of_row, np.asarray(lists.item_codes).astype(np.int64)
        pairs = sort_distinct(user * len(is_candidate) + item)
        if lists.pool.excludes_history:
            owner, seen = lists.history
            pairs = sort_distinct(np.append(pairs, owner * len(is_candidate) + seen))
        user, item = np.divmod(pairs, len(is_candidate))
        kept = is_candidate[item]
        return np.flatnonzero(is_candidate), user[kept], item[kept]

    @lazy_property
    def _n_others(self) -> Floats:
        """The number of candidates of each user without a row."""
        return np.asarray(self.lists.pool.sizes) - np.diff(self.lists.offsets).astype(np.float64)

    def _sum_others(self, by_item: Floats, power: int = 1) -> Floats:
        """Return the sum of a power of the values of each user's candidates without a row."""
        catalogue, user, item = self._others
        left_out = np.bincount(user, weights=by_item[item] ** power, minlength=len(self.lists))
        return np.asarray((by_item[catalogue] ** power).sum() - left_out)

    def _sum_values(self, values: ItemValues) -> Floats:
        total = super()._sum_values(values)
        return total if values.by_item is None else total + self._sum_others(values.by_item)

    def _sum_squares(self, values: ItemValues, mean: Floats) -> Floats:
        of_rows = super()._sum_squares(values, mean)
        if values.by_item is None:  # the values of the others are 0
            return of_rows + self._n_others * (mean * mean)
        center = values.by_item[self._others[0]].mean()
        by_item = values.by_item - center  # near the mean of each user, so nothing cancels
        shift = mean - center
        total, squares = (self._sum_others(by_item, power) for power in (1, 2))
        of_others: Floats = squares - 2 * shift * total + self._n_others * shift * shift
        return of_rows + np.maximum(of_others, 0.0)

    def of_items(self, values: ItemValues) -> Floats:
        """Return the mean value of the candidates at each rank, or their best or worst values."""
        rule, width = self.convention.tie_rule, self._width
        if not rule.by:
            table = np.repeat(self._average(values)[:, None], width, axis=1)
            return self._hide_missing_ranks(table)
        sign = 1.0 if rule.descending == values.largest_first else -1.0
        lists = self.lists
        rows = np.full((len(lists), int(np.diff(lists.offsets).max(initial=0))), -np.inf)
        place = np.arange(len(values.by_row)) - lists.offsets[lists.user_of_row]
        rows[lists.user_of_row, place] = sign * values.by_row
        table = np.hstack([rows, self._find_top_others(values, sign)])
        table = -np.sort(-table, axis=1)[:, :width]
        return self._hide_missing_ranks(np.where(np.isneginf(table), 0.0, sign * table))

    def _find_top_others(self, values: ItemValues, sign: float) -> Floats:
        """Return the largest values, times a sign, of candidates without a row; -inf past them."""
        width, n_users = self._width, len(self.lists)
        if values.by_item is None:
            return np.where(np.arange(width) < self._n_others[:, None], 0.0, -np.inf)
        catalogue, user, item = self._others
        order = catalogue[np.argsort(-sign * values.by_item[catalogue], kind="stable")]
        place_of = np.empty(len(values.by_item), dtype=np.int64)
        place_of[order] = np.arange(len(order))
        pairs = np.sort(user * (len(order) + 1) + place_of[item])
        user, place = np.divmod(pairs, len(order) + 1)
        first = np.searchsorted(user, np.arange(n_users))
        # the j-th item left out has (place - j) items before it that stay
        before = place - (np.arange(len(pairs)) - first[user])
        owner, rank = np.divmod(np.arange(n_users * width), width)
        keys = owner * (len(order) + 1) + rank
        skipped = np.searchsorted(user * (len(order) + 1) + before, keys, side="right")
        index = rank + skipped - first[owner]
        top = np.append(sign * values.by_item[order], -np.inf)[np.minimum(index, len(order))]
        table: Floats = top.reshape(n_users, width)
        return table


def rank_sorted_lists(
    graded: GradedLists, sorted_lists: SortedLists, convention: Convention, threshold: float | None
) -> Ranking:
    """Return the ranking of sorted lists."""
    kind = DrawnRanking if graded.lists.pool.is_drawn else Ranking
    return kind(graded, sorted_lists, convention, threshold)
