"""Ranking evaluation of Spark DataFrames, on the workers of a cluster: classic and Connect.

Nothing here imports pyspark: what is asked of a DataFrame is asked in SQL, and through narwhals.
"""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, check_integer, quote
from recsys_ndcg.input import Rows
from recsys_ndcg.lists import Facts
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.report import Report
from recsys_ndcg.scale.engines import (
    IDS,
    LABELS,
    PREDICTIONS,
    RESULTS,
    PartialReport,
    check_capitals,
    given_tables,
    lists_of,
    names_in,
)
from recsys_ndcg.scale.facts import FIRST, LazyTable, facts_of
from recsys_ndcg.scoring import Audit, Cutoffs, Measurement, Metrics, Plan
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention

_NUMBERS = re.compile("tinyint|smallint|int|bigint|float|double|boolean|decimal.*|void")
_TIMES = re.compile("date|timestamp.*|time.*")
_TEXT = re.compile("string.*|char.*|varchar.*")
_IDS = re.compile(f"{_NUMBERS.pattern}|{_TIMES.pattern}|{_TEXT.pattern}|binary")


class SparkTable(LazyTable):
    """A DataFrame with columns of our names."""

    def rows(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query that has few rows, and return them: in Spark's way, whichever version."""
        return [row.asDict() for row in nw.to_native(query).collect()]


def _table(name: str, frame: Any, columns: Mapping[str, str] | None) -> SparkTable:
    _check(frame)
    names = names_in(frame.columns, columns, name)
    check_capitals(names, frame.columns)
    types, read = dict(frame.dtypes), []
    for ours, theirs in names.items():
        kind = types[theirs]
        # the nearest double of a short float is not the decimal that it stands for
        wider = "" if kind == "float" else "double"
        if ours in IDS:
            wider = {"boolean": "int", "float": "double"}.get(kind, "")
            if not _IDS.fullmatch(kind):
                msg = f"{ours}: an id is not hashable ({kind}); use numbers or text."
                raise InvalidInputError(msg)
        elif not _NUMBERS.fullmatch(kind):
            _refuse_kind(frame, theirs, kind, [quoted(names[one]) for one in IDS])
        value = f"cast({quoted(theirs)} as {wider})" if wider else quoted(theirs)
        read.append(f"{value} as `{ours}`")
    return SparkTable(nw.from_native(frame.selectExpr(*read)), names, read_as_text=False)


def _refuse_kind(frame: Any, name: str, kind: str, ids: Sequence[str]) -> None:
    """Refuse a column that holds no numbers, unless it holds nothing."""
    if not _TEXT.fullmatch(kind):
        advice = Rows.advice_on("M" if _TIMES.fullmatch(kind) else "")
        msg = f"{name}: {kind} is not a number; {advice}."
        raise InvalidInputError(msg)
    some = frame.where(f"{quoted(name)} is not null")
    rows = some.selectExpr(*ids, quoted(name)).limit(FIRST).collect()
    if rows:
        where = ", ".join(f"user {one!r} item {other!r}" for one, other, _ in rows)
        msg = f"{name}: text such as {quote(rows[0][2])} at {where}; {Rows.advice_on()}."
        raise InvalidInputError(msg)


def _check(frame: Any) -> None:
    """Refuse what is no Spark DataFrame, or has no end."""
    if not (hasattr(frame, "mapInArrow") and hasattr(frame, "selectExpr")):
        advice = (
            "give one, or {'labels': ..., 'results': ...}; recsys_ndcg.evaluate reads other data"
        )
        advice = "give its .to_spark()" if hasattr(frame, "to_spark") else advice
        msg = f"That is a {type(frame).__name__}, no Spark DataFrame: {advice}."
        raise InvalidInputError(msg)
    if frame.isStreaming:
        msg = "A streaming DataFrame has no end: write it to a table, and evaluate that."
        raise InvalidInputError(msg)


def quoted(name: str) -> str:
    """Return a name as SQL has it.

    Examples
    --------
    >>> quoted("ndcg@10")
    '`ndcg@10`'
    """
    return f"`{name.replace('`', '``')}`"


#: The column beside the scores for what is left of a partition: a row of its own, without scores.
REST = "_rest"
_ROWS = 1 << 21  # of a partition, if nobody says how many there are
#: Spark's median holds each distinct value. Of more users it looks at those alone that its sketch,
#: which is off by one in ten thousand users at most, leaves in question.
_MANY = 1_000_000
_NEAR = "0.4995D, 0.5005D"
_WHERE = "Their scores are in per_user, a Spark DataFrame."


class WorkerError(RecsysNdcgError, ImportError):
    """The workers lack something that the driver has; the message says what brings it."""


def evaluate(  # noqa: PLR0913 - the contract
    df: Any,
    *,
    metrics: Metrics = None,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
) -> SparkReport:
    """Rank each user's items by their estimates and score the lists, on the workers of a cluster.

    The rows are read twice: once for what must be known of all of them, and once to bring the
    users together; where repeated rows are merged, mostly once more. Cache the DataFrame where it
    is dear to compute, or not always the same. The workers need this package, NumPy, pandas, SciPy,
    narwhals and pyarrow: ``docs/spark.md``.

    Parameters
    ----------
    df : pyspark.sql.DataFrame, or mapping of two
        Classic or Connect, from Spark 3.5 on, with the columns user, item, estimated and true; or
        ``{"labels": df, "results": df}``, joined as `RankedLists.from_labels` does.
    metrics, k, threshold, convention, columns
        As in `recsys_ndcg.evaluate`. What goes by the order of the rows is refused, for Spark
        keeps none: ``ties="input"``, ``duplicates="first"`` and ``"last"``.
    partitions : int, optional
        Among how many the users are divided. By default one for each 2^21 rows. The rows of one
        must fit into the memory of a worker: 200 bytes each.

    Returns
    -------
    SparkReport
        Its `per_user` is a Spark DataFrame, persisted. The numbers are those of
        `recsys_ndcg.evaluate`.

    Raises
    ------
    InvalidInputError
        The data or an option cannot be used; the message says where and what to do.
    UnknownMetricError
        No metric has that name.
    WorkerError
        The workers cannot import this package, or what it needs.

    Warns
    -----
    DataWarning
        As `recsys_ndcg.evaluate` does.

    Examples
    --------
    >>> from recsys_ndcg.scale import spark
    >>> df = session.read.parquet("predictions")  # doctest: +SKIP
    >>> with spark.evaluate(df, k=10, threshold=4) as report:  # doctest: +SKIP
    ...     report.per_user.write.parquet("scores")
    """
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention)
    return evaluate_by_plan(df, plan, columns=columns, partitions=partitions)


