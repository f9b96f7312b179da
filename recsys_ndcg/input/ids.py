"""Ids: their text form, their order, and their encoding as codes into the distinct ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from numbers import Real
from operator import lt
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Flags, Ids, Positions, compute_offsets, concat_ids
from recsys_ndcg.errors import InvalidInputError, is_encodable, quote, warn
from recsys_ndcg.lazy import lazy_property

_ARROW_TEXT = {"string", "large_string", "string_view"}
_POLARS_TEXT = {"String", "Categorical", "Enum"}


def encode_text(values: Any) -> EncodedIds | None:
    """Encode a column of Arrow text or of categories.

    Parameters
    ----------
    values : column
        A column of pandas, polars or pyarrow, or any other.

    Returns
    -------
    EncodedIds or None
        None for any other column, and for a column with a missing value.

    Examples
    --------
    >>> encode_text(pd.Series(["b", "a", "b"], dtype="category")).values
    array(['b', 'a', 'b'], dtype=object)
    >>> encode_text(["a", "b"]) is None
    True
    """
    if isinstance(values, pd.Series | pd.Index):
        values = values.array
    if isinstance(values, pd.Categorical):
        return _encode_categories(values)
    if import_pyarrow() is None:
        return None
    if isinstance(values, pd.arrays.ArrowExtensionArray):
        values = values.__arrow_array__()
    values = convert_polars_text(values)
    return _encode_arrow(values) if hasattr(values, "dictionary_encode") else None


def convert_polars_text(values: Any) -> Any:
    """Return text of polars as an Arrow array, and anything else as it is.

    Call it from one thread: older versions of polars lend a column to one thread at a time.
    """
    kind = getattr(getattr(values, "dtype", None), "base_type", str)
    is_text = hasattr(values, "to_arrow") and str(kind()) in _POLARS_TEXT
    return values.to_arrow() if is_text and import_pyarrow() is not None else values


def _encode_categories(values: pd.Categorical) -> EncodedIds | None:
    codes = np.asarray(values.codes)
    ids = values.categories.to_numpy(dtype=object, copy=True)  # may be the caller's memory
    return None if not len(codes) or codes.min() < 0 else _drop_unused(ids, codes)


def _encode_arrow(values: Any) -> EncodedIds | None:
    pa = import_pyarrow()
    is_dictionary = hasattr(values.type, "index_type")
    text_type = values.type.value_type if is_dictionary else values.type
    if str(text_type) not in _ARROW_TEXT or values.null_count or not len(values):
        return None
    chunks = getattr(values, "chunks", [values])
    column = pa.chunked_array([chunk for chunk in chunks if len(chunk)])
    if str(column.type) == "string_view":  # some versions can neither compare nor sort views
        try:
            column = column.cast("large_string")
        except pa.ArrowNotImplementedError:
            return None
    if not is_dictionary:  # its chunks share one dictionary
        column = column.dictionary_encode()
    if any(chunk.dictionary.null_count for chunk in column.chunks):
        return None
    chunks = (column.unify_dictionaries() if is_dictionary else column).chunks
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    text = chunks[0].dictionary
    found = text.to_numpy(zero_copy_only=False)
    if is_dictionary:
        return _drop_unused(found, codes)
    return EncodedIds(*reorder_codes(found, codes, _argsort_text(text)), is_sorted=True)


def _argsort_text(text: Any) -> Positions:
    """Return the order of distinct text; Arrow's order by bytes is Python's."""
    pa = import_pyarrow()
    try:
        order: Positions = pa.compute.array_sort_indices(pa.array(text)).to_numpy()
    except (AttributeError, UnicodeEncodeError):  # no pyarrow, or a lone surrogate
        return argsort_ids(text, "")
    return order


def _drop_unused(ids: Ids, codes: NDArray[Any]) -> EncodedIds | None:
    """Return the text ids that occur, each once and sorted; None if an id is not text."""
    is_used = np.zeros(len(ids), dtype=bool)
    is_used[codes] = True
    text = ids[is_used].tolist()
    if set(map(type, text)) != {str}:
        return None
    used = EncodedIds(ids[is_used], np.arange(len(text), dtype=np.int32))
    if not all(map(lt, text, text[1:])):  # a dictionary of Arrow may also have duplicates
        used = EncodedIds.factorize(used.ids)
        used = EncodedIds(*reorder_codes(used.ids, used.codes, _argsort_text(used.ids)))
    new_codes = np.zeros(len(ids), dtype=np.int32)
    new_codes[is_used] = used.codes
    return EncodedIds(used.ids, new_codes[codes], is_sorted=True)


@cache
def import_pyarrow() -> Any:
    """Return pyarrow, which is an extra; None if it cannot be imported."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        import pyarrow.compute  # type: ignore[import-untyped] # noqa: PLC0415
    except Exception:  # noqa: BLE001 - a build for another numpy raises a ValueError
        return None
    return pa


