"""Columns of text as their distinct values and codes, without a Python string for every row.

Arrow finds distinct text several times faster than a dictionary of Python, and lets go of the
interpreter meanwhile; categories have their codes already. Whatever is not plain text in every row
is left to those who look at each value.
"""

from __future__ import annotations

from functools import cache
from operator import lt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import Coded, ascending_order, reordered
from recsys_ndcg.input.short_texts import lines_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Codes, Ids, Positions

    _Bytes = tuple[NDArray[np.uint8], NDArray[Any]]

_BLOCK = 1 << 15  # rows whose text fits the processor's cache
_MOST = np.iinfo(np.int32).max  # bytes of text in one array of Arrow
_TEXT = {"string", "large_string", "string_view"}
_BOUNDS = {"string": np.int32, "large_string": np.int64}
_OF_POLARS = {"String", "Categorical", "Enum"}


def coded_text(values: Any) -> Coded | None:
    """Return a column of text by its distinct values, or None where it is to be read by row.

    Parameters
    ----------
    values : column
        Of pandas, polars or pyarrow; an array, or a list.

    Returns
    -------
    Coded or None
        None of what is no text, has a missing value, or needs pyarrow where there is none.

    Examples
    --------
    >>> coded_text(pd.Series(["b", "a", "b"], dtype="category")).values
    array(['b', 'a', 'b'], dtype=object)
    >>> coded_text([1, 2]), coded_text(["a", None])
    (None, None)
    """
    if isinstance(values, pd.Series | pd.Index):
        values = values.array
    if isinstance(values, pd.Categorical):
        return _of_categories(values)
    if pyarrow_if_any() is None:
        return None
    if isinstance(values, pd.api.extensions.ExtensionArray):
        values = _of_pandas(values)
    values = of_polars(values)
    if type(values) is np.ndarray and values.dtype.kind == "U":
        return _of_wide_text(values)
    if type(values) in (list, np.ndarray):
        return _of_objects(values)
    return _of_arrow(values) if hasattr(values, "dictionary_encode") else None


def of_polars(values: Any) -> Any:
    """Return text of polars as Arrow has it, None in place of its other columns, all else as it is.

    Not in several threads: older versions lend a column to one at a time.
    """
    if not (hasattr(values, "to_arrow") and hasattr(getattr(values, "dtype", None), "base_type")):
        return values
    if pyarrow_if_any() is None or str(values.dtype.base_type()) not in _OF_POLARS:
        return None
    return values.to_arrow()


def _of_pandas(values: Any) -> Any:
    """Return the array of Arrow or of objects inside one of pandas, or None."""
    if isinstance(values, pd.arrays.ArrowExtensionArray):
        return values.__arrow_array__()
    return np.asarray(values) if isinstance(values, pd.arrays.NumpyExtensionArray) else None


def _of_categories(values: pd.Categorical) -> Coded | None:
    codes = np.asarray(values.codes)
    ids = values.categories.to_numpy(dtype=object, copy=True)  # which may be the caller's memory
    return None if not len(codes) or codes.min() < 0 else _occurring(ids, codes)


def _of_arrow(values: Any) -> Coded | None:
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


def _of_text(values: Any) -> Coded | None:
    """Return text of Arrow by its distinct values: through numbers, where it is short enough."""
    chunks = [one for one in getattr(values, "chunks", [values]) if len(one)]
    if str(values.type) not in _BOUNDS:  # views, which not every version can tell apart or sort
        try:
            chunks = [one.cast("large_string") for one in chunks]
        except pyarrow_if_any().ArrowNotImplementedError:
            return None
    parts = [*map(_bytes_of, chunks)]
    if words := _as_words(parts):
        distinct, codes = _encoded(words)
        numbers = distinct.to_numpy()
        text = _array_of(_written(numbers))
        order = _order_of_words(numbers)
    else:
        text, codes = _encoded(chunks)
        order = _order(text)
    return Coded(*reordered(text.to_numpy(zero_copy_only=False), codes, order), ascending=True)


def _bytes_of(chunk: Any) -> _Bytes:
    """Return the text of a chunk, and where each row of it starts, and the end."""
    _, bounds, data = chunk.buffers()
    places = np.frombuffer(bounds, dtype=_BOUNDS[str(chunk.type)])
    return np.frombuffer(data, np.uint8), places[chunk.offset : chunk.offset + len(chunk) + 1]


def _as_words(parts: list[_Bytes], beside: int = 0) -> list[NDArray[np.uint64]]:
    """Return text as numbers, if none is longer than eight bytes.

    Arrow finds distinct numbers in a third of the time.

    Parameters
    ----------
    parts : list
        Bytes, and where each row starts, and the end.
    beside : int
        How many bytes at the end of each row are not of the text.

    Returns
    -------
    list
        Empty where some text is longer, or has a zero byte, as what fills a number up.
    """
    words = []
    for data, bounds in parts:
        lengths, used = np.diff(bounds) - beside, data[bounds[0] : bounds[-1]]
        if lengths.max() > 8 or not used.all():
            return []
        room = np.append(used, np.zeros(8, dtype=np.uint8))
        words.append(words_of(room, bounds[:-1] - bounds[0], lengths))
    return words


