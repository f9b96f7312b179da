"""The engine for files and streams larger than memory: DuckDB sorts them by user on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.lists.description import counted
from recsys_ndcg.rendering.progress import progress_bar
from recsys_ndcg.scale.database import (
    FILE,
    Database,
    file_literal,
    literal,
    quoted,
    temporary_folder,
)
from recsys_ndcg.scale.engines import IDS
from recsys_ndcg.scale.facts import FIRST, Fault, LazyTable, facts_of, pairs_of
from recsys_ndcg.scale.memory import AS_TEXT, Cost, Memory, give_back
from recsys_ndcg.scale.score_files import ScoreFile, users_file
from recsys_ndcg.scale.sources import ROW, source_of, with_other_types
from recsys_ndcg.scale.tables import ListMaker, UserBatch, evaluate_batches, given_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scale.facts import RowFacts
    from recsys_ndcg.scale.sources import Source
    from recsys_ndcg.scoring.plan import Plan
    from recsys_ndcg.scoring.scores import Scores

_KEY = "user_as_text"  # by which users are sorted where two tables write them in different ways
_PARTS = 3  # of what the memory holds: how much is measured at once where not all of it can be
_PIECES = 8  # of that, one of which is read at a time
_MOST = 1 << 15  # rows of a piece


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
    memory = Memory.within(memory_limit)
    with (
        temporary_folder() as folder,
        users_file(per_user) as write,
        progress_bar(wanted=progress) as show,
    ):
        sources = {
            name: source_of(table, named, name, folder, text)
            for name, (table, named) in given_tables(data, columns).items()
        }
        tables, facts = _sorted(sources, folder, memory, plan, show)
        scores, n_users = ScoreFile(folder), 0

        def keep(some: Scores) -> bool:
            nonlocal n_users
            n_users += len(some.users)
            write(some)
            scores.add(some.per_user)
            return memory.keeps(n_users, len(plan.measurements))

        return evaluate_batches(
            tables.batches,
            ListMaker(plan.duplicates, n_items),
            plan,
            facts,
            keep=keep,
            median=scores.median,
            where=_where(per_user),
        )


def _where(per_user: str | Path | None) -> str:
    """Return where the scores of each user are, or how to have them."""
    if per_user is not None:
        return f"Their scores are in {per_user}."
    return "Ask for them in a file, per_user='scores.parquet', or give a higher memory_limit."


def _sorted(
    sources: dict[str, Source],
    folder: Path,
    memory: Memory,
    plan: Plan,
    show: Callable[[str, float], None],
) -> tuple[SortedTables, RowFacts]:
    """Write the rows of each table in the order of the users, and look at all of them once."""
    cost, budget = Cost(len(plan.measurements)), memory.budget
    about = [one.n_rows for one in sources.values()]
    # the order of rows is kept where something hangs on it, or they seem to be few
    few = None not in about and 2 * cost.of(sum(one or 0 for one in about)) <= budget
    in_order = few or plan.duplicates in ("first", "last") or any(
        one.convention.ties == "input" for one in plan.measurements
    )  # fmt: skip
    rows = folder / "rows"
    rows.mkdir()
    paths = {name: rows / f"{name}.parquet" for name in sources}
    with Database(folder / "spill", memory.database, show) as database:
        for one in sources.values():
            if one.stream is not None:
                database.register(one.relation.strip('"'), one.stream)
        unsorted = [*sources]
        while unsorted:
            alike = len({one.kind("user") for one in sources.values()}) == 1
            for name in unsorted:
                _sort(database, sources[name], paths[name], alike=alike, in_order=in_order)
            others = {
                name: with_other_types(database, _read(paths[name]), sources[name])
                for name in unsorted
            }  # what began with whole numbers goes on with other text
            changed = {name: one for name, one in others.items() if one is not None}
            sources |= changed
            unsorted = [*sources] if changed else []
        facts = facts_of(
            {
                name: _DuckDBTable(
                    nw.from_native(database.relation(_read(paths[name]))),
                    one.names,
                    short_grades=one.kinds.get("true") == "float",
                    read_as_text=one.text is not None,
                    database=database,
                    source=one,
                )
                for name, one in sources.items()
            }
        )
        text = [one for one in IDS if all(each.kind(one) == "text" for each in sources.values())]
        whole = sum(_cost_of(database, path, cost, text) for path in paths.values())
    give_back()
    at_once = budget if whole <= budget else budget // _PARTS
    return SortedTables(paths, facts.rows, budget, at_once, cost, text, show), facts


def _cost_of(database: Database, path: Path, cost: Cost, text: Sequence[str]) -> int:
    """Return what all rows of a file would take in memory."""
    letters = " + ".join(f"sum(strlen({quoted(one)}) + {AS_TEXT})" for one in text) or "0"
    ((rows, users, found),) = database.run(
        f'SELECT count(*), approx_count_distinct("user"), ({letters})::BIGINT FROM {_read(path)}'
    )
    return cost.of(rows, users, found)


def _sort(database: Database, source: Source, path: Path, *, alike: bool, in_order: bool) -> None:
    key = '"user"' if alike else _KEY
    column = "" if alike else f', CAST("user" AS VARCHAR) AS {_KEY}'
    order = f"{key}, {ROW}" if in_order else key
    database.run(
        f"COPY (SELECT *{column} FROM {source.read(in_order=in_order)} ORDER BY {order}) "
        f"TO {literal(str(path))} (FORMAT parquet, COMPRESSION uncompressed)",
        "Bringing users together",
    )


def _read(path: Path) -> str:
    return f"read_parquet({file_literal(path)})"


@dataclass(frozen=True, eq=False)
class _DuckDBTable(LazyTable):
    """A table in a database, of which messages name the file that is at fault."""

    database: Database = None  # type: ignore[assignment]
    source: Source = None  # type: ignore[assignment]

    def rows(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them."""
        names = query.collect_schema().names()
        found = self.database.run(nw.to_native(query).sql_query())
        return [dict(zip(names, row, strict=True)) for row in found]

    def refusal(self, fault: Fault, count: int) -> str:
        """Return what is said of rows with a fault, naming the first ones of the first file."""
        where, wrong = self.source.name, self.frame.filter(fault.where)
        if self.source.stream is None:  # it can be read again
            files = nw.from_native(self.database.relation(self.source.read(FILE)))
            wrong = files.filter(fault.where)
            where = self.rows(wrong.select(FILE).head(1))[0][FILE]
            wrong = wrong.filter(nw.col(FILE) == where)
        some = pairs_of(self.rows(wrong.select(*IDS).head(FIRST)), "; ")
        what = f"{self.names[fault.column]} {fault.of_column}"
        return (
            f"{where}: {what}: {some}. {counted(count, 'such row')} in all: correct what is wrong."
        )


