"""A report as plain values, that JSON can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.scoring.scores import PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from recsys_ndcg.scoring.scores import Scores
    from recsys_ndcg.scoring.signatures import Signature


def head(
    by_metric: Mapping[str, pd.DataFrame],
    counts: Mapping[str, int],
    signatures: Mapping[str, Signature],
) -> dict[str, Any]:
    """Return what a report says of all users as plain values; NaN becomes None."""
    return {
        "signatures": {name: one.text for name, one in signatures.items()},
        "counts": dict(counts),
        **{name: _rows(table) for name, table in by_metric.items()},
    }


def by_user(table: pd.DataFrame, scores: Scores) -> dict[str, Any]:
    """Return what a report says of every user as plain values."""
    columns: dict[Any, list[Any]] = {
        "user": table.index.tolist(),
        **{name: table[name].tolist() for name in table},
    }
    parts: dict[str, dict[Any, list[Any]]] = {
        part: dict(zip(scores.names, getattr(scores, part).T.tolist(), strict=True))
        for part in PARTS
    }
    return {
        what: {str(name): [plain(one) for one in column] for name, column in each.items()}
        for what, each in {"per_user": columns, **parts}.items()
    }


def _rows(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(column): plain(value) for column, value in row.items()}
        for name, row in table.astype(object).to_dict("index").items()
    }


def plain(value: Any) -> Any:
    """Return a number or a text of Python; None for NaN and infinity, which JSON does not have."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
