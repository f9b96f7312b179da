"""Batches of whole users, in arrays of any library: a row for each item, or one for each user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import Coded, Rows, encode, floats, objects

_NAMED = 3  # cells, in a message
_IDS = ("users", "items")  # which may well be tuples
#: What `recsys_ndcg.input.rows` reads as it is, and knows more of than an array of NumPy would.
_COLUMNS = (np.ndarray, pd.Series, pd.api.extensions.ExtensionArray, str, bytes)


def dense(values: Any) -> bool:
    """Tell a table, users × items, from a column."""
    return getattr(values, "ndim", 1) != 1


def batch_rows(  # noqa: PLR0913 - as `Accumulator.update`
    users: Any, estimated: Any, true: Any, items: Any, mask: Any, *, first: int = 0
) -> Rows:
    """Return the rows of columns, or of tables: a row for each cell that is in a list.

    Parameters
    ----------
    users, estimated, true, items, mask
        As `recsys_ndcg.Accumulator.update` takes them.
    first : int
        The number of the first user of tables, if they have no ids.

    Raises
    ------
    InvalidInputError
        The columns are of different lengths, or the tables of different shapes; or something in
        them is no id or cannot be ranked.

    Examples
    --------
    >>> batch_rows(["ann", "ann"], [4.5, 3.0], [5, None], None, None).true
    array([ 5., nan])
    >>> table, mask = np.array([[4.5, 3.0]]), np.array([[True, False]])
    >>> batch_rows(["ann"], table, table, None, mask).estimated
    array([4.5])
    """
    users, estimated = as_array(users, "users"), as_array(estimated, "estimated")
    true, items, mask = as_array(true, "true"), as_array(items, "items"), as_array(mask, "mask")
    if dense(estimated):
        inside = _cells_in_lists(estimated.shape, true, mask)
        columns: dict[str, Any] = {}
        for name, table in (("estimated", estimated), ("true", true)):
            columns[name] = floats(_cells(table, inside), name)
            _check_cells(columns[name], name, inside)
        columns["item"] = _items_of_cells(items, inside)
        columns["user"] = _users_of_cells(users, inside, first)
        return Rows(columns, "cells, row by row")
    if mask is not None:
        msg = "mask= is for tables, users × items; leave rows of columns out yourself."
        raise InvalidInputError(msg)
    if users is None:
        msg = (
            "users=None numbers the rows of a table, users × items. With columns, say whose item "
            "each row is."
        )
        raise InvalidInputError(msg)
    for name, one in {"users": users, "true": true, "items": items}.items():
        if dense(one):
            msg = (
                f"{name} has the shape {quote(one.shape)}, and estimated is a column: give columns "
                "alone, or estimated and true as tables, users × items."
            )
            raise InvalidInputError(msg)
    return Rows.from_arrays(users, items, estimated, true, table="update", ids=_IDS)


def _cells_in_lists(shape: tuple[int, ...], true: Any, mask: Any) -> Flags:
    """Return which cells of tables are in the lists, given the shape of the estimates.

    Raises
    ------
    InvalidInputError
        The tables differ in shape, the mask is none, or no cell is in it.
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
    inside = np.ones(shape, dtype=bool) if mask is None else _flags(mask)
    if not inside.any():
        msg = f"A table of the shape {quote(shape)} has no rows. Leave such updates out."
        if inside.size:
            msg = (
                "The mask leaves no cell of the table, so there is nobody in it. True marks "
                "what is in a list. Leave out updates without any."
            )
        raise InvalidInputError(msg)
    return inside


def _cells(table: NDArray[Any], inside: Flags) -> NDArray[Any]:
    return table.ravel() if inside.all() else table[inside]


def _users_of_cells(users: Any, inside: Flags, first: int) -> Coded:
    """Return the user of each cell: whoever has none might as well not be there."""
    given = np.arange(first, first + len(inside)) if users is None else objects(users, "users")
    if len(given) != len(inside):
        msg = (
            f"users has {len(given)} ids, and estimated the shape {quote(inside.shape)}: give "
            "one for each row of the table, or users=None, which numbers them."
        )
        raise InvalidInputError(msg)
    sizes = inside.sum(axis=1)
    ids, codes = encode(given[sizes > 0], "users")
    often = np.bincount(codes)
    if often.max() > 1:
        msg = (
            f"users: {quote(ids[often > 1][0])} stands at {often.max()} rows of the table. "
            "A row is a user: give each once, or users=None, which numbers the rows."
        )
        raise InvalidInputError(msg)
    return Coded(ids, np.repeat(codes, sizes[sizes > 0]))


