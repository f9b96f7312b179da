"""Plain Python objects: rows, Surprise predictions and lists per user."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Real
from operator import itemgetter
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Ids, concat_ranges
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.ids import EncodedIds, factorize_ids
from recsys_ndcg.input.rows import (
    CONVERSIONS,
    NEEDED,
    NUMBERS,
    Rows,
    restore_decimals,
    to_column,
    to_floats,
    to_times,
)

#: Seconds, in 1973; no grade is as large.
FIRST_TIME = 100_000_000
_ORDERED = {"predictions", "results"}  # lists without numbers are ranked
#: The types that have a length and are not rows.
_NOT_ROWS = (str, bytes, Mapping, AbstractSet)
#: How to fix recommended items without grades.
JOIN_ADVICE = (
    "join results with labels: `RankedLists.from_labels(labels, results)`, with None if there are "
    "no labels"
)


class _Form(NamedTuple):
    """The form of a table's rows and lists.

    Parameters
    ----------
    fields : tuple of str
        The fields of a row, ids first.
    widths : set of int
        The numbers of fields that a row may have.
    rows, lists : str
        How to write rows and lists, for messages.
    """

    fields: tuple[str, ...]
    widths: set[int]
    rows: str
    lists: str


_INTERACTIONS = _Form(
    ("user", "item", "rating", "timestamp"),
    {2, 3, 4},
    "(user, item), (user, item, rating) or (user, item, rating, timestamp)",
    "give {user: [item, ...]} or {user: {item: rating}}",
)
#: The form of each kind of table.
FORMS = {
    "predictions": _Form(
        ("user", "item", "estimated", "true"),
        {4},
        f"(user, item, estimated, true), or {JOIN_ADVICE}",
        f"give numbers, {{user: [(estimated, true), ...]}}, or if these are items, {JOIN_ADVICE}",
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
    **dict.fromkeys(NEEDED, _INTERACTIONS),
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
    is_list = isinstance(data, list) or getattr(data, "ndim", 0) == 1
    rows, form = data if isinstance(data, list) else list(data), FORMS[table]
    if len(NEEDED.get(table, ())) == 1 and rows and not is_row(rows[0]):  # ids alone
        [column] = NEEDED[table]
        return Rows({column: to_column(rows, column)}, table)
    if table != "predictions" and is_list and _are_lists_of_ids(rows, form, table):
        return _read_lists(dict(enumerate(rows)), table)
    if rows and table == "predictions" and _is_prediction(rows[0]):
        return read_predictions(rows)
    if rows and table == "labels" and are_rows(rows, 4):
        times = [row[3] for row in rows]  # Surprise's are None, or seconds
        if all(one is None or (isinstance(one, Real) and float(one) > FIRST_TIME) for one in times):
            rows = [row[:3] for row in rows]
    if rows and table in NUMBERS and are_rows(rows[:1], 4, 5):
        predictions = read_objects(rows)  # which have the fields of labels and of results
        kept = (*form.fields, *(["impossible"] if table == "results" else []))
        columns = {name: predictions.columns.get(name) for name in kept}
        return Rows(columns, table, order_only=predictions.order_only)
    _check_rows(rows[:1], form.widths, form.rows)
    width = len(rows[0]) if rows else max(form.widths)
    like_first = "like the first one, " if len(form.widths) > 1 else ""
    names = dict(zip(form.fields, form.fields, strict=True))
    columns = _read_fields(rows, names, width, f"{like_first}{form.rows}")
    default = {form.fields[-1]: np.ones(len(rows))} if table in NUMBERS else {}
    return Rows(default | columns, table)


def _are_lists_of_ids(rows: Sequence[Any], form: _Form, table: str) -> bool:
    """Return whether each value is a user's list, or set, of ids of one type: numbers or text.

    Warns
    -----
    DataWarning
        They have the length of rows.
    """
    if not rows or not set(map(type, rows)) <= {list, set, np.ndarray}:
        return False
    kinds = set(map(type, chain.from_iterable(rows)))
    if len(kinds) > 1 or not issubclass(kinds.pop(), int | str | np.integer):
        return False
    lengths = set(map(len, rows))
    if len(lengths) == 1 and lengths <= form.widths:
        warn(
            f"{table}: each of the {len(rows)} lists is read as the items of one user; the users "
            "are 0, 1, 2 and so on. If they are rows, make them tuples: [*map(tuple, rows)]. To "
            "silence this, give dict(enumerate(lists))."
        )
    return True


def read_predictions(predictions: Iterable[Any]) -> Rows:
    """Read Surprise predictions ``(uid, iid, r_ui, est, details)``, without Surprise."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    form = "(uid, iid, r_ui, est, details), as Surprise predicts"
    names = {"user": "uid", "item": "iid", "true": "true (r_ui)", "estimated": "estimated (est)"}
    columns = _read_fields(rows, names, 5, form)
    return Rows(columns | {"impossible": _find_impossible(rows)})


