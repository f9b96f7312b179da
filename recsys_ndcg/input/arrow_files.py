"""Parquet files, whose columns pyarrow reads when they are needed.

A file is checked before its contents are trusted: its sizes must be possible for its length.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from recsys_ndcg.errors import InvalidInputError, require_libraries
from recsys_ndcg.files import Content
from recsys_ndcg.input.cells import find_type_kind

Result = TypeVar("Result")
_MIN_ROW_LIMIT = 500_000
_MAX_ROWS_PER_BYTE = 16
_TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}


class ParquetColumns(Mapping[str, Any]):
    """The columns of a Parquet file by their names, each read on access.

    pandas' metadata is ignored: its index is one more column.

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
        self._path = path
        self._size = self._attempt(lambda: path.stat().st_size)
        name = os.fsencode(path)  # may not be UTF-8
        # the types are converted to text here, so that an error is reported as a damaged file
        fields = self._attempt(
            lambda: [(f.name, f.type, str(f.type)) for f in parquet.read_schema(OSFile(name))]
        )
        self._types = {name: kind for name, kind, _ in fields}
        if len(self._types) < len(fields):
            names = [name for name, *_ in fields]
            repeated = next(name for name in names if names.count(name) > 1)
            self._raise(f"has the column {repeated!r} twice; keep one.")
        text = [name for name, kind in self._types.items() if str(kind) in _TEXT_TYPES]
        # text is read as a dictionary, as a long one would be copied for every row
        self._file = self._attempt(lambda: parquet.ParquetFile(OSFile(name), read_dictionary=text))
        self._check_row_groups()

    def find_cell_kind(self, name: str) -> str:
        """Return whether the cells of a column are a "list" of values or "text"; "" for others."""
        return find_type_kind(self._types[name])

    def __getitem__(self, name: str) -> Any:
        """Read a column as a chunked array of pyarrow."""
        kind = self._types[name]
        if self.find_cell_kind(name) != "list" and getattr(kind, "storage_type", kind).num_fields:
            self._raise(f"the column {name!r} holds {kind}; it must hold numbers, or ids as text.")
        column = self._attempt(lambda: self._file.read(columns=[name]).column(name))
        self._attempt(lambda: column.validate(full=True))  # a damaged one may point anywhere
        return column

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._types)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._types)

    def _check_size(self, count: int, unit: str) -> None:
        """Raise if a file of this length is unlikely to have so many rows or bytes."""
        row_limit = _MIN_ROW_LIMIT + _MAX_ROWS_PER_BYTE * self._size
        if count > (row_limit if unit == "rows" else Content.compute_size_limit(self._size)):
            self._raise(
                f"{count:,} {unit} in a file of {self._size:,} bytes. If that is right, pass the "
                "table in place of its path: pandas.read_parquet(path)."
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
                reason = error.strerror or "not Parquet, or damaged"
            msg = f"{self._path}: cannot be read as Parquet ({reason})."
            raise InvalidInputError(msg) from None

    def _check_row_groups(self) -> None:
        metadata = self._file.metadata
        groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
        counts = [group.num_rows for group in groups]
        if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:
            self._raise("cannot be read as Parquet (it is damaged: its numbers of rows disagree).")
        self._check_size(metadata.num_rows, "rows")
        # of all columns, as pyarrow crashes if it is asked about one column of a damaged file
        self._check_size(sum(group.total_byte_size for group in groups), "bytes")
