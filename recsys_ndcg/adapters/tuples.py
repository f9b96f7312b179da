"""Rows, Surprise predictions and {user: [(estimated, true), ...]}, from plain Python objects."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.adapters.rows import Rows, floats, objects
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ROW, _PREDICTION = 4, 5


def read_tuples(data: Mapping[Any, Iterable[Any]] | Iterable[Any]) -> Rows:
    """Read a mapping, rows ``(user, item, estimated, true)`` or Surprise predictions."""
    if hasattr(data, "items"):
        return _read_mapping(data)
    rows = data if isinstance(data, list) else list(data)
    if rows and hasattr(rows[0], "__len__") and len(rows[0]) == _PREDICTION:
        return read_predictions(rows)
    _check_width(rows, _ROW, "(user, item, estimated, true)")
    user, item, estimated, true = (map(itemgetter(place), rows) for place in range(_ROW))
    return Rows(objects(user), objects(item), floats(estimated, "estimated"), floats(true, "true"))


def read_predictions(predictions: Iterable[Any]) -> Rows:
    """Read Surprise predictions ``(uid, iid, r_ui, est, details)``, without Surprise."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    _check_width(rows, _PREDICTION, "(uid, iid, r_ui, est, details), as Surprise predicts")
    try:
        true = np.fromiter(map(itemgetter(2), rows), np.float64, len(rows))
        estimated = np.fromiter(map(itemgetter(3), rows), np.float64, len(rows))
    except (TypeError, ValueError):
        true = floats(map(itemgetter(2), rows), "true (r_ui)")
        estimated = floats(map(itemgetter(3), rows), "estimated (est)")
    return Rows(
        objects(map(itemgetter(0), rows)), objects(map(itemgetter(1), rows)), estimated, true
    )


def _read_mapping(lists: Any) -> Rows:
    users = objects(lists)
    pairs = [list(one) for one in lists.values()]
    for user, one in zip(users.tolist(), pairs, strict=True):
        if not one:
            msg = f"User {user!r} has an empty list. Leave the user out, or give (estimated, true)."
            raise InvalidInputError(msg)
    flat = list(chain.from_iterable(pairs))
    _check_width(flat, 2, "(estimated, true)")
    return Rows(
        np.repeat(users, [len(one) for one in pairs]),
        None,
        floats(map(itemgetter(0), flat), "estimated"),
        floats(map(itemgetter(1), flat), "true"),
    )


def _check_width(rows: Sequence[Any], width: int, form: str) -> None:
    """Refuse the first row that has not `width` entries."""
    try:
        if set(map(len, rows)) <= {width}:
            return
    except TypeError:
        pass
    for place, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != width:
            msg = f"Row {place} (counted from 0) is {row!r}; each must be {form}."
            raise InvalidInputError(msg)
