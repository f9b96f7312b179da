"""A reconciliation for reading: presets with the same number stand together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recsys_ndcg.convention.presets import PRESETS
from recsys_ndcg.rendering.table import number, signed

_YOURS, _CHANGED = "(yours)", "(yours, changed)"
_MOST = 10  # rows that are told when a reported number is looked for


def grouped(rows: pd.DataFrame, reported: float | None = None) -> pd.DataFrame:
    """Return the rows of one metric as text, one for each number and what leads to it.

    The highest value comes first, or what is closest to the reported number. A library that has
    no such metric stands in brackets.
    """
    metric = rows["metric"].iloc[0]
    names = [
        _named(preset, metric) if isinstance(preset, str) else _CHANGED if causes else _YOURS
        for preset, causes in zip(rows["preset"], rows["causes"], strict=True)
    ]
    rows = rows.assign(preset=names)
    if reported is None:
        yours = rows["yours"].iloc[0]
        own = {"preset": _YOURS, "value": yours, "difference": yours - yours, "changes": ""}
        rows = pd.concat([rows, pd.DataFrame([own])], ignore_index=True)
        rows = rows.sort_values("value", ascending=False, kind="stable")
    cells = pd.DataFrame(
        {
            "value": [number(value) for value in rows["value"]],
            "difference": [signed(value) for value in rows["difference"]],
            **({} if reported is None else {"gap": [signed(value) for value in rows["gap"]]}),
            "what moves yours there": rows["changes"],
        }
    )
    keys = [*cells]
    cells.insert(len(keys) - 1, "computed by", rows["preset"])
    found = cells.groupby(keys, sort=False)["computed by"].agg(", ".join).reset_index()
    return found[[*cells]].head(len(found) if reported is None else _MOST)


def notes(rows: pd.DataFrame) -> list[str]:
    """Return what is to be known of some presets, those with the same reason together."""
    metric = rows["metric"].iloc[0]
    presets: dict[str, list[str]] = {}
    for preset, value, note in zip(rows["preset"], rows["value"], rows["note"], strict=True):
        if isinstance(preset, str):
            reason = note if np.isnan(value) else PRESETS[preset].note(metric)
            presets.setdefault(reason, []).append(preset)
    lines = [f"{', '.join(names)}: {reason}" for reason, names in presets.items() if reason]
    if not all(PRESETS[preset].has(metric) for preset in rows["preset"].dropna()):
        lines.append(
            f"in brackets: libraries without {metric}, whose other choices make this of it"
        )
    return lines


def _named(preset: str, metric: str) -> str:
    return preset if PRESETS[preset].has(metric) else f"[{preset}]"
