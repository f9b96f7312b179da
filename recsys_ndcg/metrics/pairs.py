"""Pairs of the items of a list: which of them are shown, and how much their distances vary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, compute_offsets, concat_ranges
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
        return compute_offsets(np.bincount(self.user, minlength=self.n_users))

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


@dataclass(frozen=True)
class DistanceMoments:
    """The distances of all pairs of n items: their mean, and what the variance of sums needs.

    Parameters
    ----------
    mean : float or float64 array
        The mean distance of a pair.
    squares : float or float64 array
        The sum of (d - mean)² over the pairs.
    row_squares : float or float64 array
        The sum of R² over the items, with R the sum of (d - mean) over the item's pairs.
    """

    mean: Any
    squares: Any
    row_squares: Any

    @classmethod
    def of(cls, n_items: Any, row_squares: Any, total: Any, squares: Any) -> DistanceMoments:
        """Return it, given n, Σ R², Σ R and Σ d² over ordered pairs, with R the sums of rows."""
        n = np.asarray(n_items, dtype=np.float64)
        ordered = np.maximum(n * (n - 1), 1.0)
        mean = total / ordered
        centred = squares / 2 - ordered / 2 * mean * mean
        rows = row_squares - np.square(total) / np.maximum(n, 1)
        # equal distances differ by rounding only
        centred = np.where(centred <= 1e-13 * squares, 0.0, centred)
        return cls(mean, centred, np.where(rows > 1e-13 * row_squares, rows, 0.0))

    def deviation(self, n_items: Any, n_drawn: Any) -> Floats:
        r"""Return the standard deviation of the sum of the distances of s of n items.

        .. math:: q_2 \frac{(n-s)(n-s-1)}{(n-2)(n-3)} \sum \delta^2
            + q_3 \frac{n-s}{n-3} \sum_i R_i^2

        is its square, with q_2 and q_3 the probabilities that two and three given items are drawn.
        """
        n, s = np.asarray(n_items, dtype=np.float64), np.asarray(n_drawn, dtype=np.float64)
        two = s * (s - 1) / np.maximum(n * (n - 1), 1)
        three = two * np.maximum(s - 2, 0) / np.maximum(n - 2, 1)
        rest = n - s
        of_pairs = np.where(n > 3, rest * (rest - 1) / np.maximum((n - 2) * (n - 3), 1), rest > 0)
        of_items = np.where(n > 3, rest / np.maximum(n - 3, 1), 0.0)
        variance = two * of_pairs * self.squares + three * of_items * self.row_squares
        return np.asarray(np.sqrt(variance))


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
