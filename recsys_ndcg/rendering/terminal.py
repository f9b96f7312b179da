"""Tables for a terminal, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.table import Table

from recsys_ndcg.rendering.table import cells, number

if TYPE_CHECKING:
    from recsys_ndcg.report import Report

_BRIEF = ("n_items", "n_relevant", "estimated", "true", "gain", "ideal_gain")


def grid(frame: pd.DataFrame, title: str = "", *, left: int = 1) -> Table:
    """Return a frame of text as a table; all but the first columns are set to the right."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    for place, column in enumerate(frame):
        table.add_column(str(column), justify="left" if place < left else "right", no_wrap=True)
    for row in frame.itertuples(index=False):
        table.add_row(*(str(cell) for cell in row))
    return table


def summary(report: Report) -> Table:
    """Return the summary of a report."""
    return grid(cells(report))


def models(reports: dict[str, Report]) -> Table:
    """Return the scores of several models under the same metrics, one row each."""
    rows = []
    for name, report in reports.items():
        first, *others = report.metrics
        row = report.summary.loc[first].to_dict()
        rows.append(
            {
                "model": name,
                first: number(row["mean"]),
                "±95%": number((row["ci_high"] - row["ci_low"]) / 2),
                "pooled": number(row["pooled"]),
                "chance": number(row["chance"]),
                **{other: number(report.mean[other]) for other in others},
            }
        )
    return grid(pd.DataFrame(rows))


def written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of numbers as text."""
    plain = frame.reset_index()
    return pd.DataFrame(
        {name: [_cell(value, brief=name in _BRIEF) for value in plain[name]] for name in plain}
    )


def _cell(value: object, *, brief: bool) -> str:
    if isinstance(value, float):
        return f"{value:.5g}" if brief and not np.isnan(value) else number(value)
    return "-" if value is None else str(value)
