"""Ids: how they are written and ordered, and as codes among the distinct ones, text by Arrow."""

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

from recsys_ndcg.arrays import Codes, Flags, Ids, Positions, concat_ids
from recsys_ndcg.errors import InvalidInputError, is_encodable, quote, warn

_TEXT = {"string", "large_string", "string_view"}
_OF_POLARS = {"String", "Categorical", "Enum"}


def coded_text(values: Any) -> EncodedIds | None:
    """Return a column of text by its distinct values, or None where it is to be read by row.

    Parameters
    ----------
    values : column
        Of pandas, polars or pyarrow, or any other.

    Returns
    -------
    EncodedIds or None
        None of what is no text of Arrow or of categories, and of what has a missing value.

    Examples
    --------
    >>> coded_text(pd.Series(["b", "a", "b"], dtype="category")).values
    array(['b', 'a', 'b'], dtype=object)
    >>> coded_text(["a", "b"]) is None
    True
    """
    if isinstance(values, pd.Series | pd.Index):
        values = values.array
    if isinstance(values, pd.Categorical):
        return _of_categories(values)
    if pyarrow_if_any() is None:
        return None
    if isinstance(values, pd.arrays.ArrowExtensionArray):
        values = values.__arrow_array__()
    values = of_polars(values)
    return _of_arrow(values) if hasattr(values, "dictionary_encode") else None


def of_polars(values: Any) -> Any:
    """Return text of polars as Arrow has it, and all else as it is.

    Not in several threads: older versions lend a column to one at a time.
    """
    kind = getattr(getattr(values, "dtype", None), "base_type", str)
    text = hasattr(values, "to_arrow") and str(kind()) in _OF_POLARS
    return values.to_arrow() if text and pyarrow_if_any() is not None else values


def _of_categories(values: pd.Categorical) -> EncodedIds | None:
    codes = np.asarray(values.codes)
    ids = values.categories.to_numpy(dtype=object, copy=True)  # which may be the caller's memory
    return None if not len(codes) or codes.min() < 0 else _occurring(ids, codes)


def _of_arrow(values: Any) -> EncodedIds | None:
    kind = values.type
    named = kind.value_type if (has_codes := hasattr(kind, "index_type")) else kind
    if str(named) not in _TEXT or values.null_count or not len(values):
        return None
    if not has_codes:
        return _of_text(values)
    chunks = getattr(values, "chunks", [values])
    if any(one.dictionary.null_count for one in chunks):
        return None
    chunks = values.unify_dictionaries().chunks if len(chunks) > 1 else chunks
    codes = np.concatenate([one.indices.to_numpy() for one in chunks])
    return _occurring(chunks[0].dictionary.to_numpy(zero_copy_only=False), codes)


def _of_text(values: Any) -> EncodedIds | None:
    """Return text of Arrow by its distinct values."""
    chunks = [one for one in getattr(values, "chunks", [values]) if len(one)]
    if str(values.type) == "string_view":  # views, which not every version can tell apart or sort
        try:
            chunks = [one.cast("large_string") for one in chunks]
        except pyarrow_if_any().ArrowNotImplementedError:
            return None
    encoded = pyarrow_if_any().chunked_array(chunks).dictionary_encode().chunks
    text, codes = encoded[0].dictionary, np.concatenate([one.indices.to_numpy() for one in encoded])
    ids = text.to_numpy(zero_copy_only=False)
    return EncodedIds(*reordered(ids, codes, _order(text)), is_sorted=True)


def _order(text: Any) -> Positions:
    """Return the order of distinct text: by its bytes, as Arrow has it, is as Python has it."""
    arrow = pyarrow_if_any()
    try:
        found: Positions = arrow.compute.array_sort_indices(arrow.array(text)).to_numpy()
    except (AttributeError, UnicodeEncodeError):  # no pyarrow, or half a character
        return ascending_order(text, "")
    return found


def _occurring(ids: Ids, codes: NDArray[Any]) -> EncodedIds | None:
    """Return those of some values that occur, each once; None if they are no text."""
    there = np.zeros(len(ids), dtype=bool)
    there[codes] = True
    text = ids[there].tolist()
    if set(map(type, text)) != {str}:
        return None
    found = EncodedIds(ids[there], np.arange(len(text), dtype=np.int32))
    if not all(map(lt, text, text[1:])):  # a dictionary of Arrow may have one twice
        found = EncodedIds.factorize(found.ids)
        found = EncodedIds(*reordered(found.ids, found.codes, _order(found.ids)))
    place = np.zeros(len(ids), dtype=np.int32)
    place[there] = found.codes
    return EncodedIds(found.ids, place[codes], is_sorted=True)


