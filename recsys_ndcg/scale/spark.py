"""Evaluation of Spark DataFrames on the workers of a cluster: classic and Connect.

Nothing here imports pyspark: all queries are SQL or narwhals.
"""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self, Unpack

import narwhals as nw
import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background, BackgroundOptions
from recsys_ndcg.calls import take_options
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, check_integer, quote
from recsys_ndcg.input import BRACKETS, QUOTES, Rows, find_type_kind
from recsys_ndcg.lists import Facts
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.report import Report
from recsys_ndcg.scale.engines import (
    IDS,
    LABELS,
    POSITION,
    PREDICTIONS,
    RESULTS,
    UNMATCHED,
    PartialReport,
    add_list_columns,
    build_lists,
    check_distinct_columns,
    check_users_have_rows,
    map_columns,
    split_tables,
)
from recsys_ndcg.scale.facts import MAX_NAMED, LazyTable, collect_facts
from recsys_ndcg.scoring import Audit, Cutoffs, Measurement, Metrics, Plan
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.convention import ConventionLike

_NUMBERS = re.compile("tinyint|smallint|int|bigint|float|double|boolean|decimal.*|void")
_TIMES = re.compile("date|timestamp.*|time.*")
_TEXT = re.compile("string.*|char.*|varchar.*")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'"})  # in text of SQL
_IDS = re.compile(f"{_NUMBERS.pattern}|{_TIMES.pattern}|{_TEXT.pattern}|binary")


class SparkTable(LazyTable):
    """A DataFrame with our column names."""

    def fetch(self, query: nw.LazyFrame[Any]) -> Sequence[Mapping[str, Any]]:
        """Run a query with few rows, and return them, in any version of Spark."""
        return [row.asDict() for row in nw.to_native(query).collect()]


def _open_table(
    name: str, frame: Any, columns: Mapping[str, str] | None, separator: str | None
) -> SparkTable:
    _check_frame(frame)
    names, lists = map_columns(dict(frame.dtypes), columns, name, separator)
    check_distinct_columns(names, frame.columns)
    if lists:
        given, names = names, add_list_columns(names, name)
        frame = _explode(frame, given, lists, separator)
    types, read = dict(frame.dtypes), []
    for ours, theirs in names.items():
        kind = types[theirs]
        # the nearest double of a float32 is not the decimal number it was written as
        wider = "" if kind == "float" else "double"
        if ours in IDS:
            wider = {"boolean": "int", "float": "double"}.get(kind, "")
            if not _IDS.fullmatch(kind):
                msg = f"{ours}: ids of type {kind} are not hashable. Use numbers or text."
                raise InvalidInputError(msg)
        elif not _NUMBERS.fullmatch(kind):
            _check_numeric(frame, theirs, kind, [quote_name(names[one]) for one in IDS])
        value = f"cast({quote_name(theirs)} as {wider})" if wider else quote_name(theirs)
        read.append(f"{value} as `{ours}`")
    return SparkTable(nw.from_native(frame.selectExpr(*read)), names, read_as_text=False)


def _explode(
    frame: Any, names: Mapping[str, str], lists: Sequence[str], separator: str | None
) -> Any:
    """Return a row for each item of the lists in the cells, with its place in the list."""
    cells = {ours: quote_name(names[ours]) for ours in lists}
    if separator and find_type_kind(dict(frame.dtypes)[names["item"]]) == "text":
        mark = r"\\s+" if separator == " " else rf"\\Q{separator.translate(_ESCAPES)}\\E"
        cell = _unwrap(_unwrap(cells["item"], BRACKETS), QUOTES)
        trimmed = f"transform(split({cell}, '{mark}'), part -> {_unwrap('part', QUOTES)})"
        cells["item"] = f"filter({trimmed}, part -> part <> '')"
    single = [quote_name(theirs) for ours, theirs in names.items() if ours not in lists]
    arrays = [f"coalesce({one}, array()) as {ours}_list" for ours, one in cells.items()]
    wrong = " or ".join(f"size({ours}_list) <> size(item_list)" for ours in lists)
    exploded = f"posexplode(arrays_zip({', '.join(f'{ours}_list' for ours in lists)}))"
    rows = frame.selectExpr(*single, *arrays).selectExpr(
        *single,
        f"{wrong} as {UNMATCHED}",
        f"{exploded} as ({POSITION}, recsys_ndcg_cell)",
    )
    values = [f"recsys_ndcg_cell.{ours}_list as {quote_name(names[ours])}" for ours in lists]
    return rows.selectExpr(*single, UNMATCHED, f"{POSITION} + 1 as {POSITION}", *values)


