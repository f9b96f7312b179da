"""Sorting the rows of many lists by a value, each list by itself."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Positions, concat_ranges

Number = TypeVar("Number", bound=np.generic)
_FEW_CELLS = 4096  # one table up to this size is faster than several tables


class PaddedLists:
    """Lists of similar length as the rows of a table, padded at their ends.

    Parameters
    ----------
    lists, rows : slices or int64 arrays
        The positions of these lists among all lists, and of their entries among all entries.
    sizes : int64 array
        The number of entries of each of them.
    """

    def __init__(self, lists: slice | Positions, rows: slice | Positions, sizes: Positions) -> None:
        longest = int(sizes.max())
        self.lists, self.rows = lists, rows
        self._shape = len(sizes), longest
        self._is_entry = None if sizes.min() == longest else np.arange(longest) < sizes[:, None]

    def to_table(self, values: Floats, padding: float = np.inf) -> Floats:
        """Return the values of these lists as a table, which may be a view."""
        values = values[self.rows]
        if self._is_entry is None:
            return values.reshape(self._shape)
        table = np.full(self._shape, padding)
        table[self._is_entry] = values
        return table

    def from_table(self, table: NDArray[Number]) -> NDArray[Number]:
        """Return the cells of a table without padding, one list after the other."""
        return table.ravel() if self._is_entry is None else table[self._is_entry]


def group_by_length(offsets: Positions) -> list[PaddedLists]:
    """Group the lists that are not empty by length.

    Except for small tables, at most half of a table is padding.

    Parameters
    ----------
    offsets : int64 array, shape (n_lists + 1,)
        The start of each list, and the end of the last.

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
        return [PaddedLists(slice(None), slice(None), sizes)] if n_rows else []
    power = np.frexp(np.maximum(sizes, 1) - 1)[1].astype(np.uint8)  # up to 1, 2, 4, 8, …
    groups = []
    for each in np.unique(power[sizes > 0]):
        lists = np.flatnonzero((power == each) & (sizes > 0))
        rows = concat_ranges(offsets[lists], sizes[lists])
        groups.append(PaddedLists(lists, rows, sizes[lists]))
    return groups


def argsort_descending(values: Floats, offsets: Positions) -> Positions:
    """Return the order of the rows that sorts each list by descending value.

    The order of equal values is arbitrary.

    Parameters
    ----------
    values : float64 array, one per row
        Rows grouped by list; no NaN.
    offsets : int64 array, shape (n_lists + 1,)
        The start of each list's rows, and the end of the last.

    Notes
    -----
    Lists of similar length are sorted as the rows of a table, which is several times faster than
    sorting all rows by two keys.

    Examples
    --------
    >>> argsort_descending(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]))
    array([1, 0, 2])
    """
    order, negated = np.empty(len(values), dtype=np.int64), -values
    # padding must sort last: NaN comes after infinity, but takes several times longer
    padding = np.nan if np.isneginf(values.min(initial=0.0)) else np.inf
    for part in group_by_length(offsets):
        rows = np.argsort(part.to_table(negated, padding), axis=1)
        rows += offsets[:-1][part.lists, None]
        order[part.rows] = part.from_table(rows)
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
    negated = -values
    for part in group_by_length(offsets):
        table = part.to_table(negated)
        table.sort(axis=1)
        negated[part.rows] = part.from_table(table)
    return np.negative(negated, out=negated)
