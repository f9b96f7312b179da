"""SQL for the input of DuckDB: files, and streams of Arrow batches."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recsys_ndcg.errors import InvalidInputError, is_encodable, quote
from recsys_ndcg.files import COMPRESSIONS, Content, find_files, is_files, open_file
from recsys_ndcg.input import FileKind, Table, TextFormat, complete_format
from recsys_ndcg.scale.database import FILE_COLUMN, Database, quote_name, quote_path, quote_text
from recsys_ndcg.scale.engines import IDS, check_distinct_columns, map_columns

# suffixes of compressed text that DuckDB reads
_SUFFIXES = (".gz", ".zst")
_HEAD_BYTES = 1 << 16
_ABSENT = "'', 'nan', 'na', 'none', 'null'"


def _csv_sql(paths: Sequence[Path], width: int, how: TextFormat) -> str:
    files = ", ".join(map(quote_path, paths))
    places = [f"c{place}" for place in range(width)]
    types = ", ".join(f"{place}: 'VARCHAR'" for place in places)
    options = (
        f"delim = {quote_text(str(how.separator))}, header = {str(how.heading).lower()}, "
        "quote = '\"', escape = '\"', auto_detect = false, strict_mode = true, "
        f"null_padding = false, filename = {quote_text(FILE_COLUMN)}, columns = {{{types}}}"
    )
    # a blank line is not a row; an empty field is an empty text
    fields = ", ".join(f"coalesce({place}, '') AS {place}" for place in places)
    blank = " AND ".join(f"coalesce({place}, '') = ''" for place in places)
    table = f"read_csv([{files}], {options})"
    return f"(SELECT {fields}, {FILE_COLUMN} FROM {table} WHERE NOT ({blank}))"


def _read_head(path: Path) -> Content:
    """Read the first whole lines of a file."""
    suffix = path.suffix.lower()
    with open_file(path) as file:
        try:
            stream = COMPRESSIONS[suffix][1](file) if suffix in _SUFFIXES else file
            data = stream.read(_HEAD_BYTES)
        except (OSError, EOFError) as error:
            msg = f"{path}: cannot be decompressed ({error})."
            raise InvalidInputError(msg) from None
    lines = data.rpartition(b"\n")[0] if len(data) == _HEAD_BYTES else data
    return Content(str(path), suffix, lines or data)


# our names of types of Arrow; other types keep Arrow's
_KINDS = {
    **dict.fromkeys(("string", "large_string", "string_view"), "text"),
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "whole numbers"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "whole numbers"),
    **dict.fromkeys(("date32", "date64"), "date"),
    **dict.fromkeys(("decimal32", "decimal64", "decimal128", "decimal256"), "decimal"),
}
# the types of ids and numbers, and the message about other types
_READABLE = {
    "id": (
        ("text", "whole numbers", "uint64"),
        ". With a memory limit, ids must be text or whole numbers: convert it.",
    ),
    "number": (
        ("whole numbers", "uint64", "float", "double", "bool", "decimal"),
        ", not a number. Convert it or choose another column.",
    ),
    "time": (
        ("whole numbers", "uint64", "float", "double", "decimal", "timestamp", "date", "text"),
        ", not a time. Convert it or choose another column.",
    ),
}
#: The SQL type for all integers of 64 bits, signed and unsigned.
WIDEST_INTEGER = "DECIMAL(20, 0)"
#: The SQL types for integers in text, with their minimum and maximum.
_INTEGERS = {
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    WIDEST_INTEGER: (-(2**63), 2**64 - 1),
}


@dataclass
class Source:
    """A table as SQL reads it.

    Parameters
    ----------
    relation : str
        The FROM clause; for files it has a column `FILE_COLUMN`.
    names : mapping
        Our names of columns to the table's.
    sql : dict
        Our names to the SQL of the values: text or integers for ids, numbers for the others.
        A missing value or one that is not a number is NULL, but an empty grade in text is NaN.
    kinds : dict
        Our names to the types of the values; text in files of text.
    is_text : bool
        Whether it is text files.
    stream : object, optional
        A stream, which can be read only once.
    """

    relation: str
    names: Mapping[str, str]
    sql: dict[str, str]
    kinds: dict[str, str]
    is_text: bool = False
    stream: Any = None

    def select_sql(self, *extra: str) -> str:
        """Return the FROM clause of the rows with our column names and extra columns."""
        read = [*extra, *(f"{sql} AS {quote_name(ours)}" for ours, sql in self.sql.items())]
        return f"(SELECT {', '.join(read)} FROM {self.relation})"


def open_source(
    data: Any,
    columns: Mapping[str, str] | None,
    table: str,
    folder: Path,
    form: TextFormat | None = None,
) -> Source:
    """Describe a table by its heading, without reading its rows.

    Parameters
    ----------
    data : path, pattern, list of these, or stream of Arrow batches
        Files have the same format.
    columns : mapping, optional
        Our names to the table's.
    table : str
        Its kind: predictions, labels or results.
    folder : Path
        The folder for a lazy table of polars.
    form : TextFormat, optional
        The format of text.

    Raises
    ------
    InvalidInputError
        A file cannot be read, has other columns than the first, or a format that DuckDB does not
        read; or the data is something else.
    """
    if hasattr(data, "sink_parquet"):  # a lazy table of polars, which may be larger than memory
        data = _write_lazy_table(data, columns, table, folder / f"lazy_{table}.parquet")
    if not is_files(data):
        return _open_stream(data, columns, table)
    paths = find_files(data)
    _check_files(paths)
    if FileKind.of(paths[0]).is_binary:  # Parquet, the only binary format that DuckDB reads
        return _open_parquet(paths, columns, table)
    return _open_text(paths, columns, table, form)


def _write_lazy_table(data: Any, columns: Mapping[str, str] | None, table: str, path: Path) -> Path:
    """Write the needed columns of a lazy table of polars to a file."""
    try:
        heading = Table(dict.fromkeys(data.collect_schema().names(), ()), columns)
        names = heading.use_columns(*heading.choose_columns(table))
        data.select([*names.values()]).sink_parquet(path)
    except Exception as error:
        ours = isinstance(error, InvalidInputError | OSError)
        if ours and not isinstance(error, FileNotFoundError):
            raise
        reason = str(error).partition("\n")[0]
        msg = f"The lazy table of polars cannot be computed: {reason}"
        raise InvalidInputError(msg) from error
    return path


def _check_files(paths: Sequence[Path]) -> None:
    """Raise if DuckDB cannot read a file, or a file is given twice."""
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            msg = f"{path}: this file is given twice. Give it once."
            raise InvalidInputError(msg)
        seen.add(real)
        FileKind.check_file(path)
        if not is_encodable(str(path)):
            msg = f"{path}: with a memory limit, the name of a file must be UTF-8. Rename it."
            raise InvalidInputError(msg)
        kind, packing = FileKind.of(path), path.suffix.lower()
        other = packing in COMPRESSIONS and (packing not in _SUFFIXES or kind.is_binary)
        if other or not kind.is_read_by_duckdb:
            msg = (
                f"{path}: with a memory limit or several files, only Parquet and CSV are read "
                "(CSV also as .gz or .zst). Convert it, or evaluate it alone without memory_limit."
            )
            raise InvalidInputError(msg)


def _open_parquet(paths: Sequence[Path], columns: Mapping[str, str] | None, table: str) -> Source:
    from pyarrow import parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    schemas = {}
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                schemas[str(path)] = file.schema_arrow
        except Exception as error:  # noqa: BLE001 - damaged files raise any error
            reason = getattr(error, "strerror", None) or "not Parquet, or damaged"
            msg = f"{path}: cannot be read as Parquet ({reason})."
            raise InvalidInputError(msg) from None
    files = ", ".join(map(quote_path, paths))
    options = f"filename = {quote_text(FILE_COLUMN)}, hive_partitioning = false"
    relation = f"read_parquet([{files}], {options}, union_by_name = true)"
    return Source(relation, *_read_columns(schemas, columns, table))


def _open_text(
    paths: Sequence[Path], columns: Mapping[str, str] | None, table: str, form: TextFormat | None
) -> Source:
    """Describe text files by their first lines."""
    how = form or TextFormat()
    if (how.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
        msg = f"{paths[0]}: with a memory limit, text must be UTF-8. Convert it."
        raise InvalidInputError(msg)
    how = replace(how, encoding=how.encoding or "UTF-8")  # DuckDB reads no other
    how = complete_format(how.decode(_read_head(paths[0])), how, columns)
    how = replace(how, separator=how.find_separator(how.decode(_read_head(paths[0]))))
    titles = _read_titles(paths, columns, how)
    names = map_columns(titles, columns, table)
    sql = {}
    for ours, theirs in names.items():
        field = f"c{titles.index(theirs)}"  # by its place, as SQL ignores the case of names
        if ours in IDS:
            sql[ours] = f"CASE WHEN trim({field}) <> '' THEN {field} END"
        elif ours == "timestamp":
            sql[ours] = _time_sql(field)
        else:
            sql[ours] = _number_sql(field, how.decimal, may_lack=ours == "true")
    relation, kinds = _csv_sql(paths, len(titles), how), dict.fromkeys(names, "text")
    return Source(relation, names, sql, kinds, is_text=True)


def read_names(data: Any) -> tuple[list[str], TextFormat | None]:
    """Return the fields of the first line of files, or the names of columns, and the text format.

    The format is None if the data is no text.

    Raises
    ------
    InvalidInputError
        A file cannot be read.
    """
    if not is_files(data):
        if not hasattr(data, "schema"):
            return [*getattr(data, "columns", ())], None  # of DuckDB; opening others raises
        return [*data.schema.names], None
    path = find_files(data)[0]
    if FileKind.of(path).is_binary:
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        return [*parquet.read_schema(path).names], None
    line = TextFormat().decode(_read_head(path)).partition("\n")[0]
    text = TextFormat("::" if "::" in line else TextFormat().find_separator(line))
    return [one.strip() for one in text.split_first_line(line)], text


def _read_titles(
    paths: Sequence[Path], columns: Mapping[str, str] | None, how: TextFormat
) -> list[str]:
    """Return the names of the columns of text files.

    Raises
    ------
    InvalidInputError
        A file is empty or not text in UTF-8, or its heading differs from the first file's.
    """
    first_lines = (how.split_first_line(how.decode(_read_head(path))) for path in paths)
    headings = [[one.strip() for one in line] for line in first_lines]
    fields = headings[0]
    for path, found in zip(paths, headings, strict=True):
        if found != fields and (how.heading or len(found) != len(fields)):
            msg = (
                f"{path}: its columns are {', '.join(found)}, but {paths[0]} has "
                f"{', '.join(fields)}. Give all files the same columns."
            )
            raise InvalidInputError(msg)
    names = [str(place + 1) for place in range(len(fields))]
    if how.heading:  # a column without a name is called by its place
        names = [one or place for one, place in zip(fields, names, strict=True)]
    elif not columns:
        names = [*TextFormat.COLUMN_ORDER[: len(names)], *names[len(TextFormat.COLUMN_ORDER) :]]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"{paths[0]}: the heading names the column {twice[0]!r} twice; keep one."
        raise InvalidInputError(msg)
    return names


def _number_sql(field: str, decimal: str, *, may_lack: bool) -> str:
    """Return the SQL that parses a number, NULL if it is not a number.

    If the number may be missing, an empty field or a word such as "none" gives NaN.
    """
    text = f"trim({field})"  # all kinds of space; a cast removes only ASCII's
    absent = f"lower({text}) IN ({_ABSENT})"
    text = f"translate({text}, ',.', '.,')" if decimal == "," else text
    # DuckDB takes 1_000 for a number
    number = f"CASE WHEN contains({text}, '_') THEN NULL ELSE try_cast({text} AS DOUBLE) END"
    return f"CASE WHEN {absent} THEN 'NaN'::DOUBLE ELSE {number} END" if may_lack else number


def _time_sql(field: str) -> str:
    """Return the SQL that parses a number or an ISO date, NULL if it is neither, NaN if empty."""
    number = _number_sql(field, ".", may_lack=True)
    return f"coalesce({number}, epoch(try_cast(trim({field}) AS TIMESTAMPTZ)))"


def _open_stream(data: Any, columns: Mapping[str, str] | None, table: str) -> Source:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if hasattr(data, "scanner"):  # a dataset
        data = data.scanner().to_reader()
    if not hasattr(data, "__arrow_c_stream__"):
        msg = (
            "With a memory limit, give files (Parquet, CSV) or a stream of Arrow batches (a "
            f"pyarrow dataset or reader, a DuckDB relation), not {quote(type(data))}."
        )
        raise InvalidInputError(msg)
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except Exception as error:  # of any library
        reason = str(error).partition("\n")[0]
        msg = (
            f"{table}: the stream cannot be opened ({reason}). Two DuckDB relations need two "
            "connections: make one of them with con.cursor().sql(...)."
        )
        raise InvalidInputError(msg) from error
    schemas = {"the data": reader.schema}
    return Source(quote_name(table), *_read_columns(schemas, columns, table), stream=reader)


def _read_columns(
    schemas: Mapping[str, Any], columns: Mapping[str, str] | None, table: str
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the names, the SQL and the types of our columns in files.

    Parameters
    ----------
    schemas : mapping
        The schemas of Arrow, by the names of files.
    columns : mapping, optional
        Our names to the files' names.
    table : str
        The kind of the table.

    Raises
    ------
    InvalidInputError
        SQL cannot distinguish a column from another, the files differ, or a column has a type that
        cannot be read.
    """
    first = next(iter(schemas))
    names = map_columns(schemas[first].names, columns, table)
    check_distinct_columns(names, schemas[first].names)
    kinds: dict[str, str] = {}
    for file, schema in schemas.items():
        for ours, theirs in names.items():
            if schema.get_field_index(theirs) < 0:
                msg = (
                    f"{file}: there is no column {theirs!r}, which the first file has. It has "
                    f"{', '.join(schema.names)}."
                )
                raise InvalidInputError(msg)
            of = schema.field(theirs).type
            name = str(of.value_type if hasattr(of, "index_type") else of)
            name = re.split(r"[(\[]", name)[0]  # without the digits of a decimal, or a time's unit
            kind = _KINDS.get(name, name)
            known = kinds.setdefault(ours, kind)
            if ours not in IDS and {kind, known} == {"whole numbers", "double"}:
                kinds[ours] = "double"  # as pandas writes a column with and without NaN
            elif kind != known:
                msg = f"{file}: {theirs} is {kind}, but {known} in {first}. Convert one of them."
                raise InvalidInputError(msg)
            is_time = ours == "timestamp"
            readable, fix = _READABLE["id" if ours in IDS else "time" if is_time else "number"]
            if kind not in readable:
                msg = f"{file}: {theirs} is {kind}{fix}"
                raise InvalidInputError(msg)
    sql = {ours: _column_sql(ours, theirs, kinds[ours]) for ours, theirs in names.items()}
    return names, sql, kinds


