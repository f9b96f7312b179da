"""The document of a report: tables, verdict, remarks; and the warnings of suspicious data."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import format_count
from recsys_ndcg.rendering import (
    Code,
    Document,
    Section,
    ShownTable,
    format_number,
    format_range,
)
from recsys_ndcg.report.remarks import build_verdict, find_remarks
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.data import ReportData
    from recsys_ndcg.scoring import Signature


_SCORES = (
    "The mean over users, with its 95 % interval. Chance is random order of the "
    "same lists, or a random choice of their candidates; adjusted is the share of the possible "
    "improvement over chance."
)
INTERVAL = "[95%]"  # the heading of the ends of an interval
_AUDIT = "Reference values for each score"
_REMARKS = "Reasons to be careful with these numbers."
_NO_REMARKS = "No reason to be careful with these numbers was found."


def build_report_document(data: ReportData, *, with_verdict: bool = False) -> Document:
    """Return the document of a report: the summary, the remarks, the audit, the signatures.

    `with_verdict`: whether it begins with a verdict.
    """
    details = [Section.folded("The whole audit", [build_audit_table(data)])]
    table = ShownTable("The scores, by metric", _format_summary(data))
    units = {"ratings": "ratings", "recommended": "recommended items", "candidates": "candidates"}
    counts = data.counts
    rows = ", ".join(f"{counts[name]} {unit}" for name, unit in units.items() if name in counts)
    return Document(
        title="Ranking evaluation",
        verdicts=[build_verdict(data)] if with_verdict else [],
        facts=f"{format_count(counts['users'], 'user')}, {rows}",
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            build_remarks_section(find_remarks(data), details),
            build_signatures_section(data.audit.signatures),
        ],
        names_to_shorten=data.metrics,
    )


def _format_summary(data: ReportData) -> pd.DataFrame:
    """Return the summary as text, a row per metric; trivial and short users if there are any."""
    summary, totals = data.summary, data.audit.totals_with_orders
    summary[INTERVAL] = [*map(format_range, summary["ci_low"], summary["ci_high"])]
    baselines = data.baseline_table.T.rename(columns={"MostPopular": "popular"})  # fits the column
    first, last = ["mean", INTERVAL, "pooled", "median"], ["adjusted", "users", "undefined"]
    shown = pd.concat([summary[first], baselines, summary[last]], axis="columns")
    for name, numbers in {"trivial": totals.trivial, "short": totals.n_short}.items():
        if numbers.any():
            shown[name] = numbers
    return format_cells(shown.rename_axis("metric"))


def build_audit_table(data: ReportData) -> ShownTable:
    """Return the table of the audit, a column per metric."""
    table = data.audit_table.T.map(format_number).rename_axis("audit")
    return ShownTable(_AUDIT, table.set_axis(table.index.str.replace("_", " ")).reset_index())


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


def format_cells(frame: pd.DataFrame, brief: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of numbers as text; `brief` columns have at most five digits."""
    table = frame.reset_index()
    texts = {
        name: [_format_cell(value, brief=name in brief) for value in table[name]] for name in table
    }
    return pd.DataFrame(texts)


def _format_cell(value: object, *, brief: bool) -> str:
    if isinstance(value, float):
        return f"{value:.5g}" if brief and not np.isnan(value) else format_number(value)
    return "-" if value is None else str(value)
