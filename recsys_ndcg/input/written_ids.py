"""How ids are written, and in which order they stand: each by itself, whatever others there are."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Ids, Positions

_LONGEST = 10_000  # bits of a number that Python writes in digits


def written(one: Any) -> str:
    """Return an id as text: equal ones in one way, whatever their types.

    Examples
    --------
    >>> [written(one) for one in (7, 7.0, 7.5, b"b", (1, "a"), frozenset("ba"))]
    ['7', '7', '7.5', 'b', "(1, 'a')", "{'a', 'b'}"]
    """
    if isinstance(one, str):
        return one
    if isinstance(one, bytes):
        return one.decode("utf-8", "surrogateescape")
    if isinstance(one, Real | Decimal):
        return _as_number(one)
    return _nested(one) if isinstance(one, tuple | frozenset) else str(one)


def text_places(ids: Ids) -> Positions:
    """Return the place of each id among all, compared as text.

    Examples
    --------
    >>> text_places(np.array([9, 10]))
    array([1, 0])
    """
    place = np.empty(len(ids), dtype=np.int64)
    if ids.dtype.kind in "iu" and len(ids) and ids.min() >= 0 and ids.max() < 10**8:
        # eight digits are a number, whose order is that of the text
        place[np.argsort(ids.astype("S8").view(">u8").astype(np.uint64))] = np.arange(len(ids))
        return place
    text = ids.tolist()
    if ids.dtype.kind in "iu":
        text = [*map(str, text)]
    elif set(map(type, text)) != {str}:
        text = [*map(written, text)]
    place[sorted(range(len(text)), key=text.__getitem__)] = np.arange(len(text))
    return place


def ascending_order(ids: Ids) -> Positions:
    """Return the order of distinct ids: numbers, text, and all others by type.

    Examples
    --------
    >>> ascending_order(np.array(["b", (2, 1), 10, 9.5, "a", (2,)], dtype=object))
    array([3, 2, 4, 0, 5, 1])
    """
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    plain = ids.tolist()
    keys = plain if set(map(type, plain)) == {str} else [*map(_key, plain)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def refuse_alike(ids: Ids, column: str) -> None:
    """Refuse different ids that are written alike, such as 7 and "7".

    Parameters
    ----------
    ids : array
        Distinct ones.
    column : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        There are such; the first two are named.
    """
    if ids.dtype != object or set(map(type, ids)) <= {str}:
        return
    seen: dict[str, Any] = {}
    for one in ids.tolist():
        for text in {written(one), written(one) if isinstance(one, int) else str(one)}:
            other = seen.setdefault(text, one)
            if other is not one:
                kinds = " and ".join(type(each).__name__ for each in (other, one))
                msg = (
                    f"{column}: {shown(other)} and {shown(one)} are written alike, but are "
                    f"different ids ({kinds}). Make all ids of one type, numbers or text."
                )
                raise InvalidInputError(msg)


def _as_number(one: Any) -> str:
    if isinstance(one, int) or (math.isfinite(one) and one == int(one)):
        whole = int(one)
        return str(whole) if whole.bit_length() < _LONGEST else hex(whole)
    exact = isinstance(one, Decimal) and one != float(one)
    return str(one.normalize() if exact else float(one))


def _nested(one: Any) -> str:
    if isinstance(one, frozenset):
        return f"{{{', '.join(sorted(map(_nested, one)))}}}"
    if isinstance(one, tuple):
        return f"({', '.join(map(_nested, one))}{',' * (len(one) == 1)})"
    return written(one) if isinstance(one, Real | Decimal) else repr(one)


def _key(one: Any) -> tuple[Any, ...]:
    """Return by what an id is sorted."""
    if isinstance(one, Real | Decimal):
        return 0, one
    if isinstance(one, str):
        return 1, one
    return 2, type(one).__name__, tuple(map(_key, one)) if isinstance(one, tuple) else written(one)
