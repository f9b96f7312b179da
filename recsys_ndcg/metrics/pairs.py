"""Pairs of the items of a list, and which items are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, concat_ranges, count_offsets
from recsys_ndcg.lazy import lazy_property


@dataclass(frozen=True, eq=False)
class ShownItems:
    """The items that may be among the first k of each list.

    Rows are sorted by user; within a user, items that are certainly shown come first.

    Parameters
    ----------
    n_users : int
        The number of users.
    user, item : int64 arrays
        The user and the item of each row.
    is_tied : bool array
        Whether only some of the user's tied rows, drawn at random, are among the first k; the
        others are for certain.
    n_drawn : int64 array, shape (n_users,)
        How many of the tied rows are drawn.
    """

    n_users: int
    user: Positions
    item: Positions
    is_tied: Flags
    n_drawn: Positions

    @lazy_property
    def offsets(self) -> Positions:
        """The start of each user's rows, and the end of the last."""
        return count_offsets(self.user, self.n_users)

    @lazy_property
    def n_tied(self) -> Positions:
        """The number of tied rows of each user."""
        return np.bincount(self.user[self.is_tied], minlength=self.n_users)

    @lazy_property
    def shares(self) -> tuple[Floats, Floats]:
        """The probability that a tied item is drawn, and that two of them are."""
        one = self.n_drawn / np.maximum(self.n_tied, 1)
        return one, one * (self.n_drawn - 1) / np.maximum(self.n_tied - 1, 1)

    @property
    def count(self) -> Floats:
        """The number of items that each list shows."""
        return (np.diff(self.offsets) - self.n_tied + self.n_drawn).astype(np.float64)


def split_costs(cost: Positions, limit: int) -> Iterator[slice]:
    """Yield slices of consecutive entries whose costs are at most a limit, or single entries.

    Examples
    --------
    >>> [*split_costs(np.array([2, 2, 5]), 4)]
    [slice(0, 2, None), slice(2, 3, None)]
    """
    total, start = np.cumsum(cost), 0
    while start < len(cost):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + limit, side="right")))
        yield slice(start, stop)
        start = stop


def iterate_pairs(
    first: Positions, count: Positions, limit: int
) -> Iterator[tuple[slice, Positions, Positions]]:
    """Yield some rows, and all pairs of them with their partners, in parts of limited size.

    Parameters
    ----------
    first, count : int64 arrays, one entry per row
        The first partner of each row, and the number of its partners, which follow each other.
    limit : int
        The number of pairs of a part, if no single row has more.

    Examples
    --------
    >>> [(_, row, partner)] = iterate_pairs(np.array([1, 2, 3]), np.array([2, 1, 0]), 9)
    >>> row.tolist(), partner.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    rows_in_order = np.arange(len(count))
    for rows in split_costs(count, limit):
        yield (
            rows,
            np.repeat(rows_in_order[rows], count[rows]),
            concat_ranges(first[rows], count[rows]),
        )
