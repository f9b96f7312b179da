"""What must be known of all rows before any is measured, and what is wrong with some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import Coded, Rows, Table, floats
from recsys_ndcg.lists import Grades
from recsys_ndcg.scale.engines import IDS, LABELS, PREDICTIONS, RESULTS

#: Rows that are named where something is wrong with more.
FIRST = 3


class Fault(NamedTuple):
    """What rows must not be, and what is said of them."""

    column: str
    where: nw.Expr
    found: str
    advice: str


@dataclass(frozen=True, eq=False)
class LazyTable:
    """A table of an engine, which is asked in the words of narwhals.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        Its rows by our names: user, item, and estimated, rank and true as far as it has them.
    names : mapping
        Our names of these columns to its own.
    read_as_text : bool
        Whether numbers were read of text: NULL is what is none, and NaN what is left open.
    """

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    read_as_text: bool

    def rows(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them."""
        return query.collect().rows(named=True)

    def with_fault(self, fault: Fault) -> tuple[str, nw.LazyFrame[Any]]:
        """Return where the first rows with a fault stand, for the message, and these rows."""
        return "", self.frame.filter(fault.where)

    def refusal(self, fault: Fault, count: int) -> str:
        """Return what is said of so many rows with a fault, naming the first ones."""
        where, wrong = self.with_fault(fault)
        some = self.rows(wrong.head(FIRST))
        pairs = ", ".join(
            " ".join(f"{column} {quote(row[column])}" for column in IDS) for row in some
        )
        more = f" and {count - len(some)} more" if count > len(some) else ""
        found = fault.found.format(**some[0])
        return f"{where}{self.names[fault.column]}: {found} at {pairs}{more}; {fault.advice}."


@dataclass(frozen=True)
class RowFacts:
    """What is known of all rows.

    Parameters
    ----------
    rows : int
        How many there are in all tables.
    has_unlabelled : bool
        Whether items may lack a true value.
    grades : Grades
        The bounds of the true values, of repeated rows too.
    """

    rows: int
    has_unlabelled: bool
    grades: Grades


def facts_of(tables: Mapping[str, LazyTable]) -> RowFacts:
    """Look at all rows of predictions, or of labels and results, and refuse what cannot be ranked.

    Parameters
    ----------
    tables : mapping
        By what they are.

    Raises
    ------
    InvalidInputError
        A table has no rows, an id is missing, or a number is none or not finite; some such rows
        are named. Or labels and results have ids that can never meet.

    Warns
    -----
    DataWarning
        There are results that are none, or ranks without a first.
    """
    facts = {name: _facts_of_one(table, name) for name, table in tables.items()}
    if LABELS in tables:
        _check_same_ids(tables[LABELS], tables[RESULTS])
    graded = facts[LABELS if LABELS in facts else PREDICTIONS]
    n_rows = sum(one.rows for one in facts.values())
    return RowFacts(n_rows, graded.has_unlabelled or LABELS in facts, graded.grades)


def _check_same_ids(labels: LazyTable, results: LazyTable) -> None:
    """Refuse ids of two tables that can never meet, or that are rounded to make them."""
    tables = labels, results
    for column in IDS:
        types = [one.frame.collect_schema()[column] for one in tables]
        if types[0] == types[1] or all(one.is_integer() or one.is_decimal() for one in types):
            continue
        if all(one.is_numeric() for one in types):
            msg = (
                f"{column}: the labels have ids of type {types[0]}, the results of type "
                f"{types[1]}, and some would be rounded. Cast one to the other's type."
            )
            raise InvalidInputError(msg)
        ids = [one.rows(one.frame.select(column).head(1))[0][column] for one in tables]
        kinds = [Coded.type_names(np.array([one], dtype=object)).pop() for one in ids]
        if kinds[0] == kinds[1]:  # such as two kinds of time
            kinds = [*map(str, types)]
        Coded.refuse_types(column, ("the labels", "the results"), kinds, ids)


