"""The fields of rows, taken from a few thousand rows at a time, while these are in the cache."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recsys_ndcg.input import marshalled
from recsys_ndcg.input.ids import coded
from recsys_ndcg.input.rows import floats, plain_floats
from recsys_ndcg.input.shapes import NO_ROWS, check_rows, is_row
from recsys_ndcg.input.short_texts import ShortTexts

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.input.ids import Coded

_SAID = itemgetter("was_impossible")


class Reader(Protocol):
    """What reads one field of each row."""

    def take(self, values: list[Any], start: int) -> None:
        """Read the field of the rows from `start` on."""


class IdReader:
    """Ids: whole numbers of 32 bits, short texts, or any by their distinct values.

    Parameters
    ----------
    column : str
        Its name, for the message.
    size : int
        How many rows there are.
    """

    def __init__(self, column: str, size: int) -> None:
        self._column, self._size = column, size
        self._numbers: NDArray[np.int64] | None = None
        self._texts: ShortTexts | None = None
        self._others: list[Hashable] | None = None

    def take(self, values: list[Hashable], start: int) -> None:
        """Read the ids of the rows from `start` on."""
        if not start:
            self._begin(type(values[0]))
        rows = slice(start, start + len(values))
        if self._numbers is not None:
            numbers = marshalled.all_of(int, values)
            if numbers is not None:
                self._numbers[rows] = numbers
                return
            self._others, self._numbers = self._numbers[:start].tolist(), None
        elif self._texts is not None:
            if self._texts.take(values, start):
                return
            self._others = self._texts.coded(start).values.tolist() if start else []
            self._texts = None
        if self._others is not None:
            self._others += values

    @property
    def ids(self) -> Ids | Coded:
        """What was read; an InvalidInputError tells of an id that has no hash."""
        if self._numbers is not None:
            return self._numbers
        if self._texts is not None:
            return self._texts.coded(self._size)
        # all at once: the distinct ids of one column fill the cache
        return coded(self._others or (), self._column, len(self._others or ()))

    def _begin(self, kind: type) -> None:
        if kind is int:
            self._numbers = np.empty(self._size, dtype=np.int64)
        elif kind is str:
            self._texts = ShortTexts(self._size)
        else:
            self._others = []


class DetailReader:
    """The details of predictions, as long as they all say the same: that they are possible."""

    def __init__(self) -> None:
        self.usual = True

    def take(self, values: list[Any], start: int) -> None:  # noqa: ARG002 - as of the others
        """Read the details of some rows."""
        if self.usual:
            try:
                self.usual = not any(map(_SAID, values))
            except (KeyError, TypeError):
                self.usual = False


class NumberReader:
    """Numbers, of the types that floats are made of at once as long as there are no others.

    Parameters
    ----------
    column : str
        Its name, for the message.
    size : int
        How many rows there are.
    """

    def __init__(self, column: str, size: int) -> None:
        self._column = column
        self._values = np.empty(size)
        self._others: list[Any] | None = None

    def take(self, values: list[Any], start: int) -> None:
        """Read the numbers of the rows from `start` on."""
        if self._others is None:
            numbers = marshalled.all_of(float, values)
            if numbers is None:
                numbers = plain_floats(values)
            if numbers is not None:
                self._values[start : start + len(values)] = numbers
                return
            self._others = self._values[:start].tolist()
        self._others += values

    @property
    def numbers(self) -> Floats:
        """What was read; an InvalidInputError tells of a value that is no number."""
        return self._values if self._others is None else floats(self._others, self._column)

    @property
    def has_text(self) -> bool:
        """Whether text is among the values."""
        return any(issubclass(kind, str | bytes) for kind in {*map(type, self._others or ())})


def read_numbers(values: list[Any], column: str) -> Floats:
    """Return a column of numbers, None and NA as NaN.

    Raises
    ------
    InvalidInputError
        A value is no number; its row is named.

    Examples
    --------
    >>> read_numbers([4, None, 3.5], "true")
    array([4. , nan, 3.5])
    """
    reader = NumberReader(column, len(values))
    _read(values, reader)
    return reader.numbers


def read_ids(values: list[Any], column: str) -> Ids | Coded:
    """Return a column of ids.

    Raises
    ------
    InvalidInputError
        An id cannot be hashed.

    Examples
    --------
    >>> read_ids(["b", "a", "b"], "user").codes
    array([0, 1, 0], dtype=int32)
    """
    reader = IdReader(column, len(values))
    _read(values, reader)
    return reader.ids


def _read(values: list[Any], reader: Reader) -> None:
    for start in range(0, len(values), marshalled.CHUNK):
        reader.take(values[start : start + marshalled.CHUNK], start)


def read_fields(rows: Sequence[Any], readers: Sequence[Reader], form: str) -> None:
    """Give each reader its field of all rows.

    Raises
    ------
    InvalidInputError
        One is no row, or has not a field for each reader; `form` is what it should have been.
    """
    width, checked = len(readers), False
    for start in range(0, len(rows), marshalled.CHUNK):
        chunk = rows[start : start + marshalled.CHUNK]
        tuples = all(map(_is_tuple, set(map(type, chunk)))) and is_row(chunk[0])
        if tuples and set(map(len, chunk)) == {width}:
            flat = list(chain.from_iterable(chunk))
            fields = [flat[place::width] for place in range(width)]
        else:
            if not checked:
                check_rows(rows, {width}, form)
                checked = True
            fields = [list(map(itemgetter(place), chunk)) for place in range(width)]
        for reader, values in zip(readers, fields, strict=True):
            reader.take(values, start)


def _is_tuple(kind: type) -> bool:
    return kind is tuple or (
        issubclass(kind, tuple)
        and not issubclass(kind, NO_ROWS)
        and kind.__iter__ is tuple.__iter__
        and kind.__getitem__ is tuple.__getitem__
        and kind.__len__ is tuple.__len__
    )
