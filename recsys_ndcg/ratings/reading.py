"""The one reader of rows that are no predictions, in every form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd  # noqa: TC002 - loaded with all that reads tables

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import are_existing_files, are_several_files, find_files, is_file_source
from recsys_ndcg.input import (
    RATING_COLUMNS,
    Table,
    match_rating_columns,
    open_ratings,
    read_matrix,
    read_rows,
    split_format,
    to_column,
    to_floats,
    to_ids,
    to_times,
)
from recsys_ndcg.ratings.interactions import Interactions, concat_interactions

_ROWS = "(user, item), (user, item, rating) or (user, item, rating, timestamp)"


def read_interactions(
    data: Any,
    name: str,
    columns: Mapping[str, str] | None = None,
    needed: Sequence[str] = RATING_COLUMNS[:2],
    *,
    with_others: bool = False,
) -> Interactions:
    """Read users and items, and perhaps ratings, times and further columns.

    Parameters
    ----------
    data : table, path, rows, mapping, matrix, ids, or trainset, testset or dataset of Surprise
        A table may be of any library, also lazy, with other names of columns, or with a row per
        user whose cells are lists. A file may be of any kind, with or without a heading. Rows are
        tuples of two to four fields. A mapping is {user: [items]} or {user: {item: rating}}. Ids
        are enough if only one column is needed.
    name : str
        What the rows are, in messages, such as ``"train="``.
    columns : mapping, optional
        The table's names of user, item, rating and timestamp.
    needed : sequence of str
        Which of these must be there.
    with_others : bool
        Whether to read the further columns of a table, too.

    Raises
    ------
    InvalidInputError
        The data has another form, or no rows.

    Examples
    --------
    >>> read_interactions({"ann": ["a", "b"], "bob": ["a"]}, "train=").item.values.tolist()
    ['a', 'b', 'a']
    """
    if isinstance(data, Interactions):
        return data
    try:
        found = _read(data, columns, needed, with_others=with_others)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None
    if not len(found):
        msg = f"{name}: there are no rows. Check the filter or the file that they came from."
        raise InvalidInputError(msg)
    return found


def _are_ids(data: Any) -> bool:
    """Return whether data are a column, or another collection, of ids.

    Examples
    --------
    >>> _are_ids(["a", "b"]), _are_ids({1, 2}), _are_ids([("ann", "a")])
    (True, True, False)
    """
    is_file = is_file_source(split_format(data)[0])
    if isinstance(data, Mapping | str) or hasattr(type(data), "columns") or is_file:
        return False
    if split_format(data)[0] is not data:  # a path and its format
        return False
    if not isinstance(data, Iterable) or getattr(data, "ndim", 1) != 1 or are_existing_files(data):
        return False
    first = next(iter(data), None) if hasattr(data, "__len__") else None
    return not isinstance(first, Mapping | list | tuple | set | np.ndarray | os.PathLike)


def is_table_by_item(data: Any) -> bool:
    """Return whether data are a table in memory that has no users."""
    if not hasattr(type(data), "columns"):
        return isinstance(data, Mapping) and "item" in data and "user" not in data
    names = getattr(getattr(data, "index", None), "names", [])
    return "user" not in names and not Table(data).has_candidate("user")


def read_ratings(data: Any) -> pd.DataFrame:
    """Return ratings in any form as a table.

    Returns
    -------
    pandas.DataFrame
        Columns user, item, rating and, if the data has times, timestamp: seconds since 1970.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or has no ratings.
    """
    return read_interactions(data, "ratings", needed=RATING_COLUMNS[:3]).to_frame()


def _read(
    data: Any,
    columns: Mapping[str, str] | None,
    needed: Sequence[str],
    *,
    with_others: bool = False,
) -> Interactions:
    if len(needed) == 1 and _are_ids(data):  # nothing else counts
        data = {needed[0]: to_column(data, needed[0])}
        return _read_table(Table(data), None, needed)
    if are_several_files(data):
        return concat_interactions([_read(one, columns, needed) for one in find_files(data)])
    matrix = read_matrix(data, "train")
    if matrix is not None:
        return Interactions.of(matrix.user, matrix.item, matrix.true)
    opened, named = open_ratings(data, columns, needed)
    if isinstance(opened, Table):
        found = _read_table(opened, columns, needed, named)
        used = {*found.names.values(), *RATING_COLUMNS}
        names = [name for name in opened.names if with_others and named is None]
        others = {name: opened.read_column(name) for name in names if name not in used}
        return replace(found, others=others)
    if isinstance(opened, Mapping) or not _are_tuples(opened):
        rows = read_rows(opened, table="labels")
        return Interactions.of(rows.user, rows.item, rows.true)
    return _read_tuples(list(opened))


def _are_tuples(rows: Any) -> bool:
    return isinstance(rows, list | tuple | np.ndarray) and not any(
        isinstance(row, list | set) for row in rows[:1]
    )


def _read_tuples(rows: list[Any]) -> Interactions:
    """Read rows of two to four fields, all alike."""
    sizes = [
        len(row) if hasattr(row, "__len__") and not isinstance(row, str) else 0 for row in rows
    ]
    for place, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        if size != sizes[0] or size not in {2, 3, 4}:
            msg = f"row {place} (counted from 0) is {quote(row)}; all rows must be {_ROWS}."
            raise InvalidInputError(msg)
    fields = dict(zip(RATING_COLUMNS, map(list, zip(*rows, strict=True)), strict=False))
    if set(fields.get("timestamp", [None])) == {None}:  # as in Surprise's datasets
        fields.pop("timestamp", None)
    return _read_table(Table(fields), None, RATING_COLUMNS[:2]) if rows else Interactions.of([], [])


def _read_table(
    table: Table,
    columns: Mapping[str, str] | None,
    needed: Sequence[str],
    named: Mapping[str, str] | None = None,
) -> Interactions:
    found = match_rating_columns(table.names, None if named is not None else columns, needed)
    values = {ours: table.get_native(theirs) for ours, theirs in found.items()}
    for one, other in (("item", "user"), ("user", "item")):
        if one not in values:  # only the others count
            values[one] = np.zeros(len(to_ids(values[other], other)), dtype=np.int64)
    rating, time = values.get("rating"), values.get("timestamp")
    interactions = Interactions.of(
        values["user"],
        values["item"],
        None if rating is None else to_floats(rating, "rating"),
        None if time is None else to_times(time, str(found["timestamp"])),
    )
    names = found if named is None else named
    return replace(interactions, names={a: b for a, b in names.items() if a != b})
