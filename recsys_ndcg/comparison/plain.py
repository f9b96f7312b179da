"""A comparison as plain values, that JSON can hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.report.plain import plain

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.models import Field


def told(comparison: Comparison, field: Field) -> dict[str, Any]:
    """Return what a comparison says of all users; NaN becomes None."""
    return {
        "models": comparison.models,
        "metrics": comparison.metrics,
        "users": len(comparison.users),
        "baseline": comparison.baseline,
        "tested_by": comparison.tested_by,
        "how": {**asdict(field.how), "margin": field.margin},
        "leaderboards": {
            name: _rows(table.reset_index()) for name, table in comparison.leaderboards.items()
        },
        "pairwise": _rows(comparison.pairwise),
        "segments": None if field.groups is None else _rows(comparison.segments.reset_index()),
        "verdict": comparison.verdict_in(comparison.metrics[0]),
        "remarks": comparison.remarks,
        "signatures": {name: comparison.signature(name).text for name in comparison.metrics},
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row each, in its order."""
    return [
        {str(name): _value(value) for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


def _value(value: Any) -> Any:
    """Return what JSON can hold; the label of a segment may be anything."""
    value = None if value is pd.NA else plain(value)
    return value if isinstance(value, str | bool | int | float | None) else str(value)
