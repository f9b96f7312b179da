"""Rows brought together by user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.lists.pairs import Pairs
from recsys_ndcg.parallel import in_threads, slices_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Codes, Positions


def by_user(pairs: Pairs, n_users: int) -> tuple[Pairs, Positions]:
    """Return the rows grouped by user, each user's in input order, and where each user starts.

    The rows are copies: what happens to the data later is none of their business.
    """
    if in_order(pairs.user):
        return pairs.copy(), offsets_of(pairs.user, n_users)
    columns: list[NDArray[Any]] = [*pairs.numbers.values()]
    if pairs.item is not None:
        columns.append(pairs.item)
    taken, offsets = grouped(pairs.user, columns, n_users)
    user = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
    numbers = dict(zip(pairs.numbers, taken, strict=False))
    return Pairs(user, None if pairs.item is None else taken[-1], numbers, pairs.table), offsets


def in_order(codes: Codes) -> bool:
    """Tell whether rows stand by code already."""
    return bool((codes[1:] >= codes[:-1]).all())


def grouped(
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
    >>> grouped(np.array([1, 0, 1], dtype=np.int32), [np.array([5, 6, 7])], 2)
    ([array([6, 5, 7])], array([0, 1, 3]))
    """
    n_rows, blocks = len(codes), slices_of(len(codes))
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

    in_threads(sort, range(n_ranges))
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
        starts: Positions = rows.start + offsets_of(number, n_ranges)
        return starts

    return dealt, np.transpose(in_threads(deal, blocks))


def offsets_of(codes: Codes | Positions, size: int) -> Positions:
    """Return where each group starts, and the end: shape (size + 1,)."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=size), out=offsets[1:])
    return offsets
