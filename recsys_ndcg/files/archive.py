"""Archives: JSON files with a readable head, compressed columns and a digest.

::

    {
     "format": "recsys_ndcg report 5",
     "sha256": "9f0c…",
     "signatures": {…},
     "columns": {
      "user": ["ann", "bob"],
      "numerator": {"dtype": "<f8", "shape": [2, 3], "data": "eAFj…"}
     }
    }

The digest is the SHA-256 of all other bytes. ``data`` is an array of little-endian numbers, column
by column, compressed by zlib and encoded in base64; ids that are not numbers are plain JSON.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.errors import InvalidInputError, is_encodable, is_number, quote
from recsys_ndcg.files.contents import BYTES_ANYWAY, BYTES_PER_BYTE, Content, open_file, write_file
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.version import __version__

_SIGNED = re.compile(rb'\{\n "format": "recsys_ndcg [a-z]+ \d+",\n "sha256": "([0-9a-f]{64})"')
_FORMAT = re.compile(r"recsys_ndcg ([a-z]+) ([0-9]{1,18})")
_N_HEAD_BYTES = 200  # to recognise a file
_COMPRESSION_LEVEL = 1  # higher levels are slow and hardly smaller
_TYPES = (
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"
)  # fmt: skip
#: For files of another format: the version that saved it, and the advice.
_OLDER = "an older", "Evaluate the data again, and save that."
_NEWER = "a newer", "Read it with that version."
#: The exceptions that a damaged head may cause.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class Archive(NamedTuple):
    """The content of an archive.

    Parameters
    ----------
    head : dict of str
        The readable part; any value of JSON.
    columns : dict of str to array
        Numbers, flags or ids, of any shape.
    """

    head: dict[str, Any]
    columns: dict[str, NDArray[Any]]

    def write(self, path: str | Path, form: str) -> None:
        """Write the archive.

        Parameters
        ----------
        path : str or Path
            The file.
        form : str
            The kind and the number of its format: ``"report 5"``.

        Raises
        ------
        InvalidInputError
            An id is neither text nor a number, JSON cannot represent a value of the head, or the
            file cannot be written.
        """
        packed = map_in_threads(lambda column: _pack(*column), [*self.columns.items()])
        head = {"format": f"recsys_ndcg {form}", "sha256": "", **self.head}
        try:
            text = json.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
            lines = [
                f"{json.dumps(name)}: {json.dumps(column, allow_nan=False)}".encode()
                for name, column in zip(self.columns, packed, strict=True)
            ]
        except (TypeError, ValueError) as error:
            kind = form.split(maxsplit=1)[0]
            msg = f"{path}: a {kind} with such values cannot be saved ({error})."
            raise InvalidInputError(msg) from None
        start, mark, end = text.encode().partition(b'"sha256": "')
        if lines:
            end = b"".join([end, b',\n "columns": {\n  ', b",\n  ".join(lines), b"\n }"])
        # blanks make the file long enough for `Content.compute_size_limit`
        unpacked = sum(column.nbytes for column in self.columns.values())
        blanks = b" " * ((unpacked - BYTES_ANYWAY) // BYTES_PER_BYTE - len(end))
        parts = [end, blanks, b"\n}\n"]
        digest = sha256(start + mark)
        for part in parts:
            digest.update(part)
        write_file(path, b"".join([start, mark, digest.hexdigest().encode(), *parts]))

    @classmethod
    @contextmanager
    def open(cls, path: str | Path, form: str, advice: str | None = None) -> Iterator[Archive]:
        """Read an archive; errors in the ``with`` block also count as damage.

        Parameters
        ----------
        path : str or Path
            The file.
        form : str
            The expected kind and the number of its format.
        advice : str, optional
            The end of messages about unusable files; by default, to save a damaged file again.

        Raises
        ------
        InvalidInputError
            The file cannot be read, has another kind or format, or was damaged or changed.
        """
        with open_file(path) as file:
            content = file.read().replace(b"\r\n", b"\n")  # git may change line ends
        try:
            yield cls(*_read(content, form))
        except InvalidInputError as error:
            msg = f"{path}: {error} {advice or ''}".rstrip()
            raise InvalidInputError(msg) from None
        except (*_DAMAGE, zlib.error):
            kind = form.split(maxsplit=1)[0]
            msg = f"{path}: this {kind} was damaged, or changed after it was saved. "
            raise InvalidInputError(msg + (advice or f"Save the {kind} again.")) from None

    @staticmethod
    def is_saved(path: str | Path, kind: str = "report") -> bool:
        """Return whether a file is an archive of a kind, by its first bytes."""
        with suppress(OSError, ValueError):  # reading it raises
            if Path(path).is_file():  # bytes can be read from a pipe only once
                with Path(path).open("rb") as file:
                    return f'"format": "recsys_ndcg {kind} '.encode() in file.read(_N_HEAD_BYTES)
        return False


def _read(content: bytes, form: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the content of an archive; raise one of `_DAMAGE` if it is damaged."""
    kind, number = form.split()
    signed = _SIGNED.match(content)
    if signed:
        digest = sha256(content[: signed.start(1)])
        digest.update(memoryview(content)[signed.end(1) :])
        if digest.hexdigest() != signed[1].decode():
            raise ValueError(kind)
    try:
        stored = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]  # without Python's advice
        msg = f"not JSON, which a saved file has to be ({reason})."
        raise InvalidInputError(msg) from None
    text = stored.get("format") if isinstance(stored, dict) else None
    match = _FORMAT.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[1] != kind:
        msg = f"not a {kind} that recsys_ndcg saved."
        raise InvalidInputError(msg)
    file_format = int(match[2])
    if file_format != int(number):
        age, advice = _NEWER if file_format > int(number) else _OLDER
        msg = (
            f"a {kind} of format {file_format}, which {age} recsys_ndcg saved; version "
            f"{__version__} reads format {number}. {advice}"
        )
        raise InvalidInputError(msg)
    if not signed:
        raise ValueError(kind)
    packed = stored.pop("columns", {})
    sizes = [_count_bytes(column) for column in packed.values() if isinstance(column, dict)]
    if sum(sizes) > Content.compute_size_limit(len(content)):
        raise ValueError(kind)
    columns = dict(zip(packed, map_in_threads(_unpack, [*packed.values()]), strict=True))
    return {name: one for name, one in stored.items() if name not in {"format", "sha256"}}, columns


