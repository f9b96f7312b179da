"""DataFrames of Spark whose columns are called by our names, checked by their types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input import CONVERT, NO_NUMBERS, Table
from recsys_ndcg.scale.engines import IDS, LABELS, RESULTS, is_pair
from recsys_ndcg.scale.facts import LazyTable
from recsys_ndcg.scale.tables import given_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = re.compile("tinyint|smallint|int|bigint|float|double|boolean|decimal.*|void")
_TIMES = re.compile("date|timestamp.*|time.*")
_TEXT = re.compile("string.*|char.*|varchar.*")
_IDS = re.compile(f"{_NUMBERS.pattern}|{_TIMES.pattern}|{_TEXT.pattern}|binary")


class SparkTable(LazyTable):
    """A DataFrame with columns of our names."""

    @property
    def native(self) -> Any:
        """The DataFrame itself."""
        return nw.to_native(self.frame)

    def rows(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them: in Spark's way, whichever version."""
        return [row.asDict() for row in nw.to_native(query).collect()]


def spark_tables(data: Any, columns: Mapping[str, str] | None) -> dict[str, SparkTable]:
    """Find our columns in a DataFrame, or in those of labels and results.

    Raises
    ------
    InvalidInputError
        A column is missing or of another type, or the ids of the two can never meet.
    """
    if isinstance(data, Mapping) and not is_pair(data):
        there = ", ".join(map(repr, data))
        msg = f"Give {{'labels': ..., 'results': ...}}, a DataFrame each; not {there}."
        raise InvalidInputError(msg)
    given = given_tables(data, columns).items()
    headings = {name: _Heading(frame, named) for name, (frame, named) in given}
    tables = {name: _table(name, heading) for name, heading in headings.items()}
    if LABELS in headings:
        for column in IDS:
            _check_kinds(column, headings[LABELS], headings[RESULTS])
    return tables


def _table(name: str, heading: _Heading) -> SparkTable:
    wanted = heading.named.wanted(name)
    sql = [(heading.ids if one in IDS else heading.numbers)(one) for one in wanted]
    names = heading.named.called(*wanted)
    heading.named.say_names()
    named = (f"{one} as `{ours}`" for one, ours in zip(sql, wanted, strict=True))
    frame = nw.from_native(heading.frame.selectExpr(*named))
    short = "true" in wanted and heading.type_of("true") == "float"
    return SparkTable(frame, names, short_grades=short)


class _Heading:
    """The columns of a DataFrame, and which of them is which of ours.

    Parameters
    ----------
    frame : DataFrame
        Of Spark, classic or Connect.
    columns : mapping, optional
        Our names to its own, where they differ.

    Raises
    ------
    InvalidInputError
        It is something else, or has a column twice.
    """

    def __init__(self, frame: Any, columns: Mapping[str, str] | None) -> None:
        _check(frame)
        self.frame = frame
        self._types = {one.name: one.dataType.simpleString() for one in frame.schema.fields}
        self.named = Table(dict.fromkeys(frame.columns, ()), columns)

    def ids(self, column: str) -> str:
        """Return the SQL of a column of ids.

        Raises
        ------
        InvalidInputError
            There is no such column, or its values cannot be told apart.
        """
        name, kind = self._found(column)
        if not _IDS.fullmatch(kind):
            msg = f"{column}: an id is not hashable ({kind}); use numbers or text."
            raise InvalidInputError(msg)
        wider = {"boolean": "int", "float": "double"}.get(kind)
        return f"cast({quoted(name)} as {wider})" if wider else quoted(name)

    def numbers(self, column: str) -> str:
        """Return the SQL of a column of numbers: doubles, but short floats as they are.

        Raises
        ------
        InvalidInputError
            There is no such column, or it holds something else.
        """
        name, kind = self._found(column)
        if not _NUMBERS.fullmatch(kind):
            self._refuse(name, kind)
        # the nearest double of a short float is not the decimal that it stands for
        return quoted(name) if kind == "float" else f"cast({quoted(name)} as double)"

    def kind_of(self, column: str) -> str:
        """Return ``text`` or ``number``, or the name of another type of ids."""
        _, kind = self._found(column)
        plain = "number" if _NUMBERS.fullmatch(kind) else kind
        return "text" if _TEXT.fullmatch(kind) else plain

    def type_of(self, column: str) -> str:
        """Return what Spark calls the type of a column."""
        return self._found(column)[1]

    def first(self, column: str) -> Any:
        """Return one of the values of a column; None if it has none."""
        name = quoted(self._found(column)[0])
        rows = self.frame.where(f"{name} is not null").selectExpr(name).limit(1).collect()
        return rows[0][0] if rows else None

    def _found(self, column: str) -> tuple[str, str]:
        name = self.named.name_of(column)
        alike = [one for one in self.frame.columns if one.lower() == name.lower()]
        if len(alike) > 1:
            msg = (
                f"The table has the columns {' and '.join(map(repr, alike))}, which Spark does not "
                "tell apart; rename or drop one."
            )
            raise InvalidInputError(msg)
        return name, self._types[name]

    def _refuse(self, name: str, kind: str) -> None:
        """Refuse a column that holds no numbers, unless it holds nothing."""
        if _TIMES.fullmatch(kind):
            msg = f"{name}: {kind} is not a number; {NO_NUMBERS['M']}."
            raise InvalidInputError(msg)
        if not _TEXT.fullmatch(kind):
            msg = f"{name}: {kind} is not a number; {CONVERT}."
            raise InvalidInputError(msg)
        some = self.frame.where(f"{quoted(name)} is not null")
        user, item = self.ids("user"), self.ids("item")
        rows = some.selectExpr(user, item, quoted(name)).limit(3).collect()
        if rows:
            where = ", ".join(f"user {one!r} item {other!r}" for one, other, _ in rows)
            msg = f"{name}: text such as {shown(rows[0][2])} at {where}; {CONVERT}."
            raise InvalidInputError(msg)


def _check(frame: Any) -> None:
    """Refuse what is no Spark DataFrame, or has no end."""
    if not (hasattr(frame, "mapInArrow") and hasattr(frame, "selectExpr")):
        of_pandas = hasattr(frame, "to_spark")
        advice = "give its .to_spark()" if of_pandas else "recsys_ndcg.evaluate reads other data"
        msg = f"That is a {type(frame).__name__}, no Spark DataFrame: {advice}."
        raise InvalidInputError(msg)
    if frame.isStreaming:
        msg = "A streaming DataFrame has no end: write it to a table, and evaluate that."
        raise InvalidInputError(msg)
    names = list(frame.columns)
    twice = [one for one in names if names.count(one) > 1]
    if twice:
        msg = f"The table has the column {twice[0]!r} twice; keep one."
        raise InvalidInputError(msg)


def _check_kinds(column: str, known: _Heading, found: _Heading) -> None:
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


def quoted(name: str) -> str:
    """Return a name as SQL has it.

    Examples
    --------
    >>> quoted("ndcg@10")
    '`ndcg@10`'
    """
    return f"`{name.replace('`', '``')}`"
