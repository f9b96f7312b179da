"""Columns of text as their distinct values and codes, without a Python string for every row.

Arrow finds distinct text several times faster than a dictionary of Python, and lets go of the
interpreter meanwhile; categories have their codes already. Python strings, and whatever is not
plain text in every row, are left to those who look at each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import lt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Ids, Positions
from recsys_ndcg.input.ids import Coded, ascending_order, reordered

_TEXT = {"string", "large_string", "string_view"}
_OF_POLARS = {"String", "Categorical", "Enum"}


def coded_text(values: Any) -> Coded | None:
    """Return a column of text by its distinct values, or None where it is to be read by row.

    Parameters
    ----------
    values : column
        Of pandas, polars or pyarrow, or any other.

    Returns
    -------
    Coded or None
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
    """Return text of Arrow by its distinct values."""
    chunks = [one for one in getattr(values, "chunks", [values]) if len(one)]
    if str(values.type) == "string_view":  # views, which not every version can tell apart or sort
        try:
            chunks = [one.cast("large_string") for one in chunks]
        except pyarrow_if_any().ArrowNotImplementedError:
            return None
    text, codes = _encoded(chunks)
    ids = text.to_numpy(zero_copy_only=False)
    return Coded(*reordered(ids, codes, _order(text)), ascending=True)


def _order(text: Any) -> Positions:
    """Return the order of distinct text: by its bytes, as Arrow has it, is as Python has it."""
    arrow = pyarrow_if_any()
    try:
        found: Positions = arrow.compute.array_sort_indices(arrow.array(text)).to_numpy()
    except (AttributeError, UnicodeEncodeError):  # no pyarrow, or half a character
        return ascending_order(text, "")
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


@cache
def pyarrow_if_any() -> Any:
    """Return pyarrow, which is an extra; None where it is not, or fails."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        import pyarrow.compute  # type: ignore[import-untyped] # noqa: PLC0415
    except Exception:  # noqa: BLE001 - built for another numpy, it is a ValueError
        return None
    return pa
