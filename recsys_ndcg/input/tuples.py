"""Plain Python objects: rows, Surprise predictions and lists per user, read in chunks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input import marshalled
from recsys_ndcg.input.ids import Coded, coded
from recsys_ndcg.input.marshalled import read_records
from recsys_ndcg.input.row_checks import (
    JOIN,
    NO_ROWS,
    all_rows,
    check_rows,
    in_order,
    is_row,
    refuse_unranked,
)
from recsys_ndcg.input.rows import Rows, floats, listed, objects, plain_floats
from recsys_ndcg.input.short_texts import ShortTexts

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids

_SAID = itemgetter("was_impossible")


class Reader(Protocol):
    """What reads one field of each row."""

    def take(self, values: list[Any], start: int) -> None:
        """Read the field of the rows from `start` on."""


class IdReader:
    """Ids: whole numbers of 32 bits, short texts, or any by their distinct values.

    Parameters
    ----------
    column : str
        Its name, for the message.
    size : int
        How many rows there are.
    """

    def __init__(self, column: str, size: int) -> None:
        self._column, self._size = column, size
        self._numbers: NDArray[np.int64] | None = None
        self._texts: ShortTexts | None = None
        self._others: list[Hashable] | None = None

    def take(self, values: list[Hashable], start: int) -> None:
        """Read the ids of the rows from `start` on."""
        if not start:
            self._begin(type(values[0]))
        rows = slice(start, start + len(values))
        if self._numbers is not None:
            numbers = marshalled.all_of(int, values)
            if numbers is not None:
                self._numbers[rows] = numbers
                return
            self._others, self._numbers = self._numbers[:start].tolist(), None
        elif self._texts is not None:
            if self._texts.take(values, start):
                return
            self._others = self._texts.coded(start).values.tolist() if start else []
            self._texts = None
        if self._others is not None:
            self._others += values

    @property
    def ids(self) -> Ids | Coded:
        """What was read; an InvalidInputError tells of an id that has no hash."""
        if self._numbers is not None:
            return self._numbers
        if self._texts is not None:
            return self._texts.coded(self._size)
        # all at once: the distinct ids of one column fill the cache
        return coded(self._others or (), self._column, len(self._others or ()))

    def _begin(self, kind: type) -> None:
        if kind is int:
            self._numbers = np.empty(self._size, dtype=np.int64)
        elif kind is str:
            self._texts = ShortTexts(self._size)
        else:
            self._others = []


class DetailReader:
    """The details of predictions, as long as they all say the same: that they are possible."""

    def __init__(self) -> None:
        self.usual = True

    def take(self, values: list[Any], start: int) -> None:  # noqa: ARG002 - as of the others
        """Read the details of some rows."""
        if self.usual:
            try:
                self.usual = not any(map(_SAID, values))
            except (KeyError, TypeError):
                self.usual = False


class NumberReader:
    """Numbers, of the types that floats are made of at once as long as there are no others.

    Parameters
    ----------
    column : str
        Its name, for the message.
    size : int
        How many rows there are.
    """

    def __init__(self, column: str, size: int) -> None:
        self._column = column
        self._values = np.empty(size)
        self._others: list[Any] | None = None

    def take(self, values: list[Any], start: int) -> None:
        """Read the numbers of the rows from `start` on."""
        if self._others is None:
            numbers = marshalled.all_of(float, values)
            if numbers is None:
                numbers = plain_floats(values)
            if numbers is not None:
                self._values[start : start + len(values)] = numbers
                return
            self._others = self._values[:start].tolist()
        self._others += values

    @property
    def numbers(self) -> Floats:
        """What was read; an InvalidInputError tells of a value that is no number."""
        return self._values if self._others is None else floats(self._others, self._column)

    @property
    def has_text(self) -> bool:
        """Whether text is among the values."""
        return any(issubclass(kind, str | bytes) for kind in {*map(type, self._others or ())})


def read_numbers(values: list[Any], column: str) -> Floats:
    """Return a column of numbers, None and NA as NaN.

    Raises
    ------
    InvalidInputError
        A value is no number; its row is named.

    Examples
    --------
    >>> read_numbers([4, None, 3.5], "true")
    array([4. , nan, 3.5])
    """
    reader = NumberReader(column, len(values))
    _read(values, reader)
    return reader.numbers


def read_ids(values: list[Any], column: str) -> Ids | Coded:
    """Return a column of ids.

    Raises
    ------
    InvalidInputError
        An id cannot be hashed.

    Examples
    --------
    >>> read_ids(["b", "a", "b"], "user").codes
    array([0, 1, 0], dtype=int32)
    """
    reader = IdReader(column, len(values))
    _read(values, reader)
    return reader.ids


def _read(values: list[Any], reader: Reader) -> None:
    for start in range(0, len(values), marshalled.CHUNK):
        reader.take(values[start : start + marshalled.CHUNK], start)


def read_fields(rows: Sequence[Any], readers: Sequence[Reader], form: str) -> None:
    """Give each reader its field of all rows.

    Raises
    ------
    InvalidInputError
        One is no row, or has not a field for each reader; `form` is what it should have been.
    """
    width, checked = len(readers), False
    for start in range(0, len(rows), marshalled.CHUNK):
        chunk = rows[start : start + marshalled.CHUNK]
        tuples = all(map(_is_tuple, set(map(type, chunk)))) and is_row(chunk[0])
        if tuples and set(map(len, chunk)) == {width}:
            flat = list(chain.from_iterable(chunk))
            fields = [flat[place::width] for place in range(width)]
        else:
            if not checked:
                check_rows(rows, {width}, form)
                checked = True
            fields = [list(map(itemgetter(place), chunk)) for place in range(width)]
        for reader, values in zip(readers, fields, strict=True):
            reader.take(values, start)


def _is_tuple(kind: type) -> bool:
    return kind is tuple or (
        issubclass(kind, tuple)
        and not issubclass(kind, NO_ROWS)
        and kind.__iter__ is tuple.__iter__
        and kind.__getitem__ is tuple.__getitem__
        and kind.__len__ is tuple.__len__
    )


_PREDICTION = 5
_PAIRS = f"give numbers, {{user: [(estimated, true), ...]}}, or where these are items, {JOIN}"
_ALIKE = "each must be (estimated, true), or all of them grades in ranked order"


def read_tuples(data: Mapping[Any, Iterable[Any]] | Iterable[Any]) -> Rows:
    """Read a mapping, rows ``(user, item, estimated, true)`` or Surprise predictions."""
    if isinstance(data, Mapping):
        return _read_mapping(data)
    rows = data if isinstance(data, list) else list(data)
    if rows and _is_prediction(rows[0]):
        return read_predictions(rows)
    size = len(rows)
    plain = read_records(rows, size, 2, 2)
    if plain:
        return Rows(dict(zip(("user", "item", "estimated", "true"), plain, strict=True)))
    user, item = IdReader("user", size), IdReader("item", size)
    estimated, true = NumberReader("estimated", size), NumberReader("true", size)
    form = f"(user, item, estimated, true), or {JOIN}"
    read_fields(rows, (user, item, estimated, true), form)
    return Rows(
        {
            "user": user.ids,
            "item": item.ids,
            "estimated": estimated.numbers,
            "true": true.numbers,
        }
    )


def read_predictions(predictions: Iterable[Any]) -> Rows:
    """Read Surprise predictions ``(uid, iid, r_ui, est, details)``, without Surprise."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    size = len(rows)
    uid, iid, details = IdReader("uid", size), IdReader("iid", size), DetailReader()
    true, estimated = NumberReader("true (r_ui)", size), NumberReader("estimated (est)", size)
    form = "(uid, iid, r_ui, est, details), as Surprise predicts"
    read_fields(rows, (uid, iid, true, estimated, details), form)
    user, grades, estimates, item = uid.ids, true.numbers, estimated.numbers, iid.ids
    impossible = None if details.usual else _impossible(rows)
    columns = {"user": user, "item": item, "estimated": estimates, "true": grades}
    return Rows(columns | {"impossible": impossible})


