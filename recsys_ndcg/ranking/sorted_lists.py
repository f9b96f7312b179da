"""SortedLists: lists sorted by their estimates, before any rule for ties."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.ordering import argsort_descending, sort_descending
from recsys_ndcg.ranking.tie_groups import TieGroups

_MANY = 2  # times the needed rows: if there are fewer, all are sorted


@dataclass(eq=False, repr=False)
class SortedLists:
    """Lists sorted by their estimates, shared by all their rankings.

    Parameters
    ----------
    lists : GroupedLists
        The result of `recsys_ndcg.lists.preparation.prepare`.
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
    _cache: Cache = field(default_factory=Cache, init=False)

    @lazy_property
    def tie_groups(self) -> TieGroups:
        """The tie groups that begin at one of the first `depth` ranks."""
        lists = self.lists
        if self.all_tied:
            user = np.flatnonzero(np.diff(lists.offsets))
            start = np.append(lists.offsets[user], len(lists.true))
            rows = np.arange(len(lists.true))
            return TieGroups(rows, start, user, np.zeros_like(user), lists.n_candidates[user])
        rows, offsets = self._top
        ranked = self._key[rows]
        new = _is_new(ranked, offsets)
        first = np.arange(len(rows)) if new.all() else np.flatnonzero(new)
        end = np.append(first[1:], len(rows))
        user = np.repeat(np.arange(len(lists)), np.diff(offsets))[first]
        spans = lists.find_spans(rows[first], first - offsets[user], end - first)
        return TieGroups(rows, np.append(first, len(rows)), user, *spans).keep_depth(self.depth)

    @lazy_property
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        if self.all_tied:
            return np.where(self.lists.n_items > 1, 1.0, np.inf)
        again = ~_is_new(self._sorted_key, self.lists.offsets)
        return self.lists.find_first_ties(np.flatnonzero(again))

    def sort_groups(self, name: Hashable, key: Callable[[], Floats]) -> TieGroups:
        """Return the tie groups with their rows by a key, largest first; computed once per name.

        Parameters
        ----------
        name : hashable
            The name of the key.
        key : callable
            Returns the key: a float64 array, one entry per row.
        """
        return self._cache.get_or_compute(name, lambda: self.tie_groups.sort_rows(key()))

    @lazy_property
    def _key(self) -> Floats:
        """The sort key of each row, largest first."""
        return self.lists.compute_sort_key(self.convention)

    @lazy_property
    def _sorted_key(self) -> Floats:
        """The sort keys of each list in descending order."""
        return sort_descending(self._key, self.lists.offsets)

    @lazy_property
    def _top(self) -> tuple[Positions, Positions]:
        """The rows that may be at one of the first ranks, in order, and where each list's start.

        They are among the first `depth` rows of a list, or tied with the last of these.
        """
        offsets, key, depth = self.lists.offsets, self._key, self.depth
        n_rows = np.diff(offsets)
        if depth is None or len(key) <= _MANY * int(np.minimum(n_rows, depth).sum()):
            return argsort_descending(key, offsets), offsets
        last = offsets[:-1] + np.minimum(n_rows, depth) - 1
        least = self._sorted_key[np.minimum(last, len(key) - 1)]
        kept = np.flatnonzero(key >= np.repeat(least, n_rows))
        offsets = np.searchsorted(kept, offsets)
        return kept[argsort_descending(key[kept], offsets)], offsets


def _is_new(ranked: Floats, offsets: Positions) -> Flags:
    """Return whether each row of sorted lists has another estimate than the row before."""
    new = np.ones(len(ranked), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    new[offsets[:-1][np.diff(offsets) > 0]] = True
    return new
