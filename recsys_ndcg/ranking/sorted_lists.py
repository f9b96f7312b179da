"""SortedLists: lists in order of their estimates, before any rule for ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.lazy import Known, lazy
from recsys_ndcg.ranking.ordering import descending
from recsys_ndcg.ranking.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.grouped_lists import GroupedLists


class SortedLists:
    """What all rankings of the same lists by the same estimates share.

    Parameters
    ----------
    lists : GroupedLists
        As `recsys_ndcg.lists.preparation.prepared` returns them.
    convention : Convention
        Its `tie_tolerance` says which estimates are equal; its `ties` are not looked at here.
    depth : int, optional
        How many ranks are wanted; None means all.
    blind : bool
        Whether all estimates of a list count as equal.
    """

    def __init__(
        self,
        lists: GroupedLists,
        convention: Convention,
        *,
        depth: int | None = None,
        blind: bool = False,
    ) -> None:
        self.lists = lists
        self._convention = convention
        self._depth = depth
        self._blind = blind
        self._known = Known()

    @lazy
    def runs(self) -> Runs:
        """The runs of equal estimates that reach the wanted ranks."""
        return self._all.reaching(self._depth)

    @lazy
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        if self._blind:
            return np.where(self.lists.n_items > 1, 1.0, np.inf)
        return self.lists.first_tie(self._all.user, self._all.ahead, self._all.size)

    def ordered(self, name: Hashable, key: Callable[[], Floats]) -> Runs:
        """Return the runs with their rows by a key, largest first; worked out once for each name.

        Parameters
        ----------
        name : hashable
            What the key is known by.
        key : callable
            Returns it: a float64 array, one entry per row.
        """
        return self._known.once(name, lambda: self.runs.ordered(key()))

    @lazy
    def _all(self) -> Runs:
        lists = self.lists
        if self._blind:
            own = np.diff(lists.offsets) > 0
            start = np.append(lists.offsets[:-1][own], len(lists.true))
            user = np.flatnonzero(own)
            rows = np.arange(len(lists.true))
            return Runs(rows, start, user, np.zeros_like(user), lists.n_items[own])
        key = lists.sort_key(self._convention)
        rows = descending(key, lists.offsets)
        in_order = key[rows]
        first = np.ones(len(rows), dtype=bool)
        np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
        first[lists.offsets[:-1][np.diff(lists.offsets) > 0]] = True
        start = np.append(np.flatnonzero(first), len(rows))
        user = lists.user_of_row[start[:-1]]  # the rows of a list stay together
        return Runs(rows, start, user, *lists.spans(user, rows, start))
