"""The little one must know of all rows before any is measured, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.labels_and_results import LOWEST, RANKS, check_first_rank, warn_of_fillers
from recsys_ndcg.input.rows import as_written, check_rows_there
from recsys_ndcg.lists.facts import Grades

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.scale.spark.source import Source
    from recsys_ndcg.scoring.plan import Plan

_INFINITE = "cast('Infinity' as double)"


class Fault(NamedTuple):
    """What rows must not be."""

    column: str
    where: str
    fault: str
    advice: str


@dataclass(frozen=True)
class RowFacts:
    """What is known of all rows.

    Parameters
    ----------
    rows : int
        How many there are.
    grades : Grades
        The bounds of the true values, of each user and item once.
    """

    rows: int
    grades: Grades


def checked(source: Source, plan: Plan) -> tuple[Source, RowFacts]:
    """Look at the numbers of all rows once, and refuse those that cannot be measured.

    Ids are left to the workers, who look at them in any case: to read text twice is dear.

    Returns
    -------
    The rows that are to be measured, and what is known of them.

    Raises
    ------
    InvalidInputError
        There are none, or a number cannot be ranked. The first such rows that Spark comes upon are
        named.

    Warns
    -----
    DataWarning
        There are results that are none, or ranks without a first.
    """
    faults = _faults(source)
    found = _counted(source, faults)
    if source.joined:
        for table in ("labels", "results"):
            check_rows_there(range(found[table]), f"the {table}")
    else:
        check_rows_there(range(found["rows"]))
    _refuse_any(source, faults, found)
    if source.ranked and found["lowest_score"] is not None:
        check_first_rank(found["lowest_score"])
    rows = found["rows"]
    if found["fillers"]:
        source = _without_fillers(source, found["fillers"], found["results"])
        rows -= found["fillers"]
    merged = found
    if plan.hangs_on_merging(unlabelled=source.joined or found["unlabelled"] > 0):
        merged = _of_merged(source, plan.duplicates)
    return source, RowFacts(rows, _grades(merged, short=source.short_grades))


def _faults(source: Source) -> list[Fault]:
    """Return what is looked for, in the order in which it is told."""
    score, ours = source.score, "`listed`" if source.joined else "true"
    advice = "each must be a finite number: " + (
        "leave out what was not recommended"
        if source.joined
        else "if a model diverged, train it again"
    )
    found = [
        Fault(score, f"{ours} and (`estimated` is null or isnan(`estimated`))", "NaN", advice),
        Fault(score, f"abs(`estimated`) = {_INFINITE}", "an infinite value", advice),
        Fault(
            "true",
            f"abs(`true`) = {_INFINITE}",
            "an infinite grade",
            "use NaN for an unlabelled item",
        ),
    ]
    if source.ranked:
        no_rank = "`estimated` < 0 or `estimated` * 2 % 1 > 0"
        found.append(Fault(score, no_rank, "{estimated:g}, which is no rank,", RANKS))
    return found


def check_ids(source: Source) -> None:
    """Refuse rows without an id, naming some of them.

    Raises
    ------
    InvalidInputError
        There are some.
    """
    types = {one.name: one.dataType.simpleString() for one in source.frame.schema.fields}
    faults = []
    for column in ("user", "item"):
        no_number = f" or isnan(`{column}`)" if types[column] == "double" else ""
        where = f"`{column}` is null{no_number}"
        faults.append(Fault(column, where, "a missing id", "fill it in or leave the row out"))
    _refuse_any(source, faults, _one_row(source.frame, _counts(faults)))


def _counted(source: Source, faults: list[Fault]) -> Mapping[str, Any]:
    listed = "`listed`" if source.joined else "true"
    filler = f"{listed} and `estimated` = {LOWEST!r}D"
    wanted = {
        "rows": "count(1)",
        "results": f"count_if({listed})",
        "labels": f"count_if(not {listed})",
        "fillers": f"count_if({filler})" if source.joined and not source.ranked else "0",
        "lowest_score": "min(`estimated`)",
        "unlabelled": f"count_if({_KNOWN} is null)",
        **_GRADES,
        **_counts(faults),
    }
    return _one_row(source.frame, wanted)


def _counts(faults: list[Fault]) -> dict[str, str]:
    return {f"fault{place}": f"count_if({one.where})" for place, one in enumerate(faults)}


_KNOWN = "if(isnan(`true`), null, `true`)"
_GRADES = {
    "lowest": f"min({_KNOWN})",
    "highest": f"max({_KNOWN})",
    "zero_one": f"min(coalesce({_KNOWN} in (0, 1), true))",
}


def _one_row(frame: Any, wanted: Mapping[str, str]) -> Mapping[str, Any]:
    rows = frame.selectExpr(*(f"{sql} as {name}" for name, sql in wanted.items())).collect()
    found: Mapping[str, Any] = rows[0].asDict()
    return found


def _of_merged(source: Source, rule: str) -> Mapping[str, Any]:
    """Return the bounds of what repeated rows become, which the threshold hangs on."""
    # text in between: a short float is the decimal that it stands for
    grade = f"cast(cast({_KNOWN} as string) as double)" if source.short_grades else _KNOWN
    frame = source.frame.where("not `listed`") if source.joined else source.frame
    pairs = frame.selectExpr("`user`", "`item`", f"{grade} as grade").groupBy("user", "item")
    merged = pairs.avg("grade") if rule == "mean" else pairs.max("grade")
    return _one_row(merged.toDF("user", "item", "true"), _GRADES)


def _grades(found: Mapping[str, Any], *, short: bool) -> Grades:
    if found["lowest"] is None:
        return Grades(np.nan, np.nan, zero_one=True)
    ends = np.array([found["lowest"], found["highest"]], dtype=np.float64)
    if short and (ends == ends.astype(np.float32)).all():
        ends = as_written(ends.astype(np.float32))
    return Grades(float(ends[0]), float(ends[1]), zero_one=bool(found["zero_one"]))


def _refuse_any(source: Source, faults: list[Fault], found: Mapping[str, Any]) -> None:
    for place, fault in enumerate(faults):
        if found[f"fault{place}"]:
            _refuse(source, fault, found[f"fault{place}"])


def _refuse(source: Source, fault: Fault, count: int) -> None:
    """Refuse rows, naming some of them."""
    some = source.frame.where(fault.where).limit(3).collect()
    where = ", ".join(f"user {row['user']!r} item {row['item']!r}" for row in some)
    more = f" and {count - 3} more" if count > 3 else ""
    told = fault.fault.format(**some[0].asDict())
    msg = f"{fault.column}: {told} at {where}{more}; {fault.advice}."
    raise InvalidInputError(msg)


def _without_fillers(source: Source, count: int, results: int) -> Source:
    """Leave out what implicit did not recommend, as for results in memory."""
    warn_of_fillers(count, results, source.score)
    kept = source.frame.where(f"not `listed` or `estimated` != {LOWEST!r}D")
    return replace(source, frame=kept)
