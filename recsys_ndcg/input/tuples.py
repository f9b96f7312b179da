"""Plain Python objects: rows, Surprise predictions, a list per user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.fields import (
    DetailReader,
    IdReader,
    NumberReader,
    read_fields,
    read_numbers,
)
from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.marshalled import read_records
from recsys_ndcg.input.rows import Rows, listed, objects
from recsys_ndcg.input.shapes import (
    JOIN,
    all_rows,
    in_order,
    is_row,
    refuse_unranked,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Ids

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
        return Rows(*plain)
    user, item = IdReader("user", size), IdReader("item", size)
    estimated, true = NumberReader("estimated", size), NumberReader("true", size)
    form = f"(user, item, estimated, true), or {JOIN}"
    read_fields(rows, (user, item, estimated, true), form)
    return Rows(user.ids, item.ids, estimated.numbers, true.numbers)


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
    return Rows(user, item, estimates, grades, impossible=impossible)


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
        return Rows(user, None, *plain)
    flat = list(chain.from_iterable(entries.values()))
    if all_rows(flat, 2):
        estimated, true = NumberReader("estimated", len(flat)), NumberReader("true", len(flat))
        read_fields(flat, (estimated, true), _PAIRS)
        if estimated.has_text:
            _refuse_entries(user.values, flat)
        return Rows(user, None, estimated.numbers, true.numbers)
    if any(hasattr(kind, "__len__") for kind in {*map(type, flat)}):
        _refuse_entries(user.values, flat)
    return Rows(user, None, in_order(lengths), read_numbers(flat, "true"), order_only=True)


def _refuse_entries(user: Ids, entries: Sequence[Any]) -> None:
    """Refuse the first entry that is text, or no pair beside rows; single values may pass."""
    beside_rows = any(map(is_row, entries))
    for place, one in enumerate(entries):
        textual = isinstance(one[0] if all_rows([one], 2) else one, str | bytes)
        if textual or (beside_rows and not all_rows([one], 2)):
            form = _PAIRS if textual else _ALIKE
            msg = f"User {shown(user[place])} has the entry {shown(one)}; {form}."
            raise InvalidInputError(msg)
