"""Files of text, as DuckDB is told to read them: every field as text, and numbers of that."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, needing, reading
from recsys_ndcg.input.contents import Content, packed_as
from recsys_ndcg.input.files import ORDER
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.input.text.tables import first_fields, is_plain_number, separator_of
from recsys_ndcg.scale.out_of_core.database import FILE, literal, quoted

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
    schema : pyarrow.Schema
        Of it.
    about_rows : int
        About how many rows there are.
    decimal : str
        What stands before decimals.
    first : mapping
        The fields of the first row, by the names of the columns.
    """

    relation: str
    schema: Any
    about_rows: int
    decimal: str
    first: Mapping[str, str]

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        columns: Mapping[str, str] | None,
        form: TextFormat | None,
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
        heads = {path: how.text_of(_head(path)) for path in paths}
        first = heads[paths[0]]
        fields = [one.strip() for one in first_fields(first, how)]
        for path, head in heads.items():
            found = [one.strip() for one in first_fields(head, how)]
            if found != fields and (how.heading or len(found) != len(fields)):
                msg = (
                    f"{path}: its columns are {', '.join(found)}, those of {paths[0]} are "
                    f"{', '.join(fields)}. Write all files alike."
                )
                raise InvalidInputError(msg)
        names = fields if how.heading else [str(place + 1) for place in range(len(fields))]
        if not (how.heading or columns):
            names = [*ORDER[: len(names)], *names[len(ORDER) :]]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            msg = f"{paths[0]}: the heading names the column {twice[0]!r} twice; keep one."
            raise InvalidInputError(msg)
        relation = _relation(paths, names, how.separator or separator_of(first, how), how)
        row = _first_row(first, how)
        seen = dict(zip(names, row, strict=False))
        return cls(relation, _schema(names), _about_rows(heads), how.decimal, seen)

    def seems_whole(self, column: str) -> bool:
        """Tell a column of ids that begins with a whole number."""
        return is_plain_number(self.first.get(column, ""))

    def number(self, column: str) -> str:
        """Return the SQL that reads a number, NULL for what is none."""
        text = f"translate({column}, ',.', '.,')" if self.decimal == "," else column
        # to DuckDB 1_000 is a number
        return f"CASE WHEN contains({text}, '_') THEN NULL ELSE try_cast({text} AS DOUBLE) END"

    def is_absent(self, column: str) -> str:
        """Return the SQL that tells a field in which nothing stands, or a word for that."""
        return f"(lower(trim({column})) IN ({_ABSENT}))"


def _relation(paths: Sequence[Path], names: Sequence[str], separator: str, how: TextFormat) -> str:
    files = ", ".join(literal(str(path)) for path in paths)
    types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    options = (
        f"delim = {literal(separator)}, header = {str(how.heading).lower()}, quote = '\"', "
        "escape = '\"', auto_detect = false, strict_mode = true, null_padding = false, "
        f"filename = {literal(FILE)}, columns = {{{types}}}"
    )
    # a blank line is no row, an empty field is a text without letters
    fields = ", ".join(f"coalesce({quoted(name)}, '') AS {quoted(name)}" for name in names)
    blank = " AND ".join(f"coalesce({quoted(name)}, '') = ''" for name in names)
    table = f"read_csv([{files}], {options})"
    return f"(SELECT {fields}, {FILE} FROM {table} WHERE NOT ({blank}))"


def _first_row(head: str, how: TextFormat) -> list[str]:
    """Return the fields of the first row that is not blank."""
    lines = [line for line in head.splitlines()[how.heading :] if line.strip()]
    separator = how.separator or separator_of(head, how)
    return first_fields(lines[0], replace(how, separator=separator)) if lines else []


def _schema(names: Sequence[str]) -> Any:
    with needing("pyarrow", job="Data larger than memory", extra="scale"):
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    return pa.schema([(name, pa.string()) for name in names])


def _head(path: Path) -> Content:
    """Return whole lines from the beginning of a file."""
    with reading(path), path.open("rb") as file:
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
            import pyarrow as pa  # noqa: PLC0415 - an extra
        return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    if path.suffix.lower() in SUFFIXES:
        msg = f"{path}: cannot be unpacked (it is not what its name says)."
        raise InvalidInputError(msg)
    return file


def _about_rows(heads: Mapping[Path, str]) -> int:
    """Return about how many rows there are, rather too many."""
    total = 0.0
    for path, head in heads.items():
        line = len(head.encode()) / (head.count("\n") + 1)
        ratio = _RATIO if path.suffix.lower() in SUFFIXES else 1
        total += ratio * path.stat().st_size / line
    return int(total) + 1
