"""What DuckDB reads: files by their names, and streams of Arrow's."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, is_encodable, needing, shown
from recsys_ndcg.files import PACKINGS
from recsys_ndcg.input import FileKind, Table, existing_file
from recsys_ndcg.scale.database import FILE, file_literal, literal, quoted
from recsys_ndcg.scale.engines import IDS, is_files, paths_of
from recsys_ndcg.scale.text_files import SUFFIXES, TextFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.scale.database import Database

#: The rows of a source in their order, for what hangs on it.
ROW = "row"
_TEXT = {"string", "large_string", "string_view"}
_WHOLE_TYPES = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} - {"uint64"}
_NUMBERS = ("whole numbers", "uint64", "float", "double", "bool", "decimal")
_LONGEST = "DECIMAL(20, 0)"
#: The types of SQL for whole numbers of 64 bits, with the least and the greatest number of each.
_WHOLE = {
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    _LONGEST: (-(2**63), 2**64 - 1),
}
#: A whole number in its usual writing, as `is_plain_number` knows it, of a type.
_PLAIN = "CASE WHEN try_cast({0} AS {1})::VARCHAR = {0} THEN try_cast({0} AS {1}) END"


@dataclass(frozen=True)
class Source:
    """A table somewhere, as SQL reads it.

    Parameters
    ----------
    name : str
        What messages call it.
    relation : str
        What stands behind FROM; files have a column `FILE`.
    names : mapping
        Our names of columns to its own.
    sql : mapping
        The same, as SQL names them.
    kinds : mapping
        Our names to what their values are, as Arrow says; text in files of text.
    n_rows : int, optional
        How many rows there are at least, if that is known, or about how many.
    text : TextFiles, optional
        How to read numbers in text.
    stream : object, optional
        What is read once, and no more.
    whole : mapping
        The types of SQL for those of our columns of ids whose text is read as whole numbers.
    """

    name: str
    relation: str
    names: Mapping[str, str]
    sql: Mapping[str, str]
    kinds: Mapping[str, str]
    n_rows: int | None
    text: TextFiles | None = None
    stream: Any = None
    whole: Mapping[str, str] = field(default_factory=dict)

    def kind(self, column: str) -> str:
        """Return what the values of one of our columns are read as."""
        found = self.whole.get(column, self.kinds[column])
        return "whole numbers" if found == "BIGINT" else found

    def read(self, *extra: str, in_order: bool = False) -> str:
        """Return what stands behind FROM for the rows by our names, with more of their columns.

        Ids that are taken for whole numbers are such, or NULL; numbers are numbers, or NULL; in
        text a grade that is left open is NaN.
        """
        read = [*extra, *(f"{self._read(ours)} AS {quoted(ours)}" for ours in self.sql)]
        if in_order:
            read.append(f"row_number() OVER () AS {ROW}")
        return f"(SELECT {', '.join(read)} FROM {self.relation})"

    def _read(self, ours: str) -> str:
        sql = self.sql[ours]
        if ours in self.whole:
            return _PLAIN.format(sql, self.whole[ours])
        if self.kinds[ours] == "whole numbers":
            return f"CAST({sql} AS BIGINT)"  # of one width, by which all are told apart
        if self.text is None:
            return sql
        if ours in IDS:
            return f"CASE WHEN trim({sql}) <> '' THEN {sql} END"
        number = self.text.number(sql)
        if ours != "true":
            return number
        return f"CASE WHEN {self.text.is_absent(sql)} THEN 'NaN'::DOUBLE ELSE {number} END"


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
    paths = _checked(paths_of(data))
    kinds = set(map(_kind_of, paths))
    if len(kinds) > 1:
        other = next(path for path in paths if _kind_of(path) != _kind_of(paths[0]))
        msg = f"{other}: is of another kind than {paths[0]}. Give files of one kind."
        raise InvalidInputError(msg)
    if kinds == {"Parquet"}:
        return _parquet(paths, columns, table)
    return _text(paths, columns, table, form)


def _written(data: Any, columns: Mapping[str, str] | None, table: str, path: Path) -> Path:
    """Write the columns of a lazy table of polars that are read to a file."""
    try:
        heading = Table(dict.fromkeys(data.collect_schema().names(), ()), columns)
        names = dict.fromkeys(heading.called(*heading.wanted(table)).values())
        data.select([*names]).sink_parquet(path)
    except Exception as error:
        ours = isinstance(error, InvalidInputError | OSError)
        if ours and not isinstance(error, FileNotFoundError):
            raise
        reason = str(error).partition("\n")[0]
        msg = f"The lazy table of polars cannot be worked out: {reason}"
        raise InvalidInputError(msg) from error
    return path


def _checked(paths: Sequence[Path]) -> Sequence[Path]:
    """Refuse what is no file, a name that DuckDB cannot take, and the same file twice."""
    seen: set[str] = set()
    for path in paths:
        whole = os.path.realpath(path)
        if whole in seen:
            msg = f"{path}: is given twice, so that every row of it would be."
            raise InvalidInputError(msg)
        seen.add(whole)
        existing_file(path)
        if not is_encodable(str(path)):
            msg = f"{path}: within a memory limit, the name of a file must be UTF-8. Rename it."
            raise InvalidInputError(msg)
    return paths


def _kind_of(path: Path) -> str:
    kind, packing = FileKind.of(path), path.suffix.lower()
    other = packing in PACKINGS and (packing not in SUFFIXES or kind.is_binary)
    if other or not kind.in_database:
        msg = (
            f"{path}: within a memory limit, and of several files, Parquet and CSV are read (CSV "
            "also packed as .gz or .zst). Write it as one of these, or evaluate it by itself "
            "without memory_limit."
        )
        raise InvalidInputError(msg)
    return kind.name


def _parquet(paths: Sequence[Path], columns: Mapping[str, str] | None, table: str) -> Source:
    with needing("pyarrow", job="Reading Parquet", extra="scale"):
        from pyarrow import parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    schemas, n_rows = {}, 0
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                schemas[str(path)] = file.schema_arrow
                n_rows += file.metadata.num_rows
        except Exception as error:  # noqa: BLE001 - a damaged file makes pyarrow fail in any way
            reason = getattr(error, "strerror", None) or "not Parquet, or damaged"
            msg = f"{path}: cannot be read as Parquet ({reason})."
            raise InvalidInputError(msg) from None
    names, sql, kinds = _columns_of(schemas, columns, table)
    files = ", ".join(map(file_literal, paths))
    options = f"filename = {literal(FILE)}, hive_partitioning = false, union_by_name = true"
    relation = f"read_parquet([{files}], {options})"
    return Source(_called(paths), relation, names, sql, kinds, n_rows)


def _text(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None,
    table: str,
    form: TextFormat | None,
) -> Source:
    text = TextFiles.of(paths, columns, form)
    with needing("pyarrow", job="Data larger than memory", extra="scale"):
        import pyarrow as pa  # noqa: PLC0415 - an extra
    names = _named(pa.schema([(name, pa.string()) for name in text.columns]), columns, table)
    sql = {ours: text.sql(theirs) for ours, theirs in names.items()}
    kinds, rows = dict.fromkeys(names, "text"), text.about_rows
    whole = {one: "BIGINT" for one in IDS if text.seems_whole(names[one])}
    return Source(_called(paths), text.relation, names, sql, kinds, rows, text, whole=whole)


def _stream(data: Any, columns: Mapping[str, str] | None, table: str) -> Source:
    with needing("pyarrow", job="Data larger than memory", extra="scale"):
        import pyarrow as pa  # noqa: PLC0415 - an extra
    if hasattr(data, "scanner"):  # a dataset
        data = data.scanner()
        n_rows, data = data.count_rows(), data.to_reader()
    else:
        n_rows = None
    if not hasattr(data, "__arrow_c_stream__"):
        msg = (
            f"Within a memory limit, give files (Parquet, CSV), or what streams Arrow's batches: "
            f"a dataset or a reader of pyarrow, a relation of DuckDB; not {shown(type(data))}."
        )
        raise InvalidInputError(msg)
    reader = pa.RecordBatchReader.from_stream(data)
    names, sql, kinds = _columns_of({"the data": reader.schema}, columns, table)
    return Source("the data", quoted(table), names, sql, kinds, n_rows, stream=reader)


def _named(schema: Any, columns: Mapping[str, str] | None, table: str) -> dict[str, str]:
    """Return what a table calls our columns, with the words of any table for what is not there."""
    heading = Table(schema.empty_table(), columns)
    names = heading.called(*heading.wanted(table))
    heading.say_names()
    return names


def _columns_of(
    schemas: Mapping[str, Any], columns: Mapping[str, str] | None, table: str
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return what files call our columns, what SQL calls them, and what their values are.

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
        SQL cannot tell a column from the others, or the files are not alike.
    """
    schema = next(iter(schemas.values()))
    names = _named(schema, columns, table)
    kinds = _checked_kinds(schemas, names)
    for ours, theirs in names.items():
        if not theirs:
            msg = f"{ours}: within a memory limit, a column that is read needs a name. Rename it."
            raise InvalidInputError(msg)
        alike = [one for one in schema.names if one.casefold() == theirs.casefold()]
        if len(alike) > 1:
            msg = (
                f"The columns {' and '.join(map(repr, alike))} differ in capitals alone, and "
                "within a memory limit they are one. Rename one of them."
            )
            raise InvalidInputError(msg)
    return names, {ours: quoted(theirs) for ours, theirs in names.items()}, kinds


