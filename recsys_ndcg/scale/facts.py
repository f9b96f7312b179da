"""Checks and facts of all rows of a lazy table, before any row is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import SEPARATORS, EncodedIds, Rows, Table, raise_ambiguous, to_floats
from recsys_ndcg.lists import Grades
from recsys_ndcg.scale.engines import IDS, LABELS, RESULTS, RowFacts

#: How many faulty rows a message names.
MAX_NAMED = 3


class Fault(NamedTuple):
    """A condition that rows must not meet, and its message."""

    column: str
    where: nw.Expr
    found: str
    fix: str


@dataclass(frozen=True, eq=False)
class LazyTable:
    """A table of an engine, with queries in narwhals.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        Its rows with our column names: user, item, and estimated, rank and true if it has them.
    names : mapping
        Our names of these columns to the table's.
    read_as_text : bool
        Whether numbers were read from text: NULL is not a number, and NaN is left empty.
    """

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    read_as_text: bool

    def fetch(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query with few rows, and return them."""
        return query.collect().rows(named=True)

    def find_fault(self, fault: Fault) -> tuple[str, nw.LazyFrame[Any]]:
        """Return the rows with a fault, and their place for the message."""
        return "", self.frame.filter(fault.where)

    def describe_fault(self, fault: Fault, count: int) -> str:
        """Return the message about the rows with a fault, naming the first."""
        where, wrong = self.find_fault(fault)
        some = self.fetch(wrong.head(MAX_NAMED))
        pairs = ", ".join(" ".join(f"{name} {quote(row[name])}" for name in IDS) for row in some)
        more = f" and {count - len(some)} more" if count > len(some) else ""
        found = fault.found.format(**some[0])
        return f"{where}{self.names[fault.column]}: {found} at {pairs}{more}; {fault.fix}."


def collect_facts(tables: Mapping[str, LazyTable], separator: str | None = "") -> RowFacts:
    """Check all rows of predictions, of ratings, or of labels and results; collect their facts.

    Parameters
    ----------
    tables : mapping
        The tables by kind.
    separator : str, optional
        What separates ids in a cell of text; None if that is not known.

    Raises
    ------
    InvalidInputError
        A cell may hold several ids, a table has no rows, an id is missing, or a number is missing
        or infinite; the message names
        some such rows. Or the ids of labels and results have types that never match.

    Warns
    -----
    DataWarning
        Some results were not recommended, or no rank is 1.
    """
    facts = {name: _collect_table_facts(table, name) for name, table in tables.items()}
    if LABELS in tables:
        _check_id_types(tables[LABELS], tables[RESULTS])
    if RESULTS in tables and separator is None:
        for name, table in tables.items():
            _check_cells(name, table, [one for one in tables.values() if one is not table])
    if RESULTS not in facts:
        return next(iter(facts.values()))
    n_rows = sum(one.rows for one in facts.values())
    grades = facts[LABELS].grades if LABELS in facts else Grades.of(np.empty(0))
    return RowFacts(n_rows, has_unlabelled=True, grades=grades)


def _check_cells(name: str, table: LazyTable, others: Sequence[LazyTable]) -> None:
    """Raise if cells of text may hold several ids: each user has one, and most match no item."""
    if table.frame.collect_schema()["item"] != nw.String:
        return
    cells = table.frame.filter(nw.col("item").str.contains(f"[{''.join(SEPARATORS)}]"))
    some = table.fetch(cells.select("item").head(1))
    n_rows = nw.len().alias("rows")
    most = table.frame.group_by("user").agg(n_rows).select(nw.col("rows").max())
    if not some or table.fetch(most)[0]["rows"] > 1:
        return
    items = [one.frame.select("item").unique() for one in others]
    matched = [cells.join(one, on="item", how="semi") for one in items]
    n_cells, *n_matched = (table.fetch(one.select(n_rows))[0]["rows"] for one in (cells, *matched))
    if 2 * sum(n_matched) < n_cells:
        cell = some[0]["item"]
        raise_ambiguous(name, cell, next(one for one in SEPARATORS if one in cell))


def _check_id_types(labels: LazyTable, results: LazyTable) -> None:
    """Raise if the ids of two tables have types that never match, or only match by rounding."""
    tables = labels, results
    for column in IDS:
        types = [one.frame.collect_schema()[column] for one in tables]
        if types[0] == types[1] or all(one.is_integer() or one.is_decimal() for one in types):
            continue
        if all(one.is_numeric() for one in types):
            msg = (
                f"{column}: the labels have ids of type {types[0]}, the results of type "
                f"{types[1]}, and some would be rounded. Cast one to the type of the other."
            )
            raise InvalidInputError(msg)
        ids = [one.fetch(one.frame.select(column).head(1))[0][column] for one in tables]
        kinds = [EncodedIds.list_types(np.array([one], dtype=object)).pop() for one in ids]
        if kinds[0] == kinds[1]:  # for example two types of time
            kinds = [*map(str, types)]
        EncodedIds.raise_type_mismatch(column, ("the labels", "the results"), kinds, ids)


