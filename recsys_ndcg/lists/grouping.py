"""Group (user, item) rows by user, and merge repeated pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Ids, Positions, count_offsets, divide, sort_by_key
from recsys_ndcg.errors import InvalidInputError, format_count, quote
from recsys_ndcg.parallel import map_in_threads, split_users


@dataclass(frozen=True)
class Pairs:
    """A validated table of (user, item) rows, with ids as codes.

    Parameters
    ----------
    columns : mapping of arrays
        `user` and, if the table has items, `item`: codes. All other columns: numbers or flags.
    table : str
        Its name in messages.
    """

    columns: Mapping[str, NDArray[Any]]
    table: str = "predictions"

    @property
    def user(self) -> Codes:
        """The code of each row's user."""
        return self.columns["user"]

    @property
    def item(self) -> Codes | None:
        """The code of each row's item; None if the table has no items."""
        return self.columns.get("item")

    @property
    def without_user(self) -> dict[str, NDArray[Any]]:
        """All columns except `user`."""
        return {name: column for name, column in self.columns.items() if name != "user"}

    def make_keys(self, n_items: int, rows: slice | Positions = slice(None)) -> Positions:
        """Return a different whole number for each (user, item)."""
        keys: Positions = self.user[rows].astype(np.int64) * n_items
        return keys if self.item is None else keys + self.item[rows]

    def take(self, rows: Positions) -> Pairs:
        """Return some of the rows."""
        columns = [*self.columns.values()]
        parts = map_in_threads(lambda column: column.take(rows), columns, len(rows))
        return replace(self, columns=dict(zip(self.columns, parts, strict=True)))


def group_by_user(pairs: Pairs, n_users: int) -> tuple[Pairs, Positions]:
    """Return the rows grouped by user, each user's in input order, and the offsets of the users.

    The columns are copies, because the caller may change the data later.
    """
    if is_sorted(pairs.user):
        columns = {
            name: column if name in ("user", "item") else column.copy()  # codes are copies already
            for name, column in pairs.columns.items()
        }
        return replace(pairs, columns=columns), count_offsets(pairs.user, n_users)
    columns, offsets = group_columns(pairs.user, pairs.without_user, n_users)
    user = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
    return replace(pairs, columns={"user": user, **columns}), offsets


def is_sorted(codes: Codes) -> bool:
    """Return whether codes are in ascending order."""
    return bool((codes[1:] >= codes[:-1]).all())


