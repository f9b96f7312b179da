"""The arrays that everything here speaks in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ids = NDArray[Any]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]


def concat_ids(parts: Sequence[Ids]) -> Ids:
    """Return the ids of all parts in one array, without rounding whole numbers to floats.

    Examples
    --------
    >>> concat_ids([np.array([2**60 + 1]), np.array([1.0])])
    array([1152921504606846977, 1.0], dtype=object)
    """
    if len({one.dtype.kind for one in parts}) > 1:
        parts = [one.astype(object) for one in parts]
    return np.concatenate(parts)


def make_read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a view that nobody can write to, or the array itself if that is so already."""
    if not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view


class Record:
    """A dataclass whose arrays, and those in its dicts, are held as read-only views."""

    def __post_init__(self) -> None:
        """Let nobody write to the arrays."""
        for name, values in _fields_of(self).items():
            if isinstance(values, np.ndarray):
                object.__setattr__(self, name, make_read_only(values))
            elif isinstance(values, dict):
                arrays = {key: one for key, one in values.items() if isinstance(one, np.ndarray)}
                views = {key: make_read_only(one) for key, one in arrays.items()}
                object.__setattr__(self, name, values | views)

    def __reduce__(self) -> tuple[Any, ...]:
        """Come back from a pickle or a copy in the same way, without what was worked out."""
        return partial(type(self), **_fields_of(self)), ()


def _fields_of(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


def row_sums(table: Floats) -> Floats:
    """Return the sum of each row of a table, added from left to right.

    A table is as wide as the longest list in it needs, and 0 past the end of a shorter one. Added
    in this order, the zeros change no digit; ``sum`` adds in an order that depends on the width,
    so that the last digit of a user's score would depend on the other users.

    Examples
    --------
    >>> row_sums(np.array([[0.5, 2.0], [1.0, 0.0]]))
    array([2.5, 1. ])
    """
    n_rows, width = table.shape
    if not width:
        return np.zeros(n_rows)
    if n_rows < width:
        return np.asarray(np.cumsum(table, axis=1)[:, -1])
    total: Floats = table[:, 0].copy()
    for column in table.T[1:]:  # the same, in a fourth of the time
        total += column
    return total


def column_sums(table: Floats) -> Floats:
    """Return the sum of each column, to the last digit whatever other columns there are.

    Examples
    --------
    >>> column_sums(np.array([[0.5, 2.0], [1.0, 0.0]]))
    array([1.5, 2. ])
    """
    return np.array([column.sum() for column in table.T], dtype=np.float64)


def column_norms(table: Floats) -> Floats:
    """Return the Euclidean length of each column, without overflow.

    Examples
    --------
    >>> column_norms(np.array([[3e200], [4e200]]))
    array([5.e+200])
    """
    most = np.abs(table).max(axis=0, initial=0.0)
    inside = np.divide(table, most, where=most != 0, out=np.zeros_like(table))
    length: Floats = most * np.sqrt(column_sums(inside * inside))
    return length


def divide(top: Any, bottom: Any, where: Flags | None = None) -> Floats:
    """Return one array over another, NaN where that is 0, or where `where` is not true.

    Examples
    --------
    >>> divide(np.array([1.0, 2.0]), np.array([0, 4]))
    array([nan, 0.5])
    """
    defined = bottom != 0 if where is None else where
    found: Floats = np.divide(top, bottom, where=defined, out=np.full(np.shape(top), np.nan))
    return found


def compute_offsets(sizes: Positions) -> Positions:
    """Return where groups of these sizes start when they stand one after the other, and the end.

    Examples
    --------
    >>> compute_offsets(np.array([2, 1]))
    array([0, 2, 3])
    """
    return np.concatenate([[0], np.cumsum(sizes)])


def concat_ranges(start: Positions, sizes: Positions) -> Positions:
    """Return the numbers from each start on, as many as its size says, one range after the other.

    Examples
    --------
    >>> concat_ranges(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    return np.arange(sizes.sum()) + np.repeat(start - compute_offsets(sizes)[:-1], sizes)
