"""What people read of a report, of one user's list in it, and of its users in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import visible
from recsys_ndcg.rendering import (
    Code,
    Details,
    Document,
    Part,
    Section,
    Sentences,
    ShownTable,
    number,
)
from recsys_ndcg.report.remarks import verdict

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring import Signature

_SCORES = (
    "The mean over users with the half width of its interval; chance is random order of the same "
    "lists, and adjusted is how far the score goes from there to their best order."
)
_REMARKS = "What makes these numbers say less than they seem to."
_NOTHING = "Nothing was found that makes these numbers say less than they seem to."
_HOW = "What has to be typed for the same numbers, and the complete choices behind each of them."
#: What an explanation has in as few digits as it takes.
_BRIEF = ("estimated", "true", "gain", "discounted_gain", "dcg", "ideal_gain", "ideal_dcg")


def report_document(report: Report, *, answer: bool = False) -> Document:
    """Return what a report says: the summary, the remarks, the audit, and how it was computed.

    Parameters
    ----------
    report : Report
        Any.
    answer : bool
        Whether a verdict stands above it, for forms with room for one.
    """
    details = [Details("The whole audit", [audit_table(report)])]
    table = ShownTable("The scores, by metric", _summary_cells(report))
    return Document(
        title="Ranking evaluation",
        verdict=verdict(report) if answer else "",
        facts=_facts(report.counts),
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            remarks_section(report.remarks, details),
            signatures_section(map(report.signature, report.metrics)),
        ],
        names=report.metrics,
    )


def _summary_cells(report: Report) -> pd.DataFrame:
    """Return the summary as text, one row per metric."""
    summary = report.summary
    half = (summary["ci_high"] - summary["ci_low"]) / 2
    baselines = report.baselines.T.rename(columns={"MostPopular": "popular"})  # a name that fits
    shown: list[pd.DataFrame | pd.Series[Any]] = [
        summary["mean"],
        half.rename("±95%"),
        summary[["pooled", "median"]],
        baselines,
        summary[["adjusted", "users", "undefined"]],
    ]
    cells = text_cells(pd.concat(shown, axis="columns").rename_axis("metric"))
    return cells.map(visible).rename(columns=visible)


def _facts(counts: dict[str, int]) -> str:
    """Return how many users there are, and rows: of what, the counts tell."""
    words = {
        "ratings": "ratings",
        "recommended": "recommended items",
        "candidates": "candidates",
    }
    rows = ", ".join(f"{counts[name]} {what}" for name, what in words.items() if name in counts)
    return f"{counts['users']} users, {rows}"


def audit_table(report: Report) -> ShownTable:
    """Return the audit, a column per metric."""
    audit = report.audit.T.map(number)
    audit.index = audit.index.str.replace("_", " ")
    audit.columns = audit.columns.map(visible)
    cells = audit.rename_axis("audit").reset_index()
    return ShownTable("What each score is to be read against", cells)


def remarks_section(
    remarks: Sequence[str], details: Sequence[Part] = (), more: str = ""
) -> Section:
    """Return the section of what a reader should know; `more` says where more of it is."""
    lead = f"{_REMARKS if remarks else _NOTHING} {more}".rstrip()
    return Section("audit", "Before you trust it", lead, [Sentences(remarks), *details])


def signatures_section(signatures: Iterable[Signature]) -> Section:
    """Return the section of how each metric was computed."""
    every = list(signatures)
    full, short = ([visible(getattr(one, form)) for one in every] for form in ("text", "short"))
    lines = Code("The signatures", full, short, alike=True)
    return Section("how", "How this was computed", _HOW, [lines])


def explanation_document(table: pd.DataFrame, signature: Signature) -> Document:
    """Return what `Report.explain` says of a user's list, relevant items marked with a star."""
    cells = text_cells(table.drop(columns="relevant"), brief=_BRIEF)
    stars = table["relevant"].fillna(value=False).map({True: "*", False: ""})
    cells["true"] += stars.to_numpy()
    shown = ShownTable("Rank by rank", cells.rename(columns={"estimated": "est."}), left=2)
    return Document(
        facts=f"{len(table)} ranks",
        sections=[
            Section("ranks", "Rank by rank", "*: relevant items.", [shown]),
            signatures_section([signature]),
        ],
    )


def leaderboard_document(board: pd.DataFrame, title: str, signature: Signature) -> Document:
    """Return what `Report.leaderboard` says of the users."""
    cells = text_cells(board.reset_index().set_index("rank")).map(visible)
    shown = ShownTable(title, cells, left=2, note=title)
    trivial = board.attrs["trivial"]
    left_out = f"{trivial} users for whom every order is the same are left out."
    return Document(
        facts=f"{len(board)} users",
        sections=[
            Section("users", "Users", "", [shown, Sentences([left_out] if trivial else [])]),
            signatures_section([signature]),
        ],
    )


def text_cells(frame: pd.DataFrame, brief: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of numbers as text, some columns in as few digits as it takes."""
    plain = frame.reset_index()
    return pd.DataFrame(
        {name: [_cell(value, brief=name in brief) for value in plain[name]] for name in plain}
    )


def _cell(value: object, *, brief: bool) -> str:
    if isinstance(value, float):
        return f"{value:.5g}" if brief and not np.isnan(value) else number(value)
    return "-" if value is None else str(value)
