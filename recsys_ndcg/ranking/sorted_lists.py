"""SortedLists: lists in order of their estimates, before any rule for ties."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.ordering import descending, largest_first
from recsys_ndcg.ranking.runs import Runs

_MANY = 2  # times the rows that are wanted: fewer are sorted at once


@dataclass(eq=False, repr=False)
class SortedLists:
    """What all rankings of the same lists by the same estimates share.

    Parameters
    ----------
    lists : GroupedLists
        As `recsys_ndcg.lists.preparation.prepare` returns them.
    convention : Convention
        Its `tie_tolerance` says which estimates are equal; its `ties` are not looked at here.
    depth : int, optional
        How many ranks are wanted; None means all.
    blind : bool
        Whether all estimates of a list count as equal.
    """

    lists: GroupedLists
    convention: Convention
    depth: int | None = None
    blind: bool = False
    _cache: Cache = field(default_factory=Cache, init=False)

    @lazy_property
    def runs(self) -> Runs:
        """The runs of equal estimates that reach the wanted ranks."""
        lists = self.lists
        if self.blind:
            user = np.flatnonzero(np.diff(lists.offsets))
            start = np.append(lists.offsets[user], len(lists.true))
            rows = np.arange(len(lists.true))
            return Runs(rows, start, user, np.zeros_like(user), lists.n_candidates[user])
        rows, offsets = self._top
        ranked = self._key[rows]
        new = _begins(ranked, offsets)
        first = np.arange(len(rows)) if new.all() else np.flatnonzero(new)
        end = np.append(first[1:], len(rows))
        user = np.repeat(np.arange(len(lists)), np.diff(offsets))[first]
        spans = lists.spans(rows[first], first - offsets[user], end - first)
        return Runs(rows, np.append(first, len(rows)), user, *spans).reaching(self.depth)

    @lazy_property
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        if self.blind:
            return np.where(self.lists.n_items > 1, 1.0, np.inf)
        again = ~_begins(self._ranked, self.lists.offsets)
        return self.lists.first_tie(np.flatnonzero(again))

    def by(self, name: Hashable, key: Callable[[], Floats]) -> Runs:
        """Return the runs with their rows by a key, largest first; worked out once for each name.

        Parameters
        ----------
        name : hashable
            What the key is known by.
        key : callable
            Returns it: a float64 array, one entry per row.
        """
        return self._cache.get_or_compute(name, lambda: self.runs.by(key()))

    @lazy_property
    def _key(self) -> Floats:
        """By what the rows of a list stand, largest first."""
        return self.lists.sort_key(self.convention)

    @lazy_property
    def _ranked(self) -> Floats:
        """The same, each list in order."""
        return largest_first(self._key, self.lists.offsets)

    @lazy_property
    def _top(self) -> tuple[Positions, Positions]:
        """The rows that may reach the wanted ranks, in order, and where each list's start.

        As many rows stand before a row as items at most, so those are among a list's first rows,
        or tied with the last of these.
        """
        offsets, key, depth = self.lists.offsets, self._key, self.depth
        n_rows = np.diff(offsets)
        if depth is None or len(key) <= _MANY * int(np.minimum(n_rows, depth).sum()):
            return descending(key, offsets), offsets
        last = offsets[:-1] + np.minimum(n_rows, depth) - 1
        least = self._ranked[np.minimum(last, len(key) - 1)]
        kept = np.flatnonzero(key >= np.repeat(least, n_rows))
        offsets = np.searchsorted(kept, offsets)
        return kept[descending(key[kept], offsets)], offsets


def _begins(ranked: Floats, offsets: Positions) -> Flags:
    """Tell of each row of lists in order whether it has another estimate than the row before."""
    new = np.ones(len(ranked), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    new[offsets[:-1][np.diff(offsets) > 0]] = True
    return new
