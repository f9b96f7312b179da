"""Tables by item, such as features, or by user: of any library, or from a file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Ids
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.files import Content, FileSource, is_file_source
from recsys_ndcg.input.dispatch import check_not_binary, complete_format
from recsys_ndcg.input.file_kinds import FileKind, find_kind
from recsys_ndcg.input.frames import format_columns, match_columns
from recsys_ndcg.input.ids import is_row_number_index
from recsys_ndcg.input.known_files import rewrite_known_file
from recsys_ndcg.input.rows import to_column
from recsys_ndcg.input.text_format import TextFormat, split_format
from recsys_ndcg.input.text_tables import JsonObjects


def is_indexed_table(data: Any) -> bool:
    """Return whether data are a table or the path of one, not a column of ids."""
    has_columns = any(hasattr(type(data), name) for name in ("columns", "schema"))
    return isinstance(data, Mapping) or has_columns or is_file_source(split_format(data)[0])


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
    """Return whether data are a mapping with ids, a Series, a table or the path of one."""
    if isinstance(data, Mapping):
        return len(data) > 0
    return isinstance(data, pd.Series) or is_indexed_table(data)


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
            msg = f"{name} must have one column besides the {key}s; it has {found}. Give one."
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
    data, text_format = split_format(data)
    if is_file_source(data):
        return _read_file(data, text_format or TextFormat(), key)
    if isinstance(data, pd.Series):
        return data.to_frame("feature" if data.name is None else data.name)
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping):
        try:
            return pd.DataFrame(data)
        except (TypeError, ValueError):
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


def _read_file(source: FileSource, how: TextFormat, key: str) -> pd.DataFrame:
    """Read all columns of a file.

    In text, a column whose fields are all plain whole numbers becomes integers, all numbers floats;
    an empty field is missing.
    """
    if isinstance(source, str | Path) and (read := find_kind(Path(source).suffix).read):
        columns: Any = read(FileKind.check_file(Path(source)))
        return pd.DataFrame({name: columns[name] for name in columns})
    content = Content.of(source)
    check_not_binary(content)
    text = how.decode(content)
    if parse := find_kind(content.suffix).parse:
        columns = parse(content.name, text)
        if isinstance(columns, JsonObjects):
            if isinstance(columns.data, list):
                return pd.DataFrame(columns.data)
            return pd.DataFrame.from_dict(columns.data, "index")
        return pd.DataFrame({name: columns[name] for name in columns})
    if how == TextFormat(encoding=how.encoding):
        text = rewrite_known_file(text, "features")
    how, given = complete_format(text, how), how
    separator = how.find_separator(text)
    names = [key, *map(str, range(2, 1 + len(how.split_first_line(text))))]
    if given.heading is None and not how.heading:
        warn(
            f"{content.name} has no heading, so its first column is taken as {key}. To silence "
            "this, give (path, rn.TextFormat(heading=False))."
        )
    try:
        table = pd.read_csv(
            io.StringIO(text), sep=separator, dtype=str, keep_default_na=False, na_values=[""],
            engine="python" if len(separator) > 1 else "c",
            names=None if how.heading else names,
        )  # fmt: skip
    except (ValueError, pd.errors.ParserError) as error:
        msg = f"{content.name}: cannot be read as a table ({error})."
        raise InvalidInputError(msg) from None
    return table.apply(_convert_numbers)


def _convert_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of texts as numbers, if each text is one."""
    numbers = pd.to_numeric(column, errors="coerce")
    if not len(column) or (numbers.isna() & column.notna()).any():
        return column
    is_whole = column.notna().all() and column.str.fullmatch(r"-?(0|[1-9][0-9]{0,17})").all()
    return numbers.astype(np.int64) if is_whole else numbers.astype(np.float64)