def _called(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _checked_kinds(schemas: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Return what the values of our columns are.

    Parameters
    ----------
    schemas : mapping
        Of Arrow's, by the names of files.
    names : mapping
        Our names to those of the first file.

    Raises
    ------
    InvalidInputError
        A file lacks a column, or has other values in it; or nothing reads them.
    """
    kinds: dict[str, str] = {}
    for file, schema in schemas.items():
        for ours, theirs in names.items():
            if schema.get_field_index(theirs) < 0:
                msg = (
                    f"{file}: there is no column {theirs!r}, which the first file has; it has "
                    f"{', '.join(schema.names)}."
                )
                raise InvalidInputError(msg)
            kind = _kind_of_type(schema.field(theirs).type)
            first = kinds.setdefault(ours, kind)
            if ours not in IDS and {kind, first} == {"whole numbers", "double"}:
                kinds[ours] = "double"  # as pandas writes a column with and without NaN
            elif kind != first:
                msg = (
                    f"{file}: {theirs} is {kind}, but {first} in {next(iter(schemas))}. Write "
                    "all files alike."
                )
                raise InvalidInputError(msg)
            _check_kind(file, ours, theirs, kind)
    return kinds


def _kind_of_type(of: Any) -> str:
    """Return what a type of Arrow's is, whatever its width."""
    if hasattr(of, "value_type") and hasattr(of, "index_type"):
        of = of.value_type
    told = str(of)
    if told.startswith("decimal"):  # of any number of digits
        return "decimal"
    return "text" if told in _TEXT else "whole numbers" if told in _WHOLE_TYPES else told


def _check_kind(file: str, ours: str, theirs: str, kind: str) -> None:
    if ours in IDS and kind not in ("text", "whole numbers", "uint64"):
        msg = (
            f"{file}: {theirs} is {kind}; within a memory limit, ids are text or whole numbers. "
            "Write it as one of these."
        )
        raise InvalidInputError(msg)
    if ours not in IDS and kind not in _NUMBERS:
        msg = (
            f"{file}: {theirs} is {kind}, which is not read as numbers. Convert it, or name "
            "another column."
        )
        raise InvalidInputError(msg)


def with_other_types(database: Database, relation: str, source: Source) -> Source | None:
    """Return a source with other types for ids, if a column has other text than was assumed.

    The type is the first of `_WHOLE` that holds all numbers of the column, or text.

    Parameters
    ----------
    database : Database
        That is open.
    relation : str
        The rows as they were read.
    source : Source
        What was taken for what.
    """
    if not source.whole:
        return None
    asked = (f"count(*) > count({quoted(one)})" for one in source.whole)
    (told,) = database.run(f"SELECT {', '.join(asked)} FROM {relation}")
    mixed = [one for one, is_mixed in zip(source.whole, told, strict=True) if is_mixed]
    if not mixed:
        return None
    kinds = {**source.whole, **{one: _type_of(database, source, one) for one in mixed}}
    return replace(source, whole={one: kind for one, kind in kinds.items() if kind})


def _type_of(database: Database, source: Source, column: str) -> str | None:
    """Return the type for a column of text, None if some of it is no whole number of 64 bits."""
    number = _PLAIN.format(source.sql[column], _LONGEST)
    asked = f"count(*) = count({number}), min({number})::VARCHAR, max({number})::VARCHAR"
    ((all_whole, low, high),) = database.run(f"SELECT {asked} FROM {source.relation}")
    if not all_whole:
        return None
    fits = (
        kind for kind, (least, most) in _WHOLE.items() if least <= int(low) <= int(high) <= most
    )
    return next(fits, None)
