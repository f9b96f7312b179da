"""Plain Python objects: rows, Surprise predictions and lists per user, read in chunks of rows."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.row_checks import (
    JOIN,
    NO_ROWS,
    all_rows,
    check_rows,
    in_order,
    is_row,
)
from recsys_ndcg.input.rows import Rows, floats, listed, objects, plain_floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids

#: How many are taken at a time: while they are in the cache.
CHUNK = 1 << 12
_SAID = itemgetter("was_impossible")
#: How `marshal` writes a value of exactly this type: a letter, and the value.
_WRITTEN = {int: (ord("i"), np.dtype("u1,<i4")), float: (ord("g"), np.dtype("u1,<f8"))}
_VERSION = 2  # with floats as they are in memory, and without references
_BEGIN = 5  # of a list: a letter, and how many entries there are


def all_of(kind: type, values: list[Any]) -> NDArray[Any] | None:
    """Return values of exactly one type, int or float, as an array; None where others are among.

    From what `marshal` writes of them: to look at the types, and then to convert the values,
    takes twice as long.
    """
    if type(values[0]) is not kind:
        return None
    letter, record = _WRITTEN[kind]
    try:
        written = marshal.dumps(values, _VERSION)
    except ValueError:
        return None
    if len(written) != _BEGIN + record.itemsize * len(values):
        return None
    found = np.frombuffer(written, record, offset=_BEGIN)
    return found["f1"] if (found["f0"] == letter).all() else None


def read_fields(rows: Sequence[Any], kinds: Sequence[type], form: str) -> list[list[Any]]:
    """Return the fields of all rows, each in parts.

    A part is an array if all that is in it is of the kind that is usual, and a list if not.

    Parameters
    ----------
    rows : sequence
        Of any objects.
    kinds : sequence of type
        What is usual in each field: int in ids, float in numbers, dict in details of predictions,
        of which a part is whether one of them says that its prediction was impossible.
    form : str
        What a row should have been.

    Raises
    ------
    InvalidInputError
        One is no row, or has not as many fields.
    """
    width, checked = len(kinds), False
    parts: list[list[Any]] = [[] for _ in kinds]
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        tuples = all(map(_is_tuple, set(map(type, chunk)))) and is_row(chunk[0])
        if tuples and set(map(len, chunk)) == {width}:
            flat = list(chain.from_iterable(chunk))
            fields = [flat[place::width] for place in range(width)]
        else:
            if not checked:
                check_rows(rows, {width}, form)
                checked = True
            fields = [list(map(itemgetter(place), chunk)) for place in range(width)]
        for part, kind, values in zip(parts, kinds, fields, strict=True):
            part.append(_part(kind, values))
    return parts


def _part(kind: type, values: list[Any]) -> Any:
    if kind is dict:
        try:
            return any(map(_SAID, values))
        except (KeyError, TypeError):  # to be looked at one by one
            return True
    found = all_of(kind, values)
    if found is None and kind is float:
        found = plain_floats(values)
    return values if found is None else found


def read_ids(parts: Sequence[Any], column: str) -> Ids | Coded:
    """Return ids: whole numbers of 32 bits, or any by their distinct values.

    Raises
    ------
    InvalidInputError
        An id has no hash.
    """
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    values = _values_in(parts)
    # all at once: the distinct ids of one column fill the cache
    return Coded.of(values, column, len(values))


def read_numbers(parts: Sequence[Any], column: str) -> Floats:
    """Return numbers.

    Raises
    ------
    InvalidInputError
        A value is none.
    """
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.zeros(0), *parts])
    return floats(_values_in(parts), column)


def _values_in(parts: Sequence[Any]) -> list[Any]:
    lists = (part.tolist() if isinstance(part, np.ndarray) else part for part in parts)
    return list(chain.from_iterable(lists))


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
    form = f"(user, item, estimated, true), or {JOIN}"
    user, item, estimated, true = read_fields(rows, (int, int, float, float), form)
    return Rows(
        {
            "user": read_ids(user, "user"),
            "item": read_ids(item, "item"),
            "estimated": read_numbers(estimated, "estimated"),
            "true": read_numbers(true, "true"),
        }
    )


def read_predictions(predictions: Iterable[Any]) -> Rows:
    """Read Surprise predictions ``(uid, iid, r_ui, est, details)``, without Surprise."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    form = "(uid, iid, r_ui, est, details), as Surprise predicts"
    user, item, true, estimated, details = read_fields(rows, (int, int, float, float, dict), form)
    columns = {
        "user": read_ids(user, "uid"),
        "true": read_numbers(true, "true (r_ui)"),
        "estimated": read_numbers(estimated, "estimated (est)"),
        "item": read_ids(item, "iid"),
    }
    return Rows(columns | {"impossible": _impossible(rows) if any(details) else None})


def _impossible(rows: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Tell which predictions say that they are none; None where all were possible."""
    details = [row[-1] for row in rows]
    try:
        said = [one is not None and bool(one.get("was_impossible", False)) for one in details]
    except AttributeError:
        place = next(i for i, one in enumerate(details) if not isinstance(one, dict | NoneType))
        msg = f"Row {place} (counted from 0) is {shown(rows[place])}; its details must be a dict."
        raise InvalidInputError(msg) from None
    return np.array(said) if any(said) else None


def _is_prediction(row: Any) -> bool:
    """Tell a prediction, whose fifth entry is a dict of details, from any other five things."""
    return (
        isinstance(row, tuple) and len(row) == _PREDICTION and isinstance(row[4], dict | NoneType)
    )


def _read_mapping(lists: Mapping[Any, Iterable[Any]]) -> Rows:
    """Read {user: pairs (estimated, true)}, or {user: grades in ranked order}."""
    entries = {
        user: one if type(one) is list else listed(one, f"User {shown(user)} has", _PAIRS)
        for user, one in lists.items()
    }
    empty = [user for user, one in entries.items() if not one]
    if empty:
        msg = f"User {empty[0]!r} has an empty list. Leave the user out, or give (estimated, true)."
        raise InvalidInputError(msg)
    lengths = [len(one) for one in entries.values()]
    places = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    user = Coded(objects(entries, "user"), places)
    flat = list(chain.from_iterable(entries.values()))
    if all_rows(flat, 2):
        estimated, true = read_fields(flat, (float, float), _PAIRS)
        odd = chain.from_iterable(part for part in estimated if isinstance(part, list))
        if any(isinstance(one, str | bytes) for one in odd):
            _refuse_entries(user.values, flat)
        columns = {
            "user": user,
            "estimated": read_numbers(estimated, "estimated"),
            "true": read_numbers(true, "true"),
        }
        return Rows(columns)
    if any(hasattr(kind, "__len__") for kind in {*map(type, flat)}):
        _refuse_entries(user.values, flat)
    columns = {"user": user, "estimated": in_order(lengths), "true": floats(flat, "true")}
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