def evaluate_by_plan(
    data: Any,
    plan: Plan,
    *,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
    **others: Any,
) -> SparkReport:
    """Do the same by a plan, without options of other engines.

    Raises
    ------
    InvalidInputError
        There are some, or as for `evaluate`.
    """
    for name in ("memory_limit", "per_user", "n_items"):
        if others.get(name) is not None:
            msg = (
                f"{name}= is not for tables of Spark: their rows stay on the cluster. Write the "
                "scores of users by report.per_user.write, and share the memory out by "
                "partitions= of recsys_ndcg.scale.spark.evaluate."
            )
            raise InvalidInputError(msg)
    _refuse_order(plan)
    if partitions is not None:
        check_integer("partitions", partitions, least=1)
    tables = {
        name: _table(name, frame, named)
        for name, (frame, named) in given_tables(data, columns).items()
    }
    facts = facts_of(tables)
    rows = _brought_together(tables, int(partitions or max(1, -(-facts.rows // _ROWS))))
    grades = facts.grades
    if plan.hangs_on_merging(unlabelled=facts.has_unlabelled):
        looking = Job(plan, grades_only=True)  # at what repeated rows become
        grades = looking.merged(looking.table(rows))
    job = Job(plan.with_threshold(grades), grades.highest)
    table = job.table(rows).persist()
    try:
        return SparkReport.of(job.merged(table), job.plan, table)
    except BaseException:
        table.unpersist()
        raise


def _refuse_order(plan: Plan) -> None:
    """Refuse choices that go by the order of the rows."""
    why = "goes by the order of the rows, which Spark does not keep."
    if plan.duplicates in ("first", "last"):
        msg = f"duplicates={plan.duplicates!r} {why} Choose 'max' or 'mean', or drop the repeats."
        raise InvalidInputError(msg)
    for one in plan.measurements:
        if one.convention.ties == "input":
            msg = (
                f"{one}: ties='input' {why} Choose 'expected', or 'item_asc', or add the number of "
                "the row to the estimates."
            )
            raise InvalidInputError(msg)


def _brought_together(tables: Mapping[str, SparkTable], count: int) -> Any:
    """Return the rows of all tables as one DataFrame, in so many partitions of whole users."""
    frames = {name: nw.to_native(table.frame) for name, table in tables.items()}
    if PREDICTIONS in frames:
        return frames[PREDICTIONS].repartition(count, "user")
    labels = frames[LABELS].selectExpr("*", "false as listed")
    results = frames[RESULTS].selectExpr("*", "true as listed")
    return labels.unionByName(results, allowMissingColumns=True).repartition(count, "user")


@dataclass(frozen=True)
class Job:
    """What every worker is told, and does.

    Parameters
    ----------
    plan : Plan
        With its threshold settled.
    highest : float
        The highest grade of all.
    grades_only : bool
        Whether only the bounds of the true values are looked for.
    version : str
        Of this package, where the job comes from.
    """

    plan: Plan
    highest: float = np.nan
    grades_only: bool = False
    version: str = __version__

    def table(self, rows: Any) -> Any:
        """Return the DataFrame of what the workers leave of rows, partitions of whole users."""
        kind = dict(rows.dtypes)["user"]
        scores = ", ".join(f"{quoted(name)} double" for name in self.plan.names)
        schema = f"user {kind}, n_items bigint, n_relevant bigint, {scores}, {REST} binary"
        return rows.mapInArrow(self.measured, schema)

    def measured(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Measure all users of a partition; an error of ours is handed on beside the scores.

        So it is not a failed task, which Spark would try again.
        """
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - optional

        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return
        table = pa.Table.from_batches(rows)
        counts = [("n_items", pa.int64()), ("n_relevant", pa.int64())]
        scores = [(name, pa.float64()) for name in self.plan.names]
        user = ("user", table.schema.field("user").type)
        schema = pa.schema([user, *counts, *scores, (REST, pa.binary())])
        try:
            users, rest = self._left_of(table, schema)
        except RecsysNdcgError as error:
            users, rest = [], InvalidInputError(str(error))
        yield from users
        yield pa.RecordBatch.from_pylist([{REST: pickle.dumps(rest)}], schema=schema)

    def _left_of(self, table: Any, schema: Any) -> tuple[list[Any], Any]:
        """Return the scores of every user, unless only grades are looked for, and what is left."""
        if self.version != __version__:
            msg = (
                f"The workers have recsys-ndcg {__version__}, but {self.version} asks. Give them "
                "the same."
            )
            raise InvalidInputError(msg)
        # one thread: Spark runs as many tasks as there are cores; all warnings are the driver's
        with limit_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lists = lists_of(_tables(table), self.plan)
            if self.grades_only:
                return [], Facts.of(lists).all_true
            audit = Audit.of(lists, self.plan, highest=self.highest)
            part = PartialReport.of(audit, keep=False)
            # without the measurements: they may hold functions of the user's
            return [_of_users(audit, schema)], _measured_by((), part)

    def merged(self, table: Any) -> Any:
        """Merge what the workers left: the grades, or the part of a report of all users.

        Raises
        ------
        WorkerError
            The workers lack a module.
        """
        try:
            rests = table.where(f"{REST} is not null").select(REST).collect()
        except Exception as error:
            missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", str(error))
            if missing is None:
                raise
            msg = (
                f"The workers cannot import {missing[1]!r}, which measuring needs. Install "
                "recsys-ndcg[scale] in their Python, or send what is missing along as a zip: "
                "spark.addArtifact('recsys_ndcg.zip', pyfile=True), or spark-submit --py-files "
                "recsys_ndcg.zip (docs/spark.md)."
            )
            raise WorkerError(msg) from None
        return reduce(add, (self.unpacked(bytes(one[0])) for one in rests))

    def unpacked(self, rest: bytes) -> Any:
        """Return what a worker left: grades, or the part of a report.

        Raises
        ------
        InvalidInputError
            The worker met it.
        """
        found = pickle.loads(rest)  # noqa: S301 - from our own workers
        if isinstance(found, InvalidInputError):
            raise found
        return found if self.grades_only else _measured_by(self.plan.measurements, found)


def _measured_by(measurements: tuple[Measurement, ...], part: PartialReport) -> PartialReport:
    return replace(part, totals=replace(part.totals, measurements=measurements))


def _tables(rows: Any) -> dict[str, Any]:
    """Return the tables whose rows stand one below the other."""
    if "listed" not in rows.column_names:
        return {PREDICTIONS: rows}
    listed = np.asarray(rows.column("listed").to_numpy(), dtype=bool)
    score = "rank" if "rank" in rows.column_names else "estimated"
    parts = {LABELS: (~listed, "true"), RESULTS: (listed, score)}
    return {
        name: rows.filter(mine).select([one for one in (*IDS, own) if one in rows.column_names])
        for name, (mine, own) in parts.items()
    }


def _of_users(audit: Audit, schema: Any) -> Any:
    """Return the scores of every user."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    table = audit.scores.table().reset_index()
    table["user"] = audit.scores.users.astype(object)  # of which pyarrow makes decimals, too
    return pa.RecordBatch.from_pandas(table.assign(**{REST: None}), schema, preserve_index=False)


def median_of(table: Any, names: list[str], n_users: int) -> Floats:
    """Return the exact median of each metric over so many users, whose scores Spark has."""
    columns = [quoted(name) for name in names]
    if n_users > _MANY:
        near = [f"percentile_approx({one}, array({_NEAR}))" for one in columns]
        bounds = table.selectExpr(*near).collect()[0]
        columns = [_within(*both) for both in zip(columns, bounds, strict=True)]
    medians = table.selectExpr(*(f"percentile({one}, 0.5D)" for one in columns)).collect()[0]
    return np.array([np.nan if one is None else one for one in medians], dtype=np.float64)


def _within(column: str, bounds: list[float] | None) -> str:
    """Return the SQL of a column whose values end at bounds: those beyond count as the bound."""
    if bounds is None:
        return column
    low, high = (f"{bound!r}D" for bound in bounds)
    return f"if({column} is null, null, greatest(least({column}, {high}), {low}))"


@dataclass(frozen=True, eq=False, repr=False)
class SparkReport(Report):
    """A report whose users stay on the cluster.

    It has the attributes of `Report` that sum up all users. What takes the users themselves
    (`take`, `by`, `leaderboard`, `explain`, `save`) is refused, and says where they are. As a
    context manager it gives the memory of the cluster back in the end.

    Attributes
    ----------
    per_user : pyspark.sql.DataFrame
        user, n_items, n_relevant, then a column per metric: NULL is undefined, and of n_relevant
        that nothing tells what is relevant. It is persisted, in no order, and not collected.
    """

    table: Any = None

    @classmethod
    def of(cls, part: PartialReport, plan: Plan, table: Any) -> Self:
        """Return the report of all users, given the table of what `Job.measured` left."""
        totals = part.totals
        median = partial(median_of, table, totals.names, totals.counts["users"])
        return cls(part.report(plan, median, _WHERE).audited, table=table)

    @property
    def per_user(self) -> Any:
        """Scores by user, a Spark DataFrame."""
        return self.table.where(f"{REST} is null").drop(REST)

    def unpersist(self) -> None:
        """Give the memory back that the scores take on the cluster.

        Whatever is asked of `per_user` afterwards, the first time the median too, is measured anew.
        """
        self.table.unpersist()

    def __enter__(self) -> Self:
        """Return the report."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the memory back."""
        self.unpersist()
