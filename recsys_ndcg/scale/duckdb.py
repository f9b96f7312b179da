"""The engine for files and streams larger than memory: DuckDB sorts them by user on disk."""

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
from recsys_ndcg.files import replacing, writing
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scale.database import (
    AS_TEXT,
    FILE,
    Database,
    Memory,
    arenas_held,
    file_literal,
    give_back,
    literal,
    quoted,
    temporary_folder,
)
from recsys_ndcg.scale.engines import IDS, evaluate_batches, given_tables
from recsys_ndcg.scale.facts import Fault, LazyTable, RowFacts, facts_of
from recsys_ndcg.scale.sources import LONGEST, Source, cast_whole_ids, source_of

if TYPE_CHECKING:
    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan, Scores


class ScoreFile:
    """Scores of users under some metrics, a file for each metric, without those who have none.

    Of all statistics the median alone needs them.

    Parameters
    ----------
    folder : Path
        Where they are written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []

    def add(self, per_user: Floats) -> None:
        """Write the scores of some users: shape (n_users, n_metrics), NaN where there is none."""
        self._paths = [self._folder / f"scores_{place}" for place in range(per_user.shape[1])]
        for path, column in zip(self._paths, per_user.T, strict=True):
            with path.open("ab") as file:
                file.write(column[~np.isnan(column)].tobytes())

    def median(self) -> Floats:
        """Return the median of each metric, NaN of no scores; the files are not in order after it.

        What the system maps of a file it may take out of the memory again.
        """
        found = np.full(len(self._paths), np.nan)
        for place, path in enumerate(self._paths):
            if path.stat().st_size:
                scores = np.memmap(path, dtype=np.float64, mode="r+")
                found[place] = np.median(scores, overwrite_input=True)
        return found


@contextmanager
def users_file(path: str | Path | None) -> Iterator[Callable[[Scores], None]]:
    """Write users to a file, which is there when all of them are; None writes nothing.

    Parameters
    ----------
    path : str or Path, optional
        The file; one that is there is replaced.

    Raises
    ------
    InvalidInputError
        It is no file of Parquet, or cannot be written.
    """
    if path is None:
        yield lambda _: None
        return
    if not str(path).lower().endswith(".parquet"):
        msg = f"{path}: scores of users are written to Parquet as they come: end it in .parquet."
        raise InvalidInputError(msg)
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    writers = list[Any]()
    with writing(path), replacing(path) as file, ExitStack() as stack:

        def write(scores: Scores) -> None:
            table = pa.Table.from_pandas(scores.table().reset_index(), preserve_index=False)
            with writing(path):
                if not writers:
                    writers.append(stack.enter_context(parquet.ParquetWriter(file, table.schema)))
                writers[0].write_table(table)

        yield write


_PARTS = 3  # of what the memory holds: how much is measured at once where not all of it can be


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
    """Evaluate files or a stream within a limit of memory.

    Parameters
    ----------
    data : path, pattern, list of paths, or what streams Arrow's batches
        Predictions; or a mapping of two such, ``{"labels": ..., "results": ...}``.
    plan : Plan
        What is measured.
    memory_limit : str or number, optional
        How much the process may use: ``"2GB"``; by default half of what is free.
    columns, text
        As in `recsys_ndcg.RankedLists.from_file`.
    per_user : path, optional
        Where the scores of every user are written.
    n_items : int, optional
        As in `recsys_ndcg.RankedLists.from_labels`.
    progress : bool
        Whether a bar shows how far it is.

    Returns
    -------
    Report
        The same as in memory. Beyond as many users as the memory holds, it sums them up and keeps
        none. It holds the lists where they fit at once.

    Raises
    ------
    InvalidInputError
        The data cannot be read or ranked, a user has more rows than the memory holds, or a file
        cannot be written.
    MissingExtraError
        DuckDB or pyarrow is not installed.
    """
    with require_libraries("duckdb", "pyarrow", job="Data larger than memory", extra="scale"):
        pass
    memory = Memory.within(memory_limit, len(plan.measurements))
    with (
        users_file(per_user) as write,
        temporary_folder() as folder,  # within: what it has no room for is not of that file
        progress_bar(enabled=progress) as show,
    ):
        sources = {
            name: source_of(table, named, name, folder, text)
            for name, (table, named) in given_tables(data, columns).items()
        }
        paths, bounds, facts = _sorted(sources, folder, memory, plan, show)
        scores, n_users = ScoreFile(folder), 0

        def keep(some: Scores) -> bool:
            nonlocal n_users
            n_users += len(some.users)
            write(some)
            scores.add(some.per_user)
            return memory.keeps(n_users)

        return evaluate_batches(
            lambda: _batches(paths, bounds, show),
            plan,
            facts,
            n_items=n_items,
            is_whole=not bounds,
            keep=keep,
            median=scores.median,
            where=(
                "Ask for them in a file, per_user='scores.parquet', or give a higher memory_limit."
                if per_user is None
                else f"Their scores are in {per_user}."
            ),
        )


def _sorted(
    sources: dict[str, Source],
    folder: Path,
    memory: Memory,
    plan: Plan,
    show: Callable[[str, float], None],
) -> tuple[dict[str, Path], list[Any], RowFacts]:
    """Write the rows of each table in the order of the users, and look at all of them once.

    Returns
    -------
    tuple
        The files by what the tables are, the last user of each batch but for the last one, and what
        is known of all rows.
    """
    # otherwise by item, so that the same rows give the same lists each time
    ties = {one.convention.ties for one in plan.measurements}
    in_order = plan.duplicates in ("first", "last") or "input" in ties
    paths = {name: folder / f"{name}.parquet" for name in sources}
    extra, order = (["row_number() OVER () AS row"], "row") if in_order else ([], '"item"')
    with arenas_held(), closing(Database(folder / "spill", memory.database, show)) as database:
        for one in sources.values():
            if one.stream is not None:
                database.register(one.relation.strip('"'), one.stream)
            if one.is_text:
                cast_whole_ids(database, one)
        kinds, tables = {one.kinds["user"] for one in sources.values()}, dict[str, LazyTable]()
        for name, one in sources.items():
            if len(kinds) > 1 and "text" not in kinds:  # whole numbers with and without a sign
                one.sql["user"] = f"CAST({one.sql['user']} AS {LONGEST})"
            columns = ", ".join(map(quoted, one.names))
            database.run(
                f'COPY (SELECT {columns} FROM {one.read(*extra)} ORDER BY "user", {order}) '
                f"TO {literal(str(paths[name]))} (FORMAT parquet, COMPRESSION uncompressed)",
                "Bringing users together",
            )
            frame = nw.from_native(database.relation(_read(paths[name])))
            tables[name] = _DuckDBTable(frame, one.names, one.is_text, database, one)
        facts = facts_of(tables)
        text = [one for one in IDS if all(each.kinds[one] == "text" for each in sources.values())]
        bounds = _bounds(database, paths, memory, text)
    give_back()
    return paths, bounds, facts


def _read(path: Path) -> str:
    return f"read_parquet({file_literal(path)})"


@dataclass(frozen=True, eq=False)
class _DuckDBTable(LazyTable):
    """A table in a database, of which messages name the file that is at fault."""

    database: Database
    source: Source

    def rows(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them."""
        names = query.collect_schema().names()
        found = self.database.run(nw.to_native(query).sql_query())
        return [dict(zip(names, row, strict=True)) for row in found]

    def with_fault(self, fault: Fault) -> tuple[str, nw.LazyFrame[Any]]:
        """Return the files that have rows with a fault, and those of the first one."""
        if self.source.stream is not None:  # it cannot be read again
            return super().with_fault(fault)
        # DuckDB 2 would miss NaN in Parquet, as the minimum and maximum of a column leave it out
        self.database.run("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'")
        read = nw.from_native(self.database.relation(self.source.read(FILE)))
        wrong = read.filter(fault.where)
        files = sorted(row[FILE] for row in self.rows(wrong.select(FILE).unique()))
        others = f" and {format_count(len(files) - 1, 'other file')}" if len(files) > 1 else ""
        return f"{files[0]}{others}: ", wrong.filter(nw.col(FILE) == files[0])