def _items_of_cells(items: Any, inside: Flags) -> Ids | Coded | None:
    if items is None:
        return None
    if dense(items) and items.shape == inside.shape:
        return objects(_cells(items, inside), "items")
    given = None if dense(items) else objects(items, "items")
    if given is None or len(given) != inside.shape[1]:
        had = f"the shape {quote(items.shape)}" if given is None else f"{len(given)} ids"
        msg = (
            f"items has {had}, and estimated the shape {quote(inside.shape)}: give an id for "
            "each column, or for each cell."
        )
        raise InvalidInputError(msg)
    ids, codes = encode(given, "items")
    return Coded(ids, _cells(np.broadcast_to(codes, inside.shape), inside))


def _check_cells(values: Floats, name: str, inside: Flags) -> None:
    """Refuse what cannot be ranked, naming the first cells."""
    bad = np.isinf(values) if name == "true" else ~np.isfinite(values)
    if bad.any():
        places = np.argwhere(inside)[np.flatnonzero(bad)[:_NAMED]].tolist()
        cells = ", ".join(f"({row}, {column})" for row, column in places)
        more = int(bad.sum()) - len(places)
        what = "NaN" if np.isnan(values[bad][0]) else "an infinite value"
        rest = f" and {more} more" if more else ""
        trained = ": if a model diverged, train it again" if name == "estimated" else ""
        msg = (
            f"{name}: {what} in the cell {cells}{rest} (row, column, counted from 0); each must be "
            f"a finite number{trained}. Leave out with mask= what is not in the list."
        )
        raise InvalidInputError(msg)


def _flags(mask: Any) -> Flags:
    """Return a mask of truth values, or of 0 and 1.

    Raises
    ------
    InvalidInputError
        It has others.
    """
    table: NDArray[Any] = np.asarray(mask)
    if table.dtype.kind != "b" and not (table.dtype.kind in "iuf" and np.isin(table, (0, 1)).all()):
        msg = f"mask: a table of {table.dtype.name}; give True where a cell is in the list."
        raise InvalidInputError(msg)
    return table.astype(bool)


def as_array(values: Any, name: str) -> Any:
    """Return an array or a tensor as one of NumPy; a column or a list as it is, and None.

    Tensors of torch may need a gradient, stand on another device, or be of bfloat16. What torch,
    JAX and TensorFlow hold in the memory of the CPU is not copied.

    Parameters
    ----------
    values : array, tensor, column or list
        Whatever has ``__array__``, ``__array_interface__`` or ``__dlpack__`` is an array.
    name : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        The library does not hand it out, such as a sparse tensor, or one without numbers.

    Examples
    --------
    >>> class Tensor:
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.array([4.5, 3.0])
    >>> as_array(Tensor(), "estimated")
    array([4.5, 3. ])
    """
    if isinstance(values, list | tuple):
        return _of_several(values, name)
    if isinstance(values, pd.Index):
        return values.to_series()
    if isinstance(values, pd.arrays.ArrowExtensionArray):
        return pd.Series(values)  # whose floats are as short as it says
    if isinstance(values, _COLUMNS) or hasattr(values, "to_pylist"):
        return values
    if hasattr(values, "tocoo"):
        msg = (
            f"{name}: a sparse matrix, and nobody could say whether what it leaves out is 0 or "
            "unknown. Give it with .toarray(), and NaN for unlabelled items."
        )
        raise InvalidInputError(msg)
    if not _is_array(values):
        return values
    try:
        array = _to_numpy(values)
    except Exception as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        msg = (
            f"{name}: NumPy cannot read what {type(values).__module__}.{type(values).__name__} "
            f"holds ({reason}). Give a dense array in the memory of the CPU."
        )
        raise InvalidInputError(msg) from error
    # the short floats of JAX, which NumPy takes for records
    strange = array.dtype.kind == "V" and array.dtype.names is None
    return array.astype(np.float32) if strange and "float" in array.dtype.name else array


def _of_several(values: Any, name: str) -> Any:
    """Return a list of rows as a table, one of tensors as an array, any other as it is."""
    first = values[0] if len(values) else None
    if isinstance(first, str | bytes | np.generic) or (name in _IDS and isinstance(first, tuple)):
        return values
    if not hasattr(first, "__len__") and not _is_array(first):
        return values
    rows = [as_array(one, name) for one in values]
    try:
        return np.array(rows)
    except ValueError:
        msg = (
            f"{name}: the rows of the table have different lengths. Fill them up, and say with "
            "mask= which cells are in the list."
        )
        raise InvalidInputError(msg) from None


def _is_array(values: Any) -> bool:
    by_type = any(hasattr(type(values), way) for way in ("__array__", "__dlpack__"))
    return by_type or hasattr(values, "__array_interface__")


def _to_numpy(values: Any) -> NDArray[Any]:
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        # a tensor of torch: NumPy knows neither gradients nor bfloat16
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    elif not (hasattr(type(values), "__array__") or hasattr(values, "__array_interface__")):
        values = np.from_dlpack(values)
    return np.asarray(values)
