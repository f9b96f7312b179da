"""TieGroups: the items of sorted lists that share their ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, compute_offsets, concat_ranges
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ranking.ordering import argsort_descending


def hits_so_far(relevant: Floats, size: Positions, ahead: Floats, place: Positions) -> Floats:
    """Return E[rel_r · (relevant items at ranks up to r)] at places in tie groups.

    At the i-th place of a group of m items, ρ of them relevant, after H relevant items:
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
    """Return P(the first relevant item is at rank r), a row for each list with a hit.

    In the first tie group with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
    computed as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).

    Parameters
    ----------
    ahead, size, relevant : arrays
        The number of items before that group, m and ρ.
    width : int
        The number of ranks.
    """
    place = np.arange(1, width + 1) - ahead[:, None]
    size, relevant = size[:, None], relevant[:, None]
    inside = (place >= 1) & (place <= size)
    left = np.where(inside, size - place + 1, 1)
    factor = np.where(inside & (place > 1), (left - relevant + 1) / left, 1)
    table: Floats = np.where(inside, relevant / size * np.cumprod(factor, axis=1), 0)
    return table


@dataclass(frozen=True, eq=False)
class TieGroups:
    """Items with the same estimate in the same list, of many lists, first ranks first.

    An item need not have a row: if a long list keeps only the rows of its labelled items, the
    others count in `ahead` and `size`, and have the gain 0.

    Parameters
    ----------
    rows : int64 array, shape (n_rows,)
        The rows of all groups, one group after the other.
    start : int64 array, shape (n_groups + 1,)
        Where each group's rows start among these, and the end. Every group has a row.
    user, ahead, size : int64 arrays, shape (n_groups,)
        The place of each group's user, the number of items before it, and its number of items.
    """

    rows: Positions
    start: Positions
    user: Positions
    ahead: Positions
    size: Positions

    @lazy_property
    def n_rows(self) -> Positions:
        """The number of rows of each group."""
        return np.diff(self.start)

    @lazy_property
    def has_ties(self) -> bool:
        """Whether any group has more than one item."""
        return bool((self.size > 1).any())

    @lazy_property
    def group_of_row(self) -> Positions:
        """The group of each row."""
        if len(self.rows) == len(self.user):
            return np.arange(len(self.rows))
        begins = np.zeros(len(self.rows), dtype=bool)
        begins[self.start[1:-1]] = True
        return np.cumsum(begins)

    @lazy_property
    def place(self) -> Positions:
        """The place of each row in its group, from 0."""
        return np.arange(len(self.rows)) - self.start[self.group_of_row]

    def keep_depth(self, depth: int | None) -> TieGroups:
        """Return the groups that begin at one of the first ranks."""
        if depth is None or not len(self.ahead) or int(self.ahead.max()) < depth:
            return self
        kept = self.ahead < depth
        rows = self.rows[kept[self.group_of_row]]
        start = compute_offsets(self.n_rows[kept])
        return TieGroups(rows, start, self.user[kept], self.ahead[kept], self.size[kept])

    def sort_rows(self, key: Floats) -> TieGroups:
        """Return the groups with the rows of each by a key, largest first.

        Parameters
        ----------
        key : float64 array
            One entry per row of the lists.
        """
        several = self.n_rows > 1
        if not several.any():
            return self
        inside = several[self.group_of_row]
        mixed = self.rows[inside]
        rows = self.rows.copy()
        rows[inside] = mixed[argsort_descending(key[mixed], compute_offsets(self.n_rows[several]))]
        return replace(self, rows=rows)

    def split_into_rows(self, depth: int | None, *, worst_first: bool = False) -> TieGroups:
        """Return a group of its own for each row at one of the first ranks.

        Parameters
        ----------
        depth : int, optional
            The number of ranks; None for all.
        worst_first : bool
            Whether to reverse the rows of each group, after the items that have no row.
        """
        ahead = self.ahead + (self.size - self.n_rows) if worst_first else self.ahead
        count = self.n_rows if depth is None else np.clip(depth - ahead, 0, self.n_rows)
        group = np.repeat(np.arange(len(count)), count)
        place = concat_ranges(np.zeros_like(count), count)
        at = self.start[1:][group] - 1 - place if worst_first else self.start[:-1][group] + place
        return _make_single(self.rows[at], self.user[group], ahead[group] + place)

    def place_rows(self, place: Positions, depth: int | None) -> TieGroups:
        """Return a group of its own for each row, given the rows' places in their groups.

        Parameters
        ----------
        place : int64 array, one entry per row
            The place in the group, from 0, ascending within each group.
        depth : int, optional
            The number of ranks; None for all.
        """
        rows, user, ahead = (
            self.rows,
            self.user[self.group_of_row],
            self.ahead[self.group_of_row] + place,
        )
        if depth is not None:
            kept = ahead < depth
            rows, user, ahead = rows[kept], user[kept], ahead[kept]
        return _make_single(rows, user, ahead)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each group: exact for integers, else in the order of the rows."""
        inside = values[self.rows]
        if len(inside) == len(self.user):
            return inside
        total: Floats = np.add.reduceat(inside, self.start[:-1])
        return total

    def means(self, values: Floats) -> Floats:
        """Return the mean over the items of each group; exact if all values are equal.

        The rows must be sorted by the values, largest first, so that the last digit of the sum
        does not depend on the order of the input.
        """
        if not self.has_ties:
            return values[self.rows]
        inside = values[self.rows]
        highest, lowest = inside[self.start[:-1]], inside[self.start[1:] - 1]
        lowest = np.where(self.n_rows < self.size, np.minimum(lowest, 0.0), lowest)
        return np.clip(self.sums(values) / self.size, lowest, highest)


def _make_single(rows: Positions, user: Positions, ahead: Positions) -> TieGroups:
    return TieGroups(rows, np.arange(len(rows) + 1), user, ahead, np.ones_like(ahead))


class Cells:
    """The cells that tie groups cover in a table with a row per user and a column per rank.

    Parameters
    ----------
    groups : TieGroups
        The tie groups of the table's lists.
    n_users, width : int
        The shape of the table.

    Attributes
    ----------
    group, place : int64 arrays, shape (n_cells,)
        The group that covers each cell, and the place in it, from 0.
    """

    def __init__(self, groups: TieGroups, n_users: int, width: int) -> None:
        self._shape = n_users, width
        first = groups.user * width + groups.ahead
        if not groups.has_ties:
            inside = groups.ahead < width
            self.group = np.flatnonzero(inside)
            self.place = np.zeros(len(self.group), dtype=np.int64)
            self._cell = first[inside]
            return
        covered = np.clip(width - groups.ahead, 0, groups.size)
        self.group = np.repeat(np.arange(len(covered)), covered)
        self.place = concat_ranges(np.zeros_like(covered), covered)
        self._cell = first[self.group] + self.place

    def fill_table(self, values: Floats) -> Floats:
        """Return the table with a value in each covered cell, and 0 elsewhere."""
        table = np.zeros(self._shape)
        table.reshape(-1)[self._cell] = values
        return table
