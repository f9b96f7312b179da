"""The document of a report: tables, verdict, remarks; and the warnings of suspicious data."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import format_count
from recsys_ndcg.findings import Finding, tabulate_findings, write_sentences, write_verdict
from recsys_ndcg.rendering import (
    Code,
    Document,
    Section,
    ShownTable,
    format_number,
    format_range,
    list_first,
)
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report
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


def build_report_document(report: Report, *, with_verdict: bool = False) -> Document:
    """Return the document of a report: the summary, the remarks, the audit, the signatures.

    `with_verdict`: whether it begins with a verdict.
    """
    details = [Section.folded("The whole audit", [build_audit_table(report)])]
    table = ShownTable("The scores, by metric", _format_summary(report))
    units = {"ratings": "ratings", "recommended": "recommended items", "candidates": "candidates"}
    counts = report.counts
    rows = ", ".join(f"{counts[name]} {unit}" for name, unit in units.items() if name in counts)
    return Document(
        title="Ranking evaluation",
        verdicts=[write_verdict(report._verdict)] if with_verdict else [],
        facts=f"{format_count(counts['users'], 'user')}, {rows}",
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            build_remarks_section(report._remarks, details, verdicts=report._verdict),
            build_signatures_section(report.signatures),
        ],
        names_to_shorten=report.metrics,
    )


def _format_summary(report: Report) -> pd.DataFrame:
    """Return the summary as text, a row per metric; trivial and short users if there are any."""
    summary, totals = report.summary, report._data.audit.totals_with_orders
    summary[INTERVAL] = [*map(format_range, summary["ci_low"], summary["ci_high"])]
    baselines = report.baselines.T.rename(columns={"MostPopular": "popular"})  # fits the column
    first, last = ["mean", INTERVAL, "pooled", "median"], ["adjusted", "users", "undefined"]
    shown = pd.concat([summary[first], baselines, summary[last]], axis="columns")
    for name, numbers in {"trivial": totals.trivial, "short": totals.n_short}.items():
        if numbers.any():
            shown[name] = numbers
    return format_cells(shown.rename_axis("metric"))


def build_audit_table(report: Report) -> ShownTable:
    """Return the table of the audit, a column per metric."""
    table = report.audit.T.map(format_number).rename_axis("audit")
    return ShownTable(_AUDIT, table.set_axis(table.index.str.replace("_", " ")).reset_index())


def build_remarks_section(
    remarks: Sequence[Finding] | Sequence[str],
    details: Sequence[Section] = (),
    more: str = "",
    verdicts: Sequence[Finding] = (),
) -> Section:
    """Return the section of the remarks, with a folded table of all findings.

    Parameters
    ----------
    remarks : sequence of Finding
        The findings of which the sentences are shown.
    details : sequence of Section
        Folded sections below them.
    more : str
        A sentence about where to read on.
    verdicts : sequence of Finding
        The findings that verdicts show; only the table has them.
    """
    lead = f"{_REMARKS if remarks else _NO_REMARKS} {more}".rstrip()
    findings = [each for each in remarks if isinstance(each, Finding)]
    # texts until the remarks of all results are findings
    sentences = write_sentences(findings) or [str(text) for text in remarks]
    table = fold_findings([*verdicts, *findings])
    return Section("audit", "Before you trust it", lead, [sentences, *details, *table])


def fold_findings(findings: Sequence[Finding]) -> list[Section]:
    """Return a folded table of all findings, if there are any; their sentences have the numbers."""
    if not findings:
        return []
    columns = ["kind", "metric", "models", "severity", "sentence"]
    cells = tabulate_findings(findings)[columns].fillna("-")
    cells["models"] = [", ".join(list_first(models, 3)) for models in cells["models"]]
    if not cells["models"].any():
        del cells["models"]
    table = ShownTable("What was found", cells, numeric=())
    return [Section.folded("All findings", [table])]


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
