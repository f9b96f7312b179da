"""SortedLists: lists sorted by their estimates, before any rule for ties."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.ordering import argsort_descending, sort_descending
from recsys_ndcg.ranking.tie_groups import TieGroups

_MIN_RATIO = 2  # with fewer rows than this times the needed ones, all are sorted


@dataclass(eq=False, repr=False)
class SortedLists(Cache):
    """Lists sorted by their estimates, which several rankings share.

    Parameters
    ----------
    lists : GroupedLists
        The result of `recsys_ndcg.lists.prepare_lists`.
    convention : Convention
        Its `tie_tolerance` decides which estimates are equal; its `ties` are not read here.
    depth : int, optional
        The number of ranks; None means all.
    all_tied : bool
        Whether all estimates of a list count as equal.
    """

    lists: GroupedLists
    convention: Convention
    depth: int | None = None
    all_tied: bool = False

    @lazy_property
    def tie_groups(self) -> TieGroups:
        """The tie groups that begin at one of the first `depth` ranks."""
        lists = self.lists
        if self.all_tied:
            user = np.flatnonzero(np.diff(lists.offsets))
            start = np.append(lists.offsets[user], len(lists.true))
            rows = np.arange(len(lists.true))
            size = lists.pool.count_candidates(lists)[user]
            return TieGroups(rows, start, user, np.zeros_like(user), size)
        rows, offsets = self._top
        begins_group = _is_new(self._key[rows], offsets)
        first = np.arange(len(rows)) if begins_group.all() else np.flatnonzero(begins_group)
        end = np.append(first[1:], len(rows))
        user = np.repeat(np.arange(len(lists)), np.diff(offsets))[first]
        spans = lists.pool.find_spans(lists, rows[first], first - offsets[user], end - first)
        return TieGroups(rows, np.append(first, len(rows)), user, *spans).keep_ranks(self.depth)

    @lazy_property
    def first_tie_rank(self) -> Floats:
        """The first rank of each user at which items are tied; inf if there are no ties."""
        if self.all_tied:
            return np.where(self.lists.n_items > 1, 1.0, np.inf)
        is_tied = ~_is_new(self._sorted_key, self.lists.offsets)
        return self.lists.pool.find_first_tie_ranks(self.lists, np.flatnonzero(is_tied))

    def sort_groups(self, name: Hashable, key: Callable[[], Floats]) -> TieGroups:
        """Return the tie groups with rows sorted by a key, largest first; computed once per name.

        Parameters
        ----------
        name : hashable
            The name of the key.
        key : callable
            Returns the key: a float64 array, one entry per row.
        """
        return self.get_or_compute(name, lambda: self.tie_groups.sort_rows(key()))

    @lazy_property
    def _key(self) -> Floats:
        """The sort key of each row, largest first."""
        return self.lists.pool.compute_sort_key(self.lists, self.convention)

    @lazy_property
    def _sorted_key(self) -> Floats:
        """The sort keys of each list in descending order."""
        return sort_descending(self._key, self.lists.offsets)

    @lazy_property
    def _top(self) -> tuple[Positions, Positions]:
        """The sorted rows that may be at one of the first ranks, and their offsets by list.

        They are at least the first `depth` rows of each list, and rows tied with the last of them.
        """
        offsets, key, depth = self.lists.offsets, self._key, self.depth
        n_rows = np.diff(offsets)
        if depth is None or len(key) <= _MIN_RATIO * int(np.minimum(n_rows, depth).sum()):
            return argsort_descending(key, offsets), offsets
        last = offsets[:-1] + np.minimum(n_rows, depth) - 1
        least_key = self._sorted_key[np.minimum(last, len(key) - 1)]
        rows = np.flatnonzero(key >= np.repeat(least_key, n_rows))
        offsets = np.searchsorted(rows, offsets)
        return rows[argsort_descending(key[rows], offsets)], offsets


def _is_new(sorted_key: Floats, offsets: Positions) -> Flags:
    """Return whether each row of sorted lists has a different key than the row before it."""
    is_new = np.ones(len(sorted_key), dtype=bool)
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=is_new[1:])
    is_new[offsets[:-1][np.diff(offsets) > 0]] = True
    return is_new
