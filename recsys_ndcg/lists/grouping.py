"""(user, item) pairs: the same pair twice in a table, and the same pair in two tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.parallel import blocks_of, in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Codes, Floats, Positions


_SIXTEEN_BITS = 1 << 16


@dataclass(frozen=True)
class Pairs:
    """Rows of (user, item) as codes, with columns of numbers: one table, checked."""

    user: Codes
    item: Codes | None
    numbers: dict[str, Floats]
    table: str = "predictions"

    def keys(self, n_items: int, rows: slice = slice(None)) -> Positions:
        """Return one whole number per (user, item)."""
        keys: Positions = self.user[rows].astype(np.int64) * n_items
        return keys if self.item is None else keys + self.item[rows]

    def take(self, rows: Positions) -> Pairs:
        """Return some of the rows."""
        codes = [self.user] if self.item is None else [self.user, self.item]
        columns: list[NDArray[Any]] = [*codes, *self.numbers.values()]
        taken = in_threads(lambda column: column.take(rows), columns)
        item = None if self.item is None else taken[1]
        numbers = dict(zip(self.numbers, taken[len(codes) :], strict=True))
        return replace(self, user=taken[0], item=item, numbers=numbers)

    def copy(self) -> Pairs:
        """Return the same rows, their numbers in memory of their own; the codes are our own."""
        numbers = {name: column.copy() for name, column in self.numbers.items()}
        return replace(self, numbers=numbers)


def by_user(pairs: Pairs, n_users: int) -> tuple[Pairs, Positions]:
    """Return the rows grouped by user, each user's in input order, and where each user starts.

    The rows are copies: what happens to the data later is none of their business.
    """
    order = stable_order(pairs.user, n_users)
    return pairs.copy() if order is None else pairs.take(order), offsets_of(pairs.user, n_users)


def distinct_by_user(
    pairs: Pairs, n_users: int, n_items: int, rule: str
) -> tuple[Pairs, Positions, Positions]:
    """Group rows by user, each (user, item) once.

    Parameters
    ----------
    pairs : Pairs
        Rows in input order.
    n_users, n_items : int
        How many distinct ones there are.
    rule : {'raise', 'first', 'last', 'max', 'mean'}
        ``max`` and ``mean`` work on each column of numbers by itself, leaving NaN out, and keep
        the place of the first of the rows.

    Returns
    -------
    The grouped rows, where each user starts, and how many of each user's were merged into others.

    Raises
    ------
    InvalidInputError
        The rule is ``raise`` and a pair occurs twice.
    """
    grouped, offsets = by_user(pairs, n_users)
    if not _has_repeats(grouped, offsets, n_items):
        return grouped, offsets, np.zeros(n_users, dtype=np.int64)
    once, edges = by_user(_merged(pairs, n_items, rule), n_users)
    return once, edges, np.diff(offsets) - np.diff(edges)


def _has_repeats(grouped: Pairs, offsets: Positions, n_items: int) -> bool:
    if grouped.item is None:
        return False

    def repeats(users: tuple[int, int]) -> bool:
        rows = slice(offsets[users[0]], offsets[users[1]])
        keys = np.sort(grouped.keys(n_items, rows))
        return bool((keys[1:] == keys[:-1]).any())

    return any(in_threads(repeats, blocks_of(offsets)))


def _merged(pairs: Pairs, n_items: int, rule: str) -> Pairs:
    keys = pairs.keys(n_items)
    again = pd.Series(keys).duplicated(keep="last" if rule == "last" else "first").to_numpy()
    if rule == "raise":
        first, extra = int(np.flatnonzero(again)[0]), int(again.sum())
        before = int(np.flatnonzero(keys == keys[first])[0])
        msg = (
            f"{pairs.table}: the same user and item stand in rows {before} and {first} (counted "
            f"from 0), {extra} such repeats in all. Remove them, or choose duplicates='first', "
            "'last', 'max' or 'mean': convention=Convention(duplicates='first') (--convention "
            "duplicates=first), and the same where lists are made apart."
        )
        raise InvalidInputError(msg)
    once = pairs.take(np.flatnonzero(~again))
    if rule in ("max", "mean"):
        numbers = {
            name: _by_key(keys, one, rule, once.keys(n_items))
            for name, one in pairs.numbers.items()
        }
        once = replace(once, numbers=numbers)
    return once


def _by_key(keys: Positions, values: Floats, rule: str, wanted: Positions) -> Floats:
    """Return the mean or the maximum for each key wanted, added up in the order of the values."""
    order = np.argsort(values)
    merged = pd.Series(values[order]).groupby(keys[order]).agg(rule)
    return np.asarray(merged.reindex(wanted), dtype=np.float64)


def labels_of(results: Pairs, labels: Pairs, n_items: int) -> tuple[Floats, Pairs]:
    """Join labels to results on user and item.

    Returns
    -------
    true : float64 array, one per row of the results
        NaN where there is no label.
    unlisted : Pairs
        The labels that no result asked for.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.numbers["true"])))
    known, found = pd.Index(labels.keys(n_items)), pd.Index(results.keys(n_items))
    place = known.get_indexer(found)  # -1: no label
    listed = place >= 0
    true = np.full(len(place), np.nan)
    true[listed] = labels.numbers["true"][place[listed]]
    unlisted = np.ones(len(labels.user), dtype=bool)
    unlisted[place[listed]] = False
    return true, labels.take(np.flatnonzero(unlisted))


def stable_order(codes: Codes, size: int) -> Positions | None:
    """Return the stable order of rows by code, or None where they stand in it already.

    NumPy sorts 16-bit integers by radix, several times faster than wider ones. Where there are
    more codes than that, rows are first dealt into ranges of codes that fit, and the ranges are
    sorted in threads.

    Examples
    --------
    >>> stable_order(np.array([1, 0, 1], dtype=np.int32), 2)
    array([1, 0, 2])
    """
    if (codes[1:] >= codes[:-1]).all():
        return None
    if size <= _SIXTEEN_BITS:
        return np.argsort(codes.astype(np.uint16), kind="stable")
    n_ranges = -(-size // _SIXTEEN_BITS)
    width = -(-size // n_ranges)
    range_of = (codes // width).astype(np.min_scalar_type(n_ranges))
    dealt, edges = np.argsort(range_of, kind="stable"), offsets_of(range_of, n_ranges)

    def within(number: int) -> Positions:
        rows = dealt[edges[number] : edges[number + 1]]
        low = (codes[rows] - number * width).astype(np.uint16)
        return rows[np.argsort(low, kind="stable")]

    return np.concatenate(in_threads(within, range(n_ranges)))


def offsets_of(codes: Codes | Positions, size: int) -> Positions:
    """Return where each group starts, and the end: shape (size + 1,)."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=size), out=offsets[1:])
    return offsets