def _unwrap(text: str, what: tuple[str, int]) -> str:
    """Return the SQL of a text without the signs that enclose it, and without blanks."""
    blanks = r"' \t\r\n'"
    inside = "".join(f"${group}" for group in range(1, what[1] + 1))
    pattern = what[0].translate(_ESCAPES)
    return f"btrim(regexp_replace(btrim({text}, {blanks}), '{pattern}', '{inside}'), {blanks})"


def _check_numeric(frame: Any, name: str, kind: str, ids: Sequence[str]) -> None:
    """Raise if a column of another type has values."""
    if not _TEXT.fullmatch(kind):
        fix = Rows.suggest_conversion("M" if _TIMES.fullmatch(kind) else "")
        msg = f"{name}: {kind} is not a number; {fix}."
        raise InvalidInputError(msg)
    some = frame.where(f"{quote_name(name)} is not null")
    rows = some.selectExpr(*ids, quote_name(name)).limit(MAX_NAMED).collect()
    if rows:
        where = ", ".join(f"user {one!r} item {other!r}" for one, other, _ in rows)
        msg = f"{name}: text such as {quote(rows[0][2])} at {where}; {Rows.suggest_conversion()}."
        raise InvalidInputError(msg)


def _check_frame(frame: Any) -> None:
    """Raise if data are not a Spark DataFrame, or a streaming one."""
    if not (hasattr(frame, "mapInArrow") and hasattr(frame, "selectExpr")):
        fix = "Use recsys_ndcg.evaluate for other data, or give {'labels': ..., 'results': ...}"
        fix = "Give its .to_spark()" if hasattr(frame, "to_spark") else fix
        msg = f"{type(frame).__name__} is not a Spark DataFrame. {fix}."
        raise InvalidInputError(msg)
    if frame.isStreaming:
        msg = "A streaming DataFrame has no end. Write it to a table, and evaluate the table."
        raise InvalidInputError(msg)


def quote_name(name: str) -> str:
    """Quote a name for SQL.

    Examples
    --------
    >>> quote_name("ndcg@10")
    '`ndcg@10`'
    """
    return f"`{name.replace('`', '``')}`"


#: The column with the partial result of a partition, in a row without scores.
REST = "_rest"
_ROWS_PER_PARTITION = 1 << 21  # by default
#: Spark's exact median holds each distinct value in memory. So it gets only the values around the
#: approximate median, whose rank is off by at most 1 in 10,000 users.
_AROUND_MEDIAN = "0.4995D, 0.5005D"
_WHERE = "Their scores are in per_user, a Spark DataFrame."


class WorkerError(RecsysNdcgError, ImportError):
    """The workers lack a package that the driver has; the message explains how to send it."""