@cache
def pyarrow_if_any() -> Any:
    """Return pyarrow, which is an extra; None where it is not, or fails."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        import pyarrow.compute  # type: ignore[import-untyped] # noqa: PLC0415
    except Exception:  # noqa: BLE001 - built for another numpy, it is a ValueError
        return None
    return pa


_LONGEST = 10_000  # bits of a number that Python writes in digits


def format_id(one: Any) -> str:
    """Return an id as text: equal ones in one way, whatever their types.

    Examples
    --------
    >>> [format_id(one) for one in (7, 7.0, 7.5, b"b", (1, "a"), frozenset("ba"))]
    ['7', '7', '7.5', 'b', "(1, 'a')", "{'a', 'b'}"]
    """
    if isinstance(one, str):
        return one
    if isinstance(one, bytes):
        return one.decode("utf-8", "surrogateescape")
    if isinstance(one, Real | Decimal):
        return _as_number(one)
    return _nested(one) if isinstance(one, tuple | frozenset) else str(one)


def ascending_order(ids: Ids, column: str) -> Positions:
    """Return the order of distinct ids: numbers, text, and all others by type.

    Parameters
    ----------
    ids : array
        Distinct ones.
    column : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        Two of them are written alike.

    Examples
    --------
    >>> ascending_order(np.array(["b", (2, 1), 10, 9.5, "a", (2,)], dtype=object), "user")
    array([3, 2, 4, 0, 5, 1])
    """
    _refuse_alike(ids, column)
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    plain = ids.tolist()
    keys = plain if set(map(type, plain)) == {str} else [*map(_key, plain)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _refuse_alike(ids: Ids, column: str) -> None:
    """Refuse different ids that are written alike, such as 7 and "7".

    The first two are named.
    """
    if ids.dtype != object or set(map(type, ids)) <= {str}:
        return
    seen: dict[str, Any] = {}
    for one in ids.tolist():
        for text in {format_id(one), format_id(one) if isinstance(one, int) else str(one)}:
            other = seen.setdefault(text, one)
            if other is not one:
                kinds = " and ".join(type(each).__name__ for each in (other, one))
                msg = (
                    f"{column}: {quote(other)} and {quote(one)} are written alike, but are "
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
    return format_id(one) if isinstance(one, Real | Decimal) else repr(one)


def _key(one: Any) -> tuple[Any, ...]:
    """Return by what an id is sorted."""
    if isinstance(one, Real | Decimal):
        return 0, one
    if isinstance(one, str):
        return 1, one
    return (
        2,
        type(one).__name__,
        tuple(map(_key, one)) if isinstance(one, tuple) else format_id(one),
    )


_SIXTEEN_BITS = 1 << 16
#: Texts are one to pandas 2 if they are the same up to a zero character or a lone surrogate.
_CUTS_TEXTS = int(pd.__version__.partition(".")[0]) < 3


@dataclass(frozen=True)
class EncodedIds:
    """A column of ids as its distinct ones, and each row's place there.

    They stand in order of appearance; or all are text, in ascending order, if `is_sorted`.
    """

    ids: Ids
    codes: Codes
    is_sorted: bool = False

    @classmethod
    def factorize(cls, values: NDArray[Any]) -> EncodedIds:
        r"""Return an array by its distinct values; the place of what is missing is -1.

        Examples
        --------
        >>> EncodedIds.factorize(np.array(["a\0b", "a\0c", None], dtype=object)).codes
        array([ 0,  1, -1], dtype=int32)
        """
        if not (_CUTS_TEXTS and values.dtype == object and any(map(_is_cut, values))):
            codes, found = pd.factorize(values)
            return cls(np.asarray(found), codes.astype(np.int32))
        # beside another object pandas compares texts as a whole
        apart = np.concatenate([values, np.array([object()], dtype=object)])
        codes, found = pd.factorize(apart)
        return cls(np.asarray(found)[:-1], codes[:-1].astype(np.int32))

    @staticmethod
    def list_types(ids: Ids) -> set[str]:
        """Return 'text' and 'number' as they occur among ids, and the names of other types.

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
        """Refuse ids of two tables that can never meet, given the types and an id of each."""
        one, other = (f"{kind} (such as {each!r})" for kind, each in zip(types, ids, strict=True))
        msg = (
            f"{column}: {tables[0]} have ids of type {one}, {tables[1]} of type {other}. Make them "
            "the same type, or nothing will match."
        )
        raise InvalidInputError(msg)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    @property
    def values(self) -> Ids:
        """The id of every row."""
        return self.ids[self.codes]

    @property
    def text_ranks(self) -> Positions:
        """The place of each row's id among the distinct ones, compared as text.

        Examples
        --------
        >>> EncodedIds(np.array([9, 10]), np.array([0, 1, 1])).text_ranks
        array([1, 0, 0])
        """
        place = np.empty(len(self.ids), dtype=np.int64)
        text = [*map(format_id, self.ids.tolist())]
        place[sorted(range(len(text)), key=text.__getitem__)] = np.arange(len(text))
        return place[self.codes]

    def __getitem__(self, kept: Flags) -> Ids:
        """Return the ids of some rows."""
        return self.ids[self.codes[kept]]

    def tolist(self) -> list[Any]:
        """Return the same as a list."""
        return list(self.values.tolist())