def _facts_of_one(table: LazyTable, name: str) -> RowFacts:
    """Return what is known of a table, none of whose rows has a fault, as one query finds it."""
    faults = [*_id_faults(table), *_score_faults(table, name), *_grade_faults(table)]
    counts = {f"fault{place}": _count(one.where) for place, one in enumerate(faults)}
    wanted = {"rows": nw.len(), **counts}
    if "true" in table.names:
        grade = _number("true")
        grade = nw.when(~_is_nothing(grade)).then(grade)
        wanted |= {
            "labelled": _count(~grade.is_null()),
            "lowest": grade.min(),
            "highest": grade.max(),
            "zero_one": ((grade == 0) | (grade == 1)).all(),
        }
    if name == RESULTS and "rank" in table.names:
        wanted["first_rank"] = _number("rank").min()
    elif name == RESULTS:
        wanted["fillers"] = _count(_number("estimated") == Rows.LOWEST)
    (found,) = table.rows(table.frame.select(**wanted))
    for count, fault in zip(counts, faults, strict=True):
        if found[count]:
            raise InvalidInputError(table.refusal(fault, int(found[count])))
    rows = found["rows"]
    Rows.check_count(rows, f"the {name}")
    if "first_rank" in found:
        Table.check_first_rank(found["first_rank"])
    if found.get("fillers"):
        Rows.warn_of_fillers(int(found["fillers"]), rows, "estimated")
    if "true" not in table.names:
        return RowFacts(rows, has_unlabelled=False, grades=Grades(1.0, 1.0, zero_one=True))
    ends = np.array([found["lowest"], found["highest"]], dtype=np.float64)  # NaN if there is none
    if table.frame.collect_schema()["true"] == nw.Float32:
        # the nearest double of a short float is not the decimal that it stands for
        ends = floats(ends.astype(np.float32), "true")
    zero_one = found["zero_one"] in (None, True)  # None where no row has a grade
    grades = Grades(float(ends[0]), float(ends[1]), zero_one=zero_one)
    return RowFacts(rows, int(found["labelled"]) < rows, grades)


def _id_faults(table: LazyTable) -> Iterator[Fault]:
    """Give what ids must not be."""
    schema = table.frame.collect_schema()
    for column in IDS:
        missing = nw.col(column).is_null()
        if schema[column].is_float():
            missing |= nw.col(column).is_nan()
        yield Fault(column, missing, "a missing id", "fill it in or leave the row out")


def _score_faults(table: LazyTable, name: str) -> Iterator[Fault]:
    """Give what ranks or estimates must not be, in the order in which it is told."""
    if name == LABELS:
        return
    score = "rank" if "rank" in table.names else "estimated"
    number = _number(score)
    nothing, advice = "NaN", "if a model diverged, train it again"
    if table.read_as_text:
        nothing = "no value, or none that is a number,"
        advice = "correct it, or name the right column with columns="
    if name == RESULTS:
        advice = "leave out what was not recommended"
    advice = f"each must be a finite number: {advice}"
    yield Fault(score, _is_nothing(number), nothing, advice)
    yield Fault(score, number.abs() == np.inf, "an infinite value", advice)
    if score == "rank":
        no_rank = (number < 0) | (number * 2 % 1 > 0)
        yield Fault(score, no_rank, "{rank:g}, which is no rank,", Table.RANKS)


def _grade_faults(table: LazyTable) -> Iterator[Fault]:
    """Give what true values must not be, in the order in which it is told."""
    if "true" in table.names:
        grade, advice = _number("true"), "use NaN for an unlabelled item"
        if table.read_as_text:
            named = f"{advice}, or name the right column with columns="
            yield Fault("true", grade.is_null(), "what is no number", named)
        yield Fault("true", grade.abs() == np.inf, "an infinite grade", advice)


def _number(column: str) -> nw.Expr:
    return nw.col(column).cast(nw.Float64)


def _is_nothing(number: nw.Expr) -> nw.Expr:
    return number.is_null() | number.is_nan()


def _count(where: nw.Expr) -> nw.Expr:
    return where.cast(nw.Int64).sum()
