"""Parquet and Feather: columns that pyarrow reads one by one, as they are asked for.

No more is read, or believed, than what is asked for and what a file of this size can hold.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, require_libraries
from recsys_ndcg.files import Content

Result = TypeVar("Result")
_ROWS_ANYWAY = 500_000
_ROWS_PER_BYTE = 16  # half a bit each
_FILE = b"ARROW1"  # how a Feather file begins that is no stream
_TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}
_PACKED = b"\x28\xb5\x2f\xfd"  # how what zstd packed begins


class ArrowColumns(Mapping[str, Any]):
    """The columns of a file by their names, each read when it is asked for.

    What pandas wrote beside them is ignored: its index is one more column.

    Parameters
    ----------
    path : Path
        Of a file that exists.
    form : str
        What it is called.
    """

    def __init__(self, path: Path, form: str) -> None:
        self._path, self._form = path, form
        self._size = self._read(lambda: path.stat().st_size)
        self._types: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Read a column as a chunked array of pyarrow."""
        kind = self._types[name]
        if getattr(kind, "storage_type", kind).num_fields:
            self._refuse(f"the column {name!r} holds {kind}; it must hold numbers, or ids as text.")
        column = self._read(lambda: self._column(name))
        self._read(lambda: column.validate(full=True))  # what is damaged may point anywhere
        return column

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._types)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._types)

    @abstractmethod
    def _column(self, name: str) -> Any:
        """Return a column as a chunked array of pyarrow."""

    def _take_types(self, schema: Any) -> None:
        # what is written of each is looked at here, where damage in it is the file's fault
        told = self._read(lambda: [(one.name, one.type, str(one.type)) for one in schema])
        self._types = {name: kind for name, kind, _ in told}
        if len(self._types) < len(told):
            names = [name for name, *_ in told]
            twice = next(name for name in names if names.count(name) > 1)
            self._refuse(f"has the column {twice!r} twice; keep one.")

    def _check_size(self, count: int, what: str) -> None:
        # beyond that somebody says himself that they are meant
        rows = _ROWS_ANYWAY + _ROWS_PER_BYTE * self._size
        if count > (rows if what == "rows" else Content.compute_size_limit(self._size)):
            self._refuse(
                f"{count:,} {what} in a file of {self._size:,} bytes. If that is right, pass the "
                f"table in place of its path: pandas.read_{self._form.lower()}(path)."
            )

    def _refuse(self, what: str) -> None:
        msg = f"{self._path}: {what}"
        raise InvalidInputError(msg)

    def _read(self, work: Callable[[], Result]) -> Result:
        """Do something to the file: whatever fails is its fault."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - a damaged file makes pyarrow fail in any way
            reason = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, MemoryError):
                reason = "it is damaged, or needs more memory than there is"
            elif isinstance(error, OSError):
                reason = error.strerror or f"not {self._form}, or damaged"
            msg = f"{self._path}: cannot be read as {self._form} ({reason})."
            raise InvalidInputError(msg) from None


class ParquetColumns(ArrowColumns):
    """The columns of a Parquet file.

    Parameters
    ----------
    path : Path
        Of a file that exists.

    Raises
    ------
    InvalidInputError
        The file is no Parquet, is damaged, or stands for far more rows than it has room for.
    MissingExtraError
        pyarrow is not installed, or fails.
    """

    def __init__(self, path: Path) -> None:
        with require_libraries("pyarrow", job="Reading Parquet", extra="scale"):
            from pyarrow import OSFile, parquet  # type: ignore[import-untyped] # noqa: PLC0415
        super().__init__(path, "Parquet")
        name = os.fsencode(path)  # which need not be text in UTF-8
        self._take_types(self._read(lambda: parquet.read_schema(OSFile(name))))
        text = [name for name, kind in self._types.items() if str(kind) in _TEXT_TYPES]
        # text is read as distinct values and codes, or a long one would be copied for every row
        self._file = self._read(lambda: parquet.ParquetFile(OSFile(name), read_dictionary=text))
        self._check_groups()

    def _column(self, name: str) -> Any:
        return self._file.read(columns=[name]).column(name)

    def _check_groups(self) -> None:
        told = self._file.metadata
        groups = [told.row_group(place).num_rows for place in range(told.num_row_groups)]
        if min([told.num_rows, *groups]) < 0 or sum(groups) != told.num_rows:
            self._refuse("cannot be read as Parquet (it is damaged: its numbers of rows disagree).")
        self._check_size(told.num_rows, "rows")
        # of all columns: asked about one alone, pyarrow ends the process where a file is damaged
        room = sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
        self._check_size(room, "bytes")


class FeatherColumns(ArrowColumns):
    """The columns of a Feather file, or of another in the format of Arrow, file or stream.

    Parameters
    ----------
    path : Path
        Of a file that exists.

    Raises
    ------
    InvalidInputError
        The file is none, is damaged, or stands for far more than it has room for.
    MissingExtraError
        pyarrow is not installed, or fails.
    """

    def __init__(self, path: Path) -> None:
        with require_libraries("pyarrow", job="Reading Feather", extra="scale"):
            import pyarrow as pa  # noqa: PLC0415 - an extra
            from pyarrow import ipc  # noqa: PLC0415
        super().__init__(path, "Feather")
        self._arrow, self._ipc = pa, ipc
        self._content = self._read(path.read_bytes)
        self._check_size(self._told_room(), "bytes")
        self._take_types(self._read(lambda: self._opened([]).schema))
        places = [0] if self._types else []
        self._check_size(sum(self._read(lambda: [*map(len, self._batches(places))])), "rows")

    def _column(self, name: str) -> Any:
        chunks = [batch.column(name) for batch in self._batches([[*self._types].index(name)])]
        return self._arrow.chunked_array(chunks, self._types[name])

    def _batches(self, places: list[int]) -> list[Any]:
        opened = self._opened(places)
        if hasattr(opened, "get_batch"):
            return [opened.get_batch(place) for place in range(opened.num_record_batches)]
        return list(opened)

    def _opened(self, places: list[int]) -> Any:
        options = self._ipc.IpcReadOptions(included_fields=places)
        opened = self._ipc.open_file if self._content[:6] == _FILE else self._ipc.open_stream
        return opened(self._arrow.py_buffer(self._content), options=options)

    def _told_room(self) -> int:
        """Return to how much it unpacks, which stands before what zstd packed.

        lz4 packs no tighter than a file may be.
        """
        content = np.frombuffer(self._content, dtype=np.uint8)
        # looked for by its rarest sign first: bytes have no fast search of several
        rare = np.flatnonzero(content[1:-2] == _PACKED[1])
        for place in (0, 2, 3):
            rare = rare[content[rare + place] == _PACKED[place]]
        starts = rare.tolist()
        return sum(int.from_bytes(self._content[max(at - 8, 0) : at], "little") for at in starts)
