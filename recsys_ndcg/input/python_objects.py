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
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input.ids import EncodedIds, distinct_of
from recsys_ndcg.input.rows import DIGITS, NO_NUMBERS, Rows, as_written, to_column, to_floats

#: What has a length and is no row.
_NO_ROWS = (str, bytes, Mapping, AbstractSet)
_STRINGS, _WHOLE = (str, bytes), (int, np.integer)
#: What to do with items that nothing is known of.
JOIN = "join results with labels: RankedLists.from_labels(labels, results)"


class _Form(NamedTuple):
    """What rows and lists of a table hold.

    Parameters
    ----------
    fields : tuple of str
        What stands in a row, the ids first.
    widths : set of int
        How many of them a row has.
    rows, lists : str
        How rows and lists are written, for messages.
    """

    fields: tuple[str, ...]
    widths: set[int]
    rows: str
    lists: str


_FORMS = {
    "predictions": _Form(
        ("user", "item", "estimated", "true"),
        {4},
        f"(user, item, estimated, true), or {JOIN}",
        f"give numbers, {{user: [(estimated, true), ...]}}, or where these are items, {JOIN}",
    ),
    "labels": _Form(
        ("user", "item", "true"),
        {2, 3},
        "(user, item) or (user, item, true); lists per user are {user: [item, ...]}",
        "give {user: {item, ...}}, {user: [item, ...]} or {user: {item: grade}}",
    ),
    "results": _Form(
        ("user", "item", "estimated"),
        {3},
        "(user, item, score); lists per user, best first, are {user: [item, ...]}, and two arrays "
        "{user: list(zip(items, scores)) for user, items, scores in zip(users, *arrays)}",
        "give {user: [item, ...]}, best first, {user: [(item, score), ...]} or "
        "{user: {item: score}}",
    ),
}


def read_objects(data: Mapping[Any, Any] | Iterable[Any], table: str = "predictions") -> Rows:
    """Read a mapping of lists per user, rows, or Surprise predictions.

    Examples
    --------
    >>> read_objects([("ann", "x"), ("bob", "x")], "labels").true.tolist()
    [1.0, 1.0]
    >>> read_objects({"ann": ["x", "y"]}, "results").order_only
    True
    >>> read_objects({"ann": {"x": 0.5}}, "results").estimated.tolist()
    [0.5]
    """
    if isinstance(data, Mapping):
        return _read_lists(data, table)
    rows, form = data if isinstance(data, list) else list(data), _FORMS[table]
    if rows and table == "predictions" and _is_prediction(rows[0]):
        return read_predictions(rows)
    if rows and table != "predictions" and all_rows(rows[:1], 4, 5):  # which make sense as either
        found = read_objects(rows)
        names = (*form.fields, *(["impossible"] if table == "results" else []))
        columns = {name: found.columns.get(name) for name in names}
        return Rows(columns, table, order_only=found.order_only)
    _check_rows(rows[:1], form.widths, form.rows)
    width = len(rows[0]) if rows else max(form.widths)
    alike = "as the first one, " if len(form.widths) > 1 else ""
    fields = _fields_of(rows, width, f"{alike}{form.rows}")
    columns = {
        name: _ids(values, name) if name in ("user", "item") else _numbers(values, name)
        for name, values in zip(form.fields, fields, strict=False)
    }
    return Rows({form.fields[-1]: np.ones(len(rows)), **columns}, table)