def _column_sql(ours: str, theirs: str, kind: str) -> str:
    """Return the SQL of a column of ours that is no text file's.

    Raises
    ------
    InvalidInputError
        The column has no name.
    """
    if not theirs:
        msg = (
            f"{ours}: the heading of its column is empty, which does not work with a memory "
            "limit. Give the column a name."
        )
        raise InvalidInputError(msg)
    name = quote_name(theirs)
    if kind == "whole numbers":  # of one width, so that equal ids are equal
        return f"CAST({name} AS BIGINT)"
    if ours == "timestamp" and kind in ("timestamp", "date"):
        return f"epoch({name})"
    return _time_sql(name) if ours == "timestamp" and kind == "text" else name


def cast_integer_ids(database: Database, source: Source) -> None:
    """Read the ids in text files as integers if all are integers in the usual form.

    The type is the first of `_INTEGERS` that holds them. One id such as 007 keeps a column text.
    """
    fields = []
    for column in IDS:
        number = f"try_cast({source.sql[column]} AS {WIDEST_INTEGER})"
        plain = f"CASE WHEN {number}::VARCHAR = {source.sql[column]} THEN {number} END"
        fields.append(f"[count(*) - count({plain}), min({plain}), max({plain})]")
    (found,) = database.run(f"SELECT {', '.join(fields)} FROM {source.relation}")  # in one pass
    for column, (others, low, high) in zip(IDS, found, strict=True):
        fits = (kind for kind, (least, most) in _INTEGERS.items() if least <= low <= high <= most)
        kind = None if others or low is None else next(fits, None)
        if kind is not None:
            source.sql[column] = f"CAST({source.sql[column]} AS {kind})"
            source.kinds[column] = "whole numbers" if kind == "BIGINT" else kind