_MAX_DECIMAL_BITS = 10_000  # larger integers exceed Python's limit for decimal digits


def format_id(value: Any) -> str:
    """Return an id as text, equal for equal ids of different types.

    Examples
    --------
    >>> [format_id(value) for value in (7, 7.0, 7.5, b"b", (1, "a"), frozenset("ba"))]
    ['7', '7', '7.5', 'b', "(1, 'a')", "{'a', 'b'}"]
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, Real | Decimal):
        return _format_number(value)
    return _format_nested(value) if isinstance(value, tuple | frozenset) else str(value)


def argsort_ids(ids: Ids, column: str) -> Positions:
    """Return the ascending order of distinct ids: numbers, text, then other types by their names.

    Parameters
    ----------
    ids : array
        Distinct ids.
    column : str
        The column's name in messages.

    Raises
    ------
    InvalidInputError
        Two ids have the same text.

    Examples
    --------
    >>> argsort_ids(np.array(["b", (2, 1), 10, 9.5, "a", (2,)], dtype=object), "user")
    array([3, 2, 4, 0, 5, 1])
    """
    _check_distinct_text(ids, column)
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    values = ids.tolist()
    keys = values if set(map(type, values)) == {str} else [*map(_make_sort_key, values)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _check_distinct_text(ids: Ids, column: str) -> None:
    """Raise if two ids have the same text, such as 7 and "7"; the message has the first two."""
    if ids.dtype != object or set(map(type, ids)) <= {str}:
        return
    seen: dict[str, Any] = {}
    for value in ids.tolist():
        for text in {format_id(value), format_id(value) if isinstance(value, int) else str(value)}:
            other = seen.setdefault(text, value)
            if other is not value:
                kinds = " and ".join(type(each).__name__ for each in (other, value))
                msg = (
                    f"{column}: {quote(other)} and {quote(value)} are written alike, but are "
                    f"different ids ({kinds}). Make all ids of one type, numbers or text."
                )
                raise InvalidInputError(msg)


def _format_number(value: Any) -> str:
    if isinstance(value, int) or (math.isfinite(value) and value == int(value)):
        integer = int(value)
        return str(integer) if integer.bit_length() < _MAX_DECIMAL_BITS else hex(integer)
    is_inexact = isinstance(value, Decimal) and value != float(value)
    return str(value.normalize() if is_inexact else float(value))


def _format_nested(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_format_nested, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_nested, value))}{',' * (len(value) == 1)})"
    return format_id(value) if isinstance(value, Real | Decimal) else repr(value)


def _make_sort_key(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Real | Decimal):
        return 0, value
    if isinstance(value, str):
        return 1, value
    inner = tuple(map(_make_sort_key, value)) if isinstance(value, tuple) else format_id(value)
    return 2, type(value).__name__, inner


_SIXTEEN_BITS = 1 << 16
#: Whether pandas compares text only up to a zero character or a lone surrogate (version 2).
_TRUNCATES_TEXT = int(pd.__version__.partition(".")[0]) < 3


@dataclass(frozen=True)
class EncodedIds:
    """A column of ids as distinct ids and each row's code, a position among them.

    The distinct ids are in order of appearance, or sorted text if `is_sorted`.
    """

    ids: Ids
    codes: Codes
    is_sorted: bool = False

    @classmethod
    def factorize(cls, values: NDArray[Any]) -> EncodedIds:
        r"""Encode an array; the code of a missing value is -1.

        Examples
        --------
        >>> EncodedIds.factorize(np.array(["a\0b", "a\0c", None], dtype=object)).codes
        array([ 0,  1, -1], dtype=int32)
        """
        if not (_TRUNCATES_TEXT and values.dtype == object and any(map(_is_truncated, values))):
            codes, ids = pd.factorize(values)
            return cls(np.asarray(ids), codes.astype(np.int32))
        # with an object of another type in the array, pandas compares whole texts
        codes, ids = pd.factorize(np.concatenate([values, np.array([object()], dtype=object)]))
        return cls(np.asarray(ids)[:-1], codes[:-1].astype(np.int32))

    @staticmethod
    def list_types(ids: Ids) -> set[str]:
        """Return the types of ids: 'text', 'number', or the names of other types.

        Examples
        --------
        >>> sorted(EncodedIds.list_types(np.array(["1", 1, 1.0], dtype=object)))
        ['number', 'text']
        """
        kinds = set(map(type, (ids if ids.dtype == object else ids[:1]).tolist()))
        return {
            "text" if issubclass(kind, str)
            else "number" if issubclass(kind, int | float | Decimal | np.number)
            else kind.__name__
            for kind in kinds
        }  # fmt: skip

    @staticmethod
    def raise_type_mismatch(
        column: str, tables: tuple[str, str], types: Sequence[str], ids: Sequence[Any]
    ) -> NoReturn:
        """Raise the error that two tables have ids of different types, with one id of each."""
        pairs = zip(types, ids, strict=True)
        first, second = (f"{kind} (such as {each!r})" for kind, each in pairs)
        msg = (
            f"{column}: {tables[0]} have ids of type {first}, {tables[1]} of type {second}. Make "
            "them the same type, or nothing will match."
        )
        raise InvalidInputError(msg)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    @property
    def values(self) -> Ids:
        """The id of every row."""
        return self.ids[self.codes]

    def find(self, ids: Ids | Sequence[Any]) -> Positions:
        """Return the position of each id among the distinct ids, -1 if it is unknown."""
        ids = ids if isinstance(ids, np.ndarray) else np.fromiter(ids, object, len(ids))
        codes = EncodedIds.factorize(concat_ids([self.ids, ids])).codes
        places = np.full(codes.max(initial=-1) + 2, -1)  # the last one is for missing ids
        places[codes[: len(self.ids)]] = np.arange(len(self.ids))
        return places[codes[len(self.ids) :]]

    @lazy_property
    def index(self) -> pd.Index[Any]:
        """The distinct ids as an index of their own type: converting text to Arrow takes longer."""
        return pd.Index(self.ids, dtype=self.ids.dtype)

    @lazy_property
    def counts(self) -> Positions:
        """The number of rows of each distinct id."""
        return np.bincount(self.codes, minlength=len(self.ids))

    @property
    def text_ranks(self) -> Positions:
        """The position of each row's id among the distinct ids sorted as text.

        Examples
        --------
        >>> EncodedIds(np.array([9, 10]), np.array([0, 1, 1])).text_ranks
        array([1, 0, 0])
        """
        text = [*map(format_id, self.ids.tolist())]
        ranks = np.empty(len(text), dtype=np.int64)
        ranks[sorted(range(len(text)), key=text.__getitem__)] = np.arange(len(text))
        return ranks[self.codes]

    def __getitem__(self, kept: Flags | slice) -> Ids:
        """Return the ids of some rows."""
        return self.ids[self.codes[kept]]


def encode_ids(values: Ids | EncodedIds, column: str) -> tuple[Ids, Codes]:
    """Return the distinct ids in ascending order, and each row's position among them.

    Parameters
    ----------
    values : array, one id per row, or EncodedIds
        Numbers or text; any hashable objects in an object array.
    column : str
        The column's name in messages.

    Raises
    ------
    InvalidInputError
        An id is missing (None or NaN) or not hashable.

    Examples
    --------
    >>> encode_ids(np.array([30, 10, 30]), "user")
    (array([10, 30]), array([1, 0, 1], dtype=int32))
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + _SIXTEEN_BITS:
            return _encode_integers(values, low, high)
    if isinstance(values, EncodedIds) and values.is_sorted:
        return values.ids, values.codes
    ids, codes = factorize_ids(values, column)
    missing = np.append(np.asarray(pd.isna(ids)), True)  # the last one is for code -1
    if missing[:-1].any() or codes.min(initial=0) < 0:
        raise_for_rows(missing[codes], column, "a missing id", "fill it in or leave the row out")
    ids = unify_numbers(ids)
    return reorder_codes(ids, codes, argsort_ids(ids, column))


