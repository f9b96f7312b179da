"""What must be known of all rows before any is measured, and what is wrong with some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input import Rows, Table, floats
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
    short_grades : bool
        Whether the true values are floats of 32 bits.
    read_as_text : bool
        Whether numbers were read of text: NULL is what is none, and NaN what is left open.
    """

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    short_grades: bool = False
    read_as_text: bool = False

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
            " ".join(f"{column} {shown(row[column])}" for column in IDS) for row in some
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
        kinds = [_kind_of(one) for one in types]
        if kinds[0] != kinds[1]:
            column_of = nw.col(column)
            first = [
                one.rows(one.frame.filter(~column_of.is_null()).select(column_of).head(1))[0]
                for one in tables
            ]
            msg = (
                f"{column}: the labels have ids of type {kinds[0]} (such as "
                f"{first[0][column]!r}), the results of type {kinds[1]} (such as "
                f"{first[1][column]!r}). Make them the same type, or nothing will match."
            )
            raise InvalidInputError(msg)
        if types[0] != types[1] and any(one.is_float() for one in types):
            msg = (
                f"{column}: the labels have ids of type {types[0]}, the results of type "
                f"{types[1]}, and some would be rounded. Cast one to the other's type."
            )
            raise InvalidInputError(msg)


def _kind_of(of: nw.dtypes.DType) -> str:
    if of.is_numeric() or of == nw.Boolean:
        return "number"
    return "text" if of == nw.String else str(of)


def _facts_of_one(table: LazyTable, name: str) -> RowFacts:
    """Return what is known of a table, none of whose rows has a fault, as one query finds it."""
    faults = [*_id_faults(table), *_number_faults(table, name)]
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
    return RowFacts(rows, int(found["labelled"]) < rows, _grades(found, short=table.short_grades))


def _grades(found: Mapping[str, Any], *, short: bool) -> Grades:
    if found["lowest"] is None:
        return Grades(np.nan, np.nan, zero_one=True)
    ends = np.array([found["lowest"], found["highest"]], dtype=np.float64)
    if short:  # the nearest double of a short float is not the decimal that it stands for
        ends = floats(ends.astype(np.float32), "true")
    return Grades(float(ends[0]), float(ends[1]), zero_one=bool(found["zero_one"]))


def _id_faults(table: LazyTable) -> Iterator[Fault]:
    """Give what ids must not be."""
    schema = table.frame.collect_schema()
    for column in IDS:
        missing = nw.col(column).is_null()
        if schema[column].is_float():
            missing |= nw.col(column).is_nan()
        yield Fault(column, missing, "a missing id", "fill it in or leave the row out")


def _number_faults(table: LazyTable, name: str) -> Iterator[Fault]:
    """Give what numbers must not be, in the order in which it is told."""
    score = "rank" if "rank" in table.names else "estimated"
    if score in table.names:
        number = _number(score)
        advice = "each must be a finite number: " + (
            "leave out what was not recommended"
            if name == RESULTS
            else "correct it, or name the right column with columns="
            if table.read_as_text
            else "if a model diverged, train it again"
        )
        nothing = "no value, or none that is a number," if table.read_as_text else "NaN"
        yield Fault(score, _is_nothing(number), nothing, advice)
        yield Fault(score, _is_infinite(number), "an infinite value", advice)
        if score == "rank":
            found, no_rank = "{rank:g}, which is no rank,", (number < 0) | (number * 2 % 1 > 0)
            yield Fault(score, no_rank, found, Table.RANKS)
    if "true" in table.names:
        grade, advice = _number("true"), "use NaN for an unlabelled item"
        if table.read_as_text:
            named = f"{advice}, or name the right column with columns="
            yield Fault("true", grade.is_null(), "what is no number", named)
        yield Fault("true", _is_infinite(grade), "an infinite grade", advice)


def _number(column: str) -> nw.Expr:
    return nw.col(column).cast(nw.Float64)


def _is_nothing(number: nw.Expr) -> nw.Expr:
    return number.is_null() | number.is_nan()


def _is_infinite(number: nw.Expr) -> nw.Expr:
    return number.abs() == float("inf")


def _count(where: nw.Expr) -> nw.Expr:
    return where.cast(nw.Int64).sum()
