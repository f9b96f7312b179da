"""The engine for files and streams larger than memory: DuckDB sorts them by user on disk.

The import raises `MissingExtraError` if DuckDB or pyarrow is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, format_count, quote, require_libraries
from recsys_ndcg.files import convert_write_errors, open_replacement
from recsys_ndcg.progress import progress_bar

# each module of this engine imports them without asking again
with require_libraries("duckdb", "pyarrow", job="Data larger than memory", extra="scale"):
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

from recsys_ndcg.scale.database import (
    FILE_COLUMN,
    TEXT_OVERHEAD,
    Database,
    Memory,
    hold_arenas,
    quote_name,
    quote_path,
    quote_text,
    release_memory,
    temporary_folder,
)
from recsys_ndcg.scale.engines import IDS, RATINGS, RowFacts, evaluate_batches, split_tables
from recsys_ndcg.scale.facts import Fault, LazyTable, collect_facts
from recsys_ndcg.scale.sources import WIDEST_INTEGER, Source, SourceReader, cast_integer_ids

if TYPE_CHECKING:
    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan, Scores


class ScoreFile:
    """Defined scores on disk, a file per metric: the median needs all of them.

    Parameters
    ----------
    folder : Path
        The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []

    def add(self, per_user: Floats) -> None:
        """Append the scores of some users: shape (n_users, n_metrics), NaN if undefined."""
        self._paths = [self._folder / f"scores_{place}" for place in range(per_user.shape[1])]
        for path, column in zip(self._paths, per_user.T, strict=True):
            with path.open("ab") as file:
                file.write(column[~np.isnan(column)].tobytes())

    def median(self) -> Floats:
        """Return the median of each metric, NaN without scores; this reorders the files.

        They are memory-mapped, so the system can free that memory.
        """
        medians = np.full(len(self._paths), np.nan)
        for place, path in enumerate(self._paths):
            if path.stat().st_size:
                scores = np.memmap(path, dtype=np.float64, mode="r+")
                medians[place] = np.median(scores, overwrite_input=True)
        return medians


@contextmanager
def open_users_file(path: str | Path | None) -> Iterator[Callable[[Scores], None]]:
    """Open a Parquet file for users' scores, which appears when all are written; None writes none.

    Parameters
    ----------
    path : str or Path, optional
        The file, which is replaced if it exists.

    Raises
    ------
    InvalidInputError
        Its name does not end in .parquet, or it cannot be written.
    """
    if path is None:
        yield lambda _: None
        return
    if not str(path).lower().endswith(".parquet"):
        msg = f"{path}: with several files or a memory limit, the name must end in .parquet."
        raise InvalidInputError(msg)
    writers = list[Any]()
    with convert_write_errors(path), open_replacement(path) as file, ExitStack() as stack:

        def write(scores: Scores) -> None:
            table = pa.Table.from_pandas(scores.table().reset_index(), preserve_index=False)
            with convert_write_errors(path):
                if not writers:
                    writers.append(stack.enter_context(parquet.ParquetWriter(file, table.schema)))
                writers[0].write_table(table)

        yield write


_PARTS_PER_BUDGET = 3  # a part takes a third of the budget