def _impossible(rows: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Tell which predictions say that they are none; None where all were possible."""
    try:
        said = list(map(itemgetter("was_impossible"), map(itemgetter(-1), rows)))
    except (KeyError, TypeError):
        said = _said(rows)
    return np.fromiter(map(bool, said), dtype=bool, count=len(said)) if any(said) else None


def _said(rows: Sequence[Any]) -> list[bool]:
    """Return the same where details are missing, or do not say it."""
    details = [row[-1] for row in rows]
    try:
        return [one is not None and bool(one.get("was_impossible", False)) for one in details]
    except AttributeError:
        place = next(i for i, one in enumerate(details) if not isinstance(one, dict | NoneType))
        msg = f"Row {place} (counted from 0) is {shown(rows[place])}; its details must be a dict."
        raise InvalidInputError(msg) from None


def _is_prediction(row: Any) -> bool:
    """Tell a prediction, whose fifth entry is a dict of details, from any other five things."""
    return (
        isinstance(row, tuple) and len(row) == _PREDICTION and isinstance(row[4], dict | NoneType)
    )


def _read_mapping(lists: Mapping[Any, Iterable[Any]]) -> Rows:
    """Read {user: pairs (estimated, true)}, or {user: grades in ranked order}."""
    for user, one in lists.items():
        if type(one) is not list:
            refuse_unranked(one, f"User {shown(user)} has", _PAIRS)
    entries = {user: one if type(one) is list else listed(one) for user, one in lists.items()}
    empty = [user for user, one in entries.items() if not one]
    if empty:
        msg = f"User {empty[0]!r} has an empty list. Leave the user out, or give (estimated, true)."
        raise InvalidInputError(msg)
    lengths = [len(one) for one in entries.values()]
    places = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    user = Coded(objects(entries, "user"), places)
    plain = read_records(chain.from_iterable(entries.values()), len(places), 0, 2)
    if plain:
        return Rows(dict(zip(("user", "estimated", "true"), (user, *plain), strict=True)))
    flat = list(chain.from_iterable(entries.values()))
    if all_rows(flat, 2):
        estimated, true = NumberReader("estimated", len(flat)), NumberReader("true", len(flat))
        read_fields(flat, (estimated, true), _PAIRS)
        if estimated.has_text:
            _refuse_entries(user.values, flat)
        return Rows({"user": user, "estimated": estimated.numbers, "true": true.numbers})
    if any(hasattr(kind, "__len__") for kind in {*map(type, flat)}):
        _refuse_entries(user.values, flat)
    columns = {"user": user, "estimated": in_order(lengths), "true": read_numbers(flat, "true")}
    return Rows(columns, order_only=True)


def _refuse_entries(user: Ids, entries: Sequence[Any]) -> None:
    """Refuse the first entry that is text, or no pair beside rows; single values may pass."""
    beside_rows = any(map(is_row, entries))
    for place, one in enumerate(entries):
        textual = isinstance(one[0] if all_rows([one], 2) else one, str | bytes)
        if textual or (beside_rows and not all_rows([one], 2)):
            form = _PAIRS if textual else _ALIKE
            msg = f"User {shown(user[place])} has the entry {shown(one)}; {form}."
            raise InvalidInputError(msg)
