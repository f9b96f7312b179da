"""Numbers of Python by what `marshal` writes of them: the fastest way to many that are alike."""

from __future__ import annotations

import marshal
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: How many are taken at a time: while they are in the cache.
CHUNK = 1 << 12
#: How `marshal` writes a value of exactly this type: a letter, and the value.
_WRITTEN = {int: (ord("i"), "<i4"), float: (ord("g"), "<f8")}
_LISTS = {kind: np.dtype(f"u1,{number}") for kind, (_, number) in _WRITTEN.items()}
_VERSION = 2  # with floats as they are in memory, and without references
_BEGIN = 5  # of a list or a tuple: a letter, and how many entries there are


def all_of(kind: type, values: list[Any]) -> NDArray[Any] | None:
    """Return values of exactly one type, int or float, as an array; None where others are among.

    To look at the types, and then to convert the values, takes twice as long.
    """
    if type(values[0]) is not kind:
        return None
    found = _written(values, _LISTS[kind])
    return found["f1"] if found is not None and (found["f0"] == _WRITTEN[kind][0]).all() else None


def read_records(rows: Iterable[Any], size: int, n_ids: int, n_numbers: int) -> list[Any] | None:
    """Return the fields of tuples of numbers, None where one of them is anything else.

    Parameters
    ----------
    rows : iterable
        Of any objects.
    size : int
        How many there are.
    n_ids : int
        How many fields come first that are ids: whole numbers of 32 bits.
    n_numbers : int
        How many fields then come that are numbers: each of one type, in all rows.

    Examples
    --------
    >>> read_records([(1, 2.5), (2, 3.5)], 2, 1, 1)
    [array([1, 2]), array([2.5, 3.5])]
    """
    rows = iter(rows)
    chunk = list(islice(rows, CHUNK))
    kinds = [*map(type, chunk[0])] if chunk and type(chunk[0]) is tuple else []
    usual = set(kinds) <= _WRITTEN.keys() and kinds[:n_ids] == [int] * n_ids
    if not usual or len(kinds) != n_ids + n_numbers:
        return None
    letters, numbers = zip(*map(_WRITTEN.__getitem__, kinds), strict=True)
    record = np.dtype(",".join(["u1,<i4", *(f"u1,{number}" for number in numbers)]))
    types = [np.int64] * n_ids + [np.float64] * n_numbers
    found: list[Any] = [np.empty(size, dtype=one) for one in types]
    start = 0
    while chunk:
        written = _written(chunk, record)
        if written is None or not _begin(written, (ord("("), len(kinds)), letters):
            return None
        for place, column in enumerate(found):
            column[start : start + len(chunk)] = written[f"f{2 * place + 3}"]
        start += len(chunk)
        chunk = list(islice(rows, CHUNK))
    return found


def _begin(written: NDArray[Any], head: tuple[int, int], letters: Sequence[int]) -> bool:
    """Tell whether all records begin as a tuple does, and each of their fields with its letter."""
    places = [0, 1, *range(2, 2 * len(letters) + 1, 2)]
    return all(
        (written[f"f{place}"] == sign).all()
        for place, sign in zip(places, (*head, *letters), strict=True)
    )


def _written(values: Any, record: np.dtype[Any]) -> NDArray[Any] | None:
    """Return what `marshal` writes of a list, None where it is not as long as such records."""
    try:
        written = marshal.dumps(values, _VERSION)
    except ValueError:
        return None
    if len(written) != _BEGIN + record.itemsize * len(values):
        return None
    return np.frombuffer(written, record, offset=_BEGIN)
