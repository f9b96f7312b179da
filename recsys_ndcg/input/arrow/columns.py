"""Columns of a binary file that pyarrow reads, one by one as they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.arrow.text import coded_text
from recsys_ndcg.input.contents import most_bytes, most_rows

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.input.ids import Coded

Result = TypeVar("Result")


class ArrowColumns(Mapping[str, Any]):
    """The columns of a file by their names, each an array that is read when it is asked for.

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

    def __getitem__(self, name: str) -> Ids:
        """Read a column as an array."""
        return self.values_of(self.column(name))

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._types)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._types)

    def column(self, name: str) -> Any:
        """Read a column as a chunked array of pyarrow."""
        kind = self._types[name]
        if _is_nested(kind):
            self._refuse(f"the column {name!r} holds {kind}; it must hold numbers, or ids as text.")
        return self._read(lambda: self._column(name))

    def values_of(self, column: Any) -> Ids:
        """Return the value of each row of a column."""
        return self._read(lambda: _array(column))

    def coded(self, column: Any) -> Coded | None:
        """Return a column by its distinct values, if all of it is text."""
        return self._read(lambda: coded_text(column))

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

    def _check_rows(self, count: int) -> None:
        self._check(count, most_rows(self._size), "rows")

    def _check_room(self, count: int) -> None:
        self._check(count, most_bytes(self._size), "bytes")

    def _check(self, count: int, limit: int, what: str) -> None:
        # beyond that somebody says himself that they are meant
        if count > limit:
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


def is_text(kind: Any) -> bool:
    """Tell a type of pyarrow whose values are text."""
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
    if is_text(chunk.dictionary.type):
        values = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)[:-1]
    if chunk.null_count:
        values = np.array([*values.tolist(), None], dtype=object)  # the last is that of code -1
    of_each: Ids = values[chunk.indices.fill_null(-1).to_numpy()]
    return of_each
