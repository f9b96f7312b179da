"""From (user, item) pairs as codes to rows grouped by user, each pair once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, Positions
from recsys_ndcg.errors import InvalidInputError, format_count, quote
from recsys_ndcg.parallel import map_in_threads, split_rows, split_users


@dataclass(frozen=True)
class Pairs:
    """Rows of (user, item) as codes, with further columns: one table, checked.

    Parameters
    ----------
    columns : mapping of arrays
        Codes under `user` and, if there are items, `item`; numbers or flags under all other names.
        They are taken, copied and grouped together.
    table : str
        What messages call it.
    """

    columns: Mapping[str, NDArray[Any]]
    table: str = "predictions"

    @property
    def user(self) -> Codes:
        """The code of each row's user."""
        return self.columns["user"]

    @property
    def item(self) -> Codes | None:
        """The code of each row's item, None if there are no items."""
        return self.columns.get("item")

    @property
    def without_user(self) -> dict[str, NDArray[Any]]:
        """All columns but that of the users."""
        return {name: column for name, column in self.columns.items() if name != "user"}

    def keys(self, n_items: int, rows: slice | Positions = slice(None)) -> Positions:
        """Return one whole number per (user, item)."""
        keys: Positions = self.user[rows].astype(np.int64) * n_items
        return keys if self.item is None else keys + self.item[rows]

    def take(self, rows: Positions) -> Pairs:
        """Return some of the rows."""
        taken = map_in_threads(
            lambda column: column.take(rows), [*self.columns.values()], len(rows)
        )
        return replace(self, columns=dict(zip(self.columns, taken, strict=True)))


def sort_by_key(keys: Positions, bound: int) -> tuple[Positions, Flags]:
    """Return the order of rows by key, in input order where it is the same.

    And of each but the first whether it has the key of the row before it.

    Parameters
    ----------
    keys : int64 array
        At least 0.
    bound : int
        They are less.

    Examples
    --------
    >>> sort_by_key(np.array([7, 3, 7]), 8)
    (array([1, 0, 2]), array([False,  True]))
    """
    size = len(keys)
    if bound * size <= np.iinfo(np.int64).max:  # with the place below, values alone are sorted
        both = keys * size + np.arange(size)
        both.sort()
        keys, order = np.divmod(both, size)
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    return order, keys[1:] == keys[:-1]


def group_by_user(pairs: Pairs, n_users: int) -> tuple[Pairs, Positions]:
    """Return the rows grouped by user, each user's in input order, and where each user starts.

    The rows are copies: what happens to the data later is none of their business.
    """
    if is_sorted(pairs.user):
        columns = {
            name: column if name in ("user", "item") else column.copy()  # the codes are our own
            for name, column in pairs.columns.items()
        }
        return replace(pairs, columns=columns), count_offsets(pairs.user, n_users)
    others = pairs.without_user
    taken, offsets = group_columns(pairs.user, [*others.values()], n_users)
    user = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
    columns = {"user": user, **dict(zip(others, taken, strict=True))}
    return replace(pairs, columns=columns), offsets


def is_sorted(codes: Codes) -> bool:
    """Tell whether rows stand by code already."""
    return bool((codes[1:] >= codes[:-1]).all())


