"""Tables by item, such as features, or by user: of any library, or from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from recsys_ndcg.arrays import Ids
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.files import FileSource, is_file_source
from recsys_ndcg.input.column_files import JsonLines, JsonObjects
from recsys_ndcg.input.dispatch import read_file
from recsys_ndcg.input.frames import format_columns, is_frame, match_columns
from recsys_ndcg.input.ids import is_row_number_index
from recsys_ndcg.input.rows import to_column
from recsys_ndcg.input.text_format import TextFormat, split_format


def tabulate_rows(data: Any, key: str) -> Any:
    """Return a list of dicts, or of tuples (id, value, ...), as a table; other data as they are.

    Examples
    --------
    >>> tabulate_rows([("ann", "new"), ("bob", "old")], "user").columns.tolist()
    ['user', '2']
    """
    if not _are_rows(data):
        return data
    is_tuple = isinstance(data[0], tuple)
    names = [key, *map(str, range(2, 1 + len(data[0])))]
    return pd.DataFrame(data, columns=names if is_tuple else None)


def _are_rows(data: Any) -> bool:
    kinds = {*map(type, data)} if isinstance(data, list) else set()
    are_pairs = kinds == {tuple} and len({*map(len, data)}) == 1 and len(data[0]) > 1
    return are_pairs or kinds == {dict}


def read_indexed_table(data: Any, name: str, key: str = "item") -> tuple[Ids, pd.DataFrame]:
    """Return the items of a table, or its users, and its other columns.

    Parameters
    ----------
    data : table of any library, mapping of columns, Series, or path of a file
        With a column ``item``, or indexed by item, or with one column that is named like items.
    name : str
        The name of the argument, in messages.
    key : {'item', 'user'}
        The ids to return.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or it is not clear which column has the ids.

    Warns
    -----
    DataWarning
        The column of ids has another name than `key`.

    Examples
    --------
    >>> items, columns = read_indexed_table({"item": ["a", "b"], "year": [1999, 2001]}, "features")
    >>> items.tolist(), [*columns]
    (['a', 'b'], ['year'])
    """
    if isinstance(data, pd.Series):
        if is_row_number_index(data.index):
            msg = (
                f"{name} is a Series whose index has row numbers, no {key}s. Give series.set_axis("
                f"{key}s); if the row numbers are the {key}s, series.rename_axis({key!r})."
            )
            raise InvalidInputError(msg)
        return to_column(data.index, f"{name}: {key}"), _to_pandas(data, name, key)
    frame = _to_pandas(data, name, key)
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        msg = f"{name} has the column {quote(repeated[0])} twice; keep one."
        raise InvalidInputError(msg)
    column = _find_column(frame, name, key)
    if column is None:
        return to_column(frame.index, f"{name}: {key}"), frame
    return to_column(frame[column], f"{name}: {key}"), frame.drop(columns=column)


def has_values_by_id(data: Any) -> bool:
    """Return whether data are a mapping with ids, a Series, a table, its path, or its rows."""
    data = split_format(data)[0]
    if isinstance(data, Mapping):
        return len(data) > 0
    return isinstance(data, pd.Series) or is_frame(data) or is_file_source(data) or _are_rows(data)


def read_values_by_id(data: Any, name: str, key: str = "item") -> tuple[Ids, pd.Series[Any]]:
    """Return the items, or users, of a mapping, Series or table, and the value of each.

    Parameters
    ----------
    data : mapping of ids to values, or as for `read_indexed_table`
        A table has one column besides the ids.
    name, key
        As for `read_indexed_table`.

    Raises
    ------
    InvalidInputError
        An id is there twice, there are several columns, or as for `read_indexed_table`.

    Examples
    --------
    >>> items, values = read_values_by_id({"a": 1.5, "b": 2.0}, "weights")
    >>> items.tolist(), values.tolist()
    (['a', 'b'], [1.5, 2.0])
    """
    if isinstance(data, Mapping):
        ids, values = to_column([*data], name), pd.Series([*data.values()], dtype=object)
    else:
        ids, table = read_indexed_table(data, name, key)
        if len(table.columns) != 1:
            found = ", ".join(map(str, table.columns)) or "none"
            msg = f"`{name}` must have one column besides the {key}s; it has {found}. Give one."
            raise InvalidInputError(msg)
        values = table.iloc[:, 0]
    repeated = pd.Index(ids)[pd.Index(ids).duplicated()]
    if len(repeated):
        msg = f"{name}: the {key} {quote(repeated[0])} is there twice. Give each {key} one value."
        raise InvalidInputError(msg)
    return ids, values


def _find_column(frame: pd.DataFrame, name: str, key: str) -> Any:
    """Return the column of ids, None if they are the index."""
    if key in frame:
        return key
    index = frame.index
    # whole numbers without a name may be what is left of row numbers
    if index.name is not None or index.dtype.kind not in "iu":
        return None
    found = match_columns(frame.columns).get(key, [])
    if len(found) == 1:
        warn(f"{name}: using {found[0]} as {key}. To silence this, rename the column to {key!r}.")
        return found[0]
    if not found and not is_row_number_index(index):
        return None
    why = f"it has {format_columns(frame.columns)}"
    if found:
        why = f"{' and '.join(map(repr, found))} could each be it"
    msg = (
        f"{name} has no column {key!r}; {why}. Rename the column of {key}s to {key!r}; if the row "
        f"numbers are the {key}s, give table.rename_axis({key!r})."
    )
    raise InvalidInputError(msg)


def _to_pandas(data: Any, name: str, key: str) -> pd.DataFrame:
    data, text_format = split_format(tabulate_rows(data, key))
    if is_file_source(data):
        return _read_file(data, text_format, key)
    if isinstance(data, pd.Series):
        return data.to_frame("feature" if data.name is None else data.name)
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping):
        try:
            return pd.DataFrame(data)
        except (TypeError, ValueError):
            if key not in data:  # {id: value}
                return pd.Series(data).to_frame("feature")
            msg = (
                f"{name}: the mapping must have columns of equal length, such as {{'item': ['a', "
                "'b'], 'year': [1999, 2001]}. For a value by item, give a pandas Series."
            )
            raise InvalidInputError(msg) from None
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    try:
        table: Any = nw.from_native(data)
    except TypeError:
        msg = f"{name} must be a table with a column 'item', or indexed by item, not {quote(data)}."
        raise InvalidInputError(msg) from None
    table = table.collect() if isinstance(table, nw.LazyFrame) else table
    found: pd.DataFrame = table.to_pandas()
    return found


def open_indexed_file(
    source: FileSource, how: TextFormat | None, key: str
) -> tuple[pd.DataFrame, bool]:
    """Read all columns of a file, and return whether it is text, whose ids may be of any type.

    Parameters
    ----------
    source : path, or stream of bytes
        A table, or JSON of {id: value} or {id: {column: value}}.
    how : TextFormat, optional
        The format of a text file.
    key : {'item', 'user'}
        The name of the first column, if the file has no heading.
    """
    table: Any = read_file(source, None, how, key)
    if isinstance(table, JsonObjects):
        by_id = isinstance(table.data, dict)
        frame = pd.DataFrame.from_dict(table.data, "index") if by_id else pd.DataFrame(table.data)
        return frame, False
    frame = pd.DataFrame({name: table[name][:] for name in table})
    if isinstance(table, JsonLines) and len(frame) == 1 and key not in match_columns(frame.columns):
        frame = frame.T.rename_axis(key).reset_index()  # {id: value}
    return frame, isinstance(table, dict | pd.DataFrame)


def _read_file(source: FileSource, how: TextFormat | None, key: str) -> pd.DataFrame:
    """Read all columns of a file; in text, a column becomes numbers if all its fields are."""
    frame, is_text = open_indexed_file(source, how, key)
    ids = match_columns(frame.columns).get(key, [])
    for name in {*frame} - {*ids} if is_text else ():
        frame[name] = _convert_numbers(frame[name])
    return frame


def _convert_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of text as numbers, if each text is one."""
    numbers = pd.to_numeric(column, errors="coerce")
    is_other = numbers.isna() & column.notna()
    return column if not len(column) or is_other.any() else numbers
