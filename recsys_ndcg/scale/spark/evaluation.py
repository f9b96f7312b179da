"""evaluate: from a Spark DataFrame to a report, on the workers."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown
from recsys_ndcg.scale.spark.facts import check_ids, checked
from recsys_ndcg.scale.spark.kernel import REST, Job, kernel_of, unpacked
from recsys_ndcg.scale.spark.lists import Form
from recsys_ndcg.scale.spark.report import SparkReport
from recsys_ndcg.scale.spark.source import source_of
from recsys_ndcg.scale.spark.table import quoted
from recsys_ndcg.scoring.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.scale.partial_report import PartialReport
    from recsys_ndcg.scale.spark.source import Source
    from recsys_ndcg.scoring.plan import Cutoffs, Metrics

_ROWS = 1 << 21  # of a partition, if nobody says how many there are


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
    return evaluated(df, plan, columns, partitions)


def evaluated(
    df: Any,
    plan: Plan,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
) -> SparkReport:
    """Do the same by a plan."""
    _refuse_order(plan)
    if partitions is not None and (type(partitions) is not int or partitions < 1):
        msg = f"partitions is a number from 1 on, not {shown(partitions)}."
        raise InvalidInputError(msg)
    source, facts = checked(source_of(df, columns), plan)
    plan = plan.with_threshold(facts.grades)
    count = partitions or max(1, -(-facts.rows // _ROWS))
    form = Form(plan.duplicates, source.joined, source.ranked)
    return _measured(source, Job(plan, facts.grades.highest, form), count)


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


def _measured(source: Source, job: Job, count: int) -> SparkReport:
    """Bring users together, measure them once, and sum up what each partition leaves."""
    rows = source.frame.repartition(count, "user")
    kind = next(one.dataType for one in rows.schema.fields if one.name == "user").simpleString()
    scores = ", ".join(f"{quoted(name)} double" for name in job.plan.names)
    schema = f"user {kind}, n_items bigint, n_relevant bigint, {scores}, {REST} binary"
    table = rows.mapInArrow(kernel_of(job), schema).persist()
    try:
        with _workers():
            rests = table.where(f"{REST} is not null").select(REST).collect()
        whole = _merged([bytes(one[0]) for one in rests], source, job.plan)
        per_user = table.where(f"{REST} is null").drop(REST)
        return SparkReport.of(whole, job.plan, per_user, table)
    except BaseException:
        table.unpersist()
        raise


def _merged(rests: list[bytes], source: Source, plan: Plan) -> PartialReport:
    """Merge what the workers left; where one met a fault, say which rows have it."""
    try:
        return reduce(add, (unpacked(one, plan) for one in rests))
    except InvalidInputError:
        check_ids(source)  # a worker knows the places of its own rows alone
        raise


@contextmanager
def _workers() -> Iterator[None]:
    """Say what to do where the workers lack a module.

    Raises
    ------
    WorkerError
        They do.
    """
    try:
        yield
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
