"""Array types, and operations on arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ids = NDArray[Any]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
Record = TypeVar("Record")


def concat_ids(parts: Sequence[Ids]) -> Ids:
    """Concatenate arrays of ids, without rounding whole numbers to floats.

    Examples
    --------
    >>> concat_ids([np.array([2**60 + 1]), np.array([1.0])])
    array([1152921504606846977, 1.0], dtype=object)
    """
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _find_fields(record: Any, axis: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each field with an axis, and the position of the axis in its shape.

    `_axes` of the class has the names of fields by their axes: ``{"users metrics": "numerator"}``;
    ``"*"`` stands for all fields. Their arrays can be in mappings and records.
    """
    for axes, names in getattr(record, "_axes", {}).items():
        if axis in axes.split():
            every = [one.name for one in fields(record)] if names == "*" else names.split()
            yield from ((name, axes.split().index(axis)) for name in every)


def map_along(record: Record, axis: str, change: Callable[[Any, int], Any]) -> Record:
    """Return a record in which each array with an axis is changed.

    Parameters
    ----------
    record : dataclass
        The record.
    axis : str
        The name of the axis, such as ``"users"``.
    change : callable
        Takes an array, and the position of the axis in its shape.
    """

    def change_value(value: Any, place: int) -> Any:
        if isinstance(value, Mapping):
            return {name: change_value(one, place) for name, one in value.items()}
        if isinstance(value, tuple) and value:
            return tuple(change(np.array([*value, None], dtype=object)[:-1], place))
        if is_dataclass(value):
            return map_along(value, axis, change)
        return change(value, place) if isinstance(value, np.ndarray) else value

    places = dict(_find_fields(record, axis))
    changed = {name: change_value(getattr(record, name), places[name]) for name in places}
    return replace(record, **changed) if changed else record  # type: ignore[type-var]


def take_along(record: Record, axis: str, index: Any) -> Record:
    """Return a part of a record: some users, metrics, or pairs."""

    def take(values: Any, place: int) -> Any:
        # run_scores has the shape (0, 0, 0) without runs
        is_empty = place and not values.shape[place]
        return values if is_empty else values[(slice(None),) * place + (index,)]

    return map_along(record, axis, take)


def concat_along(parts: Sequence[Record], axis: str) -> Record:
    """Join parts of a record along an axis; a column that one of them lacks is left out."""

    def concat(values: list[Any], place: int) -> Any:
        first = values[0]
        if any(one is None for one in values):
            return None
        if isinstance(first, Mapping):
            names = [name for name in first if all(name in one for one in values)]
            return {name: concat([one[name] for one in values], place) for name in names}
        if is_dataclass(first):
            return concat_along(values, axis)
        if isinstance(first, tuple):
            return tuple(chain(*values))
        return np.concatenate(values, axis=place) if isinstance(first, np.ndarray) else first

    places = dict(_find_fields(parts[0], axis))
    joined = {name: concat([getattr(one, name) for one in parts], places[name]) for name in places}
    return replace(parts[0], **joined)  # type: ignore[type-var]


def _add(first: Any, second: Any) -> Any:
    """Return the sum of numbers and arrays, in mappings, tuples and records; None if one lacks it.

    Examples
    --------
    >>> _add({"a": (1, None)}, {"a": (2, 3), "b": 1})
    {'a': (3, None)}
    """
    if first is None or second is None:
        return None
    if isinstance(first, Mapping):
        return {name: _add(one, second[name]) for name, one in first.items() if name in second}
    if isinstance(first, tuple):
        return tuple(_add(*both) for both in zip(first, second, strict=True))
    return first + second


def add_fields(first: Record, second: Record, **given: Any) -> Record:
    """Return a record of the sums of two records' fields, but for the fields that are given."""
    names = [one.name for one in fields(first) if one.name not in given]  # type: ignore[arg-type]
    sums = {name: _add(getattr(first, name), getattr(second, name)) for name in names}
    return replace(first, **sums, **given)  # type: ignore[type-var]


def make_read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, or the array itself if it is read-only."""
    if not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view


class ReadOnlyArrays:
    """A dataclass whose arrays, also inside dicts, are read-only views."""

    def __post_init__(self) -> None:
        """Replace arrays by read-only views."""
        for name, values in [*vars(self).items()]:
            if isinstance(values, np.ndarray):
                object.__setattr__(self, name, make_read_only(values))
            elif isinstance(values, dict):
                arrays = {key: item for key, item in values.items() if isinstance(item, np.ndarray)}
                views = {key: make_read_only(array) for key, array in arrays.items()}
                object.__setattr__(self, name, values | views)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the fields only, without cached values, and restore read-only views."""
        return partial(type(self), **_get_fields(self)), ()


