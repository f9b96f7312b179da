"""Rankings of placed lists: the tables of long lists, made from the few items that fill them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.lazy import lazy
from recsys_ndcg.lists.placed_lists import PlacedLists
from recsys_ndcg.ranking.block import Block
from recsys_ndcg.ranking.ordering import TieGroups
from recsys_ndcg.ranking.ranking import Ranking, first_hits, hits_so_far

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists


def block_of(lists: RankedLists, convention: Convention, **how: Any) -> Block:
    """Return the block of lists of either kind."""
    kind = PlacedBlock if isinstance(lists, PlacedLists) else Block
    return kind(lists, convention, **how)


def ranking_of(block: Block, ties: str) -> Ranking:
    """Return the ranking of a block of either kind."""
    return (PlacedRanking if isinstance(block, PlacedBlock) else Ranking)(block, ties)


class PlacedBlock(Block):
    """Some users of placed lists, whose labelled rows are sorted already."""

    lists: PlacedLists

    @lazy
    def order(self) -> Positions:
        """The rows by user and place."""
        return np.arange(len(self.lists.true))

    @lazy
    def ahead(self) -> Positions:
        """How many items stand before the group that each row is in."""
        return np.zeros_like(self.lists.ahead) if self._blind else self.lists.ahead

    @lazy
    def tied(self) -> Positions:
        """How many items that group has, labelled or not."""
        return self.n_items[self.user] if self._blind else self.lists.tied

    @lazy
    def groups(self) -> TieGroups:
        """The runs of labelled rows with equal estimates."""
        return TieGroups.equal(self.ahead.astype(np.float64), self.lists.offsets, self.width)

    @lazy
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        return np.where(self.n_items > 1, 1.0, np.inf) if self._blind else self.lists.first_tie

    @lazy
    def n_recommended(self) -> Positions:
        """How many items of each list count as recommended; they are its first ones."""
        return self.lists.n_recommended


@dataclass(frozen=True)
class _Shared:
    """Sorted rows that share ranks with each other and with items that have no row.

    Parameters
    ----------
    start : int64 array, shape (n_groups + 1,)
        The first row of each group, and the end.
    user, ahead, size : int64 arrays, shape (n_groups,)
        Whose list it is in, how many items stand before it, and how many it has.
    """

    start: Positions
    user: Positions
    ahead: Positions
    size: Positions

    def sums(self, values: Floats) -> Floats:
        """Return the sum of a column of sorted rows over each group."""
        return np.diff(np.concatenate([[0.0], np.cumsum(values)])[self.start])


class PlacedRanking(Ranking):
    """The tables of a `Ranking`, filled where labelled items may stand, and 0 elsewhere.

    Parameters
    ----------
    block : PlacedBlock
        The sorted rows.
    ties : str
        The rule of `Convention`.
    """

    _block: PlacedBlock

    @lazy
    def gain(self) -> Floats:
        """The gain at each rank, 0 for items without a label and past the end of a list."""
        return self._mean(self._block.gains)

    @lazy
    def relevance(self) -> Floats:
        """The relevance at each rank, in [0, 1]."""
        return self._mean(self._block.relevant)

    @lazy
    def labelled(self) -> Floats:
        """How surely there is a true value at each rank, in [0, 1]."""
        return self._mean(self._block.labelled)

    @lazy
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision."""
        groups, relevant, ahead = self._relevant
        cells = group, place = self._cells(groups)
        values = hits_so_far(relevant[group], groups.size[group], ahead[group], place)
        return self._filled(groups, cells, values)

    @lazy
    def first_hit(self) -> Floats:
        """P(the first relevant item stands at rank r), for reciprocal rank and hit rate."""
        groups, relevant, _ = self._relevant
        found = np.flatnonzero(relevant > 0)
        user, first = np.unique(groups.user[found], return_index=True)
        found = found[first]
        table = np.zeros((len(self.n_items), self._block.width))
        table[user] = first_hits(
            groups.ahead[found], groups.size[found], relevant[found], self._block.width
        )
        return table

    def _mean(self, values: Floats) -> Floats:
        """Return the mean value of the items that share each rank."""
        order, groups = self._shared(values)
        cells = self._cells(groups)
        mean = groups.sums(values[order]) / groups.size
        return self._filled(groups, cells, mean[cells[0]])

    @lazy
    def _relevant(self) -> tuple[_Shared, Floats, Floats]:
        """Return the groups by relevance, the relevant items in each, and those before it."""
        order, groups = self._shared(self._block.relevant)
        relevant = groups.sums(self._block.relevant[order])
        before = np.concatenate([[0.0], np.cumsum(relevant)])
        first = np.searchsorted(groups.user, np.arange(len(self.n_items)))
        return groups, relevant, before[:-1] - before[first][groups.user]

    def _shared(self, values: Floats) -> tuple[Positions, _Shared]:
        """Return the rows in order and what shares ranks; best and worst are those of `values`."""
        block, groups = self._block, self._block.groups
        user = block.user
        if self.ties == "expected":
            first = groups.start[:-1]
            return block.order, _Shared(
                groups.start, user[first], block.ahead[first], block.tied[first]
            )
        start = groups.start[:-1][groups.of_row]
        place = np.arange(len(values)) - start
        order = block.order
        if self.ties in ("best", "worst"):
            order = groups.settled(order, values if self.ties == "best" else -values)
            if self.ties == "worst":  # behind all that have no label
                place += block.tied - (groups.start[1:][groups.of_row] - start)
        else:
            place = block.lists.within
        alone = np.ones(len(values), dtype=np.int64)
        return order, _Shared(np.arange(len(values) + 1), user, block.ahead + place, alone)

    def _cells(self, groups: _Shared) -> tuple[Positions, Positions]:
        """Return the group and the place in it of every cell of the table that a group covers."""
        covered = np.clip(self._block.width - groups.ahead, 0, groups.size)
        group = np.repeat(np.arange(len(covered)), covered)
        first = np.cumsum(covered) - covered
        return group, np.arange(len(group)) - first[group]

    def _filled(
        self, groups: _Shared, cells: tuple[Positions, Positions], values: Floats
    ) -> Floats:
        """Return a table with a value in every covered cell."""
        table = np.zeros((len(self.n_items), self._block.width))
        group, place = cells
        table[groups.user[group], groups.ahead[group] + place] = values
        return table
