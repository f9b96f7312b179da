"""Tables for a terminal, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.table import Table

from recsys_ndcg.rendering.reconciled import grouped
from recsys_ndcg.rendering.table import cells, number
from recsys_ndcg.visible import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import JustifyMethod

    from recsys_ndcg.rendering.view import Shown

_BRIEF = ("estimated", "true", "gain", "discounted_gain", "dcg", "ideal_gain", "ideal_dcg")
_USUAL_WIDTH = 80


def grid(frame: pd.DataFrame, title: str = "", *, left: int = 1) -> Table:
    """Return a frame of text as a table; all but the first columns are set to the right.

    Headings break at their underscores, cells do not break, and the gaps are as wide as a
    terminal of the usual width allows.
    """
    frame = frame.map(printable).rename(columns=lambda name: printable(str(name)))
    headings = [str(column).split("_") for column in frame]
    widths = [
        max(map(len, [*words, *frame[column]]))
        for words, column in zip(headings, frame, strict=True)
    ]
    gap = 2 if sum(widths) + 2 * len(widths) <= _USUAL_WIDTH + 2 else 1
    table = Table(
        title=printable(title) or None,
        title_justify="left",
        title_style="bold",
        box=None,
        padding=0,
    )
    for place, (words, width) in enumerate(zip(headings, widths, strict=True)):
        justify: JustifyMethod = "left" if place < left else "right"
        # not as padding, of which rich before 15 leaves some behind the last column
        wide = width + gap * (place != left - 1)
        table.add_column("\n".join(words), justify=justify, vertical="bottom", min_width=wide)
    for row in frame.itertuples(index=False):
        table.add_row(*row)
    return table


def summary(report: Shown) -> Table:
    """Return the summary of a report."""
    return grid(cells(report))


def models(reports: Mapping[str, Shown]) -> Table:
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


def reconciled(rows: pd.DataFrame, reported: float | None) -> Table:
    """Return one metric under every preset; the names and the changes break where they must."""
    frame = grouped(rows, reported).map(printable)
    goal = f", reported {reported}" if reported is not None else ""
    title = f"{rows['metric'].iloc[0]}: yours {number(rows['yours'].iloc[0])}{goal}"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in frame:
        numeric = column in {"value", "difference", "gap"}
        table.add_column(str(column), justify="right" if numeric else "left", no_wrap=numeric)
    for row in frame.itertuples(index=False):
        table.add_row(*row)
    return table


def explained(frame: pd.DataFrame) -> pd.DataFrame:
    """Return an explanation as text, relevant items marked with a star."""
    shown = written(frame.drop(columns="relevant"))
    stars = frame["relevant"].fillna(value=False).map({True: "*", False: ""})
    shown["true"] += stars.to_numpy()
    return shown.rename(columns={"estimated": "est."})


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
