"""The parts of a split as columns, read from tables, rows, trainsets and files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import is_file_source
from recsys_ndcg.input import (
    RATING_COLUMNS,
    EncodedIds,
    FileKind,
    Table,
    choose_rating_columns,
    encode_ids,
    format_id,
    is_rating_header,
    match_rating_columns,
    raise_for_rows,
    read_file,
    read_ratings,
    read_rows,
    to_ids,
    to_times,
)
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import sort_by_key
from recsys_ndcg.parallel import map_in_threads


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a split.

    Parameters
    ----------
    user, item : EncodedIds
        The ids of each row.
    rating, time : float64 arrays, optional
        The ratings, and the times as numbers; dates are seconds since 1970. NaN if one is missing.
    names : mapping of str to str
        Our names of the columns to the table's, if they differ.
    """

    user: EncodedIds
    item: EncodedIds
    rating: Floats | None = None
    time: Floats | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, user: Any, item: Any, rating: Floats | None = None, time: Floats | None = None
    ) -> Part:
        """Encode the ids of rows.

        Raises
        ------
        InvalidInputError
            An id is missing, or a rating is infinite.
        """
        if rating is not None:
            raise_for_rows(np.isinf(rating), "rating", "an infinite value", "correct it")
        columns = [(to_ids(user, "user"), "user"), (to_ids(item, "item"), "item")]
        encoded = map_in_threads(lambda one: encode_ids(*one), columns, len(columns[0][0]))
        users, items = (EncodedIds(*one) for one in encoded)
        return cls(users, items, rating, time)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.user)

    @property
    def rated(self) -> Floats:
        """The ratings, without missing ones."""
        return np.zeros(0) if self.rating is None else self.rating[~np.isnan(self.rating)]

    def name_rows(self, rows: Flags) -> tuple[str, ...]:
        """Return the user and item of the first three of some rows."""
        first = np.flatnonzero(rows)[:3]
        users, items = (one.ids[one.codes[first]].tolist() for one in (self.user, self.item))
        pairs = zip(users, items, strict=True)
        return tuple(f"user {quote(user)} item {quote(item)}" for user, item in pairs)

    def with_text_ids(self, column: str) -> Part:
        """Return the rows with the ids of a column as text."""
        encoded = getattr(self, column)
        text = np.array([*map(format_id, encoded.ids.tolist())], dtype=object)
        ids = encode_ids(EncodedIds(text, encoded.codes), column)
        changed: dict[str, Any] = {column: EncodedIds(*ids)}
        return replace(self, **changed)

    @lazy_property
    def _sorted_keys(self) -> tuple[Positions, Positions]:
        """The order of the rows by user and item, and a number for each pair in that order."""
        n_items = len(self.item.ids)
        keys = self.user.codes.astype(np.int64) * n_items + self.item.codes
        order, _ = sort_by_key(keys, len(self.user.ids) * n_items)
        return order, keys[order]

    @property
    def is_repeated(self) -> Flags:
        """Whether the pair of user and item of each row was there before."""
        order, keys = self._sorted_keys
        found = np.zeros(len(self), dtype=bool)
        found[order[1:][keys[1:] == keys[:-1]]] = True
        return found

    def find_rows(self, other: Part) -> Positions:
        """Return the first row here with the pair of each row of another part, -1 if none has."""
        order, keys = self._sorted_keys
        places = [
            pd.Index(ours.ids).get_indexer(pd.Index(theirs.ids))[theirs.codes]
            for ours, theirs in ((self.user, other.user), (self.item, other.item))
        ]
        wanted = places[0].astype(np.int64) * len(self.item.ids) + places[1]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_found = (keys[place] == wanted) & (places[0] >= 0) & (places[1] >= 0)
        return np.where(is_found, order[place], -1)

    def contains(self, other: Part) -> Flags:
        """Return whether the pair of each row of another part is here."""
        return self.find_rows(other) >= 0


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
        part = _read_lists(data) if name == "lists" else _read_ratings(data, columns)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None
    if not len(part):
        msg = f"{name}: there are no rows. Check the filter or the file that they came from."
        raise InvalidInputError(msg)
    return part


def _read_lists(data: Any) -> Part:
    rows = read_rows(data, table="results")
    return Part.of(rows.user, rows.item)


def _read_ratings(data: Any, columns: Mapping[str, str] | None) -> Part:
    header: dict[str, str] | None = None
    if hasattr(data, "all_ratings") and hasattr(data, "to_raw_uid"):  # a trainset
        rows = [(data.to_raw_uid(u), data.to_raw_iid(i), r) for u, i, r in data.all_ratings()]
        data = pd.DataFrame(rows, columns=RATING_COLUMNS[:3])
    elif is_file_source(data):
        path = Path(data) if isinstance(data, str | os.PathLike) else Path()
        if FileKind.of(path).name != "CSV":
            data = read_file(data)
        else:
            data, columns = read_ratings(data, columns, needs_rating=False), None
            header = data.attrs["columns"]
    elif isinstance(data, list | tuple):
        data = _build_table(data)
    table = Table(data)
    found = match_rating_columns(table.names, columns, ("user", "item"))
    values = {ours: table.read_column(theirs) for ours, theirs in found.items()}
    rating, time = values.get("rating"), values.get("timestamp")
    part = Part.of(
        values["user"],
        values["item"],
        None if rating is None else Table({"true": rating}).read_numbers("true"),
        None if time is None else to_times(time, str(found["timestamp"])),
    )
    names = found if header is None else header
    return replace(part, names={ours: one for ours, one in names.items() if one != ours})


def _build_table(rows: list[Any] | tuple[Any, ...]) -> pd.DataFrame:
    """Return rows of Python as a table.

    Raises
    ------
    InvalidInputError
        A row has another form than the first one.
    """
    if not rows:
        msg = "there are no rows."
        raise InvalidInputError(msg)
    sizes = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if len(sizes) != 1 or not sizes <= {2, 3, 4}:
        msg = (
            "all rows must be (user, item), (user, item, rating) or (user, item, rating, "
            "timestamp)."
        )
        raise InvalidInputError(msg)
    return pd.DataFrame(rows, columns=RATING_COLUMNS[: sizes.pop()], dtype=object)


def read_batches(
    data: Any, name: str, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Part]:
    """Yield all rows of some users at a time, from files or streams that are sorted on disk.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or has no columns of users and items.
    """
    try:
        yield from _read_sorted(data, columns, memory_limit)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None


def _read_sorted(
    data: Any, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Part]:
    from recsys_ndcg.scale import read_names, read_users_in_batches  # noqa: PLC0415 - narwhals

    names, text = read_names(data)
    needed, is_headless = RATING_COLUMNS[:2], text is not None and not is_rating_header(names)
    if text is not None and is_headless:
        text = replace(text, heading=False)
        names = [str(place + 1) for place in range(len(names))]
    if text is None:
        found = match_rating_columns(names, columns, needed)
    else:
        found = choose_rating_columns(names, columns, needed, has_header=bool(text.heading))
    ours_of = {"rating": "true"}
    mapped = {ours_of.get(ours, ours): theirs for ours, theirs in found.items()}
    differing = {} if is_headless else {a: b for a, b in found.items() if a != b}
    for batch in read_users_in_batches(data, mapped, memory_limit, text):
        rating, time = (
            batch.column(one).to_numpy().astype(np.float64) if one in mapped else None
            for one in ("true", "timestamp")
        )
        part = Part.of(batch.column("user"), batch.column("item"), rating, time)
        yield replace(part, names=differing)
