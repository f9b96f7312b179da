"""The only sort: rows of many lists, each list by itself, by a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Positions, concat_ranges

Number = TypeVar("Number", bound=np.generic)
_FEW_CELLS = 4096  # to sort so many takes less time than to sort them by themselves


@dataclass(frozen=True)
class Padded:
    """Lists of about the same length, a row of a table each, filled up at their ends.

    Parameters
    ----------
    lists, rows : slices or int64 arrays
        Which lists they are, and where their entries stand among those of all lists.
    shape : pair of int
        How many lists, and how long the longest is.
    inside : bool array of this shape, optional
        Which cells hold an entry; None where all do.
    """

    lists: slice | Positions
    rows: slice | Positions
    shape: tuple[int, int]
    inside: Flags | None

    def table(self, values: Floats, past_the_end: float = np.inf) -> Floats:
        """Return the values of these lists in a table, which may be a view of them."""
        values = values[self.rows]
        if self.inside is None:
            return values.reshape(self.shape)
        table = np.full(self.shape, past_the_end)
        table[self.inside] = values
        return table

    def flat(self, table: NDArray[Number]) -> NDArray[Number]:
        """Return what stands in the cells of the lists, one list after the other."""
        return table.ravel() if self.inside is None else table[self.inside]


def padded(offsets: Positions) -> list[Padded]:
    """Return all lists that have an entry, those of about the same length together.

    No table has more than twice as many cells as its lists have entries, but for small ones.

    Parameters
    ----------
    offsets : int64 array, shape (n_lists + 1,)
        Where each list starts.

    Examples
    --------
    >>> [one] = padded(np.array([0, 2, 3]))
    >>> one.table(np.array([5.0, 6.0, 7.0]))
    array([[ 5.,  6.],
           [ 7., inf]])
    """
    sizes = np.diff(offsets)
    n_lists, longest = len(sizes), int(sizes.max(initial=0))
    n_rows = int(offsets[-1] - offsets[0])
    if n_lists * longest <= max(2 * n_rows, _FEW_CELLS):
        return [_of(slice(None), slice(None), sizes, longest)] if n_rows else []
    octave = np.frexp(np.maximum(sizes, 1) - 1)[1].astype(np.uint8)  # up to 1, 2, 4, 8, …
    found = []
    for power in np.unique(octave[sizes > 0]):
        lists = np.flatnonzero((octave == power) & (sizes > 0))
        own = sizes[lists]
        found.append(_of(lists, concat_ranges(offsets[lists], own), own, int(own.max())))
    return found


def _of(
    lists: slice | Positions, rows: slice | Positions, sizes: Positions, longest: int
) -> Padded:
    full = int(sizes.min()) == longest
    inside = None if full else np.arange(longest) < sizes[:, None]
    return Padded(lists, rows, (len(sizes), longest), inside)


def descending(values: Floats, offsets: Positions) -> Positions:
    """Return the order of rows by list, and within a list by value, largest first.

    Equal values come in any order.

    Parameters
    ----------
    values : float64 array, one per row
        Rows grouped by list; no NaN.
    offsets : int64 array, shape (n_lists + 1,)
        Where each list's rows start.

    Notes
    -----
    Lists of about the same length are sorted side by side, as the rows of a table: several times
    faster than all rows by two keys.

    Examples
    --------
    >>> descending(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]))
    array([1, 0, 2])
    """
    order, lowest_first = np.empty(len(values), dtype=np.int64), -values
    # NaN comes last, even behind infinity, but takes several times longer to sort
    past_the_end = np.nan if np.isneginf(values.min(initial=0.0)) else np.inf
    for part in padded(offsets):
        within = np.argsort(part.table(lowest_first, past_the_end), axis=1)
        within += offsets[:-1][part.lists, None]
        order[part.rows] = part.flat(within)
    return order


def largest_first(values: Floats, offsets: Positions) -> Floats:
    """Return the values of each list in descending order, one list after the other.

    To sort them takes a fourth of the time that it takes to find their order.

    Parameters
    ----------
    values, offsets : arrays
        As for `descending`.

    Examples
    --------
    >>> largest_first(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]))
    array([3., 1., 2.])
    """
    ordered = -values
    for part in padded(offsets):
        table = part.table(ordered)
        table.sort(axis=1)
        ordered[part.rows] = part.flat(table)
    return np.negative(ordered, out=ordered)
