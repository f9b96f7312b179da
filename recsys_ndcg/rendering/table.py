"""What every rendering shows: the summary as text cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors.visible import visible

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown, Signing

_SMALLEST = 0.0001  # p that is written with its digits


def cells(report: Shown) -> pd.DataFrame:
    """Return the summary as text, one row per metric."""
    summary = report.summary
    return pd.DataFrame(
        {
            "metric": [visible(name) for name in report.metrics],
            "mean": [number(value) for value in summary["mean"]],
            "±95%": [number(half) for half in (summary["ci_high"] - summary["ci_low"]) / 2],
            "pooled": [number(value) for value in summary["pooled"]],
            "median": [number(value) for value in summary["median"]],
            **_baselines(report),
            "adjusted": [number(value) for value in summary["adjusted"]],
            "users": [str(value) for value in summary["users"]],
            "undefined": [str(value) for value in summary["undefined"]],
        }
    )


def _baselines(report: Shown) -> dict[str, list[str]]:
    """Return a column for each baseline, under a name that fits."""
    baselines = report.baselines.rename(index={"MostPopular": "popular"})
    return {
        visible(str(name)): [number(value) for value in row]
        for name, row in zip(baselines.index, baselines.to_numpy(), strict=True)
    }


def rows_line(report: Shown) -> str:
    """Return how many users there are, and rows: of what, the counts tell."""
    counts, words = report.counts, {"recommended": "recommended items"}
    told = [name for name in ("ratings", "recommended", "candidates") if name in counts]
    rows = ", ".join(f"{counts[name]} {words.get(name, name)}" for name in told)
    return f"{counts['users']} users, {rows}"


def audit_cells(report: Shown) -> pd.DataFrame:
    """Return the audit as text, one column per metric."""
    audit = report.audit.T.map(number)
    audit.index = audit.index.str.replace("_", " ")
    audit.columns = audit.columns.map(visible)
    return audit.rename_axis("audit").reset_index()


def signature_texts(signing: Signing, *, full: bool = True) -> list[str]:
    """Return the signature of every metric, or its short form."""
    signatures = map(signing.signature, signing.metrics)
    return [visible(one.text if full else one.short) for one in signatures]


def signature_lines(signing: Signing, *, full: bool = True) -> list[str]:
    """Return the first signature, and what is different in those of the other metrics."""
    first, *others = signature_texts(signing, full=full)
    known = first.split("|")
    likewise = [
        "|".join(part for part in one.split("|") if part not in known or "users:" in part)
        for one in others
    ]
    return [first, *([f"the same for {', '.join(likewise)}"] if likewise else [])]


def probability(p: float) -> str:
    """Return a p-value in four decimals."""
    return f"<{_SMALLEST}" if p < _SMALLEST else number(p)


def signed(value: float) -> str:
    """Return a difference with its sign, four decimals or six digits of a huge one."""
    if np.isnan(value):
        return "-"
    return f"{value:+z.4f}" if abs(value) < 1e9 else f"{value:+.6g}"  # z: without -0.0000


def number(value: float) -> str:
    """Return four decimals, six digits of a huge number, or a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:z.4f}" if abs(value) < 1e9 else f"{value:.6g}"
