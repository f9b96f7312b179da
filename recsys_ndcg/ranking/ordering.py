"""Sorting the rows of many lists by a value, each list by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Positions, concat_ranges

Number = TypeVar("Number", bound=np.generic)
_FEW_CELLS = 4096  # a table of so few cells is faster than several tables


@dataclass(frozen=True)
class PaddedLists:
    """Lists of about the same length as the rows of a table, padded at their ends.

    Parameters
    ----------
    lists, rows : slices or int64 arrays
        The places of these lists and of their entries among all lists.
    shape : pair of int
        The number of lists, and the length of the longest.
    inside : bool array of this shape, optional
        Which cells hold an entry; None if all do.
    """

    lists: slice | Positions
    rows: slice | Positions
    shape: tuple[int, int]
    inside: Flags | None

    def to_table(self, values: Floats, past_the_end: float = np.inf) -> Floats:
        """Return the values of these lists as a table, which may be a view."""
        values = values[self.rows]
        if self.inside is None:
            return values.reshape(self.shape)
        table = np.full(self.shape, past_the_end)
        table[self.inside] = values
        return table

    def from_table(self, table: NDArray[Number]) -> NDArray[Number]:
        """Return the cells of a table without padding, one list after the other."""
        return table.ravel() if self.inside is None else table[self.inside]


def group_by_length(offsets: Positions) -> list[PaddedLists]:
    """Group the lists that are not empty by length.

    Except for small tables, at most half of a table is padding.

    Parameters
    ----------
    offsets : int64 array, shape (n_lists + 1,)
        Where each list starts.

    Examples
    --------
    >>> [one] = group_by_length(np.array([0, 2, 3]))
    >>> one.to_table(np.array([5.0, 6.0, 7.0]))
    array([[ 5.,  6.],
           [ 7., inf]])
    """
    sizes = np.diff(offsets)
    n_lists, longest = len(sizes), int(sizes.max(initial=0))
    n_rows = int(offsets[-1] - offsets[0])
    if n_lists * longest <= max(2 * n_rows, _FEW_CELLS):
        return [_pad(slice(None), slice(None), sizes, longest)] if n_rows else []
    octave = np.frexp(np.maximum(sizes, 1) - 1)[1].astype(np.uint8)  # up to 1, 2, 4, 8, …
    found = []
    for power in np.unique(octave[sizes > 0]):
        lists = np.flatnonzero((octave == power) & (sizes > 0))
        own = sizes[lists]
        found.append(_pad(lists, concat_ranges(offsets[lists], own), own, int(own.max())))
    return found


def _pad(
    lists: slice | Positions, rows: slice | Positions, sizes: Positions, longest: int
) -> PaddedLists:
    full = int(sizes.min()) == longest
    inside = None if full else np.arange(longest) < sizes[:, None]
    return PaddedLists(lists, rows, (len(sizes), longest), inside)


def argsort_descending(values: Floats, offsets: Positions) -> Positions:
    """Return the order of rows by list, and within a list by descending value.

    Equal values come in any order.

    Parameters
    ----------
    values : float64 array, one per row
        Rows grouped by list; no NaN.
    offsets : int64 array, shape (n_lists + 1,)
        Where each list's rows start.

    Notes
    -----
    Lists of about the same length are sorted as the rows of a table, which is several times faster
    than sorting all rows by two keys.

    Examples
    --------
    >>> argsort_descending(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]))
    array([1, 0, 2])
    """
    order, lowest_first = np.empty(len(values), dtype=np.int64), -values
    # NaN would sort behind infinity, but takes several times longer
    past_the_end = np.nan if np.isneginf(values.min(initial=0.0)) else np.inf
    for part in group_by_length(offsets):
        within = np.argsort(part.to_table(lowest_first, past_the_end), axis=1)
        within += offsets[:-1][part.lists, None]
        order[part.rows] = part.from_table(within)
    return order


def sort_descending(values: Floats, offsets: Positions) -> Floats:
    """Return the values of each list in descending order, one list after the other.

    This takes a quarter of the time of `argsort_descending`.

    Parameters
    ----------
    values, offsets : arrays
        As for `argsort_descending`.

    Examples
    --------
    >>> sort_descending(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]))
    array([3., 1., 2.])
    """
    ordered = -values
    for part in group_by_length(offsets):
        table = part.to_table(ordered)
        table.sort(axis=1)
        ordered[part.rows] = part.from_table(table)
    return np.negative(ordered, out=ordered)
