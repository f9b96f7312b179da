"""Columns of a report as text: few different numbers take little room, and all come back exact."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVEL = 1  # of compression: more takes longer than it saves
_SAMPLE = 1 << 15  # bytes, from which follows how a column is compressed
_FEW = 4  # a column with this many rows per different number is kept by numbers and codes
_TYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f8")

Packed = dict[str, Any]


def pack(column: NDArray[Any]) -> Packed:
    """Return a column of numbers or flags as values that JSON holds.

    Examples
    --------
    >>> packed = pack(np.array([0.5, np.nan, 0.5, 0.5, 0.5, np.nan, np.nan, 0.5]))
    >>> unpack(packed, 8)
    array([0.5, nan, 0.5, 0.5, 0.5, nan, nan, 0.5])
    """
    column = column.astype(column.dtype.newbyteorder("<"), copy=False)
    if column.dtype.kind == "f":
        bits = np.ascontiguousarray(column, dtype="<f8").view("<u8")
        codes, values = pd.factorize(bits)
        if len(values) * _FEW >= len(column):
            return _stored(bits.view("<f8"), compress=False)
        return {"values": _stored(values.view("<f8")), "codes": pack(codes)}
    if column.dtype.kind == "b":
        return _stored(column)
    steps = np.diff(column, prepend=column[:1])
    small, smaller = _narrow(column), _narrow(steps)
    if smaller.dtype.itemsize < small.dtype.itemsize:
        return {"steps": _stored(smaller), "from": int(column[0]), "of": column.dtype.str}
    return _stored(small, kind=column.dtype.str)


def unpack(packed: Packed, size: int) -> NDArray[Any]:
    """Return a column that `pack` packed.

    Raises
    ------
    ValueError, KeyError, TypeError
        It is damaged, or has another length.
    """
    if "codes" in packed:
        return _by_code(packed["codes"], packed["values"], size)
    if "steps" in packed:
        return _by_step(packed["steps"], packed["from"], _type(packed["of"]), size)
    return _restored(packed, size)


def _by_code(codes: Packed, values: Packed, size: int) -> NDArray[Any]:
    if "codes" in codes:
        raise ValueError(size)
    place, n_values = unpack(codes, size), values["size"]
    if not isinstance(n_values, int) or not 0 <= n_values <= size or place.dtype.kind != "i":
        raise ValueError(n_values)
    if size and not (place.min() >= 0 and place.max() < n_values):
        raise ValueError(size)
    column: NDArray[Any] = _restored(values, n_values)[place]
    return column


def _by_step(steps: Packed, start: Any, kind: np.dtype[Any], size: int) -> NDArray[Any]:
    apart = _restored(steps, size)
    if apart.dtype.kind not in "iu" or kind.kind not in "iu" or not isinstance(start, int):
        raise ValueError(size)
    if not np.iinfo(kind).min <= start <= np.iinfo(kind).max:
        raise ValueError(start)
    column: NDArray[Any] = np.cumsum(apart, dtype=kind) + kind.type(start)
    return column


def _restored(packed: Packed, size: int) -> NDArray[Any]:
    kind = _type(packed["type"])
    if packed["size"] != size:
        raise ValueError(size)
    data = base64.b64decode(packed["data"], validate=True)
    if packed["packed"]:
        wanted = size * kind.itemsize
        inflate = zlib.decompressobj()
        try:
            data = inflate.decompress(data, wanted + 1)
        except zlib.error as error:
            raise ValueError(size) from error
        if not inflate.eof or inflate.unused_data:  # the sum of all bytes was never compared
            raise ValueError(size)
    if len(data) != size * kind.itemsize:
        raise ValueError(size)
    column, wide = np.frombuffer(data, dtype=kind), _type(packed.get("as", packed["type"]))
    if kind.kind == "b" and (column.view(np.uint8) > 1).any():
        raise ValueError(size)
    if kind != wide and (kind.kind not in "iu" or wide.kind not in "iu"):
        raise ValueError(size)
    return column.astype(wide)


def _stored(column: NDArray[Any], *, kind: str = "", compress: bool = True) -> Packed:
    data = column.tobytes()
    how = _smallest(data) if compress else None
    if how is not None:
        data = _compressed(data, how)
    stored: Packed = {
        "type": column.dtype.str,
        "size": len(column),
        "packed": how is not None,
        "data": base64.b64encode(data).decode("ascii"),
    }
    if kind and kind != column.dtype.str:
        stored["as"] = kind
    return stored


def _smallest(data: bytes) -> int | None:
    """Return by which strategy bytes become the fewest, as far as some of them tell; None for none.

    To look for what stood there before takes longest, and finds nothing in the scores of users
    who come in no order; runs of one byte are found at once.
    """
    if len(data) <= _SAMPLE:
        return zlib.Z_DEFAULT_STRATEGY
    middle = (len(data) - _SAMPLE) // 2
    some = data[middle : middle + _SAMPLE]
    sizes = {how: len(_compressed(some, how)) for how in (zlib.Z_RLE, zlib.Z_DEFAULT_STRATEGY)}
    how = min(sizes, key=sizes.__getitem__)
    return how if sizes[how] < len(some) else None


def _compressed(data: bytes, how: int) -> bytes:
    stream = zlib.compressobj(_LEVEL, strategy=how)
    return stream.compress(data) + stream.flush()


def _narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in the fewest bytes that hold them."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    kind = np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high))
    return column.astype(kind.newbyteorder("<")) if kind.kind in "iu" else column


def _type(text: Any) -> np.dtype[Any]:
    if text not in _TYPES:
        raise ValueError(text)
    kind: np.dtype[Any] = np.dtype(text)
    return kind
