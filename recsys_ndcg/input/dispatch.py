"""Which reader each form of data gets: a table, a file, rows, lists per user, a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import Place, content_of, is_place
from recsys_ndcg.input.column_names import roles_of
from recsys_ndcg.input.files import ORDER, read_file, refuse_options
from recsys_ndcg.input.frames import Table, checked_columns
from recsys_ndcg.input.ids import Coded, column_of
from recsys_ndcg.input.labels_and_results import read_known
from recsys_ndcg.input.pickles import is_pickle, read_pickle
from recsys_ndcg.input.rows import Rows, floats
from recsys_ndcg.input.text.form import TextFormat, first_line
from recsys_ndcg.input.text.plain import plain_columns, plain_text
from recsys_ndcg.input.text.tables import TextTable, number
from recsys_ndcg.input.tuples import read_predictions, read_tuples

if TYPE_CHECKING:
    from recsys_ndcg.files import Content

#: In which order columns without a heading stand, if not as those of predictions.
_ORDERS = {"labels": ("user", "item", "true"), "results": ("user", "item", "estimated")}
RATINGS = ("user", "item", "rating", "timestamp")


def read_ratings(path: Place) -> pd.DataFrame:
    """Read ``user, item, rating[, timestamp]``, with or without a heading, ``::`` or CSV.

    Returns
    -------
    pandas.DataFrame
        Columns user, item (as written), rating and, where the file has it, timestamp.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    content = content_of(path)
    text, how = _text_of(content)
    plain = _plain_ratings(content, how)
    if plain is not None:
        return plain
    table = TextTable(content.name, text, how)
    count = len(table.frame.columns)
    if count not in (3, 4):
        msg = f"{content.name}: {count} columns; ratings are user, item, rating[, timestamp]."
        raise InvalidInputError(msg)
    table.frame.columns = pd.Index(RATINGS[:count])
    for name in ("user", "item"):
        table.read_ids(name)
    for name in RATINGS[2:count]:
        table.read_numbers(name)
    return table.frame


def _plain_ratings(content: Content, how: TextFormat) -> pd.DataFrame | None:
    """Return the ratings of a text in which nothing is out of the ordinary, None of another."""
    plain = plain_text(content, how)
    if plain is None or len(plain.names) not in (3, 4):
        return None
    names = plain.names
    found = plain_columns(plain, names[:2], dict.fromkeys(names[2:], False))
    if found is None:
        return None
    columns = [
        column_of(one.values) if isinstance(one, Coded) else one
        for one in map(found.__getitem__, names)
    ]
    return pd.DataFrame(dict(zip(RATINGS, columns, strict=False)))


def _text_of(content: Content) -> tuple[str, TextFormat]:
    """Return the text, and how it is written: whether it has a heading tells the third field."""
    how = TextFormat()
    text = how.text_of(content)
    if "::" in first_line(text):
        how = replace(how, separator="::")
    third = "".join(how.first_fields(text)[2:3]).strip()
    return text, replace(how, heading=third != "" and np.isnan(number(third)))


def read(
    data: Any,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    table: str = "predictions",
) -> Rows:
    """Read predictions in any form that `evaluate` accepts, or labels or results.

    Labels may be a sparse matrix of users × items, too.
    """
    data = _unpickled(data, columns, text)
    if table == "labels" and hasattr(data, "tocoo"):  # as implicit has its test set
        matrix = data.tocoo()
        true = floats(matrix.data, "true")
        return Rows({"user": matrix.row, "item": matrix.col, "true": true}, table)
    if _is_table(data, columns):
        columns = Table.columns_of(table, columns)
        rows = open_table(data, columns, text, _ORDERS.get(table, ORDER)).rows(table)
    elif table == "predictions":
        if columns:
            msg = "columns= names the columns of a table, but the data is not a table."
            raise InvalidInputError(msg)
        rows = read_tuples(data)
    else:
        rows = read_known(data, table)
    return rows.without_fillers() if table == "results" else rows


def read_surprise(predictions: Iterable[Any] | str | Path) -> Rows:
    """Read what ``algo.test(testset)`` of scikit-surprise returns, or its pickle."""
    if isinstance(predictions, str | Path):
        predictions = read_pickle(predictions)
    return read_predictions(predictions)


def open_table(
    data: Any,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    order: tuple[str, ...] = ORDER,
) -> Table:
    """Return the table, or the table in the file, with its columns under our names."""
    if isinstance(data, str | Path) and not str(data):
        msg = "The path of the file is empty."
        raise InvalidInputError(msg)
    columns = checked_columns(columns)
    if not is_place(data):
        return Table(data, columns)
    if text and not text.heading:  # places, which may come as numbers
        columns = {ours: str(place) for ours, place in columns.items()}
    return Table(read_file(data, columns, text, order), columns)


def _unpickled(data: Any, columns: Mapping[str, str] | None, text: TextFormat | None) -> Any:
    """Return the predictions in a pickle in place of its path, and all else as it came."""
    try:
        if not (isinstance(data, str | Path) and is_pickle(data)):
            return _in_columns(data)
    except OSError as error:
        msg = f"{data}: cannot be read ({error.strerror})."
        raise InvalidInputError(msg) from None
    if columns:
        msg = f"{data}: columns= names the columns of a table, but a pickle holds predictions."
        raise InvalidInputError(msg)
    if text:
        refuse_options(str(data), text)
    return read_pickle(data)


def _in_columns(data: Any) -> Any:
    """Return dicts that name each field, and records of NumPy, as a table; all else as it came."""
    if isinstance(data, np.ndarray) and data.dtype.names and data.ndim == 1:
        return pd.DataFrame(data)
    dicts = isinstance(data, list) and data and isinstance(data[0], Mapping)
    return pd.DataFrame(data) if dicts and all(isinstance(one, Mapping) for one in data) else data


def _is_table(data: Any, columns: Mapping[str, str] | None) -> bool:
    """Tell a table, or a file of one, from a mapping {user: pairs} and from rows."""
    if isinstance(data, Mapping):
        roles = roles_of(data, checked_columns(columns))
        return "user" in roles and roles["user"][0] in data and (len(roles) > 1 or bool(columns))
    # looked up on the class: a lazy table would have to resolve its columns for it
    named = any(hasattr(type(data), name) for name in ("columns", "schema", "dtype"))
    rows = isinstance(data, np.ndarray) or (isinstance(data, Iterable) and not named)
    return is_place(data) or not rows
