"""Predictions, or labels and results, as one DataFrame with columns of our names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.dispatch import those_of
from recsys_ndcg.input.labels_and_results import score_column, warn_ungraded
from recsys_ndcg.scale.spark.table import SparkTable

_TABLES = ("labels", "results")


@dataclass(frozen=True)
class Source:
    """Rows to be measured.

    Parameters
    ----------
    frame : DataFrame
        With the columns user, item, estimated and true; and listed, which tells results from
        labels, if they are joined.
    joined : bool
        Whether they are labels and results.
    score : str
        What the estimates are: ``estimated`` or ``rank``.
    short_grades : bool
        Whether the grades are floats of 32 bits.
    """

    frame: Any
    joined: bool = False
    score: str = "estimated"
    short_grades: bool = False

    @property
    def ranked(self) -> bool:
        """Whether the estimates are ranks."""
        return self.score == "rank"


def source_of(data: Any, columns: Mapping[str, str] | None) -> Source:
    """Find our columns in a DataFrame, or in those of labels and results.

    Raises
    ------
    InvalidInputError
        A column is missing or of another type, or the ids of the two can never meet.
    """
    if isinstance(data, Mapping):
        if sorted(map(str, data)) != sorted(_TABLES):
            there = ", ".join(map(repr, data))
            msg = f"Give {{'labels': ..., 'results': ...}}, a DataFrame each; not {there}."
            raise InvalidInputError(msg)
        return _joined(data["labels"], data["results"], columns)
    table = SparkTable(data, columns)
    user, item = table.ids("user"), table.ids("item")
    estimated, true = table.numbers("estimated"), table.numbers("true")
    table.named.say_names()
    frame = _selected(data, user, item, estimated, true)
    return Source(frame, short_grades=table.type_of("true") == "float")


def _joined(labels: Any, results: Any, columns: Mapping[str, str] | None) -> Source:
    known = SparkTable(labels, those_of(columns, "estimated", "rank"))
    found = SparkTable(results, those_of(columns, "true"))
    label, graded = [known.ids(one) for one in ("user", "item")], known.named.may_have("true")
    true = known.numbers("true") if graded else "1.0D"
    if not graded:
        warn_ungraded(known.named)
    known.named.say_names()
    score = score_column(found.named)
    estimated, result = found.numbers(score), [found.ids(one) for one in ("user", "item")]
    found.named.say_names()
    for column in ("user", "item"):
        _check_kinds(column, known, found)
    short_grades = graded and known.type_of("true") == "float"
    short_scores = found.type_of(score) == "float"
    one = _selected(labels, *label, _nothing(short=short_scores), true, "false")
    other = _selected(results, *result, estimated, _nothing(short=short_grades), "true")
    return Source(one.unionByName(other), joined=True, score=score, short_grades=short_grades)


def _selected(frame: Any, *columns: str) -> Any:
    """Return a DataFrame of SQL expressions under our names."""
    named = zip(columns, ("user", "item", "estimated", "true", "listed"), strict=False)
    return frame.selectExpr(*(f"{sql} as `{name}`" for sql, name in named))


def _nothing(*, short: bool) -> str:
    """Return the SQL of no number: beside floats of 32 bits these stay what they are."""
    return f"cast(null as {'float' if short else 'double'})"


def _check_kinds(column: str, known: SparkTable, found: SparkTable) -> None:
    """Refuse ids of two tables that can never meet, or that Spark would round to make them."""
    ours, theirs = known.kind_of(column), found.kind_of(column)
    if ours != theirs:
        msg = (
            f"{column}: the labels have ids of type {ours} (such as {known.first(column)!r}), the "
            f"results of type {theirs} (such as {found.first(column)!r}). Make them the same "
            "type, or nothing will match."
        )
        raise InvalidInputError(msg)
    types = {known.type_of(column), found.type_of(column)}
    if len(types) > 1 and types & {"float", "double"}:
        msg = (
            f"{column}: the labels have ids of type {known.type_of(column)}, the results of type "
            f"{found.type_of(column)}, and Spark would round those. Cast one to the other's type."
        )
        raise InvalidInputError(msg)
