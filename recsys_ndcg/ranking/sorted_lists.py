"""SortedLists: lists in order of their estimates, before any rule for ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import edges, ranges
from recsys_ndcg.lazy import Known, lazy
from recsys_ndcg.ranking.ordering import descending
from recsys_ndcg.ranking.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from recsys_ndcg.arrays import Flags, Floats, Positions
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
        self.depth = depth
        self._blind = blind
        self._known = Known()

    @lazy
    def runs(self) -> Runs:
        """The runs of equal estimates that reach the wanted ranks."""
        lists = self.lists
        if self._blind:
            user = np.flatnonzero(np.diff(lists.offsets))
            start = np.append(lists.offsets[user], len(lists.true))
            rows = np.arange(len(lists.true))
            return Runs(rows, start, user, np.zeros_like(user), lists.n_candidates[user])
        user, first, end = self._bounds
        rows, _ = self._sorted
        spans = lists.spans(user, first, end, rows[first])
        if len(first) < len(rows):
            rows = rows[ranges(first, end - first)]
        return Runs(rows, edges(end - first), user, *spans).reaching(self.depth)

    @lazy
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        if self._blind:
            return np.where(self.lists.n_items > 1, 1.0, np.inf)
        _, new = self._sorted
        return self.lists.first_tie(np.flatnonzero(~new))

    def by(self, name: Hashable, key: Callable[[], Floats]) -> Runs:
        """Return the runs with their rows by a key, largest first; worked out once for each name.

        Parameters
        ----------
        name : hashable
            What the key is known by.
        key : callable
            Returns it: a float64 array, one entry per row.
        """
        return self._known.once(name, lambda: self.runs.by(key()))

    @lazy
    def _sorted(self) -> tuple[Positions, Flags]:
        """The rows in order, and whether each has another estimate than the row before."""
        offsets = self.lists.offsets
        key = self.lists.sort_key(self._convention)
        rows = descending(key, offsets)
        ranked = key[rows]
        new = np.ones(len(rows), dtype=bool)
        np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
        new[offsets[:-1][np.diff(offsets) > 0]] = True
        return rows, new

    @lazy
    def _bounds(self) -> tuple[Positions, Positions, Positions]:
        """Of runs that may reach the wanted ranks: the user, the first row in order, and the end.

        As many rows stand before a run as items at most, so it begins among a list's first rows.
        """
        offsets, (_, new) = self.lists.offsets, self._sorted
        user, places = self.lists.user_of_row, np.arange(len(new))
        if self.depth is not None:
            wanted = np.minimum(np.diff(offsets), self.depth)
            user, places = np.repeat(np.arange(len(wanted)), wanted), ranges(offsets[:-1], wanted)
        if new.all():
            return user, places, places + 1
        begins = new[places]
        user, first = user[begins], places[begins]
        bounds = np.append(np.flatnonzero(new), len(new))
        return user, first, bounds[np.searchsorted(bounds, first, side="right")]
