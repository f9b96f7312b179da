"""What is read out of core: files by their names, and streams of Arrow's."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, check_path, needing, shown
from recsys_ndcg.input.frames import Table
from recsys_ndcg.scale.doors import is_files, is_pattern
from recsys_ndcg.scale.out_of_core.database import FILE, literal
from recsys_ndcg.scale.out_of_core.kinds import checked_kinds
from recsys_ndcg.scale.out_of_core.text_files import SUFFIXES, TextFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.scale.out_of_core.database import Database

    Wanted = Callable[[Table], Sequence[str]]

_PARQUET = (".parquet", ".pq")


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
    kinds : mapping
        Our names to what their values are, as Arrow says; text in files of text.
    n_rows : int, optional
        How many rows there are at least, if that is known, or about how many.
    text : TextFiles, optional
        How to read numbers in text.
    stream : object, optional
        What is read once, and no more.
    whole : frozenset of str
        Which of our columns of ids are taken for whole numbers, though they are text.
    """

    name: str
    relation: str
    names: Mapping[str, str]
    kinds: Mapping[str, str]
    n_rows: int | None
    text: TextFiles | None = None
    stream: Any = None
    whole: frozenset[str] = frozenset()

    def kind(self, column: str) -> str:
        """Return what the values of one of our columns are read as."""
        return "whole numbers" if column in self.whole else self.kinds[column]

    @property
    def rereads(self) -> bool:
        """Whether it can be read again, to look for what is wrong."""
        return self.stream is None

    def open_in(self, database: Database) -> None:
        """Let a database read it."""
        if self.stream is not None:
            database.register(self.relation, self.stream)


def source_of(
    data: Any,
    columns: Mapping[str, str] | None,
    wanted: Wanted,
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
    wanted : callable
        Tells which of our columns are read of a table, by its heading.
    folder : Path
        Where a lazy table is worked out into.
    form : TextFormat, optional
        How text is written.

    Raises
    ------
    InvalidInputError
        A file cannot be read, has other columns than the first, or is of a kind that is not read
        in this way; or the data is none of these.
    """
    if hasattr(data, "sink_parquet"):  # a lazy table of polars, that need not fit the memory
        data.sink_parquet(folder / "lazy.parquet")
        data = folder / "lazy.parquet"
    if not is_files(data):
        return _stream(data, columns, wanted)
    paths = paths_of(data)
    kinds = set(map(_kind_of, paths))
    if len(kinds) > 1:
        other = next(path for path in paths if _kind_of(path) != _kind_of(paths[0]))
        msg = f"{other}: is of another kind than {paths[0]}. Give files of one kind."
        raise InvalidInputError(msg)
    if kinds == {"Parquet"}:
        return _parquet(paths, columns, wanted)
    return _text(paths, columns, wanted, form)


def paths_of(data: Any) -> list[Path]:
    """Return the files that are meant, in the order they are given; those of a pattern by name.

    Raises
    ------
    InvalidInputError
        There is no such file, or one is given twice.
    """
    found: list[str] = []
    for one in data if isinstance(data, list | tuple) else [data]:
        check_path(one)
        name = os.fspath(one)
        pattern = is_pattern(name)
        matching = sorted(glob.glob(name, recursive=True)) if pattern else [name]  # noqa: PTH207 - from anywhere
        if not matching:
            msg = f"{name}: no file has such a name."
            raise InvalidInputError(msg)
        found += matching
    for name in found:
        if found.count(name) > 1:
            msg = f"{name}: is given twice, so that every row of it would be."
            raise InvalidInputError(msg)
        if not Path(name).is_file():
            there = "Is a directory" if Path(name).is_dir() else "No such file"
            msg = f"{name}: cannot be read ({there})."
            raise InvalidInputError(msg)
    return [Path(name) for name in found]


def _kind_of(path: Path) -> str:
    suffixes = [one.lower() for one in path.suffixes[-2:]]
    last = suffixes[-1] if suffixes else ""
    if last in _PARQUET:
        return "Parquet"
    inner = suffixes[0] if last in SUFFIXES and len(suffixes) > 1 else last
    if last in {".bz2", ".xz", ".zip"} or inner in {
        ".jsonl",
        ".ndjson",
        ".json",
        ".feather",
        ".arrow",
        ".pickle",
        ".pkl",
    }:
        msg = (
            f"{path}: within a memory limit, and of several files, Parquet and CSV are read (CSV "
            "also packed as .gz or .zst). Write it as one of these, or evaluate it by itself "
            "without memory_limit."
        )
        raise InvalidInputError(msg)
    return "text"


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
    files = ", ".join(literal(str(path)) for path in paths)
    options = f"filename = {literal(FILE)}, hive_partitioning = false, union_by_name = true"
    relation = f"read_parquet([{files}], {options})"
    return Source(_called(paths), relation, names, kinds, n_rows)


def _text(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None,
    wanted: Wanted,
    form: TextFormat | None,
) -> Source:
    text = TextFiles.of(paths, columns, form)
    names = _named(text.schema, columns, wanted)
    kinds, rows = dict.fromkeys(names, "text"), text.about_rows
    whole = frozenset(one for one in ("user", "item") if text.seems_whole(names[one]))
    return Source(_called(paths), text.relation, names, kinds, rows, text, whole=whole)


def _stream(data: Any, columns: Mapping[str, str] | None, wanted: Wanted) -> Source:
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
    return Source("the data", "streamed", names, kinds, n_rows, stream=reader)


def _named(schema: Any, columns: Mapping[str, str] | None, wanted: Wanted) -> dict[str, str]:
    """Return what a table calls our columns, with the words of any table for what is not there."""
    table = Table(schema.empty_table(), columns)
    names = table.called(*wanted(table))
    table.say_names()
    return names


def _called(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
