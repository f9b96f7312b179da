"""The first ranks of users' lists, packed for a page: each item is named once."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from recsys_ndcg.rendering.wording import cut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.rendering.document import UserLists

MOST = 500_000  # signs of JSON, about a quarter of a page
_DIGITS = 6


def packed(lists: UserLists, most: int = MOST) -> dict[str, Any]:
    """Return the lists of as many users as `most` signs of JSON have room for, in their order.

    Examples
    --------
    >>> from recsys_ndcg.rendering.document import UserLists
    >>> found = packed(UserLists({"model": [{"item": ["x"], "gain": [3.0]}]}, [1.0]))
    >>> found["items"], found["users"]
    (['x'], [[[[0], [3]]]])
    """
    places: dict[str, int] = {}
    columns: list[list[str]] = []
    kept: list[Any] = []
    size = 0
    for sides in zip(*lists.sides.values(), strict=True):
        columns = [[*one] for one in sides]
        before = len(places)
        own = [[_values(name, one[name], places) for name in one] for one in sides]
        size += len(json.dumps(own)) + sum(map(len, [*places][before:])) + 3 * len(places)
        size -= 3 * before
        if size > most:
            break
        kept.append(own)
    return {
        "names": [cut(name) for name in lists.sides],
        "columns": columns,
        "weights": [_short(one) for one in lists.weights],
        "items": [*places],
        "users": kept,
    }


def _values(name: str, values: Iterable[Any], places: dict[str, int]) -> list[Any]:
    if name != "item":
        return [_short(value) for value in values]
    return [None if one is None else places.setdefault(cut(one), len(places)) for one in values]


def _short(value: float) -> float | int | None:
    """Return a number in few digits, None where there is none."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
