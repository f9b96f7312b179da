"""Files of text, as DuckDB is told to read them: every field as text, and numbers of that."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, needing
from recsys_ndcg.files import Content, open_file, packed_as
from recsys_ndcg.input import TextFormat, is_plain_number
from recsys_ndcg.scale.database import FILE, file_literal, literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: How packed files of text end, that are read out of core.
SUFFIXES = (".gz", ".zst")
_LOOK = 1 << 16
_RATIO = 8  # to which packed text unpacks, or less
_ABSENT = "'', 'nan', 'na', 'none', 'null'"


@dataclass(frozen=True)
class TextFiles:
    """Files of text, all written alike.

    Parameters
    ----------
    relation : str
        What stands behind FROM: a table of text.
    columns : list of str
        What they are called.
    about_rows : int
        About how many rows there are.
    decimal : str
        What stands before decimals.
    first : mapping
        The fields of the first row, by the names of the columns.
    """

    relation: str
    columns: list[str]
    about_rows: int
    decimal: str
    first: Mapping[str, str]

    @classmethod
    def of(
        cls, paths: Sequence[Path], said: Mapping[str, str] | None, form: TextFormat | None
    ) -> TextFiles:
        """Look at the beginning of each file.

        Raises
        ------
        InvalidInputError
            A file is empty or no text in UTF-8, or its heading is not that of the first.
        """
        how = form or TextFormat()
        if (how.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
            msg = f"{paths[0]}: within a memory limit, text is read in UTF-8. Convert it."
            raise InvalidInputError(msg)
        first = how.text_of(_head(paths[0]))
        how = replace(how, separator=how.separator_in(first))
        fields = _fields(first, how)
        about = 0.0
        for path in paths:
            head = how.text_of(_head(path))
            found = _fields(head, how)
            if found != fields and (how.heading or len(found) != len(fields)):
                msg = (
                    f"{path}: its columns are {', '.join(found)}, those of {paths[0]} are "
                    f"{', '.join(fields)}. Write all files alike."
                )
                raise InvalidInputError(msg)
            about += _about_rows(path, head)
        names = [str(place + 1) for place in range(len(fields))]
        if how.heading:  # a column without a name goes by its place
            names = [one or place for one, place in zip(fields, names, strict=True)]
        elif not said:
            order = TextFormat.ORDER
            names = [*order[: len(names)], *names[len(order) :]]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            msg = f"{paths[0]}: the heading names the column {twice[0]!r} twice; keep one."
            raise InvalidInputError(msg)
        lines = [line for line in first.splitlines()[how.heading :] if line.strip()]
        row = dict(zip(names, how.first_fields(lines[0]) if lines else [], strict=False))
        return cls(_relation(paths, len(names), how), names, int(about) + 1, how.decimal, row)

    def sql(self, column: str) -> str:
        """Return what SQL calls a column: its place, for names may be alike to it."""
        return f"c{self.columns.index(column)}"

    def seems_whole(self, column: str) -> bool:
        """Tell a column of ids that begins with a whole number."""
        return is_plain_number(self.first.get(column, ""))

    def number(self, column: str) -> str:
        """Return the SQL that reads a number, NULL for what is none."""
        text = f"trim({column})"  # of every kind of space; a cast removes only those of ASCII
        text = f"translate({text}, ',.', '.,')" if self.decimal == "," else text
        # to DuckDB 1_000 is a number
        return f"CASE WHEN contains({text}, '_') THEN NULL ELSE try_cast({text} AS DOUBLE) END"

    def is_absent(self, column: str) -> str:
        """Return the SQL that tells a field in which nothing stands, or a word for that."""
        return f"(lower(trim({column})) IN ({_ABSENT}))"


def _fields(head: str, how: TextFormat) -> list[str]:
    return [one.strip() for one in how.first_fields(head)]


def _relation(paths: Sequence[Path], width: int, how: TextFormat) -> str:
    files = ", ".join(map(file_literal, paths))
    places = [f"c{place}" for place in range(width)]
    types = ", ".join(f"{place}: 'VARCHAR'" for place in places)
    options = (
        f"delim = {literal(str(how.separator))}, header = {str(how.heading).lower()}, "
        "quote = '\"', escape = '\"', auto_detect = false, strict_mode = true, "
        f"null_padding = false, filename = {literal(FILE)}, columns = {{{types}}}"
    )
    # a blank line is no row, an empty field is a text without letters
    fields = ", ".join(f"coalesce({place}, '') AS {place}" for place in places)
    blank = " AND ".join(f"coalesce({place}, '') = ''" for place in places)
    table = f"read_csv([{files}], {options})"
    return f"(SELECT {fields}, {FILE} FROM {table} WHERE NOT ({blank}))"


def _head(path: Path) -> Content:
    """Return whole lines from the beginning of a file."""
    with open_file(path) as file:
        begin = file.read(4)
        file.seek(0)
        kind = packed_as(begin) if path.suffix.lower() in SUFFIXES else ""
        data = _unpacked(file, kind, path).read(_LOOK)
    lines = data.rpartition(b"\n")[0] if len(data) == _LOOK else data
    return Content(str(path), path.suffix.lower(), lines or data)


def _unpacked(file: IO[bytes], kind: str, path: Path) -> Any:
    if kind == ".gz":
        return gzip.GzipFile(fileobj=file)
    if kind == ".zst":
        with needing("pyarrow", job="Unpacking .zst", extra="scale"):
            import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    if path.suffix.lower() in SUFFIXES:
        msg = f"{path}: cannot be unpacked (it is not what its name says)."
        raise InvalidInputError(msg)
    return file


def _about_rows(path: Path, head: str) -> float:
    """Return about how many rows a file has, rather too many."""
    line = len(head.encode()) / (head.count("\n") + 1)
    ratio = _RATIO if path.suffix.lower() in SUFFIXES else 1
    return ratio * path.stat().st_size / line