def encode_ids(values: Ids | EncodedIds, column: str) -> tuple[Ids, Codes]:
    """Return the distinct ids in ascending order, and each row's place among them.

    Parameters
    ----------
    values : array, one id per row, or EncodedIds
        Numbers or text; any hashable objects in an object array.
    column : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        An id is missing (None or NaN) or cannot be hashed.

    Examples
    --------
    >>> encode_ids(np.array([30, 10, 30]), "user")
    (array([10, 30]), array([1, 0, 1], dtype=int32))
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + _SIXTEEN_BITS:
            return _encode_narrow(values, low, high)
    if isinstance(values, EncodedIds) and values.is_sorted:
        return values.ids, values.codes
    ids, codes = distinct_of(values, column)
    _refuse_missing(ids, codes, column)
    ids = as_numbers(ids)
    return reordered(ids, codes, ascending_order(ids, column))


def encode_together(
    first: Ids | EncodedIds, second: Ids | EncodedIds, column: str
) -> tuple[Ids, Codes]:
    """Return the distinct ids of two tables that lack none, and the places of the rows of both.

    Raises
    ------
    InvalidInputError
        Two ids are written alike.

    Examples
    --------
    >>> one = EncodedIds(np.array(["b", "a"], dtype=object), np.array([0, 1, 0], dtype=np.int32))
    >>> encode_together(one, np.array(["c"], dtype=object), "user")[1]
    array([1, 0, 1, 2], dtype=int32)
    """
    if not (isinstance(first, EncodedIds) or isinstance(second, EncodedIds)):
        return encode_ids(concat_ids([first, second]), column)
    (ours, one), (theirs, other) = distinct_of(first, column), distinct_of(second, column)
    ids, places = distinct_of(concat_ids([ours, theirs]), column)
    codes = np.concatenate([places[: len(ours)][one], places[len(ours) :][other]])
    return encode_ids(EncodedIds(ids, codes), column)


def reordered(ids: Ids, codes: NDArray[Any], order: NDArray[Any]) -> tuple[Ids, Codes]:
    """Return distinct ids in some order, and each row's place there, in memory of its own."""
    place = np.empty(len(ids), dtype=np.int32)
    place[order] = np.arange(len(ids), dtype=np.int32)
    return ids[order], place[codes]


def make_index(ids: Ids, name: str | None = None) -> pd.Index[Any]:
    """Return ids as an index of pandas, those with half a character, which Arrow lacks, too."""
    try:
        column = pd.Series(ids)
    except UnicodeEncodeError:
        column = pd.Series(ids, dtype=object)
    index: pd.Index[Any] = pd.Index(column, name=name)
    return index


