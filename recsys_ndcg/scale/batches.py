"""Batches of whole users in arrays of any library: columns of rows, or tables users × items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import EncodedIds, Rows, encode_ids, to_array, to_column, to_floats

_MAX_NAMED = 3  # cells that a message names


def is_table(values: Any) -> bool:
    """Return whether values are a table, users × items, and not a column."""
    return getattr(values, "ndim", 1) != 1


def read_batch(  # noqa: PLR0913 - as `Accumulator.update`
    users: Any, estimated: Any, true: Any, items: Any, mask: Any, *, first: int = 0
) -> Rows:
    """Return the rows of columns, or of tables, whose rows are the cells in the lists.

    Parameters
    ----------
    users, estimated, true, items, mask
        As `recsys_ndcg.Accumulator.update` takes them.
    first : int
        The number of the first user of a table without ids.

    Raises
    ------
    InvalidInputError
        Columns have different lengths or tables different shapes, or a value is not an id or
        cannot be ranked.

    Examples
    --------
    >>> read_batch(["ann", "ann"], [4.5, 3.0], [5, None], None, None).true
    array([ 5., nan])
    >>> table, mask = np.array([[4.5, 3.0]]), np.array([[True, False]])
    >>> read_batch(["ann"], table, table, None, mask).estimated
    array([4.5])
    """
    users, estimated = to_array(users, "users"), to_array(estimated, "estimated")
    true, items, mask = to_array(true, "true"), to_array(items, "items"), to_array(mask, "mask")
    if is_table(estimated):
        inside = _listed_cells(estimated.shape, true, mask)
        columns: dict[str, Any] = {}
        for name, table in (("estimated", estimated), ("true", true)):
            columns[name] = to_floats(_select_cells(table, inside), name)
            _check_cells(columns[name], name, inside)
        columns["item"] = _encode_items(items, inside)
        columns["user"] = _encode_users(users, inside, first)
        return Rows(columns, "cells, row by row")
    if mask is not None:
        msg = (
            "mask= is only for two-dimensional arrays, users × items. Remove rows before the call."
        )
        raise InvalidInputError(msg)
    if users is None:
        msg = (
            "users=None numbers the rows of a table, users × items. With columns, give the user of "
            "each row."
        )
        raise InvalidInputError(msg)
    for name, one in {"users": users, "true": true, "items": items}.items():
        if is_table(one):
            msg = (
                f"{name} has the shape {quote(one.shape)}, and estimated is a column: give only "
                "columns, or estimated and true as tables, users × items."
            )
            raise InvalidInputError(msg)
    return Rows.from_arrays(users, items, estimated, true, table="update", ids=("users", "items"))


def _listed_cells(shape: tuple[int, ...], true: Any, mask: Any) -> Flags:
    """Return which cells of tables are in the lists.

    Raises
    ------
    InvalidInputError
        The tables differ in shape, the mask is invalid, or it leaves no cell.
    """
    if len(shape) != 2:
        msg = (
            f"estimated has {len(shape)} dimensions; give a column, a row for each user "
            "and item, or a table, users × items."
        )
        raise InvalidInputError(msg)
    for name, one in (("true", true), ("mask", mask)):
        if one is not None and np.shape(one) != shape:
            msg = (
                f"{name} has the shape {quote(np.shape(one))}, and estimated "
                f"{quote(shape)}: both are tables, users × items, of the same shape."
            )
            raise InvalidInputError(msg)
    inside = np.ones(shape, dtype=bool) if mask is None else _parse_mask(mask)
    if not inside.any():
        msg = (
            f"No cell of the table of the shape {quote(shape)} is in a list; True in the mask "
            "marks those that are. Skip updates without any."
        )
        raise InvalidInputError(msg)
    return inside


def _select_cells(table: NDArray[Any], inside: Flags) -> NDArray[Any]:
    return table.ravel() if inside.all() else table[inside]


def _encode_users(users: Any, inside: Flags, first: int) -> EncodedIds:
    """Return the user of each listed cell."""
    given = np.arange(first, first + len(inside)) if users is None else to_column(users, "users")
    if len(given) != len(inside):
        msg = (
            f"users has {len(given)} ids, and estimated the shape {quote(inside.shape)}: give "
            "one for each row of the table, or users=None to number them."
        )
        raise InvalidInputError(msg)
    sizes = inside.sum(axis=1)
    ids, codes = encode_ids(given[sizes > 0], "users")
    often = np.bincount(codes)
    if often.max() > 1:
        msg = (
            f"users: {quote(ids[often > 1][0])} is at {often.max()} rows of the table. "
            "Each row is a user: give each id once, or users=None to number the rows."
        )
        raise InvalidInputError(msg)
    return EncodedIds(ids, np.repeat(codes, sizes[sizes > 0]))


def _encode_items(items: Any, inside: Flags) -> Ids | EncodedIds | None:
    if items is None:
        return None
    if is_table(items) and items.shape == inside.shape:
        return to_column(_select_cells(items, inside), "items")
    given = None if is_table(items) else to_column(items, "items")
    if given is None or len(given) != inside.shape[1]:
        had = f"the shape {quote(items.shape)}" if given is None else f"{len(given)} ids"
        msg = (
            f"items has {had}, and estimated the shape {quote(inside.shape)}: give an id for "
            "each column, or for each cell."
        )
        raise InvalidInputError(msg)
    ids, codes = encode_ids(given, "items")
    return EncodedIds(ids, _select_cells(np.broadcast_to(codes, inside.shape), inside))


def _check_cells(values: Floats, name: str, inside: Flags) -> None:
    """Raise if a value cannot be ranked, and name the first cells."""
    bad = np.isinf(values) if name == "true" else ~np.isfinite(values)
    if bad.any():
        places = np.argwhere(inside)[np.flatnonzero(bad)[:_MAX_NAMED]].tolist()
        cells = ", ".join(f"({row}, {column})" for row, column in places)
        more = int(bad.sum()) - len(places)
        what = "NaN" if np.isnan(values[bad][0]) else "an infinite value"
        rest = f" and {more} more" if more else ""
        trained = ": if a model diverged, train it again" if name == "estimated" else ""
        msg = (
            f"{name}: {what} in the cell {cells}{rest} (row, column, counted from 0); each must be "
            f"a finite number{trained}. Leave out cells that are not in the list with mask=."
        )
        raise InvalidInputError(msg)


def _parse_mask(mask: Any) -> Flags:
    """Return a mask of booleans, or of 0 and 1, as booleans.

    Raises
    ------
    InvalidInputError
        It has other values.
    """
    table: NDArray[Any] = np.asarray(mask)
    if table.dtype.kind != "b" and not (table.dtype.kind in "iuf" and np.isin(table, (0, 1)).all()):
        msg = f"mask: a table of {table.dtype.name}; give True where a cell is in the list."
        raise InvalidInputError(msg)
    return table.astype(bool)