@dataclass(frozen=True)
class SortedTables:
    """Files with the rows of tables, in the order of the users.

    Parameters
    ----------
    paths : mapping
        Of files of Parquet, by what the tables are.
    n_rows : int
        How many there are in all of them.
    budget, at_once : int
        How many bytes of memory one user may take while measured, and several together.
    cost : Cost
        What rows and users take of it.
    text : sequence of str
        Which columns of ids are text.
    show : callable
        Told how far it is.
    """

    paths: Mapping[str, Path]
    n_rows: int
    budget: int
    at_once: int
    cost: Cost
    text: Sequence[str]
    show: Callable[[str, float], None]

    def batches(self) -> Iterator[UserBatch]:
        """Give as many users at once as the memory holds.

        Raises
        ------
        InvalidInputError
            A single user takes too much.
        """
        size = min(max(self.at_once // self.cost.of(1, 1) // _PIECES, 1), _MOST)
        files = {name: _SortedFile(path, size, self) for name, path in self.paths.items()}
        while open_files := [one for one in files.values() if not one.ended]:
            least = min(open_files, key=lambda one: one.last)
            if sum(one.cost for one in files.values()) <= self.at_once:
                least.read()
            elif any(one.has_before(least.last) for one in files.values()):
                yield _taken(files, before=least.last)
                left = sum(one.n_left for one in files.values())
                self.show("Measuring users", 1 - left / self.n_rows)
            else:
                self._check_user([*files.values()], least.last)
                least.read()
        yield _taken(files)
        self.show("Measuring users", 1.0)

    def _check_user(self, files: Sequence[_SortedFile], user: Any) -> None:
        """Refuse a user who takes more than the memory holds, whose rows are the first ones."""
        if self._cost_of(one.n_rows_of(user) for one in files) <= self.budget:
            return
        for one in files:
            while one.last == user and not one.ended:
                one.read()
        sizes = [one.n_rows_of(user) for one in files]
        msg = (
            f"The user {shown(user)} has {sum(rows for rows, _ in sizes):,} rows, more than the "
            f"memory holds at once: within memory_limit="
            f"{Memory.limit_for(self._cost_of(sizes))!r} they can be ranked."
        )
        raise InvalidInputError(msg)

    def _cost_of(self, sizes: Iterable[tuple[int, int]]) -> int:
        rows, letters = map(sum, zip(*sizes, strict=True))
        return self.cost.of(rows, 1, letters)


def _taken(files: Mapping[str, _SortedFile], before: Any = None) -> UserBatch:
    tables = {name: one.take(before) for name, one in files.items()}
    return UserBatch(tables, is_last=before is None)


class _SortedFile:
    """Rows of a file in the order of their users, of which some are held.

    Parameters
    ----------
    path : Path
        Of the file, which has rows.
    size : int
        How many are read at a time.
    tables : SortedTables
        What rows cost.

    Attributes
    ----------
    last : object
        The last user who is held.
    ended : bool
        Whether there are no more rows than are held.
    cost, n_left : int
        How many bytes of memory those take that are held; how many rows are not taken yet.
    """

    def __init__(self, path: Path, size: int, tables: SortedTables) -> None:
        from pyarrow import parquet  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

        file = parquet.ParquetFile(path)
        self._schema, self._pieces = file.schema_arrow, file.iter_batches(size)
        self._key = _KEY if _KEY in self._schema.names else "user"
        self._tables = tables
        self._held = list[Any]()
        self.n_left = file.metadata.num_rows
        self.cost, self.ended = 0, False
        self.last: Any = None
        self.read()

    def read(self) -> None:
        """Hold some more rows, if there are any."""
        piece = next(self._pieces, None)
        if piece is None:
            self.ended = True
            return
        self._held.append(piece)
        self.cost += self._cost(piece)
        self.last = piece.column(self._key)[-1].as_py()

    def has_before(self, user: Any) -> bool:
        """Tell whether rows of earlier users are held."""
        return bool(self._held) and self._held[0].column(self._key)[0].as_py() < user

    def take(self, before: Any = None) -> Any:
        """Return the rows of earlier users, or all that are held, and hold them no longer."""
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415 - an extra

        rows = pa.Table.from_batches(self._held, self._schema)
        count = len(rows)
        if before is not None:
            count = pc.sum(pc.less(rows.column(self._key), before)).as_py() or 0
        self._held = rows.slice(count).to_batches()
        self.cost = sum(map(self._cost, self._held))
        self.n_left -= count
        others = [name for name in (_KEY, ROW) if name in self._schema.names]
        return rows.slice(0, count).drop_columns(others)

    def n_rows_of(self, user: Any) -> tuple[int, int]:
        """Return how many rows of a user are held, and how many letters their ids have."""
        import pyarrow.compute as pc  # noqa: PLC0415 - an extra

        of_user = [one.filter(pc.equal(one.column(self._key), user)) for one in self._held]
        return sum(map(len, of_user)), sum(map(self._n_letters, of_user))

    def _cost(self, piece: Any) -> int:
        import pyarrow.compute as pc  # noqa: PLC0415 - an extra

        users = piece.column(self._key)
        n_users = 1 + (pc.sum(pc.not_equal(users[1:], users[:-1])).as_py() or 0)
        return self._tables.cost.of(len(piece), n_users, self._n_letters(piece))

    def _n_letters(self, piece: Any) -> int:
        import pyarrow.compute as pc  # noqa: PLC0415 - an extra

        return sum(
            AS_TEXT * len(piece) + (pc.sum(pc.binary_length(piece.column(name))).as_py() or 0)
            for name in self._tables.text
        )