def join_encoded(parts: Sequence[EncodedIds], column: str) -> tuple[Ids, list[Codes]]:
    """Return the distinct ids of several columns in ascending order, and the codes of each column.

    Raises
    ------
    InvalidInputError
        Two ids have the same text.

    Examples
    --------
    >>> first = EncodedIds(np.array(["b", "a"], dtype=object), np.array([0, 1, 0], dtype=np.int32))
    >>> second = EncodedIds(np.array(["c"], dtype=object), np.array([0], dtype=np.int32))
    >>> join_encoded([first, second], "user")[1]
    [array([1, 0, 1], dtype=int32), array([2], dtype=int32)]
    """
    ids, codes = encode_ids(concat_ids([one.ids for one in parts]), column)
    starts = compute_offsets(np.array([len(one.ids) for one in parts]))
    return ids, [codes[start:][one.codes] for one, start in zip(parts, starts, strict=False)]


def reorder_codes(ids: Ids, codes: NDArray[Any], order: NDArray[Any]) -> tuple[Ids, Codes]:
    """Return copies of distinct ids in another order, and of the codes into them."""
    positions = np.empty(len(ids), dtype=np.int32)
    positions[order] = np.arange(len(ids), dtype=np.int32)
    return ids[order], positions[codes]


def make_index(ids: Ids, name: str | None = None) -> pd.Index[Any]:
    """Return ids as an index of pandas, also if a text has a lone surrogate."""
    try:
        column = pd.Series(ids)
    except UnicodeEncodeError:  # Arrow cannot hold such text
        column = pd.Series(ids, dtype=object)
    return pd.Index(column, name=name)