def _encode_narrow(values: Ids, low: int, high: int) -> tuple[Ids, Codes]:
    """Encode whole numbers from a narrow range through a table, without hashing."""
    seen = np.zeros(high - low + 1, dtype=bool)
    if values.dtype.itemsize < np.dtype(np.int64).itemsize:
        values = values.astype(np.int64)  # the difference of two short numbers may not be short
    least = values.dtype.type(low)
    shifted = values - least if low else values
    seen[shifted] = True
    found = np.flatnonzero(seen)
    place = np.zeros(len(seen), dtype=np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    return found.astype(values.dtype) + least, place[shifted]


def _is_cut(value: object) -> bool:
    """Return whether pandas 2 compares a text by its beginning alone."""
    return isinstance(value, str) and ("\0" in value or not is_encodable(value))


def distinct_of(values: Ids | EncodedIds, column: str) -> tuple[Ids, Codes]:
    """Return the distinct ids, and each row's place among them, -1 if missing."""
    if isinstance(values, EncodedIds):
        return values.ids, values.codes
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    try:
        found = EncodedIds.factorize(values)
    except TypeError as error:
        msg = f"{column}: an id is not hashable ({error}); use numbers or text."
        raise InvalidInputError(msg) from None
    return found.ids, found.codes


def _refuse_missing(ids: Ids, codes: Codes, column: str) -> None:
    missing = np.append(np.asarray(pd.isna(ids)), True)  # the last one is for code -1
    if missing[:-1].any() or codes.min(initial=0) < 0:
        raise_for_rows(missing[codes], column, "a missing id", "fill it in or leave the row out")


def by_distinct(ids: Ids | EncodedIds, column: str) -> Ids | EncodedIds:
    """Return ids by their distinct values, whole numbers as they are; refuse missing ones."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return ids
    found = EncodedIds(*distinct_of(ids, column))
    _refuse_missing(found.ids, found.codes, column)
    return found


def as_numbers(ids: Ids) -> Ids:
    """Return Python numbers of one kind as an array of numbers, if that loses nothing.

    Where other ids stand beside, numbers are written in one way, whichever came first: 2.0 as 2.
    """
    if ids.dtype == object and any(isinstance(one, np.generic) for one in ids):
        ids = np.fromiter(map(_plain, ids), dtype=object, count=len(ids))
    kinds = set(map(type, ids)) if ids.dtype == object else set()
    if kinds != {float} and kinds & {float, bool, Decimal}:
        ids = np.fromiter(map(_whole, ids), dtype=object, count=len(ids))
        kinds = set(map(type, ids))
    if kinds == {int}:
        low, high = min(ids), max(ids)
        limits = [np.iinfo(np.int64), np.iinfo(np.uint64)]
        fits = (one.dtype for one in limits if one.min <= low and high <= one.max)
        ids = ids.astype(next(fits, object))
    elif kinds == {float}:
        ids = ids.astype(np.float64)
    return ids + 0.0 if ids.dtype.kind == "f" else ids  # -0.0 is 0.0


def _plain(one: Any) -> Any:
    if isinstance(one, np.datetime64 | np.timedelta64):  # item() would give nanoseconds as a number
        return pd.Series([one]).iloc[0]
    return one.item() if isinstance(one, np.generic) else one


def _whole(one: Any) -> Any:
    may_be = isinstance(one, bool) or (isinstance(one, float | Decimal) and math.isfinite(one))
    return int(one) if may_be and one == int(one) else one


def raise_for_rows(bad: Flags, column: str, fault: str, advice: str) -> None:
    """Raise an error that names the first rows where `bad` holds, counted from 0."""
    if bad.any():
        rows = np.flatnonzero(bad)
        first = ", ".join(map(str, rows[:3].tolist()))
        more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        msg = f"{column}: {fault} in row {first}{more} (counted from 0); {advice}."
        raise InvalidInputError(msg)


def count_common_ids(
    known: Ids | EncodedIds,
    found: Ids | EncodedIds,
    column: str,
    names: tuple[str, str],
    *,
    warns: bool = False,
) -> int:
    """Return how many distinct ids two columns share; refuse those that can never meet.

    Parameters
    ----------
    known, found : array or EncodedIds
        The ids of two tables.
    column : str
        Their name, for the message.
    names : pair of text
        What the tables are called.
    warns : bool
        Whether to warn if they share none.

    Raises
    ------
    InvalidInputError
        One table writes its ids as text and the other as numbers.
    """
    ours, theirs = (distinct_of(one, column)[0] for one in (known, found))
    if ours.dtype == theirs.dtype == np.int64:
        n_common = len(np.intersect1d(ours, theirs))
    else:
        kinds, other = EncodedIds.list_types(ours), EncodedIds.list_types(theirs)
        if len(ours) and len(theirs) and kinds.isdisjoint(other):
            types = ["/".join(sorted(each)) for each in (kinds, other)]
            EncodedIds.raise_type_mismatch(
                column, names, types, (ours.tolist()[0], theirs.tolist()[0])
            )
        mine, others = set(ours.tolist()), set(theirs.tolist())
        if len(kinds | other) > 1:
            _refuse_alike(np.fromiter(sorted(mine | others, key=str), dtype=object), column)
        n_common = len(mine & others)
    if warns and not n_common and len(ours) and len(theirs):
        msg = (
            f"No {column} of {names[1]} is among {names[0]}, so every score is 0. Were the ids "
            "numbered anew? Give both those of the same numbering."
        )
        warn(msg)
    return n_common
