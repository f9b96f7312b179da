"""Files that are mappings of columns: JSON lines, and Parquet, read by pyarrow when needed.

A Parquet file is checked before its contents are trusted: its sizes must be possible for its
length.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, quote, require_libraries
from recsys_ndcg.files import Content
from recsys_ndcg.input.cells import find_type_kind
from recsys_ndcg.input.text_format import MAX_COLUMNS, raise_at
from recsys_ndcg.input.text_tables import parse_integers

_JSON_EXAMPLE = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}'


def is_json(text: str) -> bool:
    """Return whether the first line of a text is a JSON object.

    Examples
    --------
    >>> is_json('{"user": 1}'), is_json("{user},item"), is_json("user,item")
    (True, False, False)
    """
    line = text[: 1 << 20].lstrip().partition("\n")[0]
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class JsonObjects(NamedTuple):
    """What a file of JSON holds, if it is one value: lists per user, or rows.

    Parameters
    ----------
    data : dict or list
        The value; keys that are all written as whole numbers are numbers, as ids in CSV.
    """

    data: Any


def read_json(name: str, text: str) -> JsonLines | JsonObjects:
    r"""Read JSON: an object per line, which is a row, or one value, which is a whole table.

    Examples
    --------
    >>> read_json("r.json", '{"7": ["a", "b"]}').data
    {7: ['a', 'b']}
    >>> read_json("r.jsonl", '{"user": 7, "item": "a"}\n{"user": 8, "item": "b"}')["user"]
    [7, 8]
    """
    start, _, rest = text.strip().partition("\n")
    try:
        whole = json.loads(text) if not rest or not is_json(start) else None
    except (ValueError, RecursionError):
        return JsonLines(name, text)
    if isinstance(whole, list):
        return JsonObjects(whole)
    if isinstance(whole, dict) and {"user", "item"} <= whole.keys():  # columns, as of pandas
        are_columns = all(isinstance(one, dict) for one in whole.values())
        return JsonObjects(pd.DataFrame(whole)) if are_columns else JsonObjects(whole)
    users = whole if isinstance(whole, dict) else JsonLines(name, text).merge_users()
    if users and all(isinstance(one, list | dict) for one in users.values()):
        return JsonObjects(_number_keys({user: _number_keys(one) for user, one in users.items()}))
    return JsonLines(name, text)


def _number_keys(data: Any) -> Any:
    """Return an object with numbers as keys, if all are written as plain whole numbers."""
    keys = parse_integers([*data]) if isinstance(data, dict) and data else None
    return data if keys is None else dict(zip(keys.tolist(), data.values(), strict=True))


class JsonLines(Mapping[str, Any]):
    """The columns of a file with one JSON object per line; a missing value is None.

    Parameters
    ----------
    name : str
        The file's name in messages.
    text : str
        The file's text.

    Raises
    ------
    InvalidInputError
        A line is not an object, or there are too many different names.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._rows: list[tuple[int, dict[str, Any]]] = []
        names: dict[str, None] = {}
        for number, line in enumerate(io.StringIO(text), start=1):
            if not line.strip():
                continue
            row = self._parse_line(number, line)
            names.update(dict.fromkeys(row))
            if len(names) > MAX_COLUMNS:
                raise_at(name, number, f"there are more than {MAX_COLUMNS} different names.")
            self._rows.append((number, row))
        self._names = list(names)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column."""
        if name not in self._names:
            raise KeyError(name)
        known = (row.get(name) for _, row in self._rows)
        is_list = isinstance(next((one for one in known if one is not None), None), list)
        for number, row in self._rows:
            value = row.get(name)
            if isinstance(value, dict) or (isinstance(value, list) and not is_list):
                raise_at(self._name, number, f"{name} is {quote(value)}; write a number, or text.")
        return [row.get(name) for _, row in self._rows]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def merge_users(self) -> dict[str, Any]:
        """Return all lines as one object if each has one name of its own, as {user: items} has."""
        pairs = [*chain.from_iterable(row.items() for _, row in self._rows)]
        return dict(pairs) if len(pairs) == len(self._rows) == len(self._names) > 1 else {}

    def _parse_line(self, number: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # also for a number of thousands of digits
            row = None
        if not isinstance(row, dict):
            fix = " Write each object of an array on its own line." if line[:1] == "[" else ""
            if line.strip() == "{":
                fix = " Write each object on one line. For a saved report use 'recsys-ndcg report'."
            problem = f"{quote(line.strip())} is not a JSON object, such as {_JSON_EXAMPLE}.{fix}"
            raise_at(self._name, number, problem)
        return row


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
