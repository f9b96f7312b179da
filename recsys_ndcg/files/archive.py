"""Archives: JSON files with a head for people, packed columns, and a digest of the whole.

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

The digest is the SHA-256 of all bytes but its own. ``data`` is an array of little-endian numbers,
column by column, compressed by zlib and written in base64; other ids stand as they are. The same
head and columns can be written as Parquet, for other programs.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.errors import InvalidInputError, is_encodable, is_number, quote, require_libraries
from recsys_ndcg.files import earlier
from recsys_ndcg.files.contents import BYTES_ANYWAY, BYTES_PER_BYTE, Content, open_file, write_file
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.version import __version__

_SIGNED = re.compile(rb'\{\n "format": "recsys_ndcg [a-z]+ \d+",\n "sha256": "([0-9a-f]{64})"')
_FORMAT = re.compile(r"recsys_ndcg ([a-z]+) ([0-9]{1,18})")
_BEGINNING = 200  # bytes, by which a file is known
_LEVEL = 1  # of compression: more takes longer than it saves
_TYPES = (
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"
)  # fmt: skip
_KEY = b"recsys_ndcg"
#: Which version saved a file of another format, and what to do.
_OLDER = "an older", "Evaluate the data again, and save that."
_NEWER = "a newer", "Install it: pip install -U recsys-ndcg."
#: What code raises that reads a head in which something is missing or of another kind.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class Archive(NamedTuple):
    """What an archive holds.

    Parameters
    ----------
    head : dict of str
        What people read; anything that JSON holds.
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
            What is saved, and the number of its format: ``"report 5"``.

        Raises
        ------
        InvalidInputError
            An id is neither text nor a number, the head has a value that JSON does not hold, or
            the file cannot be written.
        """
        packed = map_in_threads(lambda one: _pack(*one), [*self.columns.items()])
        named = {"format": f"recsys_ndcg {form}", "sha256": "", **self.head}
        try:
            text = json.dumps(named, indent=1, allow_nan=False).removesuffix("\n}")
            lines = [
                f"{json.dumps(name)}: {json.dumps(one, allow_nan=False)}"
                for name, one in zip(self.columns, packed, strict=True)
            ]
        except (TypeError, ValueError) as error:
            kind = form.split(maxsplit=1)[0]
            msg = f"{path}: a {kind} with such values cannot be saved ({error})."
            raise InvalidInputError(msg) from None
        if lines:
            text += ',\n "columns": {\n  ' + ",\n  ".join(lines) + "\n }"
        begin, mark, end = text.encode().partition(b'"sha256": "')
        # blanks make the file long enough for `Content.compute_size_limit`
        unpacked = sum(one.nbytes for one in self.columns.values())
        blanks = b" " * ((unpacked - BYTES_ANYWAY) // BYTES_PER_BYTE - len(end))
        begin, end = begin + mark, end + blanks + b"\n}\n"
        write_file(path, begin + sha256(begin + end).hexdigest().encode() + end)

    @classmethod
    @contextmanager
    def open(cls, path: str | Path, form: str, advice: str | None = None) -> Iterator[Archive]:
        """Read an archive; what fails while it is used is damage, too.

        Parameters
        ----------
        path : str or Path
            The file.
        form : str
            What it shall be, and the number of the format that is read.
        advice : str, optional
            What to do about a file that cannot be used; to save a damaged one again by default.

        Raises
        ------
        InvalidInputError
            The file cannot be read, is of another kind or format, or was damaged or changed.
        """
        with open_file(path) as file:
            content = file.read().replace(b"\r\n", b"\n")  # as git may write it
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
        with suppress(OSError, ValueError):  # told when it is read
            if Path(path).is_file():  # of a pipe, what is read is gone
                with Path(path).open("rb") as file:
                    return f'"format": "recsys_ndcg {kind} '.encode() in file.read(_BEGINNING)
        return False

    def to_parquet(
        self, form: str, names: Sequence[str], beside: Mapping[str, NDArray[Any]]
    ) -> bytes:
        """Return a Parquet file with a row per user, and the head in the metadata of its schema.

        Parameters
        ----------
        form : str
            As `write` takes it; every column has a row per user.
        names : sequence of str
            What the columns of a table are called: that of ``"rr"`` in ``numerator`` is
            ``"numerator.rr"``.
        beside : mapping of str to array
            What other programs look for, and is not read again.

        Raises
        ------
        InvalidInputError
            The users have ids of several types, or of one that Parquet does not have.
        MissingExtraError
            pyarrow is not installed.
        """
        pa = _pyarrow()
        stands_in: dict[str, Any] = {}
        flat: dict[str, Any] = {}
        for name, values in self.columns.items():
            if values.ndim == 1:
                stands_in[name] = name
                flat[name] = to_arrow_column(values) if values.dtype == object else values
            else:
                stands_in[name] = [f"{name}.{one}" for one in names]
                flat |= zip(stands_in[name], values.T, strict=True)
        stored = {"format": f"recsys_ndcg {form}", "columns": stands_in, **self.head}
        others = {name: one for name, one in beside.items() if name not in flat}
        table = pa.table(others | flat)
        table = table.replace_schema_metadata({_KEY: json.dumps(stored, allow_nan=False)})
        stream = io.BytesIO()
        pa.parquet.write_table(table, stream)
        return stream.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes, form: str) -> Archive:
        """Return the archive that `to_parquet` wrote.

        Raises
        ------
        InvalidInputError
            It is no such file.
        MissingExtraError
            pyarrow is not installed.
        """
        pa = _pyarrow()
        try:
            table = pa.parquet.read_table(io.BytesIO(content))
            found = {name: np.asarray(table[name].to_numpy()) for name in table.column_names}
            head = json.loads(table.schema.metadata[_KEY])
            kind, number = form.split()
            if head["format"] == f"recsys_ndcg {kind} {earlier.FORMATS[kind]}":
                return cls(*earlier.upgrade_parquet(head, found))
            if head.pop("format") != f"recsys_ndcg {kind} {number}":
                raise ValueError(kind)
            columns = {
                name: found[one]
                if isinstance(one, str)
                else np.column_stack([found[it] for it in one])
                for name, one in head.pop("columns").items()
            }
        except (*_DAMAGE, pa.ArrowException):
            msg = "no Parquet file that recsys_ndcg wrote of an evaluation, or a damaged one."
            raise InvalidInputError(msg) from None
        return cls(head, columns)


def _read(content: bytes, form: str) -> earlier.Saved:
    """Return what an archive holds; raise one of `_DAMAGE` if it is damaged."""
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
        why = str(error).partition(";")[0]  # Python's own advice is of no use here
        msg = f"not JSON that a saved file has ({why})."
        raise InvalidInputError(msg) from None
    text = stored.get("format") if isinstance(stored, dict) else None
    found = _FORMAT.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[1] != kind:
        msg = f"not a {kind} that recsys_ndcg saved."
        raise InvalidInputError(msg)
    theirs = int(found[2])
    if theirs == earlier.FORMATS.get(kind):
        return earlier.upgrade(stored, kind, len(content))
    if theirs != int(number):
        what, to_do = _NEWER if theirs > int(number) else _OLDER
        msg = (
            f"a {kind} of format {theirs}, which {what} recsys_ndcg saved; version {__version__} "
            f"reads format {number}. {to_do}"
        )
        raise InvalidInputError(msg)
    if not signed:
        raise ValueError(kind)
    packed = stored.pop("columns", {})
    sizes = [_n_bytes(one) for one in packed.values() if isinstance(one, dict)]
    if sum(sizes) > Content.compute_size_limit(len(content)):
        raise ValueError(kind)
    columns = dict(zip(packed, map_in_threads(_unpack, [*packed.values()]), strict=True))
    return {name: one for name, one in stored.items() if name not in {"format", "sha256"}}, columns


def _pack(name: str, values: NDArray[Any]) -> dict[str, Any] | list[Any]:
    """Return a column as JSON holds it."""
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    if values.dtype.str not in _TYPES:
        return check_ids(values.tolist(), f"{name} id")
    data = zlib.compress(values.tobytes(order="F"), _LEVEL)
    return {
        "dtype": values.dtype.str,
        "shape": [*values.shape],
        "data": base64.b64encode(data).decode("ascii"),
    }


def _unpack(packed: Any) -> NDArray[Any]:
    """Return the array that `_pack` packed; raise one of `_DAMAGE` if it is none."""
    if isinstance(packed, list):
        if not {*map(type, packed)} <= {str, int, float, bool}:
            raise TypeError(type(packed))
        values = np.empty(len(packed), dtype=object)
        values[:] = packed
        return values
    size, inflate = _n_bytes(packed), zlib.decompressobj()
    data = inflate.decompress(base64.b64decode(packed["data"], validate=True), size + 1)
    if len(data) != size or not inflate.eof or inflate.unused_data:
        raise ValueError(size)
    kind = np.dtype(packed["dtype"])
    flat = np.frombuffer(data, np.uint8 if kind.kind == "b" else kind)
    table: NDArray[Any] = flat.reshape(packed["shape"], order="F")
    return np.ascontiguousarray(table.astype(kind.newbyteorder("="), copy=False))


def _n_bytes(packed: Mapping[str, Any]) -> int:
    """Return how many bytes a column says that it unpacks to."""
    if packed["dtype"] not in _TYPES or min(packed["shape"]) < 0:
        raise ValueError(packed["dtype"])
    kind: np.dtype[Any] = np.dtype(packed["dtype"])
    return int(math.prod(packed["shape"])) * kind.itemsize


def _pyarrow() -> Any:
    with require_libraries("pyarrow", job="Parquet", extra="scale"):
        import pyarrow.parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    return pyarrow


def to_arrow_column(ids: NDArray[Any]) -> Any:
    """Return ids of users as a column of Arrow.

    Raises
    ------
    InvalidInputError
        They are of several types, or of one that Parquet does not have.
    MissingExtraError
        pyarrow is not installed.
    """
    pa = _pyarrow()
    with suppress(pa.ArrowException, OverflowError, UnicodeError):
        column = pa.array(ids.tolist() if ids.dtype == object else ids)
        if not pa.types.is_nested(column.type):
            return column
    msg = "Parquet has no column for these ids of users: let all be text, or all numbers."
    raise InvalidInputError(msg)


def check_ids(ids: list[Any], kind: str) -> list[Any]:
    """Return ids, or labels of segments, if JSON gives back what it is given.

    Raises
    ------
    InvalidInputError
        One is neither text nor a finite number.

    Examples
    --------
    >>> check_ids(["ann", 7], "user id")
    ['ann', 7]
    """
    if {*map(type, ids)} == {str} and is_encodable("".join(ids)):
        return ids
    for one in ids:
        if is_encodable(one) if isinstance(one, str) else isinstance(one, int) or is_number(one):
            continue
        half = " without lone surrogates" if isinstance(one, str) else ""
        msg = f"The {kind} {quote(one)} cannot be saved; use text or numbers{half}."
        raise InvalidInputError(msg)
    return ids


def to_json_value(value: Any) -> Any:
    """Return a value as JSON holds it; None for NaN and infinity, which JSON does not have.

    Examples
    --------
    >>> to_json_value({"means": [np.float64(0.5), np.nan]})
    {'means': [0.5, None]}
    """
    if isinstance(value, dict):
        return {str(name): to_json_value(one) for name, one in value.items()}
    if isinstance(value, list):
        return [to_json_value(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
