"""Parquet files, column by column: no more is read, or believed, than what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, needing

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.arrays import Ids

# Few bytes can stand for as many rows as one likes. A table of this many, or whose rows take half
# a bit each, is read; beyond that somebody says himself that they are meant.
_ROWS_ANYWAY = 500_000
_ROWS_PER_BYTE = 16
_BYTES_ANYWAY = 1 << 26
_BYTES_PER_BYTE = 256

Result = TypeVar("Result")


class ParquetColumns(Mapping[str, Any]):
    """The columns of a file by their names, each an array that is read when it is asked for.

    What pandas wrote beside them is ignored: its index is one more column.

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
        with needing("pyarrow", job="Reading Parquet", extra="scale"):
            from pyarrow import parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        self._path = path
        self._size = self._read(lambda: path.stat().st_size)
        schema = self._read(lambda: parquet.read_schema(path))
        self._types = {field.name: field.type for field in schema}
        if len(self._types) < len(schema):
            name = next(name for name in schema.names if schema.names.count(name) > 1)
            self._refuse(f"has the column {name!r} twice; keep one.")
        text = [name for name, kind in self._types.items() if _is_text(kind)]
        # text is read as distinct values and codes, or a long one would be copied for every row
        self._file = self._read(lambda: parquet.ParquetFile(path, read_dictionary=text))
        self._check_size()

    def __getitem__(self, name: str) -> Ids:
        """Read a column."""
        kind = self._types[name]
        if _is_nested(kind):
            self._refuse(f"the column {name!r} holds {kind}; it must hold numbers, or ids as text.")
        return self._read(lambda: _array(self._file.read(columns=[name]).column(name)))

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._types)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._types)

    def _check_size(self) -> None:
        told = self._file.metadata
        groups = [told.row_group(place).num_rows for place in range(told.num_row_groups)]
        if min([told.num_rows, *groups]) < 0 or sum(groups) != told.num_rows:
            self._refuse("cannot be read as Parquet (it is damaged: its numbers of rows disagree).")
        if told.num_rows > _ROWS_ANYWAY + _ROWS_PER_BYTE * self._size:
            self._refuse_size(f"{told.num_rows:,} rows")
        # of all columns: asked about one alone, pyarrow ends the process where a file is damaged
        room = sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
        if room > _BYTES_ANYWAY + _BYTES_PER_BYTE * self._size:
            self._refuse_size(f"{room:,} bytes")

    def _refuse_size(self, what: str) -> None:
        self._refuse(
            f"{what} in a file of {self._size:,} bytes. If that is right, pass the table in place "
            "of its path: pandas.read_parquet(path)."
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
                reason = error.strerror or "not Parquet, or damaged"
            msg = f"{self._path}: cannot be read as Parquet ({reason})."
            raise InvalidInputError(msg) from None


def _is_text(kind: Any) -> bool:
    return str(kind) in {"string", "large_string", "binary", "large_binary"}


def _is_nested(kind: Any) -> bool:
    return bool(getattr(kind, "storage_type", kind).num_fields)


def _array(column: Any) -> Ids:
    chunks = [_values(chunk) for chunk in column.chunks]
    return np.concatenate(chunks) if chunks else np.zeros(0, dtype=object)


def _values(chunk: Any) -> Ids:
    if not hasattr(chunk, "dictionary"):
        series = chunk.to_pandas()
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        found: Ids = series.to_numpy()
        return found
    values = _values(chunk.dictionary)
    if _is_text(chunk.dictionary.type):
        values = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)[:-1]
    if chunk.null_count:
        values = np.array([*values.tolist(), None], dtype=object)  # the last is that of code -1
    of_each: Ids = values[chunk.indices.fill_null(-1).to_numpy()]
    return of_each
