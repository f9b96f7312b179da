"""What DuckDB reads: files by their names, and streams of Arrow's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recsys_ndcg.errors import InvalidInputError, is_encodable, quote
from recsys_ndcg.files import PACKINGS, Content, open_file
from recsys_ndcg.input import FileKind, Table, TextFormat
from recsys_ndcg.scale.database import FILE, Database, file_literal, literal, quoted
from recsys_ndcg.scale.engines import IDS, check_capitals, is_files, names_in, paths_of

# how packed files of text end, that are read out of core
_SUFFIXES = (".gz", ".zst")
_LOOK = 1 << 16
_ABSENT = "'', 'nan', 'na', 'none', 'null'"


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
    suffix = path.suffix.lower()
    with open_file(path) as file:
        try:
            data = (PACKINGS[suffix][1](file) if suffix in _SUFFIXES else file).read(_LOOK)
        except (OSError, EOFError) as error:
            msg = f"{path}: cannot be unpacked ({error})."
            raise InvalidInputError(msg) from None
    lines = data.rpartition(b"\n")[0] if len(data) == _LOOK else data
    return Content(str(path), suffix, lines or data)


# what types of Arrow are; a type of any other name is called by it
_KINDS = {
    **dict.fromkeys(("string", "large_string", "string_view"), "text"),
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "whole numbers"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "whole numbers"),
    **dict.fromkeys(("decimal32", "decimal64", "decimal128", "decimal256"), "decimal"),
}
# what ids and numbers may be, and what is said of all else
_READ = {
    "id": (
        ("text", "whole numbers", "uint64"),
        "; within a memory limit, ids are text or whole numbers. Write it as one of these.",
    ),
    "number": (
        ("whole numbers", "uint64", "float", "double", "bool", "decimal"),
        ", which is not read as numbers. Convert it, or name another column.",
    ),
}
#: The type of SQL that holds all whole numbers of 64 bits, with a sign and without.
LONGEST = "DECIMAL(20, 0)"
#: The types of SQL for whole numbers in text, with the least and the greatest number of each.
_WHOLE = {
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    LONGEST: (-(2**63), 2**64 - 1),
}


@dataclass
class Source:
    """A table somewhere, as SQL reads it.

    Parameters
    ----------
    relation : str
        What stands behind FROM; files have a column `FILE`.
    names : mapping
        Our names of columns to its own.
    sql : dict
        Our names to the SQL that reads the values: ids are text or whole numbers, all others
        numbers; what is missing, or no number, is NULL, but a grade that text leaves open NaN.
    kinds : dict
        Our names to what the values are, as Arrow says; text in files of text.
    is_text : bool
        Whether it is files of text.
    stream : object, optional
        What is read once, and no more.
    """

    relation: str
    names: Mapping[str, str]
    sql: dict[str, str]
    kinds: dict[str, str]
    is_text: bool = False
    stream: Any = None

    def read(self, *extra: str) -> str:
        """Return what stands behind FROM for the rows by our names, with more columns."""
        read = [*extra, *(f"{sql} AS {quoted(ours)}" for ours, sql in self.sql.items())]
        return f"(SELECT {', '.join(read)} FROM {self.relation})"


def source_of(
    data: Any,
    columns: Mapping[str, str] | None,
    table: str,
    folder: Path,
    form: TextFormat | None = None,
) -> Source:
    """Look at what is given, and no further than its heading.

    Parameters
    ----------
    data : path, pattern, list of these, or anything that gives a stream of Arrow's
        All of one kind.
    columns : mapping, optional
        Our names to its own.
    table : str
        What it is: predictions, labels or results.
    folder : Path
        Into which a lazy table of polars is written.
    form : TextFormat, optional
        How text is written.

    Raises
    ------
    InvalidInputError
        A file cannot be read, has other columns than the first, or is of a kind that is not read
        in this way; or the data is none of these.
    """
    if hasattr(data, "sink_parquet"):  # a lazy table of polars, that need not fit the memory
        data = _written(data, columns, table, folder / f"lazy_{table}.parquet")
    if not is_files(data):
        return _stream(data, columns, table)
    paths = paths_of(data)
    _check_files(paths)
    if FileKind.of(paths[0]).is_binary:  # Parquet, the only such kind that a database reads
        return _parquet(paths, columns, table)
    return _text(paths, columns, table, form)


def _written(data: Any, columns: Mapping[str, str] | None, table: str, path: Path) -> Path:
    """Write the columns of a lazy table of polars that are read to a file."""
    try:
        heading = Table(dict.fromkeys(data.collect_schema().names(), ()), columns)
        names = heading.called(*heading.wanted(table))
        data.select([*names.values()]).sink_parquet(path)
    except Exception as error:
        ours = isinstance(error, InvalidInputError | OSError)
        if ours and not isinstance(error, FileNotFoundError):
            raise
        reason = str(error).partition("\n")[0]
        msg = f"The lazy table of polars cannot be worked out: {reason}"
        raise InvalidInputError(msg) from error
    return path


def _check_files(paths: Sequence[Path]) -> None:
    """Refuse what is no file that DuckDB can read, and the same file twice."""
    seen: set[str] = set()
    for path in paths:
        whole = os.path.realpath(path)
        if whole in seen:
            msg = f"{path}: is given twice, so that every row of it would be."
            raise InvalidInputError(msg)
        seen.add(whole)
        FileKind.check_file(path)
        if not is_encodable(str(path)):
            msg = f"{path}: within a memory limit, the name of a file must be UTF-8. Rename it."
            raise InvalidInputError(msg)
        kind, packing = FileKind.of(path), path.suffix.lower()
        other = packing in PACKINGS and (packing not in _SUFFIXES or kind.is_binary)
        if other or not kind.in_database:
            msg = (
                f"{path}: within a memory limit, and of several files, Parquet and CSV are read "
                "(CSV also packed as .gz or .zst). Write it as one of these, or evaluate it by "
                "itself without memory_limit."
            )
            raise InvalidInputError(msg)


def _parquet(paths: Sequence[Path], columns: Mapping[str, str] | None, table: str) -> Source:
    from pyarrow import parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    schemas = {}
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                schemas[str(path)] = file.schema_arrow
        except Exception as error:  # noqa: BLE001 - a damaged file makes pyarrow fail in any way
            reason = getattr(error, "strerror", None) or "not Parquet, or damaged"
            msg = f"{path}: cannot be read as Parquet ({reason})."
            raise InvalidInputError(msg) from None
    files = ", ".join(map(file_literal, paths))
    options = f"filename = {literal(FILE)}, hive_partitioning = false, union_by_name = true"
    relation = f"read_parquet([{files}], {options})"
    return Source(relation, *_columns_of(schemas, columns, table))


def _text(
    paths: Sequence[Path], columns: Mapping[str, str] | None, table: str, form: TextFormat | None
) -> Source:
    """Look at the beginning of each file."""
    how = form or TextFormat()
    if (how.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8"):
        msg = f"{paths[0]}: within a memory limit, text is read in UTF-8. Convert it."
        raise InvalidInputError(msg)
    how = replace(how, separator=how.separator_in(how.text_of(_head(paths[0]))))
    titles = _titles(paths, columns, how)
    names = names_in(titles, columns, table)
    sql = {}
    for ours, theirs in names.items():
        field = f"c{titles.index(theirs)}"  # its place, for names may be alike to SQL
        if ours in IDS:
            sql[ours] = f"CASE WHEN trim({field}) <> '' THEN {field} END"
        else:
            sql[ours] = _number(field, how.decimal, may_lack=ours == "true")
    relation, kinds = _relation(paths, len(titles), how), dict.fromkeys(names, "text")
    return Source(relation, names, sql, kinds, is_text=True)


def _titles(paths: Sequence[Path], said: Mapping[str, str] | None, how: TextFormat) -> list[str]:
    """Return what the columns of files of text are called.

    Raises
    ------
    InvalidInputError
        A file is empty or no text in UTF-8, or its heading is not that of the first.
    """
    first_lines = (how.first_fields(how.text_of(_head(path))) for path in paths)
    headings = [[one.strip() for one in line] for line in first_lines]
    fields = headings[0]
    for path, found in zip(paths, headings, strict=True):
        if found != fields and (how.heading or len(found) != len(fields)):
            msg = (
                f"{path}: its columns are {', '.join(found)}, those of {paths[0]} are "
                f"{', '.join(fields)}. Write all files alike."
            )
            raise InvalidInputError(msg)
    names = [str(place + 1) for place in range(len(fields))]
    if how.heading:  # a column without a name goes by its place
        names = [one or place for one, place in zip(fields, names, strict=True)]
    elif not said:
        names = [*TextFormat.ORDER[: len(names)], *names[len(TextFormat.ORDER) :]]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"{paths[0]}: the heading names the column {twice[0]!r} twice; keep one."
        raise InvalidInputError(msg)
    return names


def _number(field: str, decimal: str, *, may_lack: bool) -> str:
    """Return the SQL that reads a number, NULL for what is none.

    Where nothing stands, or a word for that, and a number may be lacking, it is NaN.
    """
    text = f"trim({field})"  # of every kind of space; a cast removes ASCII's alone
    absent = f"lower({text}) IN ({_ABSENT})"
    text = f"translate({text}, ',.', '.,')" if decimal == "," else text
    # to DuckDB 1_000 is a number
    number = f"CASE WHEN contains({text}, '_') THEN NULL ELSE try_cast({text} AS DOUBLE) END"
    return f"CASE WHEN {absent} THEN 'NaN'::DOUBLE ELSE {number} END" if may_lack else number


def _stream(data: Any, columns: Mapping[str, str] | None, table: str) -> Source:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if hasattr(data, "scanner"):  # a dataset
        data = data.scanner().to_reader()
    if not hasattr(data, "__arrow_c_stream__"):
        msg = (
            f"Within a memory limit, give files (Parquet, CSV), or what streams Arrow's batches: "
            f"a dataset or a reader of pyarrow, a relation of DuckDB; not {quote(type(data))}."
        )
        raise InvalidInputError(msg)
    reader = pa.RecordBatchReader.from_stream(data)
    columns_of = _columns_of({"the data": reader.schema}, columns, table)
    return Source(quoted(table), *columns_of, stream=reader)


def _columns_of(
    schemas: Mapping[str, Any], columns: Mapping[str, str] | None, table: str
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return what files call our columns, how SQL reads them, and what their values are.

    Parameters
    ----------
    schemas : mapping
        Of Arrow's, by the names of files.
    columns : mapping, optional
        Our names to those of the files.
    table : str
        What it is.

    Raises
    ------
    InvalidInputError
        SQL cannot tell a column from the others, the files are not alike, or nothing reads what is
        in a column.
    """
    first = next(iter(schemas))
    names = names_in(schemas[first].names, columns, table)
    check_capitals(names, schemas[first].names)
    kinds: dict[str, str] = {}
    for file, schema in schemas.items():
        for ours, theirs in names.items():
            if schema.get_field_index(theirs) < 0:
                msg = (
                    f"{file}: there is no column {theirs!r}, which the first file has; it has "
                    f"{', '.join(schema.names)}."
                )
                raise InvalidInputError(msg)
            of = schema.field(theirs).type
            told = str(of.value_type if hasattr(of, "index_type") else of)
            kind = _KINDS.get(told.partition("(")[0], told)  # without the digits of a decimal
            known = kinds.setdefault(ours, kind)
            if ours not in IDS and {kind, known} == {"whole numbers", "double"}:
                kinds[ours] = "double"  # as pandas writes a column with and without NaN
            elif kind != known:
                msg = f"{file}: {theirs} is {kind}, but {known} in {first}. Write all files alike."
                raise InvalidInputError(msg)
            readable, advice = _READ["id" if ours in IDS else "number"]
            if kind not in readable:
                msg = f"{file}: {theirs} is {kind}{advice}"
                raise InvalidInputError(msg)
    sql = {}
    for ours, theirs in names.items():
        if not theirs:
            msg = f"{ours}: within a memory limit, a column that is read needs a name. Rename it."
            raise InvalidInputError(msg)
        # of one width, by which all are told apart
        whole = kinds[ours] == "whole numbers"
        sql[ours] = f"CAST({quoted(theirs)} AS BIGINT)" if whole else quoted(theirs)
    return names, sql, kinds


def cast_whole_ids(database: Database, source: Source) -> None:
    """Cast each column of ids in files of text, that are all whole numbers, to a type of such.

    It is the first of `_WHOLE` that holds them; one that is not in its usual writing, and all of
    them are text.
    """
    asked = []
    for column in IDS:
        number = f"try_cast({source.sql[column]} AS {LONGEST})"
        plain = f"CASE WHEN {number}::VARCHAR = {source.sql[column]} THEN {number} END"
        asked.append(f"[count(*) - count({plain}), min({plain}), max({plain})]")
    (found,) = database.run(f"SELECT {', '.join(asked)} FROM {source.relation}")  # in one pass
    for column, (others, low, high) in zip(IDS, found, strict=True):
        fits = (kind for kind, (least, most) in _WHOLE.items() if least <= low <= high <= most)
        kind = None if others or low is None else next(fits, None)
        if kind is not None:
            source.sql[column] = f"CAST({source.sql[column]} AS {kind})"
            source.kinds[column] = "whole numbers" if kind == "BIGINT" else kind
