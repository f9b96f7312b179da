"""The same (user, item) several times in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.grouping import by_user, offsets_of
from recsys_ndcg.lists.pairs import by_key
from recsys_ndcg.parallel import blocks_of, in_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Codes, Floats, Positions
    from recsys_ndcg.lists.pairs import Pairs


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
    listed, offsets = by_user(pairs, n_users)
    nothing = np.zeros(n_users, dtype=np.int64)
    if listed.item is None:
        return listed, offsets, nothing
    if rule == "raise":
        if _has_repeats(listed.user, listed.item, offsets, n_items):
            raise InvalidInputError(_named(pairs, n_items))
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
        for name, values in listed.numbers.items():
            once.numbers[name][places] = _of_each(values[several], starts, rule)
    edges = offsets_of(once.user, n_users)
    return once, edges, np.diff(offsets) - np.diff(edges)


def _has_repeats(user: Codes, item: Codes, offsets: Positions, n_items: int) -> bool:
    def repeats(users: tuple[int, int]) -> bool:
        rows = slice(offsets[users[0]], offsets[users[1]])
        kind = np.min_scalar_type((users[1] - users[0]) * n_items)  # short ones are sorted faster
        keys = (user[rows] - users[0]).astype(kind) * kind.type(n_items)
        keys += item[rows].astype(kind)
        keys.sort()
        return bool((keys[1:] == keys[:-1]).any())

    return any(in_threads(repeats, blocks_of(offsets)))


def _named(pairs: Pairs, n_items: int) -> str:
    """Return what is wrong, with the first two rows."""
    keys = pairs.keys(n_items)
    again = pd.Series(keys).duplicated().to_numpy()
    first, extra = int(np.flatnonzero(again)[0]), int(again.sum())
    before = int(np.flatnonzero(keys == keys[first])[0])
    return (
        f"{pairs.table}: the same user and item stand in rows {before} and {first} (counted "
        f"from 0), {extra} such repeats in all. Remove them, or choose duplicates='first', "
        "'last', 'max' or 'mean': convention=Convention(duplicates='first') (--convention "
        "duplicates=first), and the same where lists are made apart."
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
        order, same = by_key(keys, (users[1] - users[0]) * n_items)
        again = order[:-1][same] if keep == "last" else order[1:][same]
        several = np.zeros(len(order), dtype=bool)  # of users without a row, there is none
        several[:-1] |= same
        several[1:] |= same
        return start + again, start + order[several]

    again, several = zip(*in_threads(found, blocks_of(offsets)), strict=True)
    return np.concatenate(again), np.concatenate(several)


def _of_each(values: Floats, starts: Positions, rule: str) -> Floats:
    """Return the mean or the maximum of each run of values, NaN left out.

    Those of a run are added up in ascending order, whichever came first.
    """
    highest: Floats = np.fmax.reduceat(values, starts)
    if rule == "max":
        return highest
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    ascending = np.argsort(values)
    order, _ = by_key(run[ascending], len(starts))
    values = values[ascending[order]]
    there = ~np.isnan(values)
    total = np.add.reduceat(np.where(there, values, 0.0), starts)
    count = np.add.reduceat(there.astype(np.float64), starts)
    mean = np.divide(total, count, where=count > 0, out=np.full(len(starts), np.nan))
    inside: Floats = np.clip(mean, values[starts], highest)
    return inside
