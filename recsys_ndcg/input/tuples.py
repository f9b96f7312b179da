"""Plain Python objects: rows, Surprise predictions and lists per user, read in chunks of rows."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.row_checks import (
    JOIN,
    NO_ROWS,
    all_rows,
    check_rows,
    in_order,
    is_row,
)
from recsys_ndcg.input.rows import Rows, floats, listed, objects, plain_floats

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids

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


_SAID = itemgetter("was_impossible")


class IdReader:
    """Ids: whole numbers of 32 bits, or any by their distinct values.

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
        self._others: list[Hashable] | None = None

    def take(self, values: list[Hashable], start: int) -> None:
        """Read the ids of the rows from `start` on."""
        if not start:
            if type(values[0]) is int:
                self._numbers = np.empty(self._size, dtype=np.int64)
            else:
                self._others = []
        rows = slice(start, start + len(values))
        if self._numbers is not None:
            numbers = all_of(int, values)
            if numbers is not None:
                self._numbers[rows] = numbers
                return
            self._others, self._numbers = self._numbers[:start].tolist(), None
        if self._others is not None:
            self._others += values

    @property
    def ids(self) -> Ids | Coded:
        """What was read; an InvalidInputError tells of an id that has no hash."""
        if self._numbers is not None:
            return self._numbers
        # all at once: the distinct ids of one column fill the cache
        return Coded.of(self._others or (), self._column, len(self._others or ()))


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
            numbers = all_of(float, values)
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


def read_fields(
    rows: Sequence[Any], readers: Sequence[IdReader | NumberReader | DetailReader], form: str
) -> None:
    """Give each reader its field of all rows.

    Raises
    ------
    InvalidInputError
        One is no row, or has not a field for each reader; `form` is what it should have been.
    """
    width, checked = len(readers), False
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
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
        return Rows(dict(zip(("user", "item", "estimated", "true"), plain, strict=True)))
    user, item = IdReader("user", size), IdReader("item", size)
    estimated, true = NumberReader("estimated", size), NumberReader("true", size)
    form = f"(user, item, estimated, true), or {JOIN}"
    read_fields(rows, (user, item, estimated, true), form)
    return Rows(
        {
            "user": user.ids,
            "item": item.ids,
            "estimated": estimated.numbers,
            "true": true.numbers,
        }
    )


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
    columns = {"user": user, "item": item, "estimated": estimates, "true": grades}
    return Rows(columns | {"impossible": impossible})


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
    entries = {
        user: one if type(one) is list else listed(one, f"User {shown(user)} has", _PAIRS)
        for user, one in lists.items()
    }
    empty = [user for user, one in entries.items() if not one]
    if empty:
        msg = f"User {empty[0]!r} has an empty list. Leave the user out, or give (estimated, true)."
        raise InvalidInputError(msg)
    lengths = [len(one) for one in entries.values()]
    places = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    user = Coded(objects(entries, "user"), places)
    plain = read_records(chain.from_iterable(entries.values()), len(places), 0, 2)
    if plain:
        return Rows(dict(zip(("user", "estimated", "true"), (user, *plain), strict=True)))
    flat = list(chain.from_iterable(entries.values()))
    if all_rows(flat, 2):
        estimated, true = NumberReader("estimated", len(flat)), NumberReader("true", len(flat))
        read_fields(flat, (estimated, true), _PAIRS)
        if estimated.has_text:
            _refuse_entries(user.values, flat)
        return Rows({"user": user, "estimated": estimated.numbers, "true": true.numbers})
    if any(hasattr(kind, "__len__") for kind in {*map(type, flat)}):
        _refuse_entries(user.values, flat)
    columns = {"user": user, "estimated": in_order(lengths), "true": floats(flat, "true")}
    return Rows(columns, order_only=True)


def _refuse_entries(user: Ids, entries: Sequence[Any]) -> None:
    """Refuse the first entry that is text, or no pair beside rows; single values may pass."""
    beside_rows = any(map(is_row, entries))
    for place, one in enumerate(entries):
        textual = isinstance(one[0] if all_rows([one], 2) else one, str | bytes)
        if textual or (beside_rows and not all_rows([one], 2)):
            form = _PAIRS if textual else _ALIKE
            msg = f"User {shown(user[place])} has the entry {shown(one)}; {form}."
            raise InvalidInputError(msg)