def _written(words: NDArray[np.uint64]) -> _Bytes:
    """Return numbers as the text that they stand for."""
    table = words.astype("<u8").view(np.uint8).reshape(-1, 8)
    there = table != 0
    return table[there], np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int32)


def _order_of_words(words: NDArray[np.uint64]) -> Positions:
    """Return the order of such text: its first byte is the last of a number."""
    return np.argsort(words.byteswap())


def _order(text: Any) -> Positions:
    """Return the order of distinct text: by its bytes, as Arrow has it, is as Python has it."""
    arrow = pyarrow_if_any()
    try:
        found: Positions = arrow.compute.array_sort_indices(arrow.array(text)).to_numpy()
    except (AttributeError, UnicodeEncodeError):  # no pyarrow, or half a character
        return ascending_order(text)
    return found


def _encoded(chunks: Sequence[Any]) -> tuple[Any, Codes]:
    """Return the distinct values of arrays, in order of appearance, and each row's place there."""
    encoded = pyarrow_if_any().chunked_array(chunks).dictionary_encode().chunks
    return encoded[0].dictionary, np.concatenate([one.indices.to_numpy() for one in encoded])


def _occurring(ids: Ids, codes: NDArray[Any]) -> Coded | None:
    """Return those of some distinct values that occur; None if they are no text."""
    there = np.zeros(len(ids), dtype=bool)
    there[codes] = True
    ids = ids if there.all() else ids[there]
    if set(map(type, ids.tolist())) != {str}:
        return None
    place = np.zeros(len(there), dtype=np.int32)
    place[there] = np.arange(len(ids), dtype=np.int32)
    if not _is_ascending(ids):
        if len(set(ids.tolist())) < len(ids):  # a dictionary of Arrow may have one twice
            place[there], ids = pd.factorize(ids)
        ids, place = reordered(ids, place, _order(ids))
    return Coded(ids, place[codes], ascending=True)


def _is_ascending(text: Ids) -> bool:
    """Tell distinct text in ascending order."""
    plain = text.tolist()
    return all(map(lt, plain, plain[1:]))


def _of_objects(values: list[Any] | Ids) -> Coded | None:
    """Return objects of Python by their distinct ones, if all are text.

    They go to Arrow as lines: joining is the fastest way to the signs of many short strings.
    """
    if getattr(values, "ndim", 1) != 1 or not len(values) or type(values[0]) is not str:
        return None
    parts = []
    for start in range(0, len(values), _BLOCK):
        part = values[start : start + _BLOCK]
        found = _lines(part if isinstance(part, list) else part.tolist())
        if found is None:
            return None
        parts.append(found)
    words = _as_words(parts, 1)
    distinct, codes = _encoded(words or [*map(_array_of, parts)])
    first = _first_rows(codes)
    if isinstance(values, list):
        ids = np.fromiter(map(values.__getitem__, first.tolist()), dtype=object, count=len(first))
    else:
        ids = values[first]
    # text of a type of its own may be equal by a rule of its own
    if set(map(type, ids.tolist())) != {str}:
        return None
    order = _order_of_words(distinct.to_numpy()) if words else _order(ids)
    return Coded(*reordered(ids, codes, order), ascending=True)


def _lines(part: list[Any]) -> _Bytes | None:
    """Return text, each with the end of a line, and where each starts; None if that cannot be."""
    lines = lines_of(part)
    if lines is None or len(lines.data) > _MOST:
        return None
    return lines.data, np.append(lines.starts, lines.starts[-1] + lines.lengths[-1] + 1).astype(
        np.int32
    )


def _array_of(part: _Bytes) -> Any:
    arrow = pyarrow_if_any()
    data, bounds = part
    buffers = arrow.py_buffer(bounds), arrow.py_buffer(data)
    return arrow.StringArray.from_buffers(len(bounds) - 1, *buffers)


def _first_rows(codes: Codes) -> Positions:
    """Return where each code, numbered in order of appearance, occurs first."""
    so_far = np.maximum.accumulate(codes)
    return np.searchsorted(so_far, np.arange(so_far[-1] + 1, dtype=codes.dtype))


def _of_wide_text(values: NDArray[np.str_]) -> Coded | None:
    """Return text of NumPy, which has the same width in every row, by its distinct values."""
    if values.ndim != 1 or not values.size or not values.itemsize:
        return None
    arrow, values = pyarrow_if_any(), np.ascontiguousarray(values)
    buffers = [None, arrow.py_buffer(values.view(np.uint8))]
    kind = arrow.binary(values.itemsize)
    encoded = arrow.FixedSizeBinaryArray.from_buffers(kind, len(values), buffers)
    _, codes = _encoded([encoded])
    ids = values[_first_rows(codes)].astype(object)
    return Coded(*reordered(ids, codes, _order(ids)), ascending=True)


@cache
def pyarrow_if_any() -> Any:
    """Return pyarrow, which is an extra; None where it is not, or fails."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        import pyarrow.compute  # type: ignore[import-untyped] # noqa: PLC0415
    except Exception:  # noqa: BLE001 - built for another numpy, it is a ValueError
        return None
    return pa
