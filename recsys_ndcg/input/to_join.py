"""Labels and results as rows, as lists per user, or as predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.input.ids import Coded, coded
from recsys_ndcg.input.labels import Labels, Results
from recsys_ndcg.input.per_user import labels_per_user, results_per_user
from recsys_ndcg.input.rows import floats
from recsys_ndcg.input.shapes import all_rows, check_rows
from recsys_ndcg.input.tuples import read_tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.input.rows import Rows

_PAIR, _TRIPLE = 2, 3
_LABELS = "(user, item) or (user, item, true); lists per user are {user: [item, ...]}"
_RESULTS = (
    "(user, item, score); lists per user, best first, are {user: [item, ...]}, and two arrays "
    "{user: list(zip(items, scores)) for user, items, scores in zip(users, *arrays)}"
)
#: With which implicit marks what it does not recommend.
LOWEST = float(np.finfo(np.float32).min)


def labels_of(data: Any) -> Labels:
    """Read rows (user, item) or (user, item, true), lists per user, or predictions.

    Examples
    --------
    >>> labels_of([("ann", "x"), ("bob", "x")]).true.tolist()
    [1.0, 1.0]
    """
    if isinstance(data, Mapping):
        return labels_per_user(data)
    rows = list(data)
    if _are_predictions(rows):
        found = read_tuples(rows)
        return Labels(*_ids_of(found), found.true)
    check_rows(rows, {_PAIR, _TRIPLE}, _LABELS)
    width = len(rows[0]) if rows else _TRIPLE
    check_rows(rows, {width}, f"as the first one, {_LABELS}")
    true = np.ones(len(rows)) if width == _PAIR else floats(map(itemgetter(2), rows), "true")
    return Labels(_column(rows, 0, "user"), _column(rows, 1, "item"), true)


def results_of(data: Any) -> Results:
    """Read rows (user, item, score), lists per user, or predictions.

    Examples
    --------
    >>> results_of([("ann", "x", 0.5)]).estimated.tolist()
    [0.5]
    """
    if isinstance(data, Mapping):
        return results_per_user(data)
    rows = list(data)
    if _are_predictions(rows):
        found = read_tuples(rows)
        return Results(
            *_ids_of(found),
            found.estimated,
            order_only=found.order_only,
            impossible=found.impossible,
        )
    check_rows(rows, {_TRIPLE}, _RESULTS)
    score = floats(map(itemgetter(2), rows), "estimated")
    return Results(_column(rows, 0, "user"), _column(rows, 1, "item"), score)


def without_fillers(results: Results) -> Results:
    """Return results without those that implicit did not recommend, and say so.

    It fills up short lists, and lists what it was told to filter, with the lowest float32 of all.

    Warns
    -----
    DataWarning
        There are such.
    """
    fillers = results.estimated == LOWEST
    if results.order_only or not fillers.any():
        return results
    warn_of_fillers(int(fillers.sum()), len(fillers), results.column)
    user, item, estimated = (
        (column.values if isinstance(column, Coded) else column)[~fillers]
        for column in (results.user, results.item, results.estimated)
    )
    flags = None if results.impossible is None else results.impossible[~fillers]
    return replace(results, user=user, item=item, estimated=estimated, impossible=flags)


def warn_of_fillers(count: int, among: int, column: str) -> None:
    """Warn of results that are none, and refuse them if they are all.

    Raises
    ------
    InvalidInputError
        There are no others.

    Warns
    -----
    DataWarning
        There are others.
    """
    if count == among:
        msg = f"Every {column} is {LOWEST}: the model recommends nothing. Check it."
        raise InvalidInputError(msg)
    msg = (
        f"{count} of {among} results have the score {LOWEST:.7g}, with which "
        "implicit marks what it does not recommend: left out. To silence this, leave them out."
    )
    warn(msg)


def _are_predictions(rows: Sequence[Any]) -> bool:
    """Tell rows with an estimate and a true value, which make sense as either."""
    return bool(rows) and all_rows(rows[:1], 4, 5)


def _column(rows: Sequence[Any], place: int, name: str) -> Coded:
    return coded(map(itemgetter(place), rows), name, len(rows))


def _ids_of(rows: Rows) -> tuple[Ids | Coded, Ids | Coded]:
    return rows.user, np.asarray(None) if rows.item is None else rows.item