def _collect_table_facts(table: LazyTable, name: str) -> RowFacts:
    """Check a table and collect its facts in one query."""
    faults = [*_id_faults(table), *_score_faults(table, name), *_number_faults(table)]
    wanted = {f"fault{place}": _count_rows(one.where) for place, one in enumerate(faults)}
    wanted["rows"] = nw.len()
    if "true" in table.names:
        grade = _as_float("true")
        grade = nw.when(~_is_missing(grade)).then(grade)
        wanted |= {
            "labelled": _count_rows(~grade.is_null()),
            "lowest": grade.min(),
            "highest": grade.max(),
            "zero_one": ((grade == 0) | (grade == 1)).all(),
        }
    if name == RESULTS and "rank" in table.names:
        wanted["first_rank"] = _as_float("rank").min()
    elif name == RESULTS:
        wanted["fillers"] = _count_rows(_as_float("estimated") == Rows.FILLER_SCORE)
    (found,) = table.fetch(table.frame.select(**wanted))
    for place, fault in enumerate(faults):
        if found[f"fault{place}"]:
            raise InvalidInputError(table.describe_fault(fault, int(found[f"fault{place}"])))
    rows = found["rows"]
    Rows.check_row_count(rows, f"the {name}")
    if "first_rank" in found:
        Table.check_first_rank(found["first_rank"])
    if found.get("fillers"):
        Rows.check_fillers(int(found["fillers"]), rows, "estimated")
    if "true" not in table.names:
        return RowFacts(rows, has_unlabelled=False, grades=Grades(1.0, 1.0, is_binary=True))
    ends = np.array([found["lowest"], found["highest"]], dtype=np.float64)  # NaN if there are none
    if table.frame.collect_schema()["true"] == nw.Float32:
        # the nearest double of a float32 is not the decimal number it was written as
        ends = to_floats(ends.astype(np.float32), "true")
    zero_one = found["zero_one"] in (None, True)  # None if no row has a grade
    grades = Grades(float(ends[0]), float(ends[1]), is_binary=zero_one)
    return RowFacts(rows, int(found["labelled"]) < rows, grades)


def _id_faults(table: LazyTable) -> Iterator[Fault]:
    """Yield the faults of ids."""
    schema = table.frame.collect_schema()
    if "unmatched" in table.names:
        fix = "give each item of the list one value"
        yield Fault("item", _as_float("unmatched") > 0, "lists of different lengths", fix)
    for column in IDS:
        missing = nw.col(column).is_null()
        if schema[column].is_float():
            missing |= nw.col(column).is_nan()
        yield Fault(column, missing, "a missing id", "fill it in or leave the row out")


def _score_faults(table: LazyTable, name: str) -> Iterator[Fault]:
    """Yield the faults of ranks or estimates, in the order in which they are reported."""
    score = next((one for one in ("rank", "estimated") if one in table.names), None)
    if score is None:
        return
    number = _as_float(score)
    missing, fix = "NaN", "if a model diverged, train it again"
    if table.read_as_text:
        missing = "missing or not a number"
        fix = "correct it, or name the right column with `columns=`"
    if name == RESULTS:
        fix = "leave out what was not recommended"
    fix = f"each must be a finite number: {fix}"
    yield Fault(score, _is_missing(number), missing, fix)
    yield Fault(score, number.abs() == np.inf, "an infinite value", fix)
    if score == "rank":
        no_rank = (number < 0) | (number * 2 % 1 > 0)
        yield Fault(score, no_rank, "{rank:g}, which is not a rank,", Table.RANK_ADVICE)


def _number_faults(table: LazyTable) -> Iterator[Fault]:
    """Yield the faults of grades, times and weights, in the order in which they are reported."""
    for column in ("true", "rating"):
        if column in table.names:
            grade, fix = _as_float(column), "use NaN for an unlabelled item"
            if table.read_as_text:
                named = f"{fix}, or name the right column with `columns=`"
                yield Fault(column, grade.is_null(), "not a number", named)
            yield Fault(column, grade.abs() == np.inf, "an infinite grade", fix)
    if "timestamp" in table.names:
        time, fix = _as_float("timestamp"), "write numbers, dates, or texts such as 2020-01-31"
        wrong = time.abs() == np.inf
        wrong = wrong | time.is_null() if table.read_as_text else wrong
        yield Fault("timestamp", wrong, "not a time", fix)
    if "weight" in table.names:
        weight = _as_float("weight")
        missing = _is_missing(weight)
        if "true" in table.names:
            missing &= ~_is_missing(_as_float("true"))
        yield Fault("weight", missing, "NaN", Rows.WEIGHT_ADVICE)
        bad = (weight < 0) | (weight.abs() == np.inf)
        yield Fault("weight", bad, "{weight:g}", Rows.WEIGHT_ADVICE)


def _as_float(column: str) -> nw.Expr:
    return nw.col(column).cast(nw.Float64)


def _is_missing(number: nw.Expr) -> nw.Expr:
    return number.is_null() | number.is_nan()


def _count_rows(where: nw.Expr) -> nw.Expr:
    return where.cast(nw.Int64).sum()