def group_columns(
    codes: Codes, columns: Mapping[str, NDArray[Any]], size: int
) -> tuple[dict[str, NDArray[Any]], Positions]:
    """Return columns with their rows sorted by code; the order of equal codes stays.

    Each column becomes the data of a sparse array with a row per group, which SciPy sorts by
    counting. The codes of items are its column numbers, so that they are sorted, too.

    Parameters
    ----------
    codes : int32 array
        The group of each row.
    columns : mapping of arrays
        With the same number of rows: flags, integers, float32 or float64. At least one besides
        `item`, which has codes.
    size : int
        The number of groups.

    Returns
    -------
    The sorted columns, and the offsets of the groups, of shape (size + 1,).

    Examples
    --------
    >>> group_columns(np.array([1, 0, 1], dtype=np.int32), {"a": np.array([5, 6, 7])}, 2)
    ({'a': array([6, 5, 7])}, array([0, 1, 3]))
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - sorted rows do not need it

    places = codes, columns.get("item", codes)

    def sort_column(name: str) -> Any:
        table = coo_array((columns[name], places), shape=(size, np.iinfo(np.int32).max))
        table.has_canonical_format = True  # else equal cells would be added up
        return table.tocsr()

    names = [name for name in columns if name != "item"]
    tables = dict(zip(names, map_in_threads(sort_column, names, len(codes)), strict=True))
    first = tables[names[0]]
    ordered = {name: tables[name].data if name in tables else first.indices for name in columns}
    return ordered, first.indptr.astype(np.int64)


def group_distinct(
    pairs: Pairs, users: Ids, items: Ids | None, rule: str
) -> tuple[Pairs, Positions, Positions]:
    """Group rows by user, and merge rows with the same (user, item).

    Parameters
    ----------
    pairs : Pairs
        Rows in input order.
    users, items : arrays
        The distinct ids.
    rule : {'raise', 'first', 'last', 'max', 'mean'}
        ``max`` and ``mean`` apply to each further column, without NaN, and keep the position of
        the first row.

    Returns
    -------
    The grouped rows, the offsets of the users, and the number of merged rows of each user.

    Raises
    ------
    InvalidInputError
        The rule is ``raise`` and a pair occurs twice.
    """
    grouped, offsets = group_by_user(pairs, len(users))
    no_repeats = np.zeros(len(users), dtype=np.int64)
    if grouped.item is None or items is None:
        return grouped, offsets, no_repeats
    n_items = len(items)
    if rule == "raise":
        if _has_repeats(grouped.user, grouped.item, offsets, n_items):
            raise InvalidInputError(_format_first_repeat(pairs, users, items))
        return grouped, offsets, no_repeats
    dropped, repeated = _find_repeats(grouped, offsets, n_items, keep=rule)
    if not len(dropped):
        return grouped, offsets, no_repeats
    rows = np.delete(np.arange(len(grouped.user)), dropped)
    merged = grouped.take(rows)
    if rule in ("max", "mean"):
        keys = grouped.make_keys(n_items, repeated)
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        places = np.searchsorted(rows, repeated[starts])
        for name, values in grouped.columns.items():
            if name not in ("user", "item"):
                merged.columns[name][places] = _merge_runs(values[repeated], starts, rule)
    merged_offsets = count_offsets(merged.user, len(users))
    return merged, merged_offsets, np.diff(offsets) - np.diff(merged_offsets)


def _has_repeats(user: Codes, item: Codes, offsets: Positions, n_items: int) -> bool:
    def has_repeats(users: tuple[int, int]) -> bool:
        rows = slice(offsets[users[0]], offsets[users[1]])
        kind = np.min_scalar_type((users[1] - users[0]) * n_items)  # small types sort faster
        keys = (user[rows] - users[0]).astype(kind) * kind.type(n_items)
        keys += item[rows].astype(kind)
        keys.sort()
        return bool((keys[1:] == keys[:-1]).any())

    return any(map_in_threads(has_repeats, split_users(offsets)))


def _format_first_repeat(pairs: Pairs, users: Ids, items: Ids) -> str:
    """Return the message for repeated pairs: the first, their number, and the rules."""
    repeats = np.flatnonzero(pd.Series(pairs.make_keys(len(items))).duplicated())
    user, item = users[pairs.user[repeats[0]]], items[pairs.columns["item"][repeats[0]]]
    return (
        f"{pairs.table}: user {quote(user)} has the item {quote(item)} twice or more "
        f"({format_count(len(repeats), 'such repeat')} in all). Remove them, or merge them: "
        "`RankedLists.from_...(duplicates='max'), elsewhere convention=Convention(duplicates="
        "'max')`; 'mean', 'first' and 'last' are possible, too."
    )


def _find_repeats(
    pairs: Pairs, offsets: Positions, n_items: int, *, keep: str
) -> tuple[Positions, Positions]:
    """Return the rows to drop, and all rows of repeated pairs, pair by pair in input order."""

    def find_in_users(users: tuple[int, int]) -> tuple[Positions, Positions]:
        start, rows = offsets[users[0]], slice(offsets[users[0]], offsets[users[1]])
        keys = pairs.make_keys(n_items, rows) - users[0] * n_items
        order, same = sort_by_key(keys, (users[1] - users[0]) * n_items)
        dropped = order[:-1][same] if keep == "last" else order[1:][same]
        is_repeated = np.zeros(len(order), dtype=bool)
        is_repeated[:-1] |= same
        is_repeated[1:] |= same
        return start + dropped, start + order[is_repeated]

    dropped, repeated = zip(*map_in_threads(find_in_users, split_users(offsets)), strict=True)
    return np.concatenate(dropped), np.concatenate(repeated)


def _merge_runs(values: NDArray[Any], starts: Positions, rule: str) -> NDArray[Any]:
    """Return the mean or maximum of each run of values, without NaN; for flags, whether any holds.

    Each run is summed in ascending order, so that the mean does not depend on the order of rows.
    """
    highest: NDArray[Any] = np.fmax.reduceat(values, starts)
    if rule == "max" or values.dtype == bool:
        return highest
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    ascending = np.argsort(values)
    order, _ = sort_by_key(run[ascending], len(starts))
    values = values[ascending[order]]
    is_number = ~np.isnan(values)
    total = np.add.reduceat(np.where(is_number, values, 0.0), starts)
    count = np.add.reduceat(is_number.astype(np.float64), starts)
    return np.clip(divide(total, count), values[starts], highest)
