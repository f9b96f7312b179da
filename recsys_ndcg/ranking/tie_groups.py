"""TieGroups: the items of sorted lists that share their ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, compute_offsets, concat_ranges
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ranking.ordering import argsort_descending


def compute_hits_so_far(relevant: Any, size: Positions, hits_before: Any, place: Any) -> Floats:
    """Return E[rel_r · (relevant items at ranks up to r)] at places in tie groups.

    At the i-th place of a group of m items, ρ of them relevant, after H relevant items:
    (ρ/m)·(H + 1 + (i-1)(ρ-1)/(m-1)).

    Parameters
    ----------
    relevant, size, hits_before, place : arrays
        ρ, m, H and i - 1.
    """
    share = place * (relevant - 1) / np.maximum(size - 1, 1)
    expected: Floats = relevant / size * (hits_before + 1 + share)
    return expected


def compute_first_hits(
    n_before: Positions, size: Positions, relevant: Floats, width: int
) -> Floats:
    """Return P(the first relevant item is at rank r), a row for each list with a hit.

    In the first tie group with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
    computed as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).

    Parameters
    ----------
    n_before, size, relevant : arrays
        The number of items before that group, m and ρ.
    width : int
        The number of ranks.
    """
    place = np.arange(1, width + 1) - n_before[:, None]
    size, relevant = size[:, None], relevant[:, None]
    is_covered = (place >= 1) & (place <= size)
    n_left = np.where(is_covered, size - place + 1, 1)
    factor = np.where(is_covered & (place > 1), (n_left - relevant + 1) / n_left, 1)
    return np.where(is_covered, relevant / size * np.cumprod(factor, axis=1), 0)


@dataclass(frozen=True, eq=False)
class TieGroups:
    """Groups of items with the same estimate in the same list, by list and rank.

    An item may have no row: if a long list keeps only the rows of its labelled items, other items
    count in `n_before` and `size`, and have the gain 0.

    Parameters
    ----------
    rows : int64 array, shape (n_rows,)
        The rows of all groups, one group after the other.
    start : int64 array, shape (n_groups + 1,)
        The start of each group in `rows`, and the end of the last. Every group has a row.
    user, n_before, size : int64 arrays, shape (n_groups,)
        The index of each group's user, the number of items before the group, and its size.
    """

    rows: Positions
    start: Positions
    user: Positions
    n_before: Positions
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

    def keep_ranks(self, depth: int | None) -> TieGroups:
        """Return the groups that begin at one of the first ranks."""
        if depth is None or not len(self.n_before) or int(self.n_before.max()) < depth:
            return self
        mask = self.n_before < depth
        rows, start = self.rows[mask[self.group_of_row]], compute_offsets(self.n_rows[mask])
        return TieGroups(rows, start, self.user[mask], self.n_before[mask], self.size[mask])

    def sort_rows(self, key: Floats) -> TieGroups:
        """Return the groups with the rows of each sorted by a key, largest first.

        Parameters
        ----------
        key : float64 array
            One entry per row of the lists.
        """
        is_tied = self.n_rows > 1
        if not is_tied.any():
            return self
        in_tie, offsets = is_tied[self.group_of_row], compute_offsets(self.n_rows[is_tied])
        rows, tied_rows = self.rows.copy(), self.rows[in_tie]
        rows[in_tie] = tied_rows[argsort_descending(key[tied_rows], offsets)]
        return replace(self, rows=rows)

    def split_into_rows(self, depth: int | None, *, worst_first: bool = False) -> TieGroups:
        """Return a separate group for each row at one of the first ranks.

        Parameters
        ----------
        depth : int, optional
            The number of ranks; None for all.
        worst_first : bool
            Whether to reverse the rows of each group, and put them after the items without a row.
        """
        n_before = self.n_before + (self.size - self.n_rows) if worst_first else self.n_before
        count = self.n_rows if depth is None else np.clip(depth - n_before, 0, self.n_rows)
        group = np.repeat(np.arange(len(count)), count)
        place = concat_ranges(np.zeros_like(count), count)
        index = self.start[1:][group] - 1 - place if worst_first else self.start[:-1][group] + place
        return _make_single(self.rows[index], self.user[group], n_before[group] + place)

    def place_rows(self, place: Positions, depth: int | None) -> TieGroups:
        """Return a separate group for each row, given the rows' places in their groups.

        Parameters
        ----------
        place : int64 array, one entry per row
            The place in the group, from 0, ascending within each group.
        depth : int, optional
            The number of ranks; None for all.
        """
        rows, group = self.rows, self.group_of_row
        user, n_before = self.user[group], self.n_before[group] + place
        if depth is not None:
            is_kept = n_before < depth
            rows, user, n_before = rows[is_kept], user[is_kept], n_before[is_kept]
        return _make_single(rows, user, n_before)

    def compute_sums(self, by_row: Floats) -> Floats:
        """Return the sum over each group of the values of `rows`, in their order."""
        if len(by_row) == len(self.user):
            return by_row
        return np.add.reduceat(by_row, self.start[:-1])

    def compute_means(self, by_row: Floats) -> Floats:
        """Return the mean of the values of `rows` over each group; exact if all are equal.

        The rows must be sorted by the values, largest or smallest first, so that the last digit of
        the sum does not depend on the order of the input.
        """
        if not self.has_ties:
            return by_row
        first, last = by_row[self.start[:-1]], by_row[self.start[1:] - 1]
        highest, lowest = np.maximum(first, last), np.minimum(first, last)
        lowest = np.where(self.n_rows < self.size, np.minimum(lowest, 0.0), lowest)
        return np.clip(self.compute_sums(by_row) / self.size, lowest, highest)


def _make_single(rows: Positions, user: Positions, n_before: Positions) -> TieGroups:
    return TieGroups(rows, np.arange(len(rows) + 1), user, n_before, np.ones_like(n_before))


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
        The group that covers each cell, and the cell's place in the group, from 0.
    """

    def __init__(self, groups: TieGroups, n_users: int, width: int) -> None:
        self._shape = n_users, width
        first = groups.user * width + groups.n_before
        if not groups.has_ties:
            is_in_table = groups.n_before < width
            self.group = np.flatnonzero(is_in_table)
            self.place = np.zeros_like(self.group)
            self._index = first[is_in_table]
            return
        n_covered = np.clip(width - groups.n_before, 0, groups.size)
        self.group = np.repeat(np.arange(len(n_covered)), n_covered)
        self.place = concat_ranges(np.zeros_like(n_covered), n_covered)
        self._index = first[self.group] + self.place

    def fill_table(self, values: Floats) -> Floats:
        """Return the table with a value in each covered cell, and 0 elsewhere."""
        table = np.zeros(self._shape)
        table.reshape(-1)[self._index] = values
        return table
