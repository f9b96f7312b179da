"""Ranking: the tables that metrics read, one row per user and one column per rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.convention.gains import discounts
from recsys_ndcg.lazy import lazy
from recsys_ndcg.lists.preparation import prepared
from recsys_ndcg.ranking.block import Block
from recsys_ndcg.ranking.ordering import TieGroups

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists


def rank(
    lists: RankedLists,
    convention: Convention,
    depth: int | None = None,
    *,
    threshold: float | None = None,
) -> Ranking:
    """Rank lists under a convention.

    Parameters
    ----------
    lists : RankedLists
        Any.
    convention : Convention
        Every choice.
    depth : int, optional
        How many ranks the tables have; None for the longest list.
    threshold : float, optional
        From which grade an item is relevant.

    Raises
    ------
    InvalidInputError
        The lists cannot be ranked under the convention.

    Examples
    --------
    >>> from recsys_ndcg import Convention, RankedLists
    >>> lists = RankedLists.from_tuples({"ann": [(2.0, 1), (4.5, 3), (2.0, 2)]})
    >>> rank(lists, Convention(), depth=2).gain
    array([[7., 2.]])
    """
    ready = prepared(lists, convention, threshold=threshold)
    return Ranking(Block(ready, convention, depth=depth, threshold=threshold), convention.ties)


class Ranking:
    """Lists in ranked order, as tables of shape (n_users, width), each made when first read.

    Parameters
    ----------
    block : Block
        The sorted rows.
    ties : str
        The rule of `Convention`: under ``expected`` a group of equal estimates contributes its
        mean at each of its ranks, else the tables hold one concrete order.
    """

    def __init__(self, block: Block, ties: str) -> None:
        self.convention = block.convention
        self.ties = ties
        self._block = block

    @property
    def n_items(self) -> Positions:
        """How many items each list has."""
        return self._block.n_items

    @property
    def n_labelled(self) -> Floats:
        """How many items of each user have a label, in the list or not."""
        return self._block.n_labelled

    @property
    def n_relevant(self) -> Floats:
        """How many items of each user are relevant, in the list or not."""
        return self._block.n_relevant

    @property
    def n_recommended(self) -> Floats | Positions:
        """How many items of each list count as recommended; they are its first ones."""
        return self._block.n_recommended

    @property
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        return self._block.first_tie

    @property
    def ideal_gain(self) -> Floats:
        """The gain at each rank of the ideal list; under ``max`` that of the top grade in all."""
        return self._block.ideal_gain

    @property
    def top_gain(self) -> float:
        """The gain of the top grade; binary gains need not be told which that is."""
        return self._block.top_gain

    @lazy
    def discount(self) -> Floats:
        """The weight of each rank, shape (width,)."""
        return discounts(self._block.width, self.convention)

    @lazy
    def gain(self) -> Floats:
        """The gain at each rank, 0 past the end of a list."""
        return self._table(self._block.gains, *self._by_gain)

    @lazy
    def relevance(self) -> Floats:
        """The relevance at each rank, in [0, 1]."""
        return self._table(self._block.relevant, *self._by_relevance)

    @lazy
    def labelled(self) -> Floats:
        """How surely there is a true value at each rank, in [0, 1]."""
        return self._table(self._block.labelled, *self._settled(self._block.labelled))

    @lazy
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision."""
        groups, hits = self._hits
        offsets = self._block.lists.offsets
        start, end = groups.start[groups.of_row], groups.start[groups.of_row + 1]
        ahead = hits[start] - np.repeat(hits[offsets[:-1]], self.n_items)
        place = np.arange(len(start)) - start
        values = hits_so_far(hits[end] - hits[start], end - start, ahead, place)
        return self._block.table(values, offsets)

    @lazy
    def first_hit(self) -> Floats:
        """P(the first relevant item stands at rank r), for reciprocal rank and hit rate."""
        groups, hits = self._hits
        offsets = self._block.lists.offsets
        found = np.flatnonzero(np.diff(hits[groups.start]) > 0)
        user = np.searchsorted(offsets, groups.start[found], side="right") - 1
        user, first = np.unique(user, return_index=True)
        start, end = groups.start[found[first]], groups.start[found[first] + 1]
        table = np.zeros((len(self.n_items), self._block.width))
        table[user] = first_hits(
            start - offsets[user], end - start, hits[end] - hits[start], self._block.width
        )
        return table

    @property
    def error(self) -> Floats:
        """Estimated minus true of every row, NaN where unlabelled: the one column not by rank."""
        return self._block.lists.estimated - self._block.lists.true

    def per_user(self, values: Floats) -> Floats:
        """Return the sum of a column such as `error` over each user's rows, NaN left out."""
        return self._block.per_user(np.nan_to_num(values))

    @property
    def order(self) -> Positions:
        """The rows in the order of `gain`; those that share a mean in input order."""
        order, groups = self._by_gain
        return groups.settled(order, -np.arange(len(order), dtype=np.float64))

    def _table(self, values: Floats, order: Positions, groups: TieGroups) -> Floats:
        """Return the mean value of the rows that share each rank."""
        return self._block.table(groups.mean(values[order]), self._block.lists.offsets)

    @lazy
    def _hits(self) -> tuple[TieGroups, Floats]:
        """Return the tie groups, and how many relevant items stand before each sorted row."""
        order, groups = self._by_relevance
        return groups, np.concatenate([[0.0], np.cumsum(self._block.relevant[order])])

    @lazy
    def _by_gain(self) -> tuple[Positions, TieGroups]:
        return self._settled(self._block.gains)

    @lazy
    def _by_relevance(self) -> tuple[Positions, TieGroups]:
        return self._settled(self._block.relevant)

    def _settled(self, values: Floats) -> tuple[Positions, TieGroups]:
        """Return the sorted rows and what shares ranks; best and worst are those of `values`."""
        order, groups = self._block.order, self._block.groups
        if self.ties == "expected":
            return order, groups
        key = values
        if self.ties == "input":
            key = np.arange(len(order), dtype=np.float64)
        elif self.ties in ("item_asc", "item_desc"):
            key = np.asarray(self._block.lists.item_codes, dtype=np.float64)
        elif self.ties in ("text_asc", "text_desc"):
            key = self._block.item_text_order
        if self.ties in ("input", "item_asc", "text_asc", "worst"):
            key = -key
        return groups.settled(order, key), TieGroups.alone(len(order))


