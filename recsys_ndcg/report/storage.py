"""Reports as files: what people read as plain JSON, what every user scored as packed columns."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.errors.visible import is_encodable
from recsys_ndcg.files.writing import write_whole
from recsys_ndcg.metrics import Metric
from recsys_ndcg.parallel import at_most, in_threads
from recsys_ndcg.report.packing import pack
from recsys_ndcg.report.plain import plain
from recsys_ndcg.report.possible import objection
from recsys_ndcg.scoring.scores import LISTS, ORDERS, PARTS
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.scoring.audit import Audit

FORMAT = 4
_ANYWAY = 1 << 24  # bytes of columns that a file of any size may unpack to
_PER_BYTE = 64  # and how many more for each of its own


def least_size(n_users: int, n_metrics: int) -> int:
    """Return how many bytes a file has at least whose columns take that much room unpacked.

    Nothing larger is unpacked, so that a small file cannot fill the memory; where the columns of
    a report are so much alike that they take less, blanks are added when it is saved.

    Examples
    --------
    >>> least_size(1000, 3), least_size(1_000_000, 20)
    (0, 21237856)
    """
    columns = len(LISTS) + 2 + n_metrics * (len(PARTS) + len(ORDERS))
    return max(0, 8 * n_users * columns - _ANYWAY) // _PER_BYTE


def write(told: dict[str, Any], audit: Audit, path: str | Path) -> None:
    """Write a report.

    Parameters
    ----------
    told : dict
        What `head` returns.
    audit : Audit
        With the scores of every user.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, a metric of somebody's own gave numbers that none
        can have, or the file cannot be written.
    """
    wanted = columns_of(audit)
    with at_most(audit.n_jobs):
        packed = in_threads(lambda one: pack(one[1]), wanted)
    users = audit.scores.users
    stored = head_of(told, audit) | {"users": packed_ids(users)}
    insert(stored, zip((keys for keys, _ in wanted), packed, strict=True))
    write_json(stored, path, least_size(len(users), len(audit.scores.measurements)))


def head_of(told: dict[str, Any], audit: Audit) -> dict[str, Any]:
    """Return what a file says of the whole.

    Raises
    ------
    InvalidInputError
        A metric of somebody's own gave numbers that none can have.
    """
    wrong = objection(audit.full_scores, audit.signatures)
    if wrong:
        msg = f"The report cannot be saved: {wrong}. Correct the metric that gives such a number."
        raise InvalidInputError(msg)
    measured = audit.scores.measurements
    return {
        "format": f"recsys_ndcg report {FORMAT}",
        "written_by": __version__,
        **told,
        "metrics": {str(one): described(one.metric, one.undefined) for one in measured},
        "n_users": len(audit.scores.users),
    }


def columns_of(audit: Audit) -> list[tuple[tuple[str, ...], NDArray[Any]]]:
    """Return what there is of every user, each column under where it stands in a file."""
    kinds = dict.fromkeys(PARTS, "scores") | dict.fromkeys(ORDERS, "orders")
    found: list[tuple[tuple[str, ...], NDArray[Any]]] = []
    for name, column in audit.kept_scores.columns().items():
        table, _, metric = name.partition(".")
        keys = (kinds[table], table, metric) if metric else ("lists", name)
        found.append((keys, column))
    return found


def insert(stored: dict[str, Any], columns: Iterable[tuple[Sequence[str], Any]]) -> None:
    """Put columns to where they stand."""
    for (*keys, last), column in columns:
        place = stored
        for key in keys:
            place = place.setdefault(key, {})
        place[last] = column


def write_json(stored: dict[str, Any], path: str | Path, least: int) -> None:
    """Write plain values as a file of so many bytes at least.

    Raises
    ------
    InvalidInputError
        A value is none that JSON has, or the file cannot be written.
    """
    try:
        pieces = [piece.encode() for piece in _pieces(stored)]
    except (TypeError, ValueError) as error:
        msg = f"A report with such user ids cannot be saved ({error}); use text or numbers."
        raise InvalidInputError(msg) from None
    blanks = b" " * (least - sum(map(len, pieces)))
    write_whole(path, b"".join([*pieces, blanks, b"\n"]))


def _pieces(stored: dict[str, Any]) -> Iterator[str]:
    """Give the text of a file: line by line, but the ids of all users in one."""
    in_lines, in_one = (json.JSONEncoder(indent=one, allow_nan=False) for one in (1, None))
    before = "{"
    for name, value in stored.items():
        yield f"{before}\n {json.dumps(name)}: "
        if isinstance(value, list):
            yield in_one.encode(value)
        else:
            yield from (piece.replace("\n", "\n ") for piece in in_lines.iterencode(value))
        before = ","
    yield "\n}"


def packed_ids(users: Ids) -> Any:
    """Return ids as JSON gives them back: whole numbers as a column, all others one by one."""
    return pack(users) if users.dtype.kind in "iu" else checked_ids(users.tolist(), "user id")


def checked_ids(ids: list[Any], kind: str) -> list[Any]:
    """Return ids, or labels of segments, if a file can hold them.

    Raises
    ------
    InvalidInputError
        One is neither text nor a finite number.
    """
    for one in no_ids(ids):
        half = " without lone surrogates" if isinstance(one, str) else ""
        msg = f"The {kind} {shown(one)} cannot be saved; use text or numbers{half}."
        raise InvalidInputError(msg)
    return ids


def no_ids(values: Sequence[object]) -> Iterator[object]:
    """Return those of the values that `is_id` tells to be none; text is looked at as a whole."""
    if set(map(type, values)) == {str} and is_id("".join(values)):  # type: ignore[arg-type]
        return iter(())
    return (one for one in values if not is_id(one))


def is_id(value: object) -> bool:
    r"""Tell what a file can hold as an id, and a table can show: finite numbers and whole text.

    Examples
    --------
    >>> is_id("ann"), is_id(7), is_id(float("inf")), is_id("\ud800")
    (True, True, False, False)
    """
    if isinstance(value, str):
        return is_encodable(value)
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def described(metric: Metric, undefined: float = math.nan) -> dict[str, Any]:
    """Return what must be known of a metric to show its scores."""
    return {
        "k": metric.k,
        "bounded": metric.bounded,
        "orders": metric.orders,
        "greater_is_better": metric.greater_is_better,
        "a_ratio": type(metric).score is Metric.score,
        "undefined": plain(undefined),
    }