def group_columns(
    codes: Codes, columns: Sequence[NDArray[Any]], size: int
) -> tuple[list[NDArray[Any]], Positions]:
    """Return columns with their rows by code, in input order where it is the same.

    Rows are first dealt into ranges of codes, block by block, and then each range is sorted: so
    all that is looked at out of order stands in the processor's cache. NumPy sorts integers of 16
    bits by counting.

    Parameters
    ----------
    codes : int32 array
        The group of each row.
    columns : sequence of arrays
        As many rows each.
    size : int
        How many groups there are.

    Returns
    -------
    The columns, and where each group starts, and the end: shape (size + 1,).

    Examples
    --------
    >>> group_columns(np.array([1, 0, 1], dtype=np.int32), [np.array([5, 6, 7])], 2)
    ([array([6, 5, 7])], array([0, 1, 3]))
    """
    n_rows, blocks = len(codes), split_rows(len(codes))
    # as many bits of a code as make ranges of about a block, if all groups were alike
    shift = min(((size - 1) // max(len(blocks), 1)).bit_length(), 16)
    n_ranges = -(-size >> shift)
    widest = (1 << shift) - 1
    within = (codes & widest).astype(np.uint16)
    if n_ranges > 1:
        [within, *columns], edges = _dealt(codes >> shift, [within, *columns], n_ranges, blocks)
    else:
        edges = np.array([[0], [n_rows]])
    sizes = np.diff(edges, axis=0).sum(axis=1)
    ends = np.cumsum(sizes)
    found = [np.empty(n_rows, dtype=one.dtype) for one in columns]
    counts = np.zeros(size + 1, dtype=np.int64)

    def sort(number: int) -> None:
        """Bring the rows of a range together, and sort them."""
        parts = [slice(*part) for part in edges[number : number + 2].T]
        low = np.concatenate([within[part] for part in parts])
        order = np.argsort(low, kind="stable")
        out = slice(ends[number] - sizes[number], ends[number])
        for one, values in zip(found, columns, strict=True):
            together = np.concatenate([values[part] for part in parts])
            np.take(together, order, out=one[out], mode="clip")
        first = number << shift
        last = min(first + widest + 1, size)
        counts[first + 1 : last + 1] = np.bincount(low, minlength=last - first)

    map_in_threads(sort, range(n_ranges))
    return found, np.cumsum(counts)


def _dealt(
    numbers: Codes, columns: Sequence[NDArray[Any]], n_ranges: int, blocks: list[slice]
) -> tuple[list[NDArray[Any]], Positions]:
    """Return the rows of each block by range, and where each range starts in each of them.

    The latter is of shape (n_ranges + 1, n_blocks).
    """
    dealt = [np.empty(len(one), dtype=one.dtype) for one in columns]

    def deal(rows: slice) -> Positions:
        number = numbers[rows].astype(np.min_scalar_type(n_ranges))
        order = np.argsort(number, kind="stable")
        for one, values in zip(dealt, columns, strict=True):
            np.take(values[rows], order, out=one[rows], mode="clip")
        starts: Positions = rows.start + count_offsets(number, n_ranges)
        return starts

    return dealt, np.transpose(map_in_threads(deal, blocks))


def count_offsets(codes: Codes | Positions, size: int) -> Positions:
    """Return where each group starts, and the end: shape (size + 1,)."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=size), out=offsets[1:])
    return offsets


def group_distinct(
    pairs: Pairs, users: Ids, items: Ids | None, rule: str
) -> tuple[Pairs, Positions, Positions]:
    """Group rows by user, each (user, item) once.

    Parameters
    ----------
    pairs : Pairs
        Rows in input order.
    users, items : arrays
        The distinct ids.
    rule : {'raise', 'first', 'last', 'max', 'mean'}
        ``max`` and ``mean`` work on each further column by itself, leaving NaN out, and keep
        the place of the first of the rows.

    Returns
    -------
    The grouped rows, where each user starts, and how many of each user's were merged into others.

    Raises
    ------
    InvalidInputError
        The rule is ``raise`` and a pair occurs twice.
    """
    listed, offsets = group_by_user(pairs, len(users))
    nothing = np.zeros(len(users), dtype=np.int64)
    if listed.item is None or items is None:
        return listed, offsets, nothing
    n_items = len(items)
    if rule == "raise":
        if _has_repeats(listed.user, listed.item, offsets, n_items):
            raise InvalidInputError(_first_repeat(pairs, users, items))
        return listed, offsets, nothing
    again, several = _repeated(listed, offsets, n_items, keep=rule)
    if not len(again):
        return listed, offsets, nothing
    kept = np.ones(len(listed.user), dtype=bool)
    kept[again] = False
    rows = np.flatnonzero(kept)
    once = listed.take(rows)
    if rule in ("max", "mean"):
        keys = listed.keys(n_items, several)
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        places = np.searchsorted(rows, several[starts])
        for name, values in listed.columns.items():
            if name not in ("user", "item"):
                once.columns[name][places] = _of_each(values[several], starts, rule)
    edges = count_offsets(once.user, len(users))
    return once, edges, np.diff(offsets) - np.diff(edges)


def _has_repeats(user: Codes, item: Codes, offsets: Positions, n_items: int) -> bool:
    def repeats(users: tuple[int, int]) -> bool:
        rows = slice(offsets[users[0]], offsets[users[1]])
        kind = np.min_scalar_type((users[1] - users[0]) * n_items)  # short ones are sorted faster
        keys = (user[rows] - users[0]).astype(kind) * kind.type(n_items)
        keys += item[rows].astype(kind)
        keys.sort()
        return bool((keys[1:] == keys[:-1]).any())

    return any(map_in_threads(repeats, split_users(offsets)))


def _first_repeat(pairs: Pairs, users: Ids, items: Ids) -> str:
    """Return who has an item twice, and which rules there are for that."""
    again = np.flatnonzero(pd.Series(pairs.keys(len(items))).duplicated())
    user, item = users[pairs.user[again[0]]], items[pairs.columns["item"][again[0]]]
    return (
        f"{pairs.table}: user {quote(user)} has the item {quote(item)} twice or more "
        f"({format_count(len(again), 'such repeat')} in all). Remove them, or choose "
        "duplicates='max' or 'mean', or, by the order of the rows, 'first' or 'last': convention="
        "Convention(duplicates='max') (--convention duplicates=max), and the same where lists are "
        "made apart."
    )


def _repeated(
    pairs: Pairs, offsets: Positions, n_items: int, *, keep: str
) -> tuple[Positions, Positions]:
    """Return the rows that another one stands for, and all rows of pairs that occur twice.

    The latter pair by pair, in input order.
    """

    def found(users: tuple[int, int]) -> tuple[Positions, Positions]:
        start, rows = offsets[users[0]], slice(offsets[users[0]], offsets[users[1]])
        keys = pairs.keys(n_items, rows) - users[0] * n_items
        order, same = sort_by_key(keys, (users[1] - users[0]) * n_items)
        again = order[:-1][same] if keep == "last" else order[1:][same]
        several = np.zeros(len(order), dtype=bool)  # of users without a row, there is none
        several[:-1] |= same
        several[1:] |= same
        return start + again, start + order[several]

    again, several = zip(*map_in_threads(found, split_users(offsets)), strict=True)
    return np.concatenate(again), np.concatenate(several)


def _of_each(values: NDArray[Any], starts: Positions, rule: str) -> NDArray[Any]:
    """Return the mean or the maximum of each run of values, NaN left out; of flags, if any holds.

    Those of a run are added up in ascending order, whichever came first.
    """
    highest: NDArray[Any] = np.fmax.reduceat(values, starts)
    if rule == "max" or values.dtype == bool:
        return highest
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    ascending = np.argsort(values)
    order, _ = sort_by_key(run[ascending], len(starts))
    values = values[ascending[order]]
    there = ~np.isnan(values)
    total = np.add.reduceat(np.where(there, values, 0.0), starts)
    count = np.add.reduceat(there.astype(np.float64), starts)
    mean = np.divide(total, count, where=count > 0, out=np.full(len(starts), np.nan))
    inside: Floats = np.clip(mean, values[starts], highest)
    return inside
