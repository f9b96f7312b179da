"""The document of a report: tables, verdict, remarks; and the warnings of suspicious data."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from recsys_ndcg.errors import format_count
from recsys_ndcg.rendering import (
    Code,
    Document,
    Section,
    ShownTable,
    show_columns,
)
from recsys_ndcg.report.remarks import build_verdict
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring import Signature


_SCORES = (
    "The mean over users, with its 95 % interval. Chance is random order of the "
    "same lists, or a random choice of their candidates; adjusted is the share of the possible "
    "improvement over chance."
)
_AUDIT = "Reference values for each score"
_REMARKS = "Reasons to be careful with these numbers."
_NO_REMARKS = "No reason to be careful with these numbers was found."


def build_report_document(report: Report, *, with_verdict: bool = False) -> Document:
    """Return the document of a report: the summary, the remarks, the audit, the signatures.

    `with_verdict`: whether it begins with a verdict.
    """
    details = [Section.folded("The whole audit", [build_audit_table(report)])]
    table = ShownTable("The scores, by metric", _show_summary(report))
    units = {"ratings": "ratings", "recommended": "recommended items", "candidates": "candidates"}
    counts = report.counts
    rows = ", ".join(f"{counts[name]} {unit}" for name, unit in units.items() if name in counts)
    return Document(
        title="Ranking evaluation",
        verdicts=[build_verdict(report)] if with_verdict else [],
        facts=f"{format_count(counts['users'], 'user')}, {rows}",
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            build_remarks_section(report.remarks, details),
            build_signatures_section(report.signatures),
        ],
        names_to_shorten=report.metrics,
    )


def _show_summary(report: Report) -> pd.DataFrame:
    """Return the summary as text, a row per metric; trivial and short users if there are any."""
    totals = report._data.audit.totals_with_orders
    baselines = report.baselines.T.rename(columns={"MostPopular": "popular"})  # fits the column
    counts = {"trivial": totals.trivial, "short": totals.n_short}
    some = {name: numbers for name, numbers in counts.items() if numbers.any()}
    table = report.summary.assign(**baselines, **some).rename_axis("metric").reset_index()
    names = ["metric", "mean", "interval", "pooled", "median", "popular", "chance", "adjusted"]
    return show_columns(table, [*names, "users", "undefined", *counts])


def build_audit_table(report: Report) -> ShownTable:
    """Return the table of the audit, a column per metric."""
    table = show_columns(report.audit).set_axis(report.audit.index).T.rename_axis("audit")
    return ShownTable(_AUDIT, table.reset_index())


def build_remarks_section(
    remarks: list[str], details: Sequence[Section] = (), more: str = ""
) -> Section:
    """Return the section of the remarks; `more` is a sentence about where to read on."""
    lead = f"{_REMARKS if remarks else _NO_REMARKS} {more}".rstrip()
    return Section("audit", "Before you trust it", lead, [remarks, *details])


def build_signatures_section(
    signatures: Mapping[str, Signature], code: str = "", command: str | None = None
) -> Section:
    """Return the section of how each metric was computed.

    Parameters
    ----------
    signatures : mapping of str to Signature
        The signature of each metric, by the metric's name in the report.
    code : str
        Python code that gives the same numbers; with it, versions are listed, too.
    command : str, optional
        The command line that made the page, if there was one.
    """
    lead, signed = "The complete signature of each metric", signatures.values()
    full, short = [one.text for one in signed], [one.short for one in signed]
    parts: list[Code | list[str]] = [Code("The signatures", full, short, [*signatures])]
    if code:
        lead += ", and the code that gives the same numbers"
        shell = [] if command is None else [Code("The command", [command])]
        python = Code("The same in Python", code.split("\n"))
        own_versions = f"recsys_ndcg {__version__}, Python {platform.python_version()}"
        versions = [f"{name} {version(name.lower())}" for name in ("NumPy", "pandas", "SciPy")]
        parts = [*shell, python, *parts, [f"Made with {', '.join([own_versions, *versions])}."]]
    return Section("how", "How this was computed", f"{lead}.", parts)
