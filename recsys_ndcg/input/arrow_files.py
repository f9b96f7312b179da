"""Parquet and Feather files, whose columns pyarrow reads when they are needed.

A file is checked before its contents are trusted: its sizes must be possible for its length.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, require_libraries
from recsys_ndcg.files import Content
from recsys_ndcg.input.cells import find_type_kind

Result = TypeVar("Result")
_MIN_ROW_LIMIT = 500_000
_MAX_ROWS_PER_BYTE = 16
_ARROW_FILE_MAGIC = b"ARROW1"  # a stream has none
_TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class ArrowColumns(Mapping[str, Any]):
    """The columns of a file by their names, each read on access.

    pandas' metadata is ignored: its index is one more column.

    Parameters
    ----------
    path : Path
        An existing file.
    format_name : str
        The name of the format.
    """

    def __init__(self, path: Path, format_name: str) -> None:
        self._path, self._format_name = path, format_name
        self._size = self._attempt(lambda: path.stat().st_size)
        self._types: dict[str, Any] = {}

    def find_cell_kind(self, name: str) -> str:
        """Return whether the cells of a column are a "list" of values or "text"; "" for others."""
        return find_type_kind(self._types[name])

    def __getitem__(self, name: str) -> Any:
        """Read a column as a chunked array of pyarrow."""
        kind = self._types[name]
        if self.find_cell_kind(name) != "list" and getattr(kind, "storage_type", kind).num_fields:
            self._raise(f"the column {name!r} holds {kind}; it must hold numbers, or ids as text.")
        column = self._attempt(lambda: self._read_column(name))
        self._attempt(lambda: column.validate(full=True))  # a damaged one may point anywhere
        return column

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._types)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._types)

    @abstractmethod
    def _read_column(self, name: str) -> Any:
        """Return a column as a chunked array of pyarrow."""

    def _set_types(self, read_schema: Callable[[], Any]) -> None:
        # the types are converted to text here, so that an error is reported as a damaged file
        fields = self._attempt(lambda: [(f.name, f.type, str(f.type)) for f in read_schema()])
        self._types = {name: kind for name, kind, _ in fields}
        if len(self._types) < len(fields):
            names = [name for name, *_ in fields]
            repeated = next(name for name in names if names.count(name) > 1)
            self._raise(f"has the column {repeated!r} twice; keep one.")

    def _check_size(self, count: int, unit: str) -> None:
        """Raise if a file of this length is unlikely to have so many rows or bytes."""
        row_limit = _MIN_ROW_LIMIT + _MAX_ROWS_PER_BYTE * self._size
        if count > (row_limit if unit == "rows" else Content.compute_size_limit(self._size)):
            self._raise(
                f"{count:,} {unit} in a file of {self._size:,} bytes. If that is right, pass the "
                f"table in place of its path: pandas.read_{self._format_name.lower()}(path)."
            )

    def _raise(self, problem: str) -> NoReturn:
        msg = f"{self._path}: {problem}"
        raise InvalidInputError(msg)

    def _attempt(self, action: Callable[[], Result]) -> Result:
        """Do something with the file, and report any error as a fault of the file."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - pyarrow raises any error for a damaged file
            reason = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, MemoryError):
                reason = "it is damaged, or needs more memory than there is"
            elif isinstance(error, OSError):
                reason = error.strerror or f"not {self._format_name}, or damaged"
            msg = f"{self._path}: cannot be read as {self._format_name} ({reason})."
            raise InvalidInputError(msg) from None


class ParquetColumns(ArrowColumns):
    """The columns of a Parquet file.

    Parameters
    ----------
    path : Path
        An existing file.

    Raises
    ------
    InvalidInputError
        The file is not Parquet, is damaged, or has more rows than its length allows.
    MissingExtraError
        pyarrow is not installed, or fails to import.
    """

    def __init__(self, path: Path) -> None:
        with require_libraries("pyarrow", job="Reading Parquet", extra="scale"):
            from pyarrow import OSFile, parquet  # type: ignore[import-untyped] # noqa: PLC0415
        super().__init__(path, "Parquet")
        name = os.fsencode(path)  # may not be UTF-8
        self._set_types(lambda: parquet.read_schema(OSFile(name)))
        text = [name for name, kind in self._types.items() if str(kind) in _TEXT_TYPES]
        # text is read as a dictionary, as a long one would be copied for every row
        self._file = self._attempt(lambda: parquet.ParquetFile(OSFile(name), read_dictionary=text))
        self._check_row_groups()

    def _read_column(self, name: str) -> Any:
        return self._file.read(columns=[name]).column(name)

    def _check_row_groups(self) -> None:
        metadata = self._file.metadata
        groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
        counts = [group.num_rows for group in groups]
        if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:
            self._raise("cannot be read as Parquet (it is damaged: its numbers of rows disagree).")
        self._check_size(metadata.num_rows, "rows")
        # of all columns, as pyarrow crashes if it is asked about one column of a damaged file
        self._check_size(sum(group.total_byte_size for group in groups), "bytes")


class FeatherColumns(ArrowColumns):
    """The columns of a Feather file, or of another Arrow file or stream.

    Parameters
    ----------
    path : Path
        An existing file.

    Raises
    ------
    InvalidInputError
        The file is not Feather, is damaged, or expands to more than its length allows.
    MissingExtraError
        pyarrow is not installed, or fails to import.
    """

    def __init__(self, path: Path) -> None:
        with require_libraries("pyarrow", job="Reading Feather", extra="scale"):
            import pyarrow as pa  # noqa: PLC0415 - an extra
            from pyarrow import ipc  # noqa: PLC0415
        super().__init__(path, "Feather")
        self._arrow, self._ipc = pa, ipc
        self._content = self._attempt(path.read_bytes)
        self._check_size(self._sum_frame_sizes(), "bytes")
        self._set_types(lambda: self._open([]).schema)
        places = [0] if self._types else []
        self._check_size(self._attempt(lambda: sum(map(len, self._read_batches(places)))), "rows")

    def _read_column(self, name: str) -> Any:
        place = [*self._types].index(name)
        chunks = [batch.column(name) for batch in self._read_batches([place])]
        return self._arrow.chunked_array(chunks, self._types[name])

    def _read_batches(self, places: list[int]) -> list[Any]:
        reader = self._open(places)
        if hasattr(reader, "get_batch"):
            return [reader.get_batch(place) for place in range(reader.num_record_batches)]
        return list(reader)

    def _open(self, places: list[int]) -> Any:
        options = self._ipc.IpcReadOptions(included_fields=places)
        is_file = self._content.startswith(_ARROW_FILE_MAGIC)
        open_content = self._ipc.open_file if is_file else self._ipc.open_stream
        return open_content(self._arrow.py_buffer(self._content), options=options)

    def _sum_frame_sizes(self) -> int:
        """Return the uncompressed size of all zstd frames, which is written before each.

        lz4 cannot compress beyond the limit.
        """
        content = np.frombuffer(self._content, dtype=np.uint8)
        # the rarest byte first: bytes have no fast search for several
        places = np.flatnonzero(content[1:-2] == _ZSTD_MAGIC[1])
        for offset in (0, 2, 3):
            places = places[content[places + offset] == _ZSTD_MAGIC[offset]]
        sizes = (self._content[max(place - 8, 0) : place] for place in places.tolist())
        return sum(int.from_bytes(size, "little") for size in sizes)