def _get_fields(record: Any, *, compared: bool = False) -> dict[str, Any]:
    """Return the fields of a record, or only those that count in comparisons."""
    chosen = [one.name for one in fields(record) if one.compare or not compared]
    return {name: getattr(record, name) for name in chosen}


def are_equal(first: Any, second: Any) -> bool:
    """Return whether two values are equal: arrays, mappings and records of them, or others.

    Fields of records with ``compare=False`` may differ.

    Examples
    --------
    >>> are_equal({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])})
    True
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        # without NaN the plain comparison is enough, and ten times as fast
        is_equal = partial(np.array_equal, first, second)
        return first.dtype == second.dtype and (
            is_equal() or (first.dtype.kind == "f" and is_equal(equal_nan=True))
        )
    if isinstance(first, ReadOnlyArrays):
        return are_equal(*(_get_fields(one, compared=True) for one in (first, second)))
    if isinstance(first, dict):
        has_same_keys = [*first] == [*second]
        return has_same_keys and all(are_equal(one, second[key]) for key, one in first.items())
    return bool(first == second)


def row_sums(table: Floats) -> Floats:
    """Return the sum of each row of a table, added from left to right.

    A table is as wide as its longest list, and 0 past the end of shorter lists. Added from left to
    right, the zeros change no digit. The order of additions in ``sum`` depends on the width, so
    that the last digit of a user's score would depend on the other users.

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
    for column in table.T[1:]:  # four times as fast as cumsum
        total += column
    return total


def column_sums(table: Floats) -> Floats:
    """Return the sum of each column, in an order that does not depend on the other columns.

    Examples
    --------
    >>> column_sums(np.array([[0.5, 2.0], [1.0, 0.0]]))
    array([1.5, 2. ])
    """
    return np.array([column.sum() for column in table.T], dtype=np.float64)


def column_counts(table: Flags) -> Positions:
    """Return the number of true cells in each column: faster than a sum along the first axis.

    Examples
    --------
    >>> column_counts(np.array([[True, False], [True, True]]))
    array([2, 1])
    """
    return np.array([np.count_nonzero(column) for column in table.T], dtype=np.int64)


def column_norms(table: Floats) -> Floats:
    """Return the Euclidean norm of each column, without overflow.

    Examples
    --------
    >>> column_norms(np.array([[3e200], [4e200]]))
    array([5.e+200])
    """

    def measure(column: Floats) -> float:
        largest = np.abs(column).max(initial=0.0)
        return float(largest * np.sqrt(np.square(column / (largest or 1.0)).sum()))

    return np.array([measure(column) for column in table.T], dtype=np.float64)


def divide(top: Any, bottom: Any, where: Flags | None = None) -> Floats:
    """Divide arrays; NaN where the denominator is 0, or where `where` is false.

    Examples
    --------
    >>> divide(np.array([1.0, 2.0]), np.array([0, 4]))
    array([nan, 0.5])
    """
    defined = bottom != 0 if where is None else where
    ratio: Floats = np.divide(top, bottom, where=defined, out=np.full(np.shape(top), np.nan))
    return ratio


def compute_offsets(sizes: Positions) -> Positions:
    """Return the start of each group of a size, one after the other, and the end of the last.

    Examples
    --------
    >>> compute_offsets(np.array([2, 1]))
    array([0, 2, 3])
    """
    return np.concatenate([[0], np.cumsum(sizes)])


def count_offsets(codes: Codes | Positions, size: int) -> Positions:
    """Return the start of each group and the end of the last, of shape (size + 1,).

    Examples
    --------
    >>> count_offsets(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return compute_offsets(np.bincount(codes, minlength=size))


def concat_ranges(start: Positions, sizes: Positions) -> Positions:
    """Concatenate ranges of whole numbers, given by their starts and sizes.

    Examples
    --------
    >>> concat_ranges(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    return np.arange(sizes.sum()) + np.repeat(start - compute_offsets(sizes)[:-1], sizes)


def sort_distinct(keys: Positions) -> Positions:
    """Return the distinct whole numbers in ascending order; `np.unique` takes ten times as long.

    Examples
    --------
    >>> sort_distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = np.sort(keys)
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def sort_by_key(keys: Positions, bound: int) -> tuple[Positions, Flags]:
    """Return a stable order of rows by key, and whether each key equals the key before it.

    Parameters
    ----------
    keys : int64 array
        From 0 to `bound` - 1.
    bound : int
        Above all keys.

    Examples
    --------
    >>> sort_by_key(np.array([7, 3, 7]), 8)
    (array([1, 0, 2]), array([False,  True]))
    """
    size = len(keys)
    if bound * size <= np.iinfo(np.int64).max:  # sorting numbers is faster than argsort
        packed = keys * size + np.arange(size)
        packed.sort()
        keys, order = np.divmod(packed, size)
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    return order, keys[1:] == keys[:-1]