def _is_prediction(row: Any) -> bool:
    """Return whether a row is a Surprise prediction: a tuple of five with a dict at the end."""
    return isinstance(row, tuple) and len(row) == 5 and isinstance(row[4], dict | NoneType)


def _find_impossible(rows: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Return which predictions were impossible, None if all were possible."""
    details = [row[4] for row in rows]
    try:
        flags = [one is not None and bool(one.get("was_impossible", False)) for one in details]
    except AttributeError:
        place = next(i for i, one in enumerate(details) if not isinstance(one, dict | NoneType))
        msg = f"Row {place} (counted from 0) is {quote(rows[place])}; its details must be a dict."
        raise InvalidInputError(msg) from None
    return np.array(flags) if any(flags) else None


def _read_fields(
    rows: Sequence[Any], names: Mapping[str, str], width: int, form: str
) -> dict[str, Any]:
    """Return the fields of rows as columns of ids and numbers, by our names of them.

    Parameters
    ----------
    rows : sequence
        The rows.
    names : mapping
        Our names of the first fields, and their names in messages.
    width, form
        The number of fields of each row, and how to write a row, for messages.
    """
    fields = zip(names.items(), _split_fields(rows, width, form), strict=False)
    return {
        ours: _CONVERSIONS.get(ours, _to_numbers)(values, shown) for (ours, shown), values in fields
    }


def _split_fields(rows: Sequence[Any], width: int, form: str) -> list[list[Any]]:
    """Return the fields of all rows, each as a column."""
    _check_rows(rows, {width}, form)
    return [list(map(itemgetter(place), rows)) for place in range(width)]


def _to_ids(values: list[Any], column: str) -> Ids | EncodedIds:
    """Return integers as an array, and any other ids encoded."""
    integers = _to_typed_array(int, values)
    if integers is None:
        return EncodedIds(*factorize_ids(to_column(values, column), column))
    return integers.astype(np.int64)


def _to_numbers(values: list[Any], column: str) -> Floats:
    numbers = _to_typed_array(float, values)
    return to_floats(values, column) if numbers is None else np.asarray(numbers, dtype=np.float64)


_CONVERSIONS = {"user": _to_ids, "item": _to_ids, "timestamp": to_times}
#: How `marshal` writes a value of exactly this type: a letter, then the value.
_MARSHALLED = {int: (ord("i"), np.dtype("u1,<i4")), float: (ord("g"), np.dtype("u1,<f8"))}
_MARSHAL_VERSION = 2  # writes floats as in memory, and no references
_LIST_HEADER = 5  # bytes: a letter, and the length


def _to_typed_array(kind: type, values: list[Any]) -> NDArray[Any] | None:
    """Return values that are all of exactly one type, int or float, as an array; else None.

    Reading what `marshal` writes takes half the time of checking the types and converting.
    """
    if not values or type(values[0]) is not kind:
        return None
    letter, record = _MARSHALLED[kind]
    try:
        data = marshal.dumps(values, _MARSHAL_VERSION)
    except ValueError:
        return None
    if len(data) != _LIST_HEADER + record.itemsize * len(values):
        return None
    records = np.frombuffer(data, record, offset=_LIST_HEADER)
    return records["f1"] if (records["f0"] == letter).all() else None


def is_row(value: Any) -> bool:
    """Return whether a value is a tuple, a list or a one-dimensional array.

    Examples
    --------
    >>> [is_row(value) for value in ((1, 2), [1], "ab", {1, 2}, 3, np.array(3))]
    [True, True, False, False, False, False]
    """
    has_length = hasattr(value, "__len__") and not isinstance(value, _NOT_ROWS)
    return has_length and getattr(value, "ndim", 1) == 1


def are_rows(rows: Sequence[Any], *widths: int) -> bool:
    """Return whether all values are rows of one of these widths, in two fast passes.

    Examples
    --------
    >>> are_rows([(1, 2), [3, 4]], 2), are_rows([(1, 2), "ab"], 2), are_rows([(1, 2), 3], 2)
    (True, False, False)
    """
    if rows and not is_row(rows[0]):
        return False
    try:
        has_widths = set(map(len, rows)) <= set(widths)
    except TypeError:  # a value without length
        return False
    return has_widths and not any(issubclass(kind, _NOT_ROWS) for kind in set(map(type, rows)))


def _check_rows(rows: Sequence[Any], widths: AbstractSet[int], form: str) -> None:
    """Raise if a value is not a row of one of these widths."""
    if are_rows(rows, *widths):
        return
    for place, row in enumerate(rows):
        if not is_row(row) or len(row) not in widths:
            msg = f"Row {place} (counted from 0) is {quote(row)}; each must be {form}."
            raise InvalidInputError(msg)


def _read_lists(lists: Mapping[Any, Any], table: str) -> Rows:
    """Read lists per user.

    They are {user: items}, {user: pairs (item, number)} or {user: {item: number}}; predictions are
    {user: pairs (estimated, true)} or {user: grades in ranked order}.
    """
    form, is_predictions = FORMS[table], table == "predictions"
    entries = {user: _read_entries(user, one, table) for user, one in lists.items()}
    filled = {user: one for user, one in entries.items() if one}
    if is_predictions and len(filled) < len(entries):
        empty = next(user for user in entries if user not in filled)
        msg = f"User {empty!r} has an empty list. Leave the user out, or give (estimated, true)."
        raise InvalidInputError(msg)
    if not (is_predictions or filled):
        msg = f"There are no items in any list; {form.lists}."
        raise InvalidInputError(msg)
    flat, lengths = list(chain.from_iterable(filled.values())), [*map(len, filled.values())]
    codes = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    user = EncodedIds(to_column(list(filled), "user"), codes)
    has_pairs = are_rows(flat, 2)
    default = score_by_rank(lengths) if table in _ORDERED else np.ones(len(flat))
    first, second = _split_fields(flat, 2, "") if has_pairs else (flat, default)
    _check_entries(user, flat, first, table, has_pairs=has_pairs)
    if is_predictions:
        estimated, true = (first, second) if has_pairs else (second, first)
        columns = {"estimated": to_floats(estimated, "estimated"), "true": to_floats(true, "true")}
    else:
        number = form.fields[2]
        columns = {"item": to_column(first, "item"), number: to_floats(second, number)}
    return Rows({"user": user} | columns, table, order_only=not has_pairs and table in _ORDERED)


def _read_entries(user: Any, entries: Any, table: str) -> list[Any]:
    """Return the entries of a user's list, a dict as pairs; labels may be a set."""
    if table != "predictions" and isinstance(entries, Mapping):
        return list(entries.items())
    if type(entries) is list or (table not in _ORDERED and isinstance(entries, AbstractSet)):
        return list(entries)
    return parse_list(entries, f"User {quote(user)} has", FORMS[table].lists)


def _check_entries(
    user: EncodedIds, entries: list[Any], first: list[Any], table: str, *, has_pairs: bool
) -> None:
    """Raise if an entry differs in form from the first one, or has no item or number.

    Parameters
    ----------
    user, entries : columns
        The entries of all lists, and their users.
    first : list
        The first value of each entry if they are pairs, else the entries.
    table : str
        The kind of the table.
    has_pairs : bool
        Whether all entries are pairs.
    """
    is_predictions = table == "predictions"
    has_lengths = any(hasattr(kind, "__len__") for kind in set(map(type, first)))
    if not has_lengths and (is_predictions or not (has_pairs or table in _ORDERED)):
        return
    are_pairs = is_row(entries[0])
    for place, (entry, value) in enumerate(zip(entries, first, strict=True)):
        fault = _explain_entry(entry, value, table, has_pairs)
        differs = is_row(entry) != are_pairs or (are_pairs and len(entry) != 2)
        if has_lengths and not has_pairs and differs:
            other = f", of user {quote(user.ids[0])}," if user.codes[place] else ""
            known = f", and the first one{other} is {quote(entries[0])}" if place else ""
            fix = f"{FORMS[table].lists}, in one form for all users"
            if is_predictions:
                fix = "use only pairs (estimated, true), or only grades in ranked order"
            fault = f"entry {quote(entry)}{known}; {fix}."
        if fault:
            msg = f"User {quote(user.values[place])} has the {fault}"
            raise InvalidInputError(msg)


def _explain_entry(entry: Any, value: Any, table: str, has_pairs: bool) -> str:  # noqa: FBT001
    """Return why an entry is not valid, by its first value; "" if it may be valid."""
    if table == "predictions":
        is_text = isinstance(value, str | bytes)
        return f"entry {quote(entry)}; {FORMS[table].lists}." if is_text else ""
    if has_pairs and isinstance(value, float) and value != round(value, 0):  # (estimated, true)
        return (
            f"entry {quote(entry)}, but {value} is not an item; {FORMS[table].lists}. Pairs "
            "(estimated, true) have no item ids to join on: give rows (user, item, estimated, "
            "true)."
        )
    if table == "results" and not has_pairs and isinstance(value, int | np.integer) and value == -1:
        return (
            "item -1, with which short lists are filled up (by implicit, for instance). Leave it "
            "out: {user: [item for item in items if item != -1]}; if -1 is an item of yours, give "
            "{user: [(item, score), ...]}."
        )
    return ""


def score_by_rank(lengths: Any) -> Floats:
    """Return estimates for ranked lists of these lengths, one list after the other.

    Examples
    --------
    >>> score_by_rank([3, 1])
    array([ 0., -1., -2.,  0.])
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    places = concat_ranges(np.zeros(len(sizes), dtype=np.int64), sizes)
    return 0.0 - np.asarray(places, dtype=np.float64)


def parse_list(values: Any, found: str, form: str) -> list[Any]:
    """Return the entries of a list as Python values, None for masked ones.

    Parameters
    ----------
    values : list, array or tensor
        The entries, best first.
    found : str
        The beginning of the message of an error.
    form : str
        How to write the list, for the message.

    Raises
    ------
    InvalidInputError
        It is a set, a dict, a table, text or a single value.
    """
    fault, is_list = "", isinstance(values, Iterable) and np.iterable(values)
    if isinstance(values, AbstractSet):
        fault = f"a set, {quote(values)}, which has no order: give a list, best first."
    elif isinstance(values, Mapping):
        fault = f"a dict, {quote(values)}, in place of a list; {form}."
    elif hasattr(values, "columns"):
        fault = f"a table in place of a list; {form}."
    elif isinstance(values, str | bytes) or not is_list:  # an array may have no dimension
        fault = f"{quote(values)} in place of a list; {form}."
    if fault:
        msg = f"{found} {fault}"
        raise InvalidInputError(msg)
    if not isinstance(values, np.ndarray):
        for name in ("to_pylist", "tolist"):  # iterating over a tensor would give tensors
            values = getattr(values, name, lambda values=values: values)()
        return list(values)
    if values.dtype.kind in CONVERSIONS:
        return list(values)  # so that times are still recognised
    data = restore_decimals(np.ma.getdata(values))
    entries: list[Any] = np.ma.array(data, mask=np.ma.getmaskarray(values)).tolist()
    return entries
