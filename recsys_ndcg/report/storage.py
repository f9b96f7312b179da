"""Reports as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown, writing
from recsys_ndcg.input.ids import as_numbers
from recsys_ndcg.input.rows import floats, objects
from recsys_ndcg.metrics import Metric, parse
from recsys_ndcg.metrics.recorded import Recorded
from recsys_ndcg.report.audit import COLUMNS, COUNTS, LEVELS
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import ListCounts, Scores
from recsys_ndcg.scoring.totals import Totals

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats


_FORMAT = "recsys_ndcg report 2"
_TABLES = ("numerator", "denominator", "left_out")
_LISTS = ("tied", "missing", "ratings", "unlabelled", "unlisted", "impossible", "repeats")


@dataclass(frozen=True)
class StoredAudit:
    """An audit that was read from a file."""

    table: pd.DataFrame
    counts: dict[str, int]
    totals: Totals

    @property
    def levels(self) -> pd.DataFrame:
        """The columns that stand in the summary too."""
        return self.table[[*LEVELS]]


def as_dict(
    scores: Scores,
    per_user: pd.DataFrame,
    by_metric: dict[str, pd.DataFrame],
    counts: dict[str, int],
    signatures: dict[str, str],
) -> dict[str, Any]:
    """Return the parts of a report as plain values; NaN becomes None."""
    return {
        "format": _FORMAT,
        "signatures": signatures,
        "counts": counts,
        **{name: _rows(table) for name, table in by_metric.items()},
        "metrics": {str(one): _described(one) for one in scores.measurements},
        "per_user": {
            "user": per_user.index.tolist(),
            **{name: [_plain(one) for one in per_user[name].tolist()] for name in per_user},
        },
        "lists": {name: getattr(scores.counts, name).tolist() for name in _LISTS},
        **{
            name: {
                metric: [_plain(one) for one in column]
                for metric, column in zip(signatures, getattr(scores, name).T.tolist(), strict=True)
            }
            for name in _TABLES
        },
    }


def _described(one: Measurement) -> dict[str, Any]:
    """Return what must be known of a metric to show its scores."""
    metric = one.metric
    return {
        "k": metric.k,
        "bounded": metric.bounded,
        "orders": metric.orders,
        "a_ratio": type(metric).score is Metric.score,
        "undefined": _plain(one.undefined),
    }


def write(stored: dict[str, Any], path: str | Path) -> None:
    """Write what `as_dict` returns as JSON.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    try:
        _check_ids(stored["per_user"]["user"])
        text = json.dumps(stored, indent=1, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        msg = f"A report with such user ids cannot be saved ({error}); use text or numbers."
        raise InvalidInputError(msg) from None
    with writing(path):
        Path(path).write_bytes(text + b"\n")


def _check_ids(users: list[Any]) -> None:
    """Refuse ids that JSON would give back as others, or not hold."""
    for user in users:
        if not isinstance(user, str | int | float):
            raise TypeError(shown(user))
        str(user).encode()


Parts = tuple[Scores, dict[str, str], StoredAudit, pd.DataFrame | None]


def read(path: str | Path) -> Parts:
    """Return the parts of the report in a file, as `Report` takes them."""
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise InvalidInputError(msg) from None
    except ValueError as error:
        msg = f"{path}: not JSON ({error})."
        raise InvalidInputError(msg) from None
    if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
        msg = f"{path}: not a report that this version of recsys_ndcg saved."
        raise InvalidInputError(msg)
    try:
        return _parts(stored)
    except InvalidInputError as error:
        msg = f"{path}: {error}."
        raise InvalidInputError(msg) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        msg = f"{path}: parts of the report are missing or of another form. Save it again."
        raise InvalidInputError(msg) from None


def _parts(stored: dict[str, Any]) -> Parts:
    names = list(stored["signatures"])
    if not all(isinstance(number, int) for number in stored["counts"].values()):
        raise TypeError(stored["counts"])
    if not stored["counts"].keys() >= {*COUNTS}:
        raise KeyError(COUNTS)
    if not all(isinstance(text, str) for text in stored["signatures"].values()):
        raise TypeError(stored["signatures"])
    if not all("mean" in stored["summary"][name] for name in names):  # worked out anew
        raise KeyError(stored["summary"])
    audit = {
        column: floats([stored["audit"][name][column] for name in names], column)
        for column in COLUMNS
    }
    others = {
        model: [floats([stored["baselines"][name][model]], model)[0] for name in names]
        for model in stored["baselines"][names[0]]
        if model != "chance"
    }
    scores = _scores(stored, names)
    baselines = pd.DataFrame.from_dict(others, orient="index", columns=names) if others else None
    known = StoredAudit(pd.DataFrame(audit, index=names), stored["counts"], Totals.of(scores))
    return scores, stored["signatures"], known, baselines


def _scores(stored: dict[str, Any], names: list[str]) -> Scores:
    users = as_numbers(objects(stored["per_user"]["user"], "user"))
    shape = (len(users), len(names))
    tables = {name: _table(stored[name], names) for name in _TABLES}
    if any(table.shape != shape for table in tables.values()):
        raise ValueError(shape)
    lists = stored["lists"]
    counts = ListCounts(
        n_items=np.array(stored["per_user"]["n_items"], dtype=np.int64),
        n_relevant=floats(stored["per_user"]["n_relevant"], "n_relevant"),
        **{name: np.array(lists[name]) for name in _LISTS},
    )
    if any(len(getattr(counts, one.name)) != len(users) for one in fields(counts)):
        raise ValueError(shape)
    return Scores(
        tuple(_measurement(name, stored["metrics"][name]) for name in names),
        users,
        tables["numerator"],
        tables["denominator"],
        tables["left_out"].astype(bool),
        counts,
    )


def _measurement(name: str, described: dict[str, Any]) -> Measurement:
    """Return the measurement of that name; one whose metric is not known here shows its scores."""
    rule = described["undefined"]
    convention = Convention(undefined="skip" if rule is None else rule)
    try:
        metric = parse(name)[0]
    except RecsysNdcgError:
        if not described["a_ratio"]:
            msg = f"{name} makes its score in a way that is not known here: import its module first"
            raise InvalidInputError(msg) from None
        metric = Recorded(
            described["k"],
            text=name,
            is_bounded=described["bounded"],
            ranks=described["orders"],
        )
    return Measurement(metric, convention)


def _rows(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(column): _plain(value) for column, value in row.items()}
        for name, row in table.astype(object).to_dict("index").items()
    }


def _table(columns: dict[str, list[float]], names: list[str]) -> Floats:
    return np.column_stack([floats(columns[name], name) for name in names])


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value