def _encode_integers(values: Ids, low: int, high: int) -> tuple[Ids, Codes]:
    """Encode integers of a narrow range with a lookup table instead of hashing."""
    is_used = np.zeros(high - low + 1, dtype=bool)
    if values.dtype.itemsize < np.dtype(np.int64).itemsize:
        values = values.astype(np.int64)  # the difference of two short integers may overflow
    lowest = values.dtype.type(low)
    shifted = values - lowest if low else values
    is_used[shifted] = True
    used = np.flatnonzero(is_used)
    ids = used.astype(values.dtype) + lowest
    if len(used) == len(is_used):
        return ids, shifted.astype(np.int32)
    codes = np.zeros(len(is_used), dtype=np.int32)
    codes[used] = np.arange(len(used), dtype=np.int32)
    return ids, codes[shifted]


def _is_truncated(value: object) -> bool:
    """Return whether pandas 2 compares only the beginning of a text."""
    return isinstance(value, str) and ("\0" in value or not is_encodable(value))


def factorize_ids(values: Ids | EncodedIds, column: str) -> tuple[Ids, Codes]:
    """Return the distinct ids in order of appearance, and each row's code, -1 if missing."""
    if isinstance(values, EncodedIds):
        return values.ids, values.codes
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    try:
        encoded = EncodedIds.factorize(values)
    except TypeError as error:
        msg = f"{column}: an id is not hashable ({error}); use numbers or text."
        raise InvalidInputError(msg) from None
    return encoded.ids, encoded.codes


