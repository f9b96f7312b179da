"""What a worker does: batches of rows in, batches of scores by user out."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.parallel import at_most
from recsys_ndcg.scale.chunks import Form, lists_of
from recsys_ndcg.scale.parts import Parts
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recsys_ndcg.lists.looks import Looks
    from recsys_ndcg.report.audits.measured import MeasuredAudit
    from recsys_ndcg.report.audits.tally import Tally
    from recsys_ndcg.scoring.plan import Plan

#: The column beside the scores that holds, in the last row of each partition, what is left of it.
REST = "_rest"
_ROWS = 1 << 17  # of a chunk


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
    in_order : bool
        Whether the rows of a user stand together, so that chunks can be cut; else a partition is
        taken whole.
    version : str
        Of this package, where the job comes from.
    """

    plan: Plan
    highest: float
    form: Form
    in_order: bool
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
    parts = Parts(job.plan, highest=job.highest, keep=False)
    last = None
    try:
        for table in whole_users(batches, _ROWS if job.in_order else None):
            _check_version(job.version)
            scores = _scores(parts, table, job.form)
            if last is not None:
                yield _batch(last)
            last = scores
    except RecsysNdcgError as error:
        yield _said(error, job.plan, table.schema)
        return
    if last is not None and parts.tally is not None and parts.looks is not None:
        yield _batch(last, packed(parts.tally, parts.looks))


def whole_users(batches: Iterable[Any], rows: int | None) -> Iterator[Any]:
    """Cut batches into tables of about so many rows, none of them between rows of one user.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows of a user stand together, wherever batches end.
    rows : int, optional
        By default all are one table.
    """
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - optional

    kept: list[Any] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        kept.append(batch)
        size += batch.num_rows
        if rows is None or size < rows:
            continue
        start = _start_of_last(batch)
        if not start and (len(kept) == 1 or _same_user(kept[-2], batch)):
            continue  # whoever goes on here may go on
        done = [*kept[:-1], batch.slice(0, start)]
        yield pa.Table.from_batches(done)
        kept = [batch.slice(start)]
        size = kept[0].num_rows
    if kept:
        yield pa.Table.from_batches(kept)


def _start_of_last(batch: Any) -> int:
    """Return where the rows of the last user of a batch start."""
    import pyarrow.compute as pc  # type: ignore[import-untyped] # noqa: PLC0415 - optional

    users = batch.column("user")
    others = np.asarray(pc.not_equal(users, users[-1]).to_numpy(zero_copy_only=False))
    return int(len(others) - others[::-1].argmax()) if others.any() else 0


def _same_user(before: Any, after: Any) -> bool:
    one, other = before.column("user")[-1], after.column("user")[0]
    return bool(one == other)


def _check_version(version: str) -> None:
    if version != __version__:
        msg = f"The workers have recsys-ndcg {__version__}, but {version} asks. Give them the same."
        raise InvalidInputError(msg)


def _scores(parts: Parts, table: Any, form: Form) -> list[Any]:
    """Measure a table, and return columns of its users."""
    # one thread: Spark runs as many tasks as there are cores; what is to be said, the driver says
    with at_most(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _columns(parts.add(lists_of(table, form)), table.schema.field("user").type)


def _columns(audit: MeasuredAudit, kind: Any) -> list[Any]:
    import pyarrow as pa  # noqa: PLC0415 - optional

    scores = audit.scores
    users = scores.users.tolist() if scores.users.dtype == object else scores.users
    counts = scores.counts
    numbers = [pa.array(column, from_pandas=True) for column in scores.per_user.T]
    n_relevant = pa.array(counts.n_relevant, from_pandas=True).cast(pa.int64())
    named = dict(zip(audit.totals.names, numbers, strict=True))
    return [
        ("user", pa.array(users, type=kind)),
        ("n_items", pa.array(counts.n_items, type=pa.int64())),
        ("n_relevant", n_relevant),
        *named.items(),
    ]


def _batch(columns: list[Any], rest: bytes | None = None) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - optional

    n_rows = len(columns[0][1])
    added = pa.array([*[None] * (n_rows - 1), rest], type=pa.binary())
    names, arrays = zip(*columns, (REST, added), strict=True)
    return pa.RecordBatch.from_arrays(list(arrays), names=list(names))


def _said(error: RecsysNdcgError, plan: Plan, schema: Any) -> Any:
    """Return an error as a row without scores."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    columns = [
        ("user", pa.nulls(1, schema.field("user").type)),
        ("n_items", pa.nulls(1, pa.int64())),
        ("n_relevant", pa.nulls(1, pa.int64())),
        *((name, pa.nulls(1, pa.float64())) for name in plan.names),
    ]
    return _batch(columns, pickle.dumps(InvalidInputError(str(error))))


def packed(tally: Tally, looks: Looks) -> bytes:
    """Return what is left of a partition as bytes.

    The measurements are left out: they may hold functions of the user's.
    """
    plain = replace(tally, totals=replace(tally.totals, measurements=()))
    return pickle.dumps((plain, looks))


def unpacked(rest: bytes, plan: Plan) -> tuple[Tally, Looks]:
    """Return what a worker packed.

    Raises
    ------
    InvalidInputError
        The worker met it.
    """
    found = pickle.loads(rest)  # noqa: S301 - from our own workers
    if isinstance(found, InvalidInputError):
        raise found
    tally, looks = found
    return replace(tally, totals=replace(tally.totals, measurements=plan.measurements)), looks
