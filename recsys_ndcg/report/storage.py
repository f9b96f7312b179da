"""Reports as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import as_numbers
from recsys_ndcg.input.rows import floats, objects
from recsys_ndcg.metrics import parse
from recsys_ndcg.scoring.measuring import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray


_FORMAT = "recsys_ndcg report 1"
_LEVELS = ("chance", "lift", "tie_low", "tie_high")
_AUDIT = (
    *_LEVELS,
    "worst",
    "best",
    "trivial",
    "decided_by_ties",
    "short",
    "skipped",
    "unlabelled",
    "judged",
    "unlabelled_zero",
    "unlabelled_top",
)
_TABLES = ("numerator", "denominator", "left_out")


@dataclass(frozen=True)
class StoredAudit:
    """An audit that was read from a file."""

    table: pd.DataFrame
    counts: dict[str, int]

    @property
    def levels(self) -> pd.DataFrame:
        """The columns that stand in the summary too."""
        return self.table[[*_LEVELS]]


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
        "score_of_undefined": _plain(scores.score_of_undefined),
        "per_user": {
            "user": per_user.index.tolist(),
            **{name: [_plain(one) for one in per_user[name].tolist()] for name in per_user},
        },
        **{
            name: dict(zip(signatures, getattr(scores, name).T.tolist(), strict=True))
            for name in _TABLES
        },
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
    try:
        Path(path).write_bytes(text + b"\n")
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror})."
        raise InvalidInputError(msg) from None


def _check_ids(users: list[Any]) -> None:
    """Refuse ids that JSON would give back as others, or not hold."""
    for user in users:
        if not isinstance(user, str | int | float):
            raise TypeError(shown(user))
        str(user).encode()


def read(path: str | Path) -> dict[str, Any]:
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
    except (KeyError, TypeError, ValueError, AttributeError):
        msg = f"{path}: parts of the report are missing or of another form. Save it again."
        raise InvalidInputError(msg) from None


def _parts(stored: dict[str, Any]) -> dict[str, Any]:
    names = list(stored["signatures"])
    users = as_numbers(objects(stored["per_user"]["user"], "user"))
    shape = (len(users), len(names))
    tables = {name: _table(stored[name], names) for name in _TABLES}
    if any(table.shape != shape for table in tables.values()):
        raise ValueError(shape)
    if not all(isinstance(number, int) for number in stored["counts"].values()):
        raise TypeError(stored["counts"])
    rows = [stored["summary"][name] | stored["audit"][name] for name in names]
    audit = {column: floats([row[column] for row in rows], column) for column in _AUDIT}
    undefined = stored["score_of_undefined"]
    others = {
        model: [floats([stored["baselines"][name][model]], model)[0] for name in names]
        for model in stored["baselines"][names[0]]
        if model != "chance"
    }
    return {
        "users": users,
        "n_items": np.array(stored["per_user"]["n_items"], dtype=np.int64),
        "n_relevant": floats(stored["per_user"]["n_relevant"], "n_relevant"),
        "scores": Scores(
            [parse(name)[0] for name in names],
            tables["numerator"].astype(np.float64),
            tables["denominator"].astype(np.float64),
            tables["left_out"].astype(bool),
            np.nan if undefined is None else float(undefined),
        ),
        "signatures": stored["signatures"],
        "known_baselines": pd.DataFrame.from_dict(others, orient="index", columns=names)
        if others
        else None,
        "audited": StoredAudit(pd.DataFrame(audit, index=names), stored["counts"]),
    }


def _rows(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(column): _plain(value) for column, value in row.items()}
        for name, row in table.astype(object).to_dict("index").items()
    }


def _table(columns: dict[str, list[float]], names: list[str]) -> NDArray[Any]:
    return np.column_stack([columns[name] for name in names])


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value