@take_options(BackgroundOptions)
def evaluate(  # noqa: PLR0913 - the contract
    df: Any,
    *,
    metrics: Metrics = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
    **background: Unpack[BackgroundOptions],
) -> SparkReport:
    """Rank each user's items by their estimates and score the lists, on the workers of a cluster.

    The rows are read twice: to check them, and to group them by user; mostly once more if repeated
    rows are merged. Cache the DataFrame if it is expensive to compute or not deterministic. The
    workers need this package, NumPy, pandas, SciPy, narwhals and pyarrow: see the documentation,
    "Evaluate on Spark".

    Parameters
    ----------
    df : pyspark.sql.DataFrame, or mapping of two
        Classic or Connect, from Spark 3.5 on, with the columns user, item, estimated and true; or
        ``{"labels": df, "results": df}``, joined as `RankedLists.from_labels` does.
    metrics, k, threshold, convention, columns
        As in `recsys_ndcg.evaluate`. Options that depend on the order of the rows raise, as Spark
        keeps no order: ``ties="input"``, ``duplicates="first"`` and ``"last"``.
    partitions : int, optional
        Number of partitions of the users, by default one per 2^21 rows. A partition must fit into
        the memory of a worker, at 200 bytes per row.
    **background
        As in `BackgroundOptions`. It is in memory, and sent to every worker.

    Returns
    -------
    SparkReport
        Its `per_user` is a persisted Spark DataFrame. The numbers equal
        `recsys_ndcg.evaluate`'s.

    Raises
    ------
    InvalidInputError
        The data or an option is invalid; the message has the place and the fix.
    UnknownMetricError
        No metric has that name.
    WorkerError
        The workers cannot import this package or its dependencies.

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
    known = Background.of(**background)
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention, background=known)
    return evaluate_by_plan(df, plan, columns=columns, partitions=partitions)


def evaluate_by_plan(
    data: Any,
    plan: Plan,
    *,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
    **others: Any,
) -> SparkReport:
    """Evaluate by a plan; options of other engines raise.

    Raises
    ------
    InvalidInputError
        An option is of another engine, or as for `evaluate`.
    """
    for name in ("memory_limit", "per_user", "n_items"):
        if others.get(name) is not None:
            msg = (
                f"{name}= is not for tables of Spark, whose rows stay on the cluster. Write users' "
                "scores with report.per_user.write, and control the memory with partitions= of "
                "recsys_ndcg.scale.spark.evaluate."
            )
            raise InvalidInputError(msg)
    _check_order(plan)
    check_users_have_rows(plan)
    if partitions is not None:
        check_integer("partitions", partitions, least=1)
    given, separator = split_tables(data, columns)
    tables = {
        name: _open_table(name, frame, named, separator) for name, (frame, named) in given.items()
    }
    facts = collect_facts(tables, separator)
    rows = _repartition(tables, int(partitions or max(1, -(-facts.rows // _ROWS_PER_PARTITION))))
    grades = facts.grades
    if plan.depends_on_merging(has_unlabelled=facts.has_unlabelled):
        first = Job(plan, grades_only=True)  # merges repeated rows
        grades = first.merge(first.run(rows))
    job = Job(plan.with_threshold(grades), grades.highest)
    table = job.run(rows).persist()
    try:
        return SparkReport.of(job.merge(table), job.plan, table)
    except BaseException:
        table.unpersist()
        raise


def _check_order(plan: Plan) -> None:
    """Raise if an option depends on the order of the rows."""
    why = "depends on the order of the rows, which Spark does not keep."
    if plan.duplicates in ("first", "last"):
        msg = f"duplicates={plan.duplicates!r} {why} Choose 'max' or 'mean', or drop the repeats."
        raise InvalidInputError(msg)
    for one in plan.measurements:
        if one.convention.tie_rule.by == "input":
            msg = (
                f"{one}: ties={one.convention.ties!r} {why} Choose 'expected' or 'item_asc', or "
                "break ties in the estimates: subtract a tiny multiple of the row number."
            )
            raise InvalidInputError(msg)


def _repartition(tables: Mapping[str, SparkTable], count: int) -> Any:
    """Return the rows of all tables as one DataFrame, partitioned by user."""
    frames = {name: nw.to_native(table.frame) for name, table in tables.items()}
    if PREDICTIONS in frames:
        return frames[PREDICTIONS].repartition(count, "user")
    rows = frames[RESULTS].selectExpr("*", "true as listed")
    if LABELS in frames:
        labels = frames[LABELS].selectExpr("*", "false as listed")
        rows = labels.unionByName(rows, allowMissingColumns=True)
    return rows.repartition(count, "user")


@dataclass(frozen=True)
class Job:
    """The work of each worker.

    Parameters
    ----------
    plan : Plan
        What to measure, with its threshold.
    highest : float
        The highest grade of all.
    grades_only : bool
        Whether to collect only the bounds of the true values.
    version : str
        The driver's version of this package.
    """

    plan: Plan
    highest: float = np.nan
    grades_only: bool = False
    version: str = __version__

    def run(self, rows: Any) -> Any:
        """Return the DataFrame of the workers' results for rows in partitions of whole users."""
        kind = dict(rows.dtypes)["user"]
        scores = [f"{quote_name(name)} double" for name in _name_columns(self.plan.measurements)]
        counts = [f"user {kind}", "n_items bigint", "n_relevant bigint"]
        schema = ", ".join([*counts, *scores, f"{REST} binary"])
        return rows.mapInArrow(self.measure, schema)

    def measure(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Measure all users of a partition.

        An error of ours is returned as the result, as Spark would retry a failed task.
        """
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - optional

        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return
        table = pa.Table.from_batches(rows)
        counts = [("n_items", pa.int64()), ("n_relevant", pa.int64())]
        scores = [(name, pa.float64()) for name in _name_columns(self.plan.measurements)]
        user = ("user", table.schema.field("user").type)
        schema = pa.schema([user, *counts, *scores, (REST, pa.binary())])
        try:
            users, rest = self._measure_table(table, schema)
        except RecsysNdcgError as error:
            users, rest = [], InvalidInputError(str(error))
        yield from users
        yield pa.RecordBatch.from_pylist([{REST: pickle.dumps(rest)}], schema=schema)

    def _measure_table(self, table: Any, schema: Any) -> tuple[list[Any], Any]:
        """Return every user's scores and the partial report, or only the bounds of the grades."""
        if self.version != __version__:
            msg = (
                f"The workers have recsys-ndcg {__version__}, but the driver has {self.version}. "
                "Install the same version."
            )
            raise InvalidInputError(msg)
        # one thread, as Spark runs a task per core; the driver gives all warnings
        with limit_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lists = build_lists(_split_by_kind(table), self.plan)
            if self.grades_only:
                return [], Facts.of(lists).all_grades
            audit = Audit.of(lists, self.plan, highest_grade=self.highest)
            part = PartialReport.of(audit, keep=False)
            # without the measurements, which may hold custom functions
            return [_score_users(audit, schema)], _with_measurements((), part)

    def merge(self, table: Any) -> Any:
        """Merge the workers' results: grades or partial reports.

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
                f"The workers cannot import {missing[1]!r}. On one machine, let them run this "
                "Python: os.environ['PYSPARK_PYTHON'] = sys.executable before the session starts. "
                "On a cluster, install this package and pyarrow in their Python, or send the "
                "package as a zip: spark.addArtifact('recsys_ndcg.zip', pyfile=True), or "
                "spark-submit --py-files recsys_ndcg.zip (documentation: Evaluate on Spark)."
            )
            raise WorkerError(msg) from None
        return reduce(add, (self.unpack(bytes(one[0])) for one in rests))

    def unpack(self, rest: bytes) -> Any:
        """Return a worker's result: grades or a partial report.

        Raises
        ------
        InvalidInputError
            The worker raised it.
        """
        found = pickle.loads(rest)  # noqa: S301 - from our own workers
        if isinstance(found, InvalidInputError):
            raise found
        return found if self.grades_only else _with_measurements(self.plan.measurements, found)


def _name_columns(measurements: Iterable[Measurement]) -> list[str]:
    """Return the names of the metrics that have a score per user."""
    return [str(one) for one in measurements if one.metric.per_user]


def _with_measurements(measurements: tuple[Measurement, ...], part: PartialReport) -> PartialReport:
    return replace(part, totals=replace(part.totals, measurements=measurements))


def _split_by_kind(rows: Any) -> dict[str, Any]:
    """Return the tables by kind from their concatenated rows."""
    if "listed" not in rows.column_names:
        return {PREDICTIONS: rows}
    listed = np.asarray(rows.column("listed").to_numpy(), dtype=bool)
    score = "rank" if "rank" in rows.column_names else "estimated"
    parts = {LABELS: (~listed, ("true", "weight")), RESULTS: (listed, (score,))}
    return {
        name: rows.filter(mine).select([one for one in (*IDS, *own) if one in rows.column_names])
        for name, (mine, own) in parts.items()
    }


def _score_users(audit: Audit, schema: Any) -> Any:
    """Return every user's scores as a record batch."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    table = audit.scores.table().reset_index()
    table["user"] = audit.scores.users.astype(object)  # which pyarrow can turn into decimals
    return pa.RecordBatch.from_pandas(table.assign(**{REST: None}), schema, preserve_index=False)


def compute_median(table: Any, measurements: tuple[Measurement, ...]) -> Floats:
    """Return the exact median of each metric from a table of scores, NaN if it has none."""
    found = np.full(len(measurements), np.nan)
    columns = [quote_name(name) for name in _name_columns(measurements)]
    if not columns:
        return found
    near = [f"percentile_approx({one}, array({_AROUND_MEDIAN}))" for one in columns]
    clipped = map(_clip_sql, columns, table.selectExpr(*near).collect()[0])
    medians = table.selectExpr(*(f"percentile({one}, 0.5D)" for one in clipped)).collect()[0]
    is_per_user = [one.metric.per_user for one in measurements]
    found[is_per_user] = [np.nan if one is None else one for one in medians]
    return found


def _clip_sql(column: str, bounds: list[float] | None) -> str:
    """Return the SQL that clips a column to bounds."""
    if bounds is None:
        return column
    low, high = (f"{bound!r}D" for bound in bounds)
    return f"if({column} is null, null, greatest(least({column}, {high}), {low}))"


@dataclass(frozen=True, eq=False, repr=False)
class SparkReport(Report):
    """A report whose users stay on the cluster.

    It has the attributes of `Report` that summarise all users. Methods that need each user (`take`,
    `by`, `leaderboard`, `explain`, `save`) raise, and name the table of the users. As a context
    manager it frees the memory of the cluster in the end.

    Attributes
    ----------
    per_user : pyspark.sql.DataFrame
        user, n_items, n_relevant, then a column per metric. NULL is undefined; n_relevant is NULL
        without a threshold. It is persisted, unordered, and not collected.
    """

    table: Any = None

    @classmethod
    def of(cls, part: PartialReport, plan: Plan, table: Any) -> Self:
        """Return the report of all users from the merged part and the table of the workers."""
        median = partial(compute_median, table, part.totals.measurements)
        return cls(part.report(plan, median, _WHERE)._data, table=table)

    @property
    def per_user(self) -> Any:
        """Each user's scores, a Spark DataFrame."""
        return self.table.where(f"{REST} is null").drop(REST)

    def unpersist(self) -> None:
        """Free the memory that the scores take on the cluster.

        Afterwards `per_user`, and the median if it was not used before, are computed again.
        """
        self.table.unpersist()

    def __enter__(self) -> Self:
        """Return the report."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free the memory."""
        self.unpersist()
