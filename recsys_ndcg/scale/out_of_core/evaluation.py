"""Evaluate what is larger than memory: bring users together on disk, measure, merge."""

from __future__ import annotations

from functools import reduce
from operator import add
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from recsys_ndcg.input.rows import check_rows_there
from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.report.reporting import build_report
from recsys_ndcg.scale.out_of_core.buckets import Bucket, Buckets, n_buckets, rows_in
from recsys_ndcg.scale.out_of_core.checks import known_of
from recsys_ndcg.scale.out_of_core.database import Database, temporary_folder
from recsys_ndcg.scale.out_of_core.kinds import IDS
from recsys_ndcg.scale.out_of_core.memory import AS_TEXT, Cost, Memory
from recsys_ndcg.scale.out_of_core.reading import mixed_in, read_sql
from recsys_ndcg.scale.out_of_core.score_file import ScoreFile
from recsys_ndcg.scale.out_of_core.tables import LABELS, PREDICTIONS, Tables, sources_of
from recsys_ndcg.scale.out_of_core.users_file import users_file
from recsys_ndcg.scale.partial_report import PartialReport
from recsys_ndcg.scoring.audit import Audit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.facts import Grades
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scale.out_of_core.checks import Known
    from recsys_ndcg.scale.out_of_core.sources import Source
    from recsys_ndcg.scoring.plan import Plan
    from recsys_ndcg.scoring.scores import Scores


_USUAL = 16  # letters of an id
_UNKNOWN = 16  # buckets of a stream: those that are too large are parted again


def evaluate(  # noqa: PLR0913 - one parameter per option
    data: Any,
    plan: Plan,
    *,
    memory_limit: str | float | None,
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
        sources = sources_of(data, columns, text, folder)
        buckets, known = _partitioned(sources, folder, memory, plan, show)
        tables = Tables(sources, known, plan.duplicates, n_items)
        if len(buckets) == 1:
            report = build_report(tables.lists(buckets[0]), plan)
            write(report.scores)
        else:
            report = _of_buckets(buckets, tables, plan, memory, folder, write, show, per_user)
        tables.warn()
        return report


def _of_buckets(  # noqa: PLR0913, PLR0917 - what is measured, and what is done with the scores
    buckets: list[Bucket],
    tables: Tables,
    plan: Plan,
    memory: Memory,
    folder: Path,
    write: Callable[[Scores], None],
    show: Callable[[str, float], None],
    per_user: str | Path | None,
) -> Report:
    """Measure bucket after bucket, and keep the scores of every user as long as memory allows."""
    grades = _grades(buckets, tables, plan)
    plan = plan.with_threshold(grades)
    scores = ScoreFile(folder, len(plan.measurements))
    parts: list[PartialReport] = []  # all that are measured, added up

    def use(lists: GroupedLists) -> None:
        audit = Audit.of_part(lists, plan, highest=grades.highest)
        write(audit.scores)
        scores.add(audit.scores.per_user)
        keep = not parts or parts[0].kept is not None
        part = PartialReport.of(audit, keep=keep)
        parts[:] = [parts[0] + part if parts else part]
        if not memory.keeps(parts[0].totals.users, len(plan.measurements)):
            parts[:] = [parts[0].without_users()]

    _measure(buckets, tables, show, use)
    (whole,) = parts
    median = scores.median if whole.kept is None else None
    return whole.report(plan, median, _where(per_user))


def _measure(
    buckets: list[Bucket],
    tables: Tables,
    show: Callable[[str, float], None],
    work: Callable[[GroupedLists], None],
) -> None:
    """Have work done on bucket after bucket, each taken away before the next one is read."""
    n_rows, done = sum(one.n_rows for one in buckets), 0
    while buckets:
        bucket = buckets.pop()
        work(tables.lists(bucket))
        done += bucket.n_rows
        show("Measuring users", done / n_rows)


def _partitioned(
    sources: dict[str, Source],
    folder: Path,
    memory: Memory,
    plan: Plan,
    show: Callable[[str, float], None],
) -> tuple[list[Bucket], dict[str, Known]]:
    """Bring the rows of each user together, and look at all of them once."""
    cost, budget, rows = Cost.under(plan), memory.budget, folder / "rows"
    known_rows = [one.n_rows for one in sources.values()]
    n_rows = sum(one or 0 for one in known_rows)
    letters = n_rows * len(_text_ids(sources)) * (AS_TEXT + _USUAL)
    about = None if None in known_rows else cost.of(n_rows, 0, letters)
    count = _UNKNOWN if about is None else n_buckets(about, budget)
    in_order = cost.in_order or count == 1  # where it costs next to nothing
    with Database(folder / "spill", memory.database, show) as database:
        for one in sources.values():
            if one.stream is not None:
                database.register(one.relation.strip('"'), one.stream)
        while True:
            relations = {t: read_sql(one, in_order=in_order) for t, one in sources.items()}
            by_user = Buckets(database, _key(sources), _text_ids(sources), cost)
            buckets = by_user.write(relations, rows, count)
            for table in sources:
                check_rows_there([*(rows / table).iterdir()], f"the {table}")
            mixed = {t: mixed_in(database, rows_in(rows / t), one) for t, one in sources.items()}
            if not any(mixed.values()):
                break
            rmtree(rows)  # what began with whole numbers goes on with other text
            sources |= {table: one for table, one in mixed.items() if one is not None}
        known = {t: known_of(database, rows_in(rows / t), one) for t, one in sources.items()}
        total = sum(one.cost for one in buckets)
        if total <= budget:
            n_rows = sum(one.n_rows for one in buckets)
            return [Bucket({table: rows / table for table in sources}, n_rows, total)], known
        return [*by_user.fitting(buckets, budget, count)], known


def _key(sources: Mapping[str, Source]) -> str:
    """Return by what users are told apart: as text, where tables write them in different ways."""
    kinds = {one.kind("user") for one in sources.values()}
    return '"user"' if len(kinds) == 1 else 'CAST("user" AS VARCHAR)'


def _text_ids(sources: Mapping[str, Source]) -> list[str]:
    return [one for one in IDS if all(each.kind(one) == "text" for each in sources.values())]


def _grades(buckets: list[Bucket], tables: Tables, plan: Plan) -> Grades:
    """Return the bounds of the true values; where rows are merged, of what is left of them."""
    known = tables.known[LABELS if LABELS in tables.known else PREDICTIONS]
    unlabelled = known.unlabelled > 0 or LABELS in tables.known
    if not plan.hangs_on_merging(unlabelled=unlabelled):
        return known.grades
    facts = (Facts.of(tables.lists(one, keep=True)) for one in buckets)
    return reduce(add, facts).all_true


def _where(per_user: str | Path | None) -> str:
    """Return where the scores of each user are, or how to have them."""
    if per_user is not None:
        return f"Their scores are in {per_user}."
    return "Ask for them in a file, per_user='scores.parquet', or give a higher memory_limit."
