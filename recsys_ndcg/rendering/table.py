"""What every rendering shows: the summary as text cells, and remarks in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown

_OPEN = 5e-5  # narrower tie ranges vanish in four decimals


def cells(report: Shown) -> pd.DataFrame:
    """Return the summary as text, one row per metric."""
    summary = report.summary
    return pd.DataFrame(
        {
            "metric": report.metrics,
            "mean": [number(value) for value in summary["mean"]],
            "±95%": [number(half) for half in (summary["ci_high"] - summary["ci_low"]) / 2],
            "pooled": [number(value) for value in summary["pooled"]],
            "median": [number(value) for value in summary["median"]],
            "chance": [number(value) for value in summary["chance"]],
            "lift": [number(value) for value in summary["lift"]],
            "users": [str(value) for value in summary["users"]],
            "undefined": [str(value) for value in summary["undefined"]],
        }
    )


def number(value: float) -> str:
    """Return four decimals, or a dash where there is no number."""
    return "-" if np.isnan(value) else f"{value:.4f}"


def remarks(report: Shown) -> list[str]:
    """Return what a reader should know before trusting the numbers, as far as it matters."""
    counts = report.counts
    said = {
        "short": "have fewer items than the cutoff (short lists)",
        "trivial": "score the same in any order (trivial users)",
        "tied": "have tied estimates",
        "missing": "have labels but no list",
        "left_out": "are left out of a metric by the convention",
    }
    lines = [
        f"{counts[key]} of {counts['users']} users {words}."
        for key, words in said.items()
        if counts[key]
    ]
    rows = {
        "unlabelled": "items in the lists have no true value",
        "unlisted": "labelled items are in no list",
        "duplicates": "repeated rows were merged",
    }
    lines += [f"{counts[key]} {words}." for key, words in rows.items() if counts[key]]
    summary = report.summary
    nobody = [metric for metric, users in summary["users"].items() if not users]
    if nobody:
        lines.append(f"Nobody has a score in {', '.join(map(str, nobody))}.")
    for metric, low, high in zip(
        report.metrics, summary["tie_low"], summary["tie_high"], strict=True
    ):
        if high - low > _OPEN:
            lines.append(f"Ties leave {metric} open from {number(low)} to {number(high)}.")
    return lines
