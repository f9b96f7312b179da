"""Evaluate what is larger than memory: bring users together on disk, measure, merge."""

from __future__ import annotations

from shutil import rmtree
from typing import TYPE_CHECKING, Any

from recsys_ndcg.input.rows import check_rows_there
from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.report.reporting import reported
from recsys_ndcg.scale.out_of_core.buckets import Buckets
from recsys_ndcg.scale.out_of_core.checks import known_of
from recsys_ndcg.scale.out_of_core.database import Database, workplace
from recsys_ndcg.scale.out_of_core.memory import Memory
from recsys_ndcg.scale.out_of_core.reading import mixed_in
from recsys_ndcg.scale.out_of_core.score_file import ScoreFile
from recsys_ndcg.scale.out_of_core.tables import LABELS, PREDICTIONS, Tables, sources_of
from recsys_ndcg.scale.out_of_core.users_file import users_file
from recsys_ndcg.scale.parts import Parts
from recsys_ndcg.scale.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.facts import Grades
    from recsys_ndcg.report.audits.measured import MeasuredAudit
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scale.out_of_core.buckets import Bucket
    from recsys_ndcg.scale.out_of_core.checks import Known
    from recsys_ndcg.scale.out_of_core.sources import Source
    from recsys_ndcg.scoring.plan import Plan


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
        none; lists are never kept.

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
        workplace() as folder,
        users_file(per_user) as write,
        progress_bar(wanted=progress) as show,
    ):
        sources = sources_of(data, columns, text, folder)
        buckets, known = _parted(sources, folder, memory, plan, show)
        tables = Tables(sources, known, plan.duplicates, n_items)
        if len(buckets) == 1:
            report = reported(tables.lists(buckets[0]), plan)
            write(report.scores)
        else:
            grades = _grades(buckets, tables, plan)
            parts = Parts(plan.with_threshold(grades), highest=grades.highest)
            scores = ScoreFile(folder, len(parts.plan.measurements))
            for audit in _measured(buckets, tables, parts, show):
                write(audit.scores)
                scores.add(audit.scores.per_user)
                if not memory.keeps(parts.n_users, plan):
                    parts.forget()
            report = parts.report(None if parts.keeps else scores.median, _where(per_user))
        tables.warn()
        return report


def _measured(
    buckets: list[Bucket], tables: Tables, parts: Parts, show: Callable[[str, float], None]
) -> Iterator[MeasuredAudit]:
    """Measure bucket after bucket; each is taken away as soon as it is."""
    n_rows, done = sum(one.n_rows for one in buckets), 0
    while buckets:
        bucket = buckets.pop()
        yield parts.add(tables.lists(bucket))
        done += bucket.n_rows
        show("Measuring users", done / n_rows)


def _parted(
    sources: dict[str, Source],
    folder: Path,
    memory: Memory,
    plan: Plan,
    show: Callable[[str, float], None],
) -> tuple[list[Bucket], dict[str, Known]]:
    """Bring the rows of each user together, and look at all of them once."""
    in_order = _hangs_on_order(plan)
    limit = memory.rows // (2 if in_order else 1)  # which takes a copy to put back
    with Database(folder / "spill", memory.database, show) as database:
        for one in sources.values():
            one.open_in(database)
        buckets = Buckets(database, sources, folder / "rows")
        buckets.write(limit, in_order=in_order)
        for table in sources:
            check_rows_there(buckets.written(table), f"the {table}")
        mixed = {one: mixed_in(database, buckets.relation(one), sources[one]) for one in sources}
        if any(mixed.values()):  # what began with whole numbers goes on with other text
            rmtree(folder / "rows")
            sources |= {table: one for table, one in mixed.items() if one is not None}
            buckets.write(limit, in_order=in_order)
        known = {
            table: known_of(database, buckets.relation(table), source)
            for table, source in sources.items()
        }
        return buckets.within(limit), known


def _hangs_on_order(plan: Plan) -> bool:
    """Tell whether it makes a difference in which order the rows of a user come."""
    by_place = any(one.convention.ties == "input" for one in plan.measurements)
    return by_place or plan.duplicates in ("first", "last")


def _grades(buckets: list[Bucket], tables: Tables, plan: Plan) -> Grades:
    """Return the bounds of the true values; where rows are merged, of what is left of them."""
    known = tables.known[LABELS if LABELS in tables.known else PREDICTIONS]
    undecided = plan.threshold is None or known.unlabelled or LABELS in tables.known
    if plan.duplicates == "raise" or not undecided:
        return known.grades
    facts = Facts.merged_from(Facts.of(tables.lists(one, keep=True)) for one in buckets)
    return facts.all_true


def _where(per_user: str | Path | None) -> str:
    """Return where the scores of each user are, or how to have them."""
    if per_user is not None:
        return f"Their scores are in {per_user}."
    return "Ask for them in a file, per_user='scores.parquet', or give a higher memory_limit."
