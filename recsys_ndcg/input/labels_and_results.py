"""Labels and results: as rows, lists per user, or predictions, to be joined."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.row_checks import all_rows, check_rows, in_order, is_row
from recsys_ndcg.input.rows import Rows, floats, listed, objects
from recsys_ndcg.input.tuples import read_fields, read_ids, read_numbers, read_tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Ids


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