def evaluate_by_plan(  # noqa: PLR0913 - one parameter per option
    data: Any,
    plan: Plan,
    *,
    memory_limit: str | float | None = None,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    per_user: str | Path | None = None,
    n_items: int | None = None,
    progress: bool = False,
) -> Report:
    """Evaluate files or a stream within a memory limit.

    Parameters
    ----------
    data : path, pattern, list of paths, or stream of Arrow batches
        Predictions; or a mapping of two such, ``{"labels": ..., "results": ...}``.
    plan : Plan
        What to measure.
    memory_limit : str or number, optional
        The memory of the process, such as ``"2GB"``; by default half of the free memory.
    columns, text
        As in `recsys_ndcg.RankedLists.from_file`.
    per_user : path, optional
        A Parquet file for every user's scores.
    n_items : int, optional
        As in `recsys_ndcg.RankedLists.from_labels`.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Report
        The same as in memory. If the users do not fit into memory, it has only sums over them. It
        holds the lists if they fit at once.

    Raises
    ------
    InvalidInputError
        The data cannot be read or ranked, a user has more rows than the memory holds, or a file
        cannot be written.
    """
    memory = Memory.from_limit(memory_limit, len(plan.measurements))
    tables, separator = split_tables(data, columns)
    with (
        open_users_file(per_user) as write,
        temporary_folder() as folder,  # inside: a full disk is not a fault of that file
        progress_bar(enabled=progress) as show,
    ):
        sources = {
            name: SourceReader(named, name, text, separator).open(table, folder)
            for name, (table, named) in tables.items()
        }
        rules = {one.convention.tie_rule.by for one in plan.measurements}
        in_order = plan.duplicates in ("first", "last") or "input" in rules
        paths, bounds, facts = _sort_by_user(
            sources, folder, memory, show, separator, in_order=in_order
        )
        scores, n_users = ScoreFile(folder), 0

        def keep(some: Scores) -> bool:
            nonlocal n_users
            n_users += len(some.users)
            write(some)
            scores.add(some.per_user)
            return memory.can_keep(n_users)

        return evaluate_batches(
            lambda: _read_batches(paths, bounds, show),
            plan,
            facts,
            n_items=n_items,
            is_whole=not bounds,
            keep=keep,
            median=scores.median,
            where=(
                "Write them to a file, `per_user='scores.parquet'`, or raise the memory_limit."
                if per_user is None
                else f"Their scores are in {per_user}."
            ),
        )


def _sort_by_user(  # noqa: PLR0913 - what `evaluate_by_plan` knows
    sources: dict[str, Source],
    folder: Path,
    memory: Memory,
    show: Callable[[str, float], None],
    separator: str | None = None,
    *,
    in_order: bool = False,
) -> tuple[dict[str, Path], list[Any], RowFacts]:
    """Sort the rows of each table by user on disk, and collect the facts of all rows.

    A user's rows are sorted by item, so that the lists do not depend on the order of the rows, or
    stay `in_order`.

    Returns
    -------
    tuple
        The sorted files by kind, the last user of each batch except the last batch, and the facts
        of all rows.
    """
    paths = {name: folder / f"{name}.parquet" for name in sources}
    extra, order = (["row_number() OVER () AS row"], "row") if in_order else ([], '"item"')
    with hold_arenas(), closing(Database(folder / "spill", memory.database, show)) as database:
        for name, one in sources.items():
            if one.stream is not None:
                database.register(name, one.stream)
            if one.is_text:
                cast_integer_ids(database, one)
        kinds, tables = {one.kinds["user"] for one in sources.values()}, dict[str, LazyTable]()
        for name, one in sources.items():
            if len(kinds) > 1 and "text" not in kinds:  # signed and unsigned integers
                one.sql["user"] = f"CAST({one.sql['user']} AS {WIDEST_INTEGER})"
            columns = ", ".join(map(quote_name, one.names))
            database.run(
                f'COPY (SELECT {columns} FROM {one.select_sql(*extra)} ORDER BY "user", {order}) '
                f"TO {quote_text(str(paths[name]))} (FORMAT parquet, COMPRESSION uncompressed)",
                "Bringing users together",
            )
            frame = nw.from_native(database.relation(_read_sql(paths[name])))
            tables[name] = _DuckDBTable(frame, one.names, one.is_text, database, one)
        facts = collect_facts(tables, separator)
        text = [one for one in IDS if all(each.kinds[one] == "text" for each in sources.values())]
        bounds = _split_users(database, paths, memory, text)
    release_memory()
    return paths, bounds, facts


