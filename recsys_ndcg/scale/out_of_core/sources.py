"""What is read out of core: files by their names, and streams of Arrow's."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, needing, shown
from recsys_ndcg.errors.visible import is_encodable
from recsys_ndcg.files.contents import PACKINGS
from recsys_ndcg.input.file_kinds import kind_of_file
from recsys_ndcg.input.files import existing_file
from recsys_ndcg.input.frames import Table
from recsys_ndcg.scale.doors import is_files, paths_of
from recsys_ndcg.scale.out_of_core.database import FILE, file_literal, literal, quoted
from recsys_ndcg.scale.out_of_core.kinds import IDS, checked_kinds
from recsys_ndcg.scale.out_of_core.text_files import SUFFIXES, TextFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat

    Wanted = Callable[[Table], Sequence[str]]


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


def source_of(
    data: Any,
    columns: Mapping[str, str] | None,
    wanted: Wanted,
    place: Path,
    form: TextFormat | None = None,
) -> Source:
    """Look at what is given, and no further than its heading.

    Parameters
    ----------
    data : path, pattern, list of these, or anything that gives a stream of Arrow's
        All of one kind.
    columns : mapping, optional
        Our names to its own.
    wanted : callable
        Tells which of our columns are read of a table, by its heading.
    place : Path
        A folder that is not there yet, into which a lazy table is worked out; its name is that of
        a stream.
    form : TextFormat, optional
        How text is written.

    Raises
    ------
    InvalidInputError
        A file cannot be read, has other columns than the first, or is of a kind that is not read
        in this way; or the data is none of these.
    """
    if hasattr(data, "sink_parquet"):  # a lazy table of polars, that need not fit the memory
        place.mkdir()
        data = _worked_out(data, columns, wanted, place / "lazy.parquet")
    if not is_files(data):
        return _stream(data, columns, wanted, quoted(place.name))
    paths = _checked(paths_of(data))
    kinds = set(map(_kind_of, paths))
    if len(kinds) > 1:
        other = next(path for path in paths if _kind_of(path) != _kind_of(paths[0]))
        msg = f"{other}: is of another kind than {paths[0]}. Give files of one kind."
        raise InvalidInputError(msg)
    if kinds == {"Parquet"}:
        return _parquet(paths, columns, wanted)
    return _text(paths, columns, wanted, form)


def _worked_out(data: Any, columns: Mapping[str, str] | None, wanted: Wanted, path: Path) -> Path:
    """Write the columns of a lazy table of polars that are read to a file."""
    try:
        table = Table(dict.fromkeys(data.collect_schema().names(), ()), columns)
        names = dict.fromkeys(table.called(*wanted(table)).values())
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
    kind, packing = kind_of_file(path), path.suffix.lower()
    other = packing in PACKINGS and (packing not in SUFFIXES or kind.is_binary)
    if other or not kind.in_database:
        msg = (
            f"{path}: within a memory limit, and of several files, Parquet and CSV are read (CSV "
            "also packed as .gz or .zst). Write it as one of these, or evaluate it by itself "
            "without memory_limit."
        )
        raise InvalidInputError(msg)
    return kind.name


def _parquet(paths: Sequence[Path], columns: Mapping[str, str] | None, wanted: Wanted) -> Source:
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
    names = _named(schemas[str(paths[0])], columns, wanted)
    kinds = checked_kinds(schemas, names)
    sql = _named_in_sql(schemas[str(paths[0])], names)
    files = ", ".join(map(file_literal, paths))
    options = f"filename = {literal(FILE)}, hive_partitioning = false, union_by_name = true"
    relation = f"read_parquet([{files}], {options})"
    return Source(_called(paths), relation, names, sql, kinds, n_rows)


def _text(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None,
    wanted: Wanted,
    form: TextFormat | None,
) -> Source:
    text = TextFiles.of(paths, columns, form)
    with needing("pyarrow", job="Data larger than memory", extra="scale"):
        import pyarrow as pa  # noqa: PLC0415 - an extra
    names = _named(pa.schema([(name, pa.string()) for name in text.columns]), columns, wanted)
    sql = {ours: text.sql(theirs) for ours, theirs in names.items()}
    kinds, rows = dict.fromkeys(names, "text"), text.about_rows
    whole = {one: "BIGINT" for one in IDS if text.seems_whole(names[one])}
    return Source(_called(paths), text.relation, names, sql, kinds, rows, text, whole=whole)


def _stream(data: Any, columns: Mapping[str, str] | None, wanted: Wanted, relation: str) -> Source:
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
    names = _named(reader.schema, columns, wanted)
    kinds = checked_kinds({"the data": reader.schema}, names)
    sql = _named_in_sql(reader.schema, names)
    return Source("the data", relation, names, sql, kinds, n_rows, stream=reader)


def _named(schema: Any, columns: Mapping[str, str] | None, wanted: Wanted) -> dict[str, str]:
    """Return what a table calls our columns, with the words of any table for what is not there."""
    table = Table(schema.empty_table(), columns)
    names = table.called(*wanted(table))
    table.say_names()
    return names


def _named_in_sql(schema: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Return what SQL calls columns, if it can tell them from the others."""
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
    return {ours: quoted(theirs) for ours, theirs in names.items()}


def _called(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
