"""The first items of long lists, without sorting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import ranges

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions

_PIECE = 8


def top(
    table: Floats, k: int, *, tolerance: float = 0.0, tie_order: Positions | None = None
) -> tuple[Positions, Positions, Positions]:
    """Return row, column and rank, from 0, of the k largest values of each row.

    Parameters
    ----------
    table : float64 array, shape (n_rows, n_columns)
        -inf where there is nothing.
    k : int
        How many.
    tolerance : float
        A step; values that are equal when rounded to it are tied.
    tie_order : int64 array, shape (n_columns,), optional
        The order of the columns among ties; by default that of the table.

    Examples
    --------
    >>> top(np.array([[1.0, 3.0, 3.0, -np.inf]]), 2)
    (array([0, 0]), array([1, 2]), array([0, 1]))
    """
    cells = np.flatnonzero(table >= _at_most_kth(table, k) - 2 * tolerance)
    row, column = np.divmod(cells, table.shape[1])
    values = table[row, column]
    rounded = np.rint(values / tolerance) if tolerance else values
    within = column if tie_order is None else tie_order[column]
    order = np.lexsort((within, -rounded, row))
    order = order[values[order] > -np.inf]
    row, column = row[order], column[order]
    sizes = np.bincount(row, minlength=len(table))
    rank = ranges(np.zeros_like(sizes), sizes)
    kept = rank < k
    return row[kept], column[kept], rank[kept]


def _at_most_kth(values: Floats, k: int) -> Floats:
    """Return a bound for each row that its k-th largest value reaches: mostly it is close.

    The k-th largest of the maxima of pieces of the row.
    """
    pieces = values.shape[1] // _PIECE
    if k > pieces:
        return np.full((len(values), 1), -np.inf)
    whole = values[:, : pieces * _PIECE]
    # piece i holds every pieces-th column, so that the maximum is taken over contiguous rows
    maxima = whole.reshape(len(values), _PIECE, pieces).max(axis=1)
    return np.partition(maxima, pieces - k, axis=1)[:, -k, None]
