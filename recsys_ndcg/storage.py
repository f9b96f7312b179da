"""Reports as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.adapters.rows import floats, objects
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.metrics import parse
from recsys_ndcg.scoring import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.report import Report

_FORMAT = "recsys_ndcg report 1"


@dataclass(frozen=True)
class StoredAudit:
    """An audit that was read from a file."""

    levels: pd.DataFrame
    counts: dict[str, int]


def as_dict(report: Report) -> dict[str, Any]:
    """Return a report as plain values; NaN becomes None."""
    scores = report.scores
    tables = {
        "numerator": scores.numerator,
        "denominator": scores.denominator,
        "left_out": scores.left_out,
    }
    return {
        "format": _FORMAT,
        "signatures": report.signatures,
        "counts": report.counts,
        "summary": {
            name: {column: _plain(value) for column, value in row.items()}
            for name, row in report.summary.astype(object).to_dict("index").items()
        },
        "score_of_undefined": _plain(scores.score_of_undefined),
        "per_user": {
            "user": report.users.tolist(),
            **{name: _column(report.per_user[name]) for name in report.per_user},
        },
        **{
            name: dict(zip(report.metrics, table.T.tolist(), strict=True))
            for name, table in tables.items()
        },
    }


def write(report: Report, path: str | Path) -> None:
    """Write a report as JSON.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    try:
        text = json.dumps(as_dict(report), indent=1, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")
    except TypeError as error:
        msg = f"A report with such user ids cannot be saved ({error}); use text or numbers."
        raise InvalidInputError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror})."
        raise InvalidInputError(msg) from None


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
    names = list(stored["signatures"])
    summary = pd.DataFrame.from_dict(stored["summary"], orient="index")
    undefined = stored["score_of_undefined"]
    return {
        "users": objects(stored["per_user"]["user"]),
        "n_items": np.array(stored["per_user"]["n_items"], dtype=np.int64),
        "n_relevant": floats(stored["per_user"]["n_relevant"], "n_relevant"),
        "scores": Scores(
            [parse(name)[0] for name in names],
            _table(stored["numerator"], names).astype(np.float64),
            _table(stored["denominator"], names).astype(np.float64),
            _table(stored["left_out"], names).astype(bool),
            np.nan if undefined is None else undefined,
        ),
        "signatures": stored["signatures"],
        "audit": StoredAudit(
            summary[["chance", "tie_low", "tie_high"]].astype(np.float64), stored["counts"]
        ),
    }


def _table(columns: dict[str, list[float]], names: list[str]) -> NDArray[Any]:
    return np.column_stack([columns[name] for name in names])


def _column(values: pd.Series[Any]) -> list[Any]:
    return [_plain(value) for value in values.tolist()]


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value
