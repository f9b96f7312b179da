"""The one reader of rows that are no predictions, in every form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import are_existing_files, are_several_files, find_files, is_file_source
from recsys_ndcg.input import (
    Table,
    is_frame,
    match_columns,
    open_data,
    read_rows,
    reject_text_lists,
    split_format,
    to_column,
)
from recsys_ndcg.ratings.interactions import Interactions, concat_interactions


def read_interactions(
    data: Any, name: str, columns: Mapping[str, str] | None = None, kind: str = "interactions"
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
    kind : {'interactions', 'ratings', 'users', 'items'}
        Which of these must be there: users and items; these and ratings; or only one.

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
    if isinstance(data, Iterator) and not is_file_source(data):
        data = list(data)
    try:
        found = _read(data, columns, kind)
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
    source, text_format = split_format(data)
    is_table = isinstance(data, Mapping) or is_frame(data)
    if is_table or is_file_source(source) or text_format is not None or are_existing_files(data):
        return False
    if not isinstance(data, Iterable) or getattr(data, "ndim", 1) != 1:
        return False
    first = next(iter(data), None)
    return not isinstance(first, Mapping | list | tuple | set | np.ndarray | np.void | os.PathLike)


def is_table_by_item(data: Any) -> bool:
    """Return whether data are a table in memory that has no users."""
    if not is_frame(data):
        return isinstance(data, Mapping) and "item" in data and "user" not in data
    names = getattr(getattr(data, "index", None), "names", [])
    return "user" not in names and not Table(data).has_candidate("user")


def split_catalogue(catalogue: Any) -> tuple[Any, Any]:
    """Return (items, None) or (None, number of items) for what could be recommended.

    Examples
    --------
    >>> split_catalogue(5000), split_catalogue({"ann": 20}), split_catalogue(["a", "b"])
    ((None, 5000), (None, {'ann': 20}), (['a', 'b'], None))
    """
    is_size = isinstance(catalogue, Integral)
    if isinstance(catalogue, Mapping):
        sizes = catalogue.values()
        is_size = len(sizes) > 0 and all(isinstance(one, Integral) for one in sizes)
    elif isinstance(catalogue, pd.Series) and match_columns([catalogue.index.name]).get("item"):
        catalogue = catalogue.index  # of counts of items
    elif isinstance(catalogue, pd.Series):
        # a column of ids has the index of its table
        has_users = catalogue.index.name == "user" or catalogue.index.dtype.kind not in "iu"
        is_size = catalogue.dtype.kind in "iu" and has_users
    return (None, catalogue) if is_size else (catalogue, None)


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
    return read_interactions(data, "ratings", kind="ratings").to_frame()


def _read(data: Any, columns: Mapping[str, str] | None, kind: str) -> Interactions:
    key = "item" if kind == "items" else "user"
    if kind in {"users", "items"} and _are_ids(data):
        opened: Any = Table({key: to_column(data, key)}, kind=kind)
    elif are_several_files(split_format(data)[0]):
        files, how = split_format(data)
        parts = [one if how is None else (one, how) for one in find_files(files)]
        return concat_interactions([_read(one, columns, kind) for one in parts])
    else:
        opened = open_data(data, columns, kind=kind)
        if isinstance(opened, list) and opened and _are_ids(opened):  # JSON of a catalogue
            return _read(opened, columns, kind)
    rows = read_rows(opened, table=kind)
    reject_text_lists(rows)
    ids = {one: rows.columns[one] for one in ("user", "item") if one in rows.columns}
    missing = np.zeros(len(ids[key]), dtype=np.int64)  # only the others count
    numbers = [rows.columns.get(one) for one in ("rating", "timestamp")]
    found = Interactions.of(ids.get("user", missing), ids.get("item", missing), *numbers)
    if not isinstance(opened, Table):
        return found
    names = {ours: theirs for ours, theirs in opened.use_columns().items() if ours != theirs}
    return replace(found, names=names, others=opened.read_others())
