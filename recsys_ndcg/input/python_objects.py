"""Plain Python objects: rows, Surprise predictions and lists per user, of either table."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.row_checks import JOIN, all_rows, check_rows, in_order, is_row
from recsys_ndcg.input.rows import Rows, floats, listed, objects, plain_floats

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
        tuples = all(issubclass(kind, tuple) for kind in set(map(type, chunk)))
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


class _Form(NamedTuple):
    """What rows and lists of a table hold.

    Parameters
    ----------
    number : str
        What the number of each row is.
    widths : set of int
        How many fields a row has.
    rows, lists : str
        How rows and lists are written, for messages.
    """

    number: str
    widths: set[int]
    rows: str
    lists: str


_FORMS = {
    "labels": _Form(
        "true",
        {2, 3},
        "(user, item) or (user, item, true); lists per user are {user: [item, ...]}",
        "give {user: {item, ...}}, {user: [item, ...]} or {user: {item: grade}}",
    ),
    "results": _Form(
        "estimated",
        {3},
        "(user, item, score); lists per user, best first, are {user: [item, ...]}, and two arrays "
        "{user: list(zip(items, scores)) for user, items, scores in zip(users, *arrays)}",
        "give {user: [item, ...]}, best first, {user: [(item, score), ...]} or "
        "{user: {item: score}}",
    ),
}


def read_known(data: Any, table: str) -> Rows:
    """Read labels or results: rows (user, item, number), lists per user, or predictions.

    Examples
    --------
    >>> read_known([("ann", "x"), ("bob", "x")], "labels").true.tolist()
    [1.0, 1.0]
    >>> read_known({"ann": ["x", "y"]}, "results").order_only
    True
    >>> read_known({"ann": {"x": 0.5}}, "results").estimated.tolist()
    [0.5]
    """
    form = _FORMS[table]
    if isinstance(data, Mapping):
        return _read_lists(data, table)
    rows = list(data)
    if rows and all_rows(rows[:1], 4, 5):  # predictions, which make sense as either
        found = read_tuples(rows)
        names = ("user", "item", form.number, *(["impossible"] if table == "results" else []))
        columns = {name: found.columns.get(name) for name in names}
        return Rows(columns, table, order_only=found.order_only)
    check_rows(rows, form.widths, form.rows)
    width = len(rows[0]) if rows else max(form.widths)
    fields = read_fields(rows, (int, int, float)[:width], f"as the first one, {form.rows}")
    number = read_numbers(fields[2], form.number) if width == 3 else np.ones(len(rows))
    user, item = read_ids(fields[0], "user"), read_ids(fields[1], "item")
    return Rows({"user": user, "item": item, form.number: number}, table)


def _read_lists(lists: Mapping[Any, Any], table: str) -> Rows:
    """Read {user: items}, {user: pairs (item, number)} or {user: {item: number}}."""
    form = _FORMS[table]
    entries = [_entries_of(user, one, table) for user, one in lists.items()]
    flat, lengths = list(chain.from_iterable(entries)), [*map(len, entries)]
    if not flat:
        msg = f"There are no items in any list; {form.lists}."
        raise InvalidInputError(msg)
    user = np.repeat(objects(list(lists), "user"), lengths)
    if all_rows(flat, 2):
        items, numbers = map(list, zip(*flat, strict=True))
        _refuse_estimates(user, items, flat, form.lists)
        columns = {"item": objects(items, "item"), form.number: floats(numbers, form.number)}
        return Rows({"user": user} | columns, table)
    _check_alike(user, flat, form.lists)
    item = objects(flat, "item")
    if table == "labels":
        return Rows({"user": user, "item": item, "true": np.ones(len(flat))}, table)
    _refuse_filler(user, item)
    columns = {"user": user, "item": item, "estimated": in_order(lengths)}
    return Rows(columns, table, order_only=True)


def _entries_of(user: Any, entries: Any, table: str) -> list[Any]:
    """Return the entries of one list, those of a dict as pairs; labels need no order."""
    if isinstance(entries, Mapping):
        return list(entries.items())
    if table == "labels" and isinstance(entries, AbstractSet):
        return list(entries)
    return listed(entries, f"User {shown(user)} has", _FORMS[table].lists)


def _check_alike(user: Ids, entries: Sequence[Any], form: str) -> None:
    """Refuse an entry that is no pair, or no item as the first one is."""
    first = is_row(entries[0])
    for place, one in enumerate(entries):
        if is_row(one) != first or (first and len(one) != 2):
            beside = f", and user {shown(user[0])} has {shown(entries[0])}" if place else ""
            msg = (
                f"User {shown(user[place])} has the entry {shown(one)}{beside}; {form}, "
                "alike for all users."
            )
            raise InvalidInputError(msg)


def _refuse_estimates(user: Ids, items: list[Any], entries: Sequence[Any], form: str) -> None:
    """Refuse pairs (estimated, true), whose first number is no id."""
    for place, one in enumerate(items):
        if isinstance(one, float) and one != round(one, 0):
            msg = (
                f"User {shown(user[place])} has the entry {shown(entries[place])}, "
                f"but {one} is no item; {form}. Pairs (estimated, true) have no item ids "
                "to join on: give rows (user, item, estimated, true)."
            )
            raise InvalidInputError(msg)


def _refuse_filler(user: Ids, item: Ids) -> None:
    """Refuse -1 in place of an item, with which implicit fills up what is short."""
    filler = np.array([isinstance(one, int | np.integer) and one == -1 for one in item.tolist()])
    if filler.any():
        msg = (
            f"User {shown(user[filler.argmax()])} has the item -1, with which short lists are "
            "filled up (implicit does so). Leave it out: {user: [one for one in items if one != "
            "-1]}; if it is an item of yours, give {user: [(item, score), ...]}."
        )
        raise InvalidInputError(msg)
