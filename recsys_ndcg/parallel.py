"""Blocks of users that fit the processor's cache, and a thread per core for them.

NumPy lets go of the interpreter while it sorts.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recsys_ndcg.arrays import Positions

_ROWS = 1 << 16
_CELLS = 1 << 18

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return the results in the order of the items.

    Examples
    --------
    >>> in_threads(abs, [-1, 2])
    [1, 2]
    """
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def blocks_of(offsets: Positions, width: Positions | None = None) -> list[tuple[int, int]]:
    """Return runs of users, first and last, with about equally many rows.

    Parameters
    ----------
    offsets : int64 array, shape (n_users + 1,)
        Where each user's rows start.
    width : int64 array, shape (n_users,), optional
        How many columns each user's row of a table needs; a block's table stays small, too.

    Examples
    --------
    >>> blocks_of(np.array([0, 2, 3]))
    [(0, 2)]
    """
    n_users = len(offsets) - 1
    by_rows = np.searchsorted(offsets, np.arange(0, offsets[-1] + _ROWS, _ROWS))
    by_users = np.arange(0, n_users + _ROWS, _ROWS)
    edges = np.unique(np.concatenate([by_rows, by_users]).clip(max=n_users)).tolist()
    pending = list(itertools.pairwise(edges))
    if width is None:
        return pending
    pending.reverse()
    blocks = []
    while pending:
        first, last = pending.pop()
        if last - first == 1 or int(width[first:last].max()) * (last - first) <= _CELLS:
            blocks.append((first, last))
        else:
            middle = (first + last) // 2
            pending += [(middle, last), (first, middle)]
    return blocks
