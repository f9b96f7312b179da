"""What an evaluation found as Parquet: a row per user, for other programs, and for ours."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, needing
from recsys_ndcg.report.loading import loaded
from recsys_ndcg.report.parts import Part
from recsys_ndcg.report.plain import head
from recsys_ndcg.report.storage import columns_of, head_of, insert
from recsys_ndcg.report.tables import audit_table, counts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.scoring.audit import Audit

_KEY = b"recsys_ndcg"
_JOB = {"job": "Parquet", "extra": "scale"}


def to_parquet(audit: Audit) -> bytes:
    """Return a file: the user, the score in each metric, and what else `from_parquet` needs.

    Raises
    ------
    InvalidInputError
        The users have ids of several types, or of one that Parquet does not have; a metric of
        somebody's own gave numbers that none can have.
    MissingExtraError
        pyarrow is not installed.
    """
    with needing("pyarrow", **_JOB):
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    scores = audit.scores
    table = audit_table(audit.full_totals)
    told = {"audit": table, "baselines": table[["chance"]]}
    stored = head_of(head(told, counts_of(audit), audit.signatures), audit)
    named = zip(scores.names, scores.per_user.T, strict=True)
    per_user = {name: column for name, column in named if name != "user"}  # to be read by people
    columns = {".".join(keys): column for keys, column in columns_of(audit)}
    table = pa.table({"user": column_of(scores.users), **per_user, **columns})
    table = table.replace_schema_metadata({_KEY: json.dumps(stored, allow_nan=False)})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


def column_of(users: NDArray[Any]) -> Any:
    """Return ids of users as a column.

    Raises
    ------
    InvalidInputError
        They are of several types, or of one that Parquet does not have.
    MissingExtraError
        pyarrow is not installed.
    """
    with needing("pyarrow", **_JOB):
        import pyarrow as pa  # noqa: PLC0415 - an extra
    try:
        column = pa.array(users.tolist() if users.dtype == object else users)
        parquet_has = not pa.types.is_nested(column.type)
    except (pa.ArrowException, OverflowError, UnicodeError):
        parquet_has = False
    if not parquet_has:
        msg = "Parquet has no column for these ids of users: let all be text, or all numbers."
        raise InvalidInputError(msg)
    return column


def from_parquet(content: bytes) -> Audit:
    """Return what `to_parquet` wrote, all but the lists.

    Raises
    ------
    InvalidInputError
        It is no such file, or was changed.
    MissingExtraError
        pyarrow is not installed.
    """
    with needing("pyarrow", **_JOB):
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    try:
        table = parquet.read_table(io.BytesIO(content))
        stored = json.loads((table.schema.metadata or {})[_KEY])
        users = _values(table["user"])
        columns = {name: _values(table[name]) for name in table.column_names}
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        msg = "no Parquet file that recsys_ndcg wrote of an evaluation, or a damaged one."
        raise InvalidInputError(msg) from None
    stored["users"] = users if users.dtype.kind in "iu" else users.tolist()
    apart = ((name.split(".", 2), column) for name, column in columns.items())
    insert(stored, ((keys, column) for keys, column in apart if keys[0] in _KINDS))
    audit, _ = loaded(Part(stored), _LARGEST)
    return audit


def _values(column: Any) -> NDArray[Any]:
    found: NDArray[Any] = np.asarray(column.to_numpy())
    return found


_KINDS = ("lists", "scores", "orders")
_LARGEST = 1 << 62  # bytes that it may unpack to: Parquet says how many before it does
