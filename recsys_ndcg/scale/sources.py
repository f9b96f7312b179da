"""SQL for the input of DuckDB: files, and streams of Arrow batches."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from recsys_ndcg.errors import InvalidInputError, is_encodable, label_messages, quote
from recsys_ndcg.files import COMPRESSIONS, Content, find_files, is_files, open_file
from recsys_ndcg.input import (
    BRACKETS,
    QUOTES,
    FileKind,
    TextFormat,
    choose_file_columns,
    detect_format,
    find_known_file,
    find_type_kind,
    split_format,
)
from recsys_ndcg.scale.database import FILE_COLUMN, Database, quote_name, quote_path, quote_text
from recsys_ndcg.scale.engines import (
    IDS,
    POSITION,
    UNMATCHED,
    add_list_columns,
    check_distinct_columns,
    map_columns,
)

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
# what columns hold, and the types that are read as it
_NUMBERS = {"whole numbers", "uint64", "float", "double", "decimal"}
_NUMBER = "a number", {*_NUMBERS, "bool"}
_TIME = "a time", {*_NUMBERS, "timestamp", "date", "text"}
_ID = "text or whole numbers, as ids are with a memory limit", {"text", "whole numbers", "uint64"}
_READABLE = {"user": _ID, "item": _ID, "timestamp": _TIME}
#: The SQL type for all integers of 64 bits, signed and unsigned.
WIDEST_INTEGER = "DECIMAL(20, 0)"
#: The SQL types for integers in text; the first that holds all ids of a column is taken.
_INTEGERS = ("BIGINT", "UBIGINT", WIDEST_INTEGER)


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

    def explode(self, fields: Mapping[str, str], cells: Mapping[str, str], table: str) -> Source:
        """Return the table with a row for each value of its lists, and the columns of lists.

        Parameters
        ----------
        fields : mapping
            Our names of the columns to their SQL.
        cells : mapping
            Our names of the columns with lists to the lists' SQL.
        table : str
            The kind of the table.
        """
        if not cells:
            return self
        sizes = {ours: f"coalesce(len({values}), 0)" for ours, values in cells.items()}
        wrong = " OR ".join(f"{size} <> {sizes['item']}" for size in sizes.values())
        read = [field for ours, field in fields.items() if ours not in cells]
        read += [f"unnest({values}) AS {fields[ours]}" for ours, values in cells.items()]
        read += [f"generate_subscripts({cells['item']}, 1) AS {POSITION}"]
        read += [f"{wrong} AS {UNMATCHED}", *([FILE_COLUMN] if self.stream is None else [])]
        relation = f"(SELECT {', '.join(read)} FROM {self.relation})"
        names = add_list_columns(self.names, table)
        return replace(self, relation=relation, names=names, sql={**names, **self.sql})


@dataclass(frozen=True)
class SourceReader:
    """How a table was given, to describe it without reading its rows.

    Parameters
    ----------
    columns : mapping, optional
        Our names to the table's.
    table : str
        Its kind: predictions, labels, results or interactions.
    form : TextFormat, optional
        The format of text.
    separator : str, optional
        What separates the ids in a cell of text that has several.
    """

    columns: Mapping[str, str] | None
    table: str
    form: TextFormat | None = None
    separator: str | None = None

    def open(self, data: Any, folder: Path) -> Source:
        """Describe a table by its heading, without reading its rows.

        Parameters
        ----------
        data : path, pattern, list of these, or stream of Arrow batches
            Files have the same format.
        folder : Path
            The folder for a lazy table of polars.

        Raises
        ------
        InvalidInputError
            A file cannot be read, has other columns than the first, or a format that DuckDB does
            not read; or the data is something else.
        """
        data, form = split_format(data, self.form)
        if hasattr(data, "sink_parquet"):  # a lazy table of polars, which may be larger than memory
            data = self._write_lazy_table(data, folder / f"lazy_{self.table}.parquet")
        if not is_files(data):
            return self._open_stream(data)
        paths = find_files(data)
        _check_files(paths)
        if FileKind.of(paths[0]).is_binary:  # Parquet, the only binary format that DuckDB reads
            return self._open_parquet(paths)
        return self._open_text(paths, form or TextFormat())

    def _write_lazy_table(self, data: Any, path: Path) -> Path:
        """Write the needed columns of a lazy table of polars to a file."""
        try:
            with label_messages(""):  # they come when the file is read
                names, _ = self._map_columns(data.collect_schema())
            data.select([*names.values()]).sink_parquet(path)
        except Exception as error:
            ours = isinstance(error, InvalidInputError | OSError)
            if ours and not isinstance(error, FileNotFoundError):
                raise
            reason = str(error).partition("\n")[0]
            msg = f"The lazy table of polars cannot be computed: {reason}"
            raise InvalidInputError(msg) from error
        return path

    def _open_parquet(self, paths: Sequence[Path]) -> Source:
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
        return self._read_columns(relation, schemas)

    def _open_text(self, paths: Sequence[Path], how: TextFormat) -> Source:
        """Describe text files by their first lines."""
        if (how.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
            msg = f"{paths[0]}: with a memory limit, text must be UTF-8. Convert it."
            raise InvalidInputError(msg)
        how = replace(how, encoding="UTF-8")  # the only one that DuckDB reads
        text = how.decode(_read_head(paths[0]))
        if known := find_known_file(text, self.table):
            msg = (
                f"{paths[0]}: {known.name} are not read within a memory limit, or as one of "
                "several files. Evaluate the file alone without memory_limit."
            )
            raise InvalidInputError(msg)
        how = detect_format(text, how, self.columns)
        how = replace(how, separator=how.find_separator(text))
        titles = self._read_titles(paths, how)
        types = dict.fromkeys(titles, "string")
        names, lists = self._map_columns(types, is_text=True)
        # by their places, as SQL ignores the case of names
        fields = {ours: f"c{titles.index(theirs)}" for ours, theirs in names.items()}
        cells = {ours: self._split_sql(fields[ours]) for ours in lists}
        sql = {}
        for ours, field in fields.items():
            if ours in IDS:
                sql[ours] = f"CASE WHEN trim({field}) <> '' THEN {field} END"
            elif ours == "timestamp":
                sql[ours] = _time_sql(field)
            else:
                sql[ours] = _number_sql(field, how.decimal, may_lack=ours in ("true", "rating"))
        relation, kinds = _csv_sql(paths, len(titles), how), dict.fromkeys(names, "text")
        return Source(relation, names, sql, kinds, is_text=True).explode(fields, cells, self.table)

    def _read_titles(self, paths: Sequence[Path], how: TextFormat) -> list[str]:
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
        names = choose_file_columns(names, how, self.columns, self.table).names
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            msg = f"{paths[0]}: the heading names the column {twice[0]!r} twice; keep one."
            raise InvalidInputError(msg)
        return names

    def _open_stream(self, data: Any) -> Source:
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
                f"{self.table}: the stream cannot be opened ({reason}). Two DuckDB relations need "
                "two connections: make one of them with con.cursor().sql(...)."
            )
            raise InvalidInputError(msg) from error
        schemas = {"the data": reader.schema}
        return self._read_columns(quote_name(self.table), schemas, reader)

    def _map_columns(
        self, types: Mapping[str, Any], *, is_text: bool = False
    ) -> tuple[dict[str, str], list[str]]:
        return map_columns(types, self.columns, self.table, self.separator, is_text=is_text)

    def _read_columns(
        self, relation: str, schemas: Mapping[str, Any], stream: Any = None
    ) -> Source:
        """Describe our columns in files, or in a stream.

        Parameters
        ----------
        relation : str
            The FROM clause.
        schemas : mapping
            The schemas of Arrow, by the names of files.
        stream : object, optional
            A stream, which can be read only once.

        Raises
        ------
        InvalidInputError
            SQL cannot distinguish a column from another, the files differ, or a column has a type
            that cannot be read.
        """
        first = next(iter(schemas))
        types = {field.name: field.type for field in schemas[first]}
        names, lists = self._map_columns(types)
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
                is_list, kind = _describe_type(schema.field(theirs).type)
                if is_list != _describe_type(types[theirs])[0] or (is_list and ours == "user"):
                    what = "lists" if is_list else "single values"
                    msg = f"{file}: {theirs} holds {what}, which do not belong there. Convert it."
                    raise InvalidInputError(msg)
                known = kinds.setdefault(ours, kind)
                if ours not in IDS and {kind, known} == {"whole numbers", "double"}:
                    kinds[ours] = "double"  # as pandas writes a column with and without NaN
                elif kind != known:
                    msg = (
                        f"{file}: {theirs} is {kind}, but {known} in {first}. Convert one of them."
                    )
                    raise InvalidInputError(msg)
                what, readable = _READABLE.get(ours, _NUMBER)
                if kind not in readable:
                    msg = f"{file}: {theirs} is {kind}, not {what}. Convert it or choose another."
                    raise InvalidInputError(msg)
        sql = {ours: _column_sql(ours, theirs, kinds[ours]) for ours, theirs in names.items()}
        fields = {ours: quote_name(theirs) for ours, theirs in names.items()}
        is_text = find_type_kind(types[names["item"]]) == "text"
        cells = {one: self._split_sql(fields[one]) if is_text else fields[one] for one in lists}
        return Source(relation, names, sql, kinds, stream=stream).explode(fields, cells, self.table)

    def _split_sql(self, field: str) -> str:
        """Return the SQL of the list in a cell of text."""

        def unwrap(text: str, what: tuple[str, int]) -> str:
            inside = "".join(rf"\{group}" for group in range(1, what[1] + 1))
            text = f"regexp_replace(trim({text}, {blanks}), {quote_text(what[0])}, '{inside}')"
            return f"trim({text}, {blanks})"

        blanks = quote_text(" \t\r\n")
        cell = unwrap(unwrap(field, BRACKETS), QUOTES)
        parts = f"string_split({cell}, {quote_text(str(self.separator))})"
        if self.separator == " ":
            parts = f"string_split_regex({cell}, '\\s+')"
        trimmed = f"list_transform({parts}, lambda part: {unwrap('part', QUOTES)})"
        return f"list_filter({trimmed}, lambda part: part <> '')"


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


def _describe_type(kind: Any) -> tuple[bool, str]:
    """Return whether a type of Arrow is a list, and our name of the type of its values."""
    is_list = find_type_kind(kind) == "list"
    of = kind.value_type if is_list else kind
    name = str(of.value_type if hasattr(of, "index_type") else of)
    name = re.split(r"[(\[]", name)[0]  # without the digits of a decimal, or a time's unit
    return is_list, _KINDS.get(name, name)


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

    One id such as 007 keeps a column text.
    """
    fields = []
    for text in (source.sql[column] for column in IDS):
        casts = (f"try_cast({text} AS {kind})::VARCHAR = {text}" for kind in _INTEGERS)
        fields.append(f"[{', '.join(f'count(*) - count_if({cast})' for cast in casts)}]")
    (found,) = database.run(f"SELECT {', '.join(fields)} FROM {source.relation}")  # in one pass
    for column, others in zip(IDS, found, strict=True):
        if 0 in others:
            kind = _INTEGERS[others.index(0)]
            source.sql[column] = f"CAST({source.sql[column]} AS {kind})"
            source.kinds[column] = "whole numbers" if kind == "BIGINT" else kind
