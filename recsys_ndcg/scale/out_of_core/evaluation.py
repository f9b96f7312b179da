"""Evaluate what is larger than memory: bring users together on disk, measure, merge."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.scale.out_of_core.bucket_lists import lists_in
from recsys_ndcg.scale.out_of_core.buckets import Buckets, n_buckets
from recsys_ndcg.scale.out_of_core.checks import known_of
from recsys_ndcg.scale.out_of_core.database import Database, workplace
from recsys_ndcg.scale.out_of_core.memory import Memory
from recsys_ndcg.scale.out_of_core.per_user_file import per_user_file
from recsys_ndcg.scale.out_of_core.score_file import ScoreFile
from recsys_ndcg.scale.out_of_core.sources import source_of
from recsys_ndcg.scale.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.facts import Grades
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scale.out_of_core.buckets import Bucket
    from recsys_ndcg.scale.out_of_core.checks import Known
    from recsys_ndcg.scale.out_of_core.sources import Source
    from recsys_ndcg.scoring.plan import Plan

_COLUMNS = ("user", "item", "estimated", "true")
_UNKNOWN = 16  # buckets of a stream: those that are too large are parted again


def evaluate(  # noqa: PLR0913 - one parameter per option
    data: Any,
    plan: Plan,
    *,
    memory_limit: str | float,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    per_user: str | Path | None = None,
) -> Report:
    """Evaluate files or a stream within a limit of memory.

    Parameters
    ----------
    data : path, pattern, list of paths, or what streams Arrow's batches
        Predictions.
    plan : Plan
        What is measured.
    memory_limit : str or number
        How much the process may use: ``"2GB"``.
    columns, text
        As in `recsys_ndcg.RankedLists.from_file`.
    per_user : path, optional
        Where the scores of every user are written.

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
    source = source_of(data, columns, _COLUMNS, text)
    with workplace() as folder, per_user_file(per_user) as write:
        buckets, known = _parted(source, folder, memory, plan)
        read = partial(_lists, source=source, known=known, plan=plan)
        grades = _grades(buckets, read, known, plan)
        plan = plan.with_threshold(grades)
        parts = Parts(plan, highest=grades.highest)
        scores = ScoreFile(folder, len(plan.measurements))
        while buckets:  # each is taken away as soon as it is measured
            audit = parts.add(read(buckets.pop()))
            write(audit.scores)
            scores.add(audit.scores.per_user)
            if not memory.keeps(parts.n_users, plan):
                parts.forget()
        return parts.report(None if parts.keeps else scores.median, _where(per_user))


def _parted(source: Source, folder: Path, memory: Memory, plan: Plan) -> tuple[list[Bucket], Known]:
    """Bring the rows of each user together, and look at all of them once."""
    in_order = _hangs_on_order(plan)
    limit = memory.rows // (2 if in_order else 1)  # which takes a copy to put back
    with Database(folder / "spill", memory.database) as database:
        source.open_in(database)
        buckets = Buckets(database, source, folder / "rows")
        count = _UNKNOWN if source.n_rows is None else n_buckets(source.n_rows, limit)
        buckets.write(count, in_order=in_order)
        known = known_of(database, buckets.relation, source)
        return [one for each in buckets.all() for one in buckets.split(each, limit)], known


def _hangs_on_order(plan: Plan) -> bool:
    """Tell whether it makes a difference in which order the rows of a user come."""
    by_place = any(one.convention.ties == "input" for one in plan.measurements)
    return by_place or plan.duplicates in ("first", "last")


def _grades(
    buckets: list[Bucket],
    read: Callable[..., GroupedLists],
    known: Known,
    plan: Plan,
) -> Grades:
    """Return the bounds of the true values; where rows are merged, of what is left of them."""
    undecided = plan.threshold is None or known.unlabelled
    if plan.duplicates == "raise" or not undecided:
        return known.grades
    facts = Facts.merged_from(Facts.of(read(one, keep=True)) for one in buckets)
    return facts.all_true


def _lists(
    bucket: Bucket, *, source: Source, known: Known, plan: Plan, keep: bool = False
) -> GroupedLists:
    rows = bucket.read(source.kinds, keep=keep)
    return lists_in(rows, known.whole, plan.duplicates)


def _where(per_user: str | Path | None) -> str:
    """Return where the scores of each user are, or how to have them."""
    if per_user is not None:
        return f"Their scores are in {per_user}."
    return "Ask for them in a file, per_user='scores.parquet', or give a higher memory_limit."
