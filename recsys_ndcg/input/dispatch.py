"""Which reader each form of data gets: tables, files by their names, rows, a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import Content, FileSource, is_file_source
from recsys_ndcg.input.file_kinds import KINDS, FileKind, kind_of
from recsys_ndcg.input.frames import Table, column_list, roles_of
from recsys_ndcg.input.ids import EncodedIds, make_index
from recsys_ndcg.input.pickles import is_pickle, read_pickle
from recsys_ndcg.input.plain_text import read_text
from recsys_ndcg.input.python_objects import read_objects, read_predictions
from recsys_ndcg.input.rows import Rows, to_floats
from recsys_ndcg.input.text_format import TextFormat, first_line
from recsys_ndcg.input.text_tables import Chosen, JsonLines, number, read_trec, seems_json


def read_file(
    place: FileSource,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    order: tuple[str, ...] = TextFormat.ORDER,
) -> pd.DataFrame | Mapping[str, Any]:
    """Read a table of any kind in `file_kinds`; all text may be packed.

    Ids keep their text, so that "0042" stays itself; a column in which every id is the plain
    writing of a whole number of 64 bits becomes whole numbers. An empty true value is unlabelled.
    Apostrophes that guard ids from spreadsheets (`recsys_ndcg.input.text_format`) are taken away
    where the heading is that of our own scores of users, ``user,n_items,n_relevant``, and nowhere
    else.

    Parameters
    ----------
    place : path, or stream of bytes
        What it holds, the end of its name tells: ``.csv`` and all unknown ones are text; ``.gz``,
        ``.zst``, ``.bz2``, ``.xz`` and ``.zip`` may follow.
    columns : mapping, optional
        Our names to the file's.
    text : TextFormat, optional
        How text is written.
    order : tuple of str
        What columns without a heading are.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    how = text or TextFormat()
    if place == "":
        msg = "The path of the file is empty."
        raise InvalidInputError(msg)
    if isinstance(place, str | Path) and (read_rows := kind_of(Path(place).suffix).read):
        refuse_options(str(place), how)
        return read_rows(FileKind.check_file(Path(place)))
    content = Content.of(place)
    _refuse_binary(content)
    if parse := kind_of(content.suffix).parse:
        refuse_options(content.name, how, encoding=how.encoding)
        return parse(content.name, how.decode(content))
    written = how.decode(content)
    if how == TextFormat(encoding=how.encoding) and seems_json(written):
        return JsonLines(content.name, written)
    return read_text(
        content, written, how, lambda names: chosen_columns(names, how, columns, order)
    )


def chosen_columns(
    names: Sequence[str],
    how: TextFormat,
    columns: Mapping[str, str] | None = None,
    order: tuple[str, ...] = TextFormat.ORDER,
) -> Chosen:
    """Return which columns of a table in text are read, by the names in the file.

    Raises
    ------
    InvalidInputError
        It has places in place of names, and none that somebody says.
    """
    called = list(names)
    if not how.heading and not columns:
        called = [*order[: len(names)], *names[len(order) :]]
    for theirs in () if how.heading or not columns else columns.values():
        if theirs not in names:
            msg = (
                f"The file has no column {theirs!r}; it has {column_list(names)}. Without a "
                "heading, columns are named by their places, from 1 on."
            )
            raise InvalidInputError(msg)
    roles = {
        found[0]: ours
        for ours, found in roles_of(called, columns).items()
        if len(found) == 1 and found[0] in called
    }
    ids = [name for name, ours in roles.items() if ours in ("user", "item")]
    numbers = {name: ours == "true" for name, ours in roles.items() if name not in ids}
    return Chosen(called, ids, numbers)


def refuse_options(name: str, how: TextFormat, **allowed: Any) -> None:
    """Refuse to be told how a file that is no text, or has a form of its own, is written."""
    if how != TextFormat(**allowed):
        msg = (
            f"{name}: separator, decimal, heading and encoding (--sep, --decimal, --no-heading, "
            "--encoding) say how text is written, which this is not. Leave them out."
        )
        raise InvalidInputError(msg)