def read_predictions(predictions: Iterable[Any]) -> Rows:
    """Read Surprise predictions ``(uid, iid, r_ui, est, details)``, without Surprise."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    form = "(uid, iid, r_ui, est, details), as Surprise predicts"
    user, item, true, estimated, details = _fields_of(rows, 5, form)
    columns = {
        "user": _ids(user, "uid"),
        "true": _numbers(true, "true (r_ui)"),
        "estimated": _numbers(estimated, "estimated (est)"),
        "item": _ids(item, "iid"),
    }
    return Rows(columns | {"impossible": _impossible(rows, details)})


def _is_prediction(row: Any) -> bool:
    """Tell a prediction, whose fifth entry is a dict of details, from any other five things."""
    return isinstance(row, tuple) and len(row) == 5 and isinstance(row[4], dict | NoneType)


def _impossible(rows: Sequence[Any], details: list[Any]) -> NDArray[np.bool_] | None:
    """Tell which predictions say that they are none; None where all were possible."""
    try:
        said = [one is not None and bool(one.get("was_impossible", False)) for one in details]
    except AttributeError:
        place = next(i for i, one in enumerate(details) if not isinstance(one, dict | NoneType))
        msg = f"Row {place} (counted from 0) is {quote(rows[place])}; its details must be a dict."
        raise InvalidInputError(msg) from None
    return np.array(said) if any(said) else None


def _fields_of(rows: Sequence[Any], width: int, form: str) -> list[list[Any]]:
    """Return the fields of all rows, each as a column."""
    _check_rows(rows, {width}, form)
    return [list(map(itemgetter(place), rows)) for place in range(width)]


def _ids(values: list[Any], column: str) -> Ids | EncodedIds:
    """Return whole numbers as such, and any other ids by their distinct values."""
    found = _all_of(int, values)
    if found is None:
        return EncodedIds(*distinct_of(to_column(values, column), column))
    return found.astype(np.int64)


def _numbers(values: list[Any], column: str) -> Floats:
    """Return a column of numbers."""
    found = _all_of(float, values)
    return to_floats(values, column) if found is None else np.asarray(found, dtype=np.float64)


#: How `marshal` writes a value of exactly this type: a letter, and the value.
_WRITTEN = {int: (ord("i"), np.dtype("u1,<i4")), float: (ord("g"), np.dtype("u1,<f8"))}
_VERSION = 2  # with floats as they are in memory, and without references
_BEGIN = 5  # of a list: a letter, and how many entries there are


def _all_of(kind: type, values: list[Any]) -> NDArray[Any] | None:
    """Return values of exactly one type, int or float, as an array; None where others are among.

    From what `marshal` writes of them: to look at the types, and then to convert the values,
    takes twice as long.
    """
    if not values or type(values[0]) is not kind:
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


def is_row(one: Any) -> bool:
    """Tell a tuple, a list or an array of one dimension from a single value, or from a table.

    Examples
    --------
    >>> [is_row(one) for one in ((1, 2), [1], "ab", {1, 2}, 3, np.array(3))]
    [True, True, False, False, False, False]
    """
    countable = hasattr(one, "__len__") and not isinstance(one, _NO_ROWS)
    return countable and getattr(one, "ndim", 1) == 1


def all_rows(rows: Sequence[Any], *widths: int) -> bool:
    """Tell whether all are rows of one of these widths, in two fast passes.

    Examples
    --------
    >>> all_rows([(1, 2), [3, 4]], 2), all_rows([(1, 2), "ab"], 2), all_rows([(1, 2), 3], 2)
    (True, False, False)
    """
    if rows and not is_row(rows[0]):
        return False
    try:
        fitting = set(map(len, rows)) <= set(widths)
    except TypeError:  # some are single values
        return False
    return fitting and not any(issubclass(kind, _NO_ROWS) for kind in set(map(type, rows)))


def _check_rows(rows: Sequence[Any], widths: AbstractSet[int], form: str) -> None:
    """Refuse the first row that is no row, or not of one of these widths."""
    if all_rows(rows, *widths):
        return
    for place, row in enumerate(rows):
        if not is_row(row) or len(row) not in widths:
            msg = f"Row {place} (counted from 0) is {quote(row)}; each must be {form}."
            raise InvalidInputError(msg)


def _read_lists(lists: Mapping[Any, Any], table: str) -> Rows:
    """Read {user: items}, {user: pairs (item, number)} or {user: {item: number}}.

    Of predictions {user: pairs (estimated, true)}, or {user: grades in ranked order}.
    """
    form, whole = _FORMS[table], table == "predictions"
    entries = {user: _entries_of(user, one, table) for user, one in lists.items()}
    filled = {user: one for user, one in entries.items() if one}
    if whole and len(filled) < len(entries):
        empty = next(user for user in entries if user not in filled)
        msg = f"User {empty!r} has an empty list. Leave the user out, or give (estimated, true)."
        raise InvalidInputError(msg)
    if not (whole or filled):
        msg = f"There are no items in any list; {form.lists}."
        raise InvalidInputError(msg)
    flat, lengths = list(chain.from_iterable(filled.values())), [*map(len, filled.values())]
    places = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    user = EncodedIds(to_column(list(filled), "user"), places)
    paired = all_rows(flat, 2)
    ranked = np.ones(len(flat)) if table == "labels" else in_order(lengths)
    first, second = _fields_of(flat, 2, "") if paired else (flat, ranked)
    _check_entries(user, flat, first, table, paired=paired)
    if whole:
        estimated, true = (first, second) if paired else (second, first)
        columns = {"estimated": to_floats(estimated, "estimated"), "true": to_floats(true, "true")}
    else:
        number = form.fields[-1]
        columns = {"item": to_column(first, "item"), number: to_floats(second, number)}
    return Rows({"user": user} | columns, table, order_only=not paired and table != "labels")


def _entries_of(user: Any, entries: Any, table: str) -> list[Any]:
    """Return the entries of one list, those of a dict as pairs; labels need no order."""
    if table != "predictions" and isinstance(entries, Mapping):
        return list(entries.items())
    if type(entries) is list or (table == "labels" and isinstance(entries, AbstractSet)):
        return list(entries)
    return parse_list(entries, f"User {quote(user)} has", _FORMS[table].lists)


def _check_entries(
    user: EncodedIds, entries: list[Any], first: list[Any], table: str, *, paired: bool
) -> None:
    """Refuse the first entry that is not alike, or is no item where one stands, or no number.

    Parameters
    ----------
    user, entries : columns
        Of all lists, one after the other.
    first : list
        What stands first in each entry, if they are pairs, else the entries.
    table : str
        Which table they are of.
    paired : bool
        Whether all are pairs.
    """
    whole = table == "predictions"
    sized = any(hasattr(kind, "__len__") for kind in set(map(type, first)))
    if not sized and (whole or (table == "labels" and not paired)):
        return
    rows = is_row(entries[0])
    for place, (entry, one) in enumerate(zip(entries, first, strict=True)):
        fault = _fault_of_entry(entry, one, table, paired)
        if sized and not paired and (is_row(entry) != rows or (rows and len(entry) != 2)):
            other = f", of user {quote(user.ids[0])}," if user.codes[place] else ""
            known = f", and the first one{other} is {quote(entries[0])}" if place else ""
            alike = f"{_FORMS[table].lists}, alike for all users"
            if whole:
                alike = "each must be (estimated, true), or all of them grades in ranked order"
            fault = f"entry {quote(entry)}{known}; {alike}."
        if fault:
            msg = f"User {quote(user.values[place])} has the {fault}"
            raise InvalidInputError(msg)


def _fault_of_entry(entry: Any, one: Any, table: str, paired: bool) -> str:  # noqa: FBT001
    """Return why an entry by itself, with `one` first in it, is none; nothing if it may be one."""
    if table == "predictions" and isinstance(one, _STRINGS):
        return f"entry {quote(entry)}; {_FORMS[table].lists}."
    if table == "predictions":
        return ""
    if paired and isinstance(one, float) and one != round(one, 0):
        return (  # (estimated, true), whose first number is no id
            f"entry {quote(entry)}, but {one} is no item; {_FORMS[table].lists}. Pairs (estimated, "
            "true) have no item ids to join on: give rows (user, item, estimated, true)."
        )
    if table == "results" and not paired and isinstance(one, _WHOLE) and one == -1:
        return (
            "item -1, with which short lists are filled up (implicit does so). Leave it out: "
            "{user: [one for one in items if one != -1]}; if it is an item of yours, give "
            "{user: [(item, score), ...]}."
        )
    return ""


def in_order(lengths: Sequence[int]) -> Floats:
    """Return estimates for lists of some lengths in ranked order, one after the other.

    Examples
    --------
    >>> in_order([3, 1])
    array([ 0., -1., -2.,  0.])
    """
    firsts = np.repeat(np.cumsum([0, *lengths])[:-1], lengths)
    return np.asarray(firsts - np.arange(sum(lengths)), dtype=np.float64)


def parse_list(values: Any, found: str, form: str) -> list[Any]:
    """Return the entries of one list as Python values, None for what is masked.

    Raises
    ------
    InvalidInputError
        It is no list: it has no order, no entries, or they mean more. The message begins with
        `found`, and asks for `form`.
    """
    fault = ""
    if isinstance(values, AbstractSet):
        fault = f"a set, {quote(values)}, which has no order: give a list, best first."
    elif isinstance(values, Mapping):
        fault = f"a dict, {quote(values)}, in place of a list; {form}."
    elif isinstance(values, str | bytes) or not isinstance(values, Iterable):
        fault = f"no list but {quote(values)}; {form}."
    elif getattr(values, "ndim", 1) == 0:
        fault = f"no list but one value, {quote(values)}; {form}."
    if fault:
        msg = f"{found} {fault}"
        raise InvalidInputError(msg)
    if not isinstance(values, np.ndarray):
        for name in ("to_pylist", "tolist"):  # a tensor's own entries are tensors, too
            values = getattr(values, name, lambda values=values: values)()
        return list(values)
    if values.dtype.kind in NO_NUMBERS:
        return list(values)  # in which times are still known as such
    data = np.ma.getdata(values)
    data = as_written(data) if data.dtype.newbyteorder("=") in DIGITS else data
    entries: list[Any] = np.ma.array(data, mask=np.ma.getmaskarray(values)).tolist()
    return entries
