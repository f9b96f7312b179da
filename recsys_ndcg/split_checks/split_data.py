"""The parts of a split as columns, and a summary of training rows that batches add up to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Ids
from recsys_ndcg.errors import InvalidInputError, label_messages, quote
from recsys_ndcg.files import is_file_source
from recsys_ndcg.input import (
    EncodedIds,
    FileKind,
    Table,
    TextFormat,
    parse_number,
    read_file,
    read_ratings,
    read_rows,
    to_column,
)

_COLUMNS = ("user", "item", "rating", "timestamp")
_TIMES = ("timestamp", "time", "unixtime", "datetime", "date")


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a split.

    Parameters
    ----------
    user, item : arrays
        The ids of each row.
    rating, time : float64 arrays, optional
        The ratings, and the times as numbers; dates are seconds since 1970.
    """

    user: Ids
    item: Ids
    rating: Floats | None = None
    time: Floats | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.user)

    def name_rows(self, rows: Flags) -> tuple[str, ...]:
        """Return the user and item of the first three of some rows."""
        chosen = np.flatnonzero(rows)[:3]
        pairs = zip(self.user[chosen].tolist(), self.item[chosen].tolist(), strict=True)
        return tuple(f"user {quote(user)} item {quote(item)}" for user, item in pairs)

    def with_text_ids(self, column: str) -> Part:
        """Return the rows with the ids of a column as text."""
        ids = np.array([str(one) for one in getattr(self, column).tolist()], dtype=object)
        return replace(self, **{column: ids})


def read_part(data: Any, name: str, columns: Mapping[str, str] | None = None) -> Part:
    """Read the rows of one part of a split.

    Parameters
    ----------
    data : table, rows, path, or trainset of Surprise
        Users, items and perhaps ratings and times. ``"lists"`` are results as in
        `recsys_ndcg.evaluate`.
    name : str
        The name of the part, in messages.
    columns : mapping, optional
        The table's names of user, item, rating and timestamp.

    Raises
    ------
    InvalidInputError
        The data has another form or no rows.
    """
    try:
        with label_messages(""):  # which columns were recognised is shown in the report
            part = _read_lists(data) if name == "lists" else _read_rows(data, dict(columns or {}))
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None
    if not len(part):
        msg = f"{name}: there are no rows. Check the filter or the file that they came from."
        raise InvalidInputError(msg)
    return part


def _read_lists(data: Any) -> Part:
    rows = read_rows(data, table="results")
    users, items = rows.user, rows.item
    return Part(*(_list_ids(one) for one in (users, items)))


def _list_ids(ids: Any) -> Ids:
    return ids.ids[ids.codes] if isinstance(ids, EncodedIds) else np.asarray(ids)


def _read_rows(data: Any, columns: dict[str, str]) -> Part:
    if hasattr(data, "all_ratings") and hasattr(data, "to_raw_uid"):  # a trainset
        rows = [(data.to_raw_uid(u), data.to_raw_iid(i), r) for u, i, r in data.all_ratings()]
        data = pd.DataFrame(rows, columns=_COLUMNS[:3])
    elif is_file_source(data):
        is_binary = isinstance(data, str | os.PathLike) and FileKind.of(Path(data)).is_binary
        data = read_file(data, _map_columns(columns, ())) if is_binary else read_ratings(data)
    elif isinstance(data, list | tuple):
        if not data or not all(isinstance(row, list | tuple) for row in data):
            msg = "rows are (user, item), (user, item, rating) or (user, item, rating, timestamp)."
            raise InvalidInputError(msg)
        data = pd.DataFrame(data, columns=_COLUMNS[: len(data[0])], dtype=object)
    table = Table(data)
    table = Table(data, _map_columns(columns, table.names))
    user, item = (table.read_ids(name) for name in ("user", "item"))
    has_rating, has_time = (table.has_candidate(name) for name in ("true", "estimated"))
    rating = table.read_numbers("true") if has_rating else None
    return Part(user, item, rating, _read_times(table) if has_time else None)


def _map_columns(columns: Mapping[str, str], names: Sequence[Any]) -> dict[str, Any]:
    """Return the table's columns by those of `Table`, whose estimates stand for times."""
    unknown = [one for one in columns if one not in _COLUMNS]
    if unknown:
        msg = f"columns: {unknown[0]!r} is none of {', '.join(_COLUMNS)}."
        raise InvalidInputError(msg)
    ours = {"rating": "true", "timestamp": "estimated"}
    found = {ours.get(name, name): theirs for name, theirs in columns.items()}
    times = [name for name in names if str(name).lower().replace("_", "") in _TIMES]
    if "estimated" not in found and times:
        found["estimated"] = times[0]
    if "true" not in found and "rating" in names:
        found["true"] = "rating"
    return found


def _read_times(table: Table) -> Floats:
    """Return times as numbers; dates become seconds since 1970, NaN if one is missing."""
    name = table.use_columns("estimated")["estimated"]
    values = table.read_column(name)
    if pd.api.types.is_numeric_dtype(values):
        return np.asarray(values, dtype=np.float64)
    is_date = pd.api.types.is_datetime64_any_dtype(values)
    numbers = values if is_date else pd.to_numeric(values, errors="coerce")
    if not is_date and numbers.notna().any():
        return np.asarray(numbers, dtype=np.float64)
    try:
        dates = pd.to_datetime(values, utc=True, format=None if is_date else "ISO8601")
    except (ValueError, TypeError) as error:
        msg = f"{name}: not times ({error}). Give numbers, dates, or texts such as 2020-01-31."
        raise InvalidInputError(msg) from None
    seconds = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    return np.asarray(seconds, dtype=np.float64)


def read_batches(
    data: Any, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Part]:
    """Yield all rows of some users at a time, from files or streams that are sorted on disk."""
    from recsys_ndcg.scale import read_users_in_batches  # noqa: PLC0415 - loads narwhals

    names, text = _read_heading(data)
    found = _map_columns(dict(columns or {}), names)
    if text is not None and not text.heading:
        found = {ours: str(names.index(theirs) + 1) for ours, theirs in found.items()}
        found = {"user": "1", "item": "2", **found}
    kind = "predictions" if {"true", "estimated"} <= found.keys() else "labels"
    if kind == "labels":
        found.pop("estimated", None)
    with label_messages(""):
        for batch in read_users_in_batches(data, found, kind, memory_limit, text):
            columns_of = {name: batch.column(name).to_pandas() for name in batch.column_names}
            numbers = [
                columns_of[one].to_numpy(dtype=np.float64) if one in columns_of else None
                for one in ("true", "estimated")
            ]
            ids = (to_column(columns_of[one], one) for one in ("user", "item"))
            yield Part(*ids, *numbers)


def _read_heading(data: Any) -> tuple[list[str], TextFormat | None]:
    """Return the names of the columns of files, and the format if they are text."""
    from recsys_ndcg.scale import read_names  # noqa: PLC0415

    names, text = read_names(data)
    is_number = len(names) > 2 and not np.isnan(parse_number(names[2]))
    if text is None or not is_number:
        return names, text
    return list(_COLUMNS[: len(names)]), replace(text, heading=False)
