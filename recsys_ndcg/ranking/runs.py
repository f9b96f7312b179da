"""Runs of equal estimates in sorted lists: what shares its ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, concat_ranges, offsets_of
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ranking.ordering import descending


def hits_so_far(relevant: Floats, size: Positions, ahead: Floats, place: Positions) -> Floats:
    """Return E[rel_r · (relevant items at ranks up to r)] at places of runs of equal estimates.

    At the i-th place of a run of m items, ρ of them relevant, behind H relevant items:
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

    In the first run with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
    here as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).

    Parameters
    ----------
    ahead, size, relevant : arrays
        How many items stand before that run, m and ρ.
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


@dataclass(frozen=True, eq=False)
class Runs:
    """Items with the same estimate in the same list, of many lists, the first ranks first.

    An item need not have a row. Where a long list keeps the rows of its labelled items alone,
    the others count in `ahead` and `size`, and are worth 0.

    Parameters
    ----------
    rows : int64 array, shape (n_rows,)
        The rows of all runs, one run after the other.
    start : int64 array, shape (n_runs + 1,)
        Where each run's rows start among these, and the end. Every run has a row.
    user, ahead, size : int64 arrays, shape (n_runs,)
        Whose list each run is in, by place, how many items stand before it, and how many it has.
    """

    rows: Positions
    start: Positions
    user: Positions
    ahead: Positions
    size: Positions

    @lazy_property
    def n_rows(self) -> Positions:
        """How many rows each run has."""
        return np.diff(self.start)

    @lazy_property
    def shared(self) -> bool:
        """Whether any run has more than one item."""
        return bool((self.size > 1).any())

    @lazy_property
    def of_row(self) -> Positions:
        """Which run each row is in."""
        if len(self.rows) == len(self.user):
            return np.arange(len(self.rows))
        begins = np.zeros(len(self.rows), dtype=bool)
        begins[self.start[1:-1]] = True
        return np.cumsum(begins)

    @lazy_property
    def place(self) -> Positions:
        """The place of each row in its run, from 0."""
        return np.arange(len(self.rows)) - self.start[self.of_row]

    def reaching(self, depth: int | None) -> Runs:
        """Return the runs that begin at one of the first ranks."""
        if depth is None or not len(self.ahead) or int(self.ahead.max()) < depth:
            return self
        kept = self.ahead < depth
        rows = self.rows[kept[self.of_row]]
        start = offsets_of(self.n_rows[kept])
        return Runs(rows, start, self.user[kept], self.ahead[kept], self.size[kept])

    def by(self, key: Floats) -> Runs:
        """Return the same runs, the rows in each by a key, largest first.

        Parameters
        ----------
        key : float64 array
            One entry per row of the lists.
        """
        several = self.n_rows > 1
        if not several.any():
            return self
        inside = several[self.of_row]
        mixed = self.rows[inside]
        rows = self.rows.copy()
        rows[inside] = mixed[descending(key[mixed], offsets_of(self.n_rows[several]))]
        return replace(self, rows=rows)

    def one_by_one(self, depth: int | None, *, worst_first: bool = False) -> Runs:
        """Return a run for each row at one of the first ranks, of those that its run shared.

        Parameters
        ----------
        depth : int, optional
            How many ranks are wanted; None for all.
        worst_first : bool
            Whether the rows of each run change their order, behind the items that have no row.
        """
        ahead = self.ahead + (self.size - self.n_rows) if worst_first else self.ahead
        count = self.n_rows if depth is None else np.clip(depth - ahead, 0, self.n_rows)
        run = np.repeat(np.arange(len(count)), count)
        place = concat_ranges(np.zeros_like(count), count)
        at = self.start[1:][run] - 1 - place if worst_first else self.start[:-1][run] + place
        return _single(self.rows[at], self.user[run], ahead[run] + place)

    def at_places(self, place: Positions, depth: int | None) -> Runs:
        """Return the same for rows whose places are told.

        Parameters
        ----------
        place : int64 array, one entry per row
            Its place in the run, from 0, rising within each run.
        depth : int, optional
            How many ranks are wanted; None for all.
        """
        rows, user, ahead = self.rows, self.user[self.of_row], self.ahead[self.of_row] + place
        if depth is not None:
            kept = ahead < depth
            rows, user, ahead = rows[kept], user[kept], ahead[kept]
        return _single(rows, user, ahead)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each run: exact of whole numbers, else in the order of the rows."""
        inside = values[self.rows]
        if len(inside) == len(self.user):
            return inside
        total: Floats = np.add.reduceat(inside, self.start[:-1])
        return total

    def means(self, values: Floats) -> Floats:
        """Return the mean over the items of each run; exact where all are worth the same.

        The rows must stand in the order of the values, largest first, so that the last digit of
        the sum does not depend on the order in which they came.
        """
        if not self.shared:
            return values[self.rows]
        inside = values[self.rows]
        highest, lowest = inside[self.start[:-1]], inside[self.start[1:] - 1]
        lowest = np.where(self.n_rows < self.size, np.minimum(lowest, 0.0), lowest)
        return np.clip(self.sums(values) / self.size, lowest, highest)


def _single(rows: Positions, user: Positions, ahead: Positions) -> Runs:
    return Runs(rows, np.arange(len(rows) + 1), user, ahead, np.ones_like(ahead))


class Cells:
    """The cells of a table, a row per user and a column per rank, that runs cover.

    Parameters
    ----------
    runs : Runs
        All in lists of the table.
    n_users, width : int
        The shape of the table.

    Attributes
    ----------
    run, place : int64 arrays, shape (n_cells,)
        Which run covers each cell, and the place in it, from 0.
    """

    def __init__(self, runs: Runs, n_users: int, width: int) -> None:
        self._shape = n_users, width
        first = runs.user * width + runs.ahead
        if not runs.shared:
            inside = runs.ahead < width
            self.run = np.flatnonzero(inside)
            self.place = np.zeros(len(self.run), dtype=np.int64)
            self._cell = first[inside]
            return
        covered = np.clip(width - runs.ahead, 0, runs.size)
        self.run = np.repeat(np.arange(len(covered)), covered)
        self.place = concat_ranges(np.zeros_like(covered), covered)
        self._cell = first[self.run] + self.place

    def filled(self, values: Floats) -> Floats:
        """Return the table with a value in each covered cell, and 0 elsewhere."""
        table = np.zeros(self._shape)
        table.reshape(-1)[self._cell] = values
        return table
