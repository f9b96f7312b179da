"""The only sort: rows of many lists, each list by itself, by a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.ranking.padded import padded

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions


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
    ordered, lowest_first = np.empty(len(values)), -values
    for part in padded(offsets):
        table = part.table(lowest_first)
        table.sort(axis=1)
        ordered[part.rows] = part.flat(table)
    return np.negative(ordered, out=ordered)