def _pack(name: str, values: NDArray[Any]) -> dict[str, Any] | list[Any]:
    """Return a column as a value of JSON."""
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    if values.dtype.str not in _TYPES:
        return check_ids(values.tolist(), f"{name} id")
    data = zlib.compress(values.tobytes(order="F"), _COMPRESSION_LEVEL)
    return {
        "dtype": values.dtype.str,
        "shape": [*values.shape],
        "data": base64.b64encode(data).decode("ascii"),
    }


def _unpack(packed: Any) -> NDArray[Any]:
    """Return the array of a column from `_pack`; raise one of `_DAMAGE` if it is damaged."""
    if isinstance(packed, list):
        if not {*map(type, packed)} <= {str, int, float, bool}:
            raise TypeError(type(packed))
        values = np.empty(len(packed), dtype=object)
        values[:] = packed
        return values
    size, decompressor = _count_bytes(packed), zlib.decompressobj()
    data = decompressor.decompress(base64.b64decode(packed["data"], validate=True), size + 1)
    if len(data) != size or not decompressor.eof or decompressor.unused_data:
        raise ValueError(size)
    kind = np.dtype(packed["dtype"])
    flat = np.frombuffer(data, np.uint8 if kind.kind == "b" else kind)
    table: NDArray[Any] = flat.reshape(packed["shape"], order="F")
    return np.ascontiguousarray(table.astype(kind.newbyteorder("="), copy=False))


def _count_bytes(packed: Mapping[str, Any]) -> int:
    """Return the decompressed size that a column declares."""
    if packed["dtype"] not in _TYPES or min(packed["shape"]) < 0:
        raise ValueError(packed["dtype"])
    return int(math.prod(packed["shape"]) * np.dtype(packed["dtype"]).itemsize)


def check_ids(ids: list[Any], kind: str) -> list[Any]:
    """Check that JSON can represent ids or labels of segments, and return them.

    Raises
    ------
    InvalidInputError
        An id is neither text nor a finite number.

    Examples
    --------
    >>> check_ids(["ann", 7], "user id")
    ['ann', 7]
    """
    if {*map(type, ids)} == {str} and is_encodable("".join(ids)):
        return ids
    for id_ in ids:
        if is_encodable(id_) if isinstance(id_, str) else isinstance(id_, int) or is_number(id_):
            continue
        hint = " without lone surrogates" if isinstance(id_, str) else ""
        msg = f"The {kind} {quote(id_)} cannot be saved; use text or numbers{hint}."
        raise InvalidInputError(msg)
    return ids


_PLAIN = (str, bool, int, float, type(None))


def to_json_value(value: Any) -> Any:
    """Return a value for JSON; None for NaN and infinity, which JSON does not have.

    A table becomes a dict per row, and other objects, such as intervals, become text.

    Examples
    --------
    >>> to_json_value({"means": [np.float64(0.5), np.nan]})
    {'means': [0.5, None]}
    >>> to_json_value(pd.DataFrame({"rank": pd.array([1, None], dtype="Int64")}))
    [{'rank': 1}, {'rank': None}]
    """
    if isinstance(value, pd.DataFrame):
        value = value.astype(object).to_dict("records")
    if isinstance(value, dict):
        return {str(name): to_json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_json_value(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, _PLAIN) else str(value)