def read_users_in_batches(
    data: Any, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[tuple[Mapping[str, str], Any]]:
    """Yield all ratings of some users at a time: the names of the columns, and a table of pyarrow.

    Parameters
    ----------
    data : path, pattern, list of paths, or stream of Arrow batches
        The ratings, which are sorted on disk.
    columns : mapping, optional
        Our names of user, item, rating and timestamp to the table's.
    memory_limit : str or number, optional
        As in `recsys_ndcg.evaluate`.

    Raises
    ------
    InvalidInputError
        As for `evaluate`.
    """
    memory = Memory.from_limit(memory_limit, 1)
    with temporary_folder() as folder, progress_bar(enabled=True) as show:
        sources = {RATINGS: SourceReader(columns, RATINGS).open(data, folder)}
        paths, bounds, _ = _sort_by_user(sources, folder, memory, show)
        for batch in _read_batches(paths, bounds, show):
            yield sources[RATINGS].names, batch[RATINGS]


def _read_sql(path: Path) -> str:
    return f"read_parquet({quote_path(path)}, hive_partitioning = false)"


@dataclass(frozen=True, eq=False)
class _DuckDBTable(LazyTable):
    """A table in a database, with messages that name the file at fault."""

    database: Database
    source: Source

    def fetch(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them."""
        names = query.collect_schema().names()
        rows = self.database.run(nw.to_native(query).sql_query())
        return [dict(zip(names, row, strict=True)) for row in rows]

    def find_fault(self, fault: Fault) -> tuple[str, nw.LazyFrame[Any]]:
        """Return the names of the files with a fault, and the faulty rows of the first file."""
        if self.source.stream is not None:  # which cannot be read again
            return super().find_fault(fault)
        # DuckDB 2 would miss NaN in Parquet: the stored minimum and maximum ignore it
        self.database.run("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'")
        read = nw.from_native(self.database.relation(self.source.select_sql(FILE_COLUMN)))
        wrong = read.filter(fault.where)
        files = sorted(row[FILE_COLUMN] for row in self.fetch(wrong.select(FILE_COLUMN).unique()))
        others = f" and {format_count(len(files) - 1, 'other file')}" if len(files) > 1 else ""
        return f"{files[0]}{others}: ", wrong.filter(nw.col(FILE_COLUMN) == files[0])


def _split_users(
    database: Database, paths: Mapping[str, Path], memory: Memory, text: Sequence[str]
) -> list[Any]:
    """Return the last user of each batch, except the last batch.

    Raises
    ------
    InvalidInputError
        A single user does not fit into memory.
    """
    letters = " + ".join(f"strlen({quote_name(one)}) + {TEXT_OVERHEAD}" for one in text) or "0"
    rows = " UNION ALL ".join(
        f'SELECT "user", {letters} AS letters FROM {_read_sql(path)}' for path in paths.values()
    )
    by_row, by_user, by_letter = memory.cost(1), memory.cost(0, 1), memory.cost(0, 0, 1)
    cost = f"(count(*) * {by_row} + {by_user} + sum(letters) * {by_letter})::BIGINT"
    database.run(
        f'CREATE TABLE users AS SELECT "user", count(*) AS n, {cost} AS cost '
        f'FROM ({rows}) GROUP BY "user"'
    )
    ((total, most, user, n_rows),) = database.run(
        'SELECT sum(cost)::BIGINT, max(cost), max_by("user", cost), max_by(n, cost) FROM users'
    )
    if most > memory.budget:
        msg = (
            f"The user {quote(user)} has {n_rows:,} rows, which do not fit into memory at once. "
            f"Set `memory_limit={Memory.format_limit(most)!r}`."
        )
        raise InvalidInputError(msg)
    if total <= memory.budget:
        return []
    parts = f'sum(cost) OVER (ORDER BY "user") // {max(memory.budget // _PARTS_PER_BUDGET, 1)}'
    found = database.run(
        f'SELECT max("user") FROM (SELECT "user", {parts} AS part FROM users) '
        "GROUP BY part ORDER BY part"
    )
    return [last for (last,) in found][:-1]


def _read_batches(
    paths: Mapping[str, Path], bounds: Sequence[Any], show: Callable[[str, float], None]
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of as many users at once as fit into memory."""
    for place in range(len(bounds) + 1):
        ends = bounds[max(place - 1, 0) : place], bounds[place : place + 1]
        yield {name: _read_users(path, *ends) for name, path in paths.items()}
        show("Measuring users", (place + 1) / (len(bounds) + 1))


def _read_users(path: Path, after: Sequence[Any], until: Sequence[Any]) -> Any:
    """Read the rows of the users after one user and up to another; both are optional."""
    kind = parquet.read_schema(path).field("user").type
    wanted = [("user", ">", pa.scalar(one, kind)) for one in after]
    wanted += [("user", "<=", pa.scalar(one, kind)) for one in until]
    return parquet.read_table(path, filters=wanted or None)
