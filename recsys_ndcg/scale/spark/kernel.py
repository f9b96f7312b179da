"""What a worker does: batches of rows in, batches of scores by user out."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.parallel import at_most
from recsys_ndcg.scale.partial_report import PartialReport
from recsys_ndcg.scale.spark.lists import Form, lists_of
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recsys_ndcg.scoring.plan import Plan

#: The column beside the scores for what is left of a partition: a row of its own, without scores.
REST = "_rest"


@dataclass(frozen=True)
class Job:
    """What every worker is told.

    Parameters
    ----------
    plan : Plan
        With its threshold settled.
    highest : float
        The highest grade of all.
    form : Form
        What the rows are.
    version : str
        Of this package, where the job comes from.
    """

    plan: Plan
    highest: float
    form: Form
    version: str = __version__


def kernel_of(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function for `mapInArrow`; it can be pickled wherever this module is."""

    def kernel(batches: Iterator[Any]) -> Iterator[Any]:
        return measured(job, batches)

    return kernel


def measured(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """Measure all users of a partition; an error of ours is handed on beside the scores.

    So it is not a failed task, which Spark would try again.
    """
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - optional

    rows = [batch for batch in batches if batch.num_rows]
    if not rows:
        return
    table = pa.Table.from_batches(rows)
    scores = [(name, pa.float64()) for name in job.plan.names]
    counts = [("n_items", pa.int64()), ("n_relevant", pa.int64())]
    user = ("user", table.schema.field("user").type)
    schema = pa.schema([user, *counts, *scores, (REST, pa.binary())])
    try:
        _check_version(job.version)
        audit = _audit(table, job)
    except RecsysNdcgError as error:
        rest = pickle.dumps(InvalidInputError(str(error)))
    else:
        yield _of_users(audit, schema)
        rest = packed(PartialReport.of(audit, keep=False))
    yield pa.RecordBatch.from_pylist([{REST: rest}], schema=schema)


def _check_version(version: str) -> None:
    if version != __version__:
        msg = f"The workers have recsys-ndcg {__version__}, but {version} asks. Give them the same."
        raise InvalidInputError(msg)


def _audit(table: Any, job: Job) -> Audit:
    # one thread: Spark runs as many tasks as there are cores; what is to be said, the driver says
    with at_most(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Audit.of_part(lists_of(table, job.form), job.plan, highest=job.highest)


def _of_users(audit: Audit, schema: Any) -> Any:
    """Return the scores of every user."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    scores, counts = audit.scores, audit.scores.counts
    n_relevant = pa.array(counts.n_relevant, from_pandas=True).cast(pa.int64())
    numbers = [pa.array(column, from_pandas=True) for column in scores.per_user.T]
    # as a list: pyarrow makes no decimals of an array of whole numbers
    users = pa.array(scores.users.tolist(), type=schema.field("user").type)
    columns = [users, counts.n_items, n_relevant]
    nothing = pa.nulls(len(users), pa.binary())
    return pa.RecordBatch.from_arrays([*columns, *numbers, nothing], schema=schema)


def packed(part: PartialReport) -> bytes:
    """Return what is left of a partition as bytes.

    The measurements are left out: they may hold functions of the user's.
    """
    return pickle.dumps(replace(part, totals=replace(part.totals, measurements=())))


def unpacked(rest: bytes, plan: Plan) -> PartialReport:
    """Return what a worker packed.

    Raises
    ------
    InvalidInputError
        The worker met it.
    """
    found = pickle.loads(rest)  # noqa: S301 - from our own workers
    if isinstance(found, InvalidInputError):
        raise found
    part: PartialReport = found
    return replace(part, totals=replace(part.totals, measurements=plan.measurements))