def _refuse_binary(content: Content) -> None:
    """Refuse what is read by its own name only, in an archive or in a stream."""
    if content.packed and kind_of(content.suffix).is_binary:
        msg = f"{content.name}: a {content.suffix} in an archive is not read. Unpack it first."
        raise InvalidInputError(msg)
    kind = next((one for one in KINDS if content.data.startswith(one.begins)), None)
    if kind:
        ends = ", ".join(one.suffixes[0] for one in KINDS if one.is_binary)
        msg = (
            f"{content.name}: that is {kind.name}, which is read from a file whose name says so "
            f"({ends}), and not from a stream or an archive."
        )
        raise InvalidInputError(msg)


#: In which order columns without a heading stand, if not as those of predictions.
_ORDERS = {"labels": ("user", "item", "true"), "results": ("user", "item", "estimated")}
RATINGS = ("user", "item", "rating", "timestamp")


def read_ratings(path: FileSource) -> pd.DataFrame:
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
    content = Content.of(path)

    def choose(names: Sequence[str]) -> Chosen:
        if len(names) not in (3, 4):
            form = "user, item, rating[, timestamp]"
            msg = f"{content.name}: {len(names)} columns; ratings are {form}."
            raise InvalidInputError(msg)
        known = RATINGS[: len(names)]
        return Chosen([*known], ["user", "item"], dict.fromkeys(known[2:], False))

    text = TextFormat().decode(content)
    table = read_text(content, text, _format_of(text), choose)
    columns = {
        name: make_index(one.values) if isinstance(one, EncodedIds) else one
        for name, one in table.items()
    }
    return pd.DataFrame(columns)


def _format_of(text: str) -> TextFormat:
    """Return how ratings are written: whether there is a heading tells the third field."""
    how = TextFormat()
    if "::" in first_line(text):
        how = replace(how, separator="::")
    third = "".join(how.split_first_line(text)[2:3]).strip()
    return replace(how, heading=third != "" and np.isnan(number(third)))


def read_rows(
    data: Any,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    table: str = "predictions",
) -> Rows:
    """Read predictions in any form that `evaluate` accepts, or labels or results.

    Labels may be a sparse matrix of users × items, too. Tuples are predictions in Python objects,
    and no table; what Surprise returns may be in a pickle. Qrels are labels, and a run is results,
    as TREC has them.
    """
    if table == "tuples":
        return read_objects(data)
    if table == "Surprise":
        return read_predictions(read_pickle(data) if isinstance(data, str | Path) else data)
    if table in ("qrels", "run"):
        return read_trec(data, table)
    data = _unpickled(data, columns, text)
    if table == "labels" and hasattr(data, "tocoo"):  # as implicit has its test set
        matrix = data.tocoo()
        true = to_floats(matrix.data, "true")
        return Rows({"user": matrix.row, "item": matrix.col, "true": true}, table)
    if _is_table(data, columns):
        columns = Table.select_columns(table, columns)
        rows = open_table(data, columns, text, _ORDERS.get(table, TextFormat.ORDER)).read_rows(
            table
        )
    else:
        if table == "predictions" and columns:
            msg = "columns= names the columns of a table, but the data is not a table."
            raise InvalidInputError(msg)
        rows = read_objects(data, table)
    return rows.drop_fillers() if table == "results" else rows


def open_table(
    data: Any,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    order: tuple[str, ...] = TextFormat.ORDER,
) -> Table:
    """Return the table, or the table in the file, with its columns under our names."""
    columns = Table.check_columns(columns)
    if not is_file_source(data):
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
        roles = roles_of(data, Table.check_columns(columns))
        return "user" in roles and roles["user"][0] in data and (len(roles) > 1 or bool(columns))
    # looked up on the class: a lazy table would have to resolve its columns for it
    named = any(hasattr(type(data), name) for name in ("columns", "schema", "dtype"))
    rows = isinstance(data, np.ndarray) or (isinstance(data, Iterable) and not named)
    return is_file_source(data) or not rows