def _bounds(
    database: Database, paths: Mapping[str, Path], memory: Memory, text: Sequence[str]
) -> list[Any]:
    """Return after which users a batch ends, but for the last one.

    Raises
    ------
    InvalidInputError
        A single user takes more than the memory holds.
    """
    letters = " + ".join(f"strlen({quoted(one)}) + {AS_TEXT}" for one in text) or "0"
    rows = " UNION ALL ".join(
        f'SELECT "user", {letters} AS letters FROM {_read(path)}' for path in paths.values()
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
            f"The user {quote(user)} has {n_rows:,} rows, more than the memory holds at once: "
            f"within memory_limit={Memory.limit_for(most)!r} they can be ranked."
        )
        raise InvalidInputError(msg)
    if total <= memory.budget:
        return []
    parts = f'sum(cost) OVER (ORDER BY "user") // {max(memory.budget // _PARTS, 1)}'
    found = database.run(
        f'SELECT max("user") FROM (SELECT "user", {parts} AS part FROM users) '
        "GROUP BY part ORDER BY part"
    )
    return [last for (last,) in found][:-1]


def _batches(
    paths: Mapping[str, Path], bounds: Sequence[Any], show: Callable[[str, float], None]
) -> Iterator[Mapping[str, Any]]:
    """Give as many users at once as the memory holds."""
    for place in range(len(bounds) + 1):
        ends = bounds[max(place - 1, 0) : place], bounds[place : place + 1]
        yield {name: _rows_between(path, *ends) for name, path in paths.items()}
        show("Measuring users", (place + 1) / (len(bounds) + 1))


def _rows_between(path: Path, after: Sequence[Any], until: Sequence[Any]) -> Any:
    """Read the rows of users beyond one, if there is one, and up to another one."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    kind = parquet.read_schema(path).field("user").type
    wanted = [("user", ">", pa.scalar(one, kind)) for one in after]
    wanted += [("user", "<=", pa.scalar(one, kind)) for one in until]
    return parquet.read_table(path, filters=wanted or None, partitioning=None)