def unify_numbers(ids: Ids) -> Ids:
    """Return Python numbers of one type as a numeric array, if that loses nothing.

    Among ids of several types, a whole number becomes an integer (2.0 becomes 2), so the result
    does not depend on which of two equal ids came first.
    """
    if ids.dtype == object and any(isinstance(value, np.generic) for value in ids):
        ids = np.fromiter(map(to_python, ids), dtype=object, count=len(ids))
    kinds = set(map(type, ids)) if ids.dtype == object else set()
    if kinds != {float} and kinds & {float, bool, Decimal}:
        ids = np.fromiter(map(_to_integer, ids), dtype=object, count=len(ids))
        kinds = set(map(type, ids))
    if kinds == {int}:
        low, high = min(ids), max(ids)
        limits = [np.iinfo(np.int64), np.iinfo(np.uint64)]
        fitting = (limit.dtype for limit in limits if limit.min <= low and high <= limit.max)
        ids = ids.astype(next(fitting, object))
    elif kinds == {float}:
        ids = ids.astype(np.float64)
    return ids + 0.0 if ids.dtype.kind == "f" else ids  # -0.0 becomes 0.0


def to_python(value: Any) -> Any:
    """Return a scalar of NumPy as a Python object, a time as pandas' object."""
    if isinstance(value, np.datetime64 | np.timedelta64):  # item() may return a bare integer
        kind: Any = pd.Timestamp if isinstance(value, np.datetime64) else pd.Timedelta
        return kind(value)
    return value.item() if isinstance(value, np.generic) else value


def _to_integer(value: Any) -> Any:
    """Return a whole number as an int, and anything else as it is."""
    is_finite = isinstance(value, float | Decimal) and math.isfinite(value)
    return int(value) if (isinstance(value, bool) or is_finite) and value == int(value) else value


def raise_for_rows(bad: Flags, column: str, fault: str, advice: str) -> None:
    """Raise an error with the first rows in which `bad` is true, counted from 0, if there are any.

    Raises
    ------
    InvalidInputError
        There is such a row.
    """
    if bad.any():
        rows = np.flatnonzero(bad)
        first = ", ".join(map(str, rows[:3].tolist()))
        more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        msg = f"{column}: {fault} in row {first}{more} (counted from 0); {advice}."
        raise InvalidInputError(msg)


def check_id_types(
    first: Ids | EncodedIds,
    second: Ids | EncodedIds,
    column: str,
    names: tuple[str, str],
    *,
    warns: bool = False,
) -> int:
    """Check that two columns have ids of the same type; return how many distinct ids they share.

    Parameters
    ----------
    first, second : array or EncodedIds
        The ids of two tables.
    column : str
        The column's name in messages.
    names : pair of str
        The tables' names in messages.
    warns : bool
        Whether to warn if they share no id.

    Raises
    ------
    InvalidInputError
        One table has its ids as text and the other as numbers.

    Warns
    -----
    DataWarning
        They share no id.
    """
    first_ids, second_ids = (factorize_ids(ids, column)[0] for ids in (first, second))
    if first_ids.dtype == second_ids.dtype == np.int64:
        n_common = int(np.isin(first_ids, second_ids, assume_unique=True).sum())
    else:
        kinds, other_kinds = EncodedIds.list_types(first_ids), EncodedIds.list_types(second_ids)
        distinct, others = first_ids.tolist(), second_ids.tolist()
        if distinct and others and kinds.isdisjoint(other_kinds):
            types = ["/".join(sorted(each)) for each in (kinds, other_kinds)]
            EncodedIds.raise_type_mismatch(column, names, types, (distinct[0], others[0]))
        if len(kinds | other_kinds) > 1:
            together = sorted({*distinct, *others}, key=str)
            _check_distinct_text(np.fromiter(together, dtype=object), column)
        n_common = len({*distinct} & {*others})
    if warns and not n_common and len(first_ids) and len(second_ids):
        warn(
            f"No {column} of {names[1]} is among {names[0]}, so nothing is relevant. If the ids "
            "were renumbered, use the same numbering in both."
        )
    return n_common


def is_row_number_index(index: Any) -> bool:
    """Return whether pandas has made this index because the data had none."""
    return isinstance(index, pd.RangeIndex) and index.name is None and index[:1].tolist() == [0]