def hits_so_far(relevant: Floats, size: Positions, ahead: Floats, place: Positions) -> Floats:
    """Return E[rel_r · (relevant items at ranks up to r)] at places of tie groups.

    At the i-th place of a group of m items, ρ of them relevant, behind H relevant items:
    (ρ/m)·(H + 1 + (i-1)(ρ-1)/(m-1)).

    Parameters
    ----------
    relevant, size, ahead, place : arrays
        ρ, m, H and i - 1.
    """
    share = place * (relevant - 1) / np.maximum(size - 1, 1)
    so_far: Floats = relevant / size * (ahead + 1 + share)
    return so_far


def first_hits(ahead: Positions, size: Positions, relevant: Floats, width: int) -> Floats:
    """Return P(the first relevant item stands at rank r), a row for each list's first hits.

    In the first group with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
    here as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).

    Parameters
    ----------
    ahead, size, relevant : arrays
        How many items stand before that group, m and ρ.
    width : int
        How many ranks.
    """
    place = np.arange(1, width + 1) - ahead[:, None]
    size, relevant = size[:, None], relevant[:, None]
    inside = (place >= 1) & (place <= size)
    left = np.where(inside, size - place + 1, 1)
    factor = np.where(inside & (place > 1), (left - relevant + 1) / left, 1)
    table: Floats = np.where(inside, relevant / size * np.cumprod(factor, axis=1), 0)
    return table
