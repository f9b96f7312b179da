"""The documents of a report, and of lists, conventions and signatures, which notebooks show."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.convention import Convention, describe_choice, format_choice, is_shown
from recsys_ndcg.errors import format_count
from recsys_ndcg.findings import Finding, tabulate_findings, write_sentences, write_verdict
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.rendering import (
    Code,
    Document,
    Section,
    ShownTable,
    pluralise,
    shorten,
    show_columns,
)
from recsys_ndcg.scoring import OTHER_DEFAULTS, Signature
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.data import ReportData


_SCORES = (
    "The mean over users, with its 95 % interval. Chance is random order of the "
    "same lists, or a random choice of their candidates; adjusted is the share of the possible "
    "improvement over chance."
)
_AUDIT = "Reference values for each score"
_REMARKS = "Reasons to be careful with these numbers."
_NO_REMARKS = "No reason to be careful with these numbers was found."


def build_report_document(data: ReportData, *, with_verdict: bool = False) -> Document:
    """Return the document of a report: the summary, the remarks, the audit, the signatures.

    `with_verdict`: whether it begins with a verdict.
    """
    details = [Section.folded("The whole audit", [build_audit_table(data)])]
    table = ShownTable("The scores, by metric", _show_summary(data))
    units = {"ratings": "ratings", "recommended": "recommended items", "candidates": "candidates"}
    counts = data.counts
    rows = ", ".join(f"{counts[name]} {unit}" for name, unit in units.items() if name in counts)
    return Document(
        title="Ranking evaluation",
        verdicts=[write_verdict(data.verdict)] if with_verdict else [],
        facts=f"{format_count(counts['users'], 'user')}, {rows}",
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            build_remarks_section(data.remarks, details),
            build_signatures_section(data.audit.signatures),
        ],
        names_to_shorten=data.metrics,
    )


def _show_summary(data: ReportData) -> pd.DataFrame:
    """Return the summary as text, a row per metric; trivial and short users if there are any."""
    totals = data.audit.totals_with_orders
    baselines = data.baseline_table.T.rename(columns={"MostPopular": "popular"})  # fits the column
    counts = {"trivial": totals.trivial, "short": totals.n_short}
    some = {name: numbers for name, numbers in counts.items() if numbers.any()}
    table = data.summary.assign(**baselines, **some).rename_axis("metric").reset_index()
    names = ["metric", "mean", "interval", "pooled", "median", *baselines, "adjusted", "users"]
    plain = {*baselines} - {"popular", "chance"}  # names of models
    return show_columns(table, [*names, "undefined", *counts], plain=plain)


def build_audit_table(data: ReportData) -> ShownTable:
    """Return the table of the audit, a column per metric."""
    table = show_columns(data.audit_table).set_axis(data.audit_table.index).T.rename_axis("audit")
    return ShownTable(_AUDIT, table.reset_index())


def build_remarks_section(remarks: Sequence[Finding], details: Sequence[Section] = ()) -> Section:
    """Return the section of the remarks; `details` are folded sections below them."""
    title, lead = "Before you trust it", _REMARKS if remarks else _NO_REMARKS
    return Section("audit", title, lead, [write_sentences(remarks), *details])


def fold_findings(findings: Iterable[Finding]) -> Section:
    """Return a folded table of findings, whose sentences have the names and numbers."""
    cells = tabulate_findings(findings)[["kind", "severity", "sentence"]]
    return Section.folded("All findings", [ShownTable("What was found", cells, numeric=())])


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
    shell = [] if command is None else [Code("The command", [command])]
    if code:
        lead += ", and the code that gives the same numbers"
        parts.insert(0, Code("The same in Python", code.split("\n")))
        own_versions = f"recsys_ndcg {__version__}, Python {platform.python_version()}"
        versions = [f"{name} {version(name.lower())}" for name in ("NumPy", "pandas", "SciPy")]
        parts.append([f"Made with {', '.join([own_versions, *versions])}."])
    return Section("how", "How this was computed", f"{lead}.", [*shell, *parts])


# Lists, conventions and signatures, in a notebook

_N_USERS, _N_ITEMS = 3, 4  # that are shown of lists


def view_convention(convention: Convention) -> Document:
    """Return the document of a convention: its choices, those that are no defaults in bold."""
    texts, defaults = convention.texts, convention.format_defaults()
    n_changed = sum(text != defaults[name] for name, text in texts.items())
    library, metric, _ = convention.source
    preset = f"made from the preset {library} for {metric or 'each metric'}, "
    made_from = preset if library else ""
    facts = f"Convention: {made_from}{pluralise(n_changed, 'choice')} changed from the defaults"
    shown = {name: text for name, text in texts.items() if is_shown(name, text)}
    rest = {name: text for name, text in texts.items() if name not in shown}
    title = "Choices of measures beyond accuracy, at their defaults"
    others = Section.folded(title, [_tabulate(rest, defaults)])
    table = _tabulate(shown, defaults)
    return Document(facts, [Section("choices", "Choices", "", [table, others])])


def view_signature(signature: Signature) -> Document:
    """Return the document of a signature: its short form, and all choices."""
    texts = {name: format_choice(one) for name, one in signature.fields.items() if name != "metric"}
    table = _tabulate(texts, Convention.format_defaults() | OTHER_DEFAULTS)
    parts = [Section.folded("All choices", [table])]
    return Document(signature.short, [Section("choices", "Choices", "", parts)])


def _tabulate(texts: Mapping[str, str], defaults: Mapping[str, str]) -> ShownTable:
    """Return a table of choices; one without a default is never in bold."""
    changed = [name for name, text in texts.items() if text != defaults.get(name, text)]
    cells = {
        "choice": [*texts],
        "value": [*map(shorten, texts.values())],
        "default, if changed": [defaults[name] if name in changed else "" for name in texts],
        "meaning": [describe_choice(name, text) for name, text in texts.items()],
    }
    bold = [place for place, name in enumerate(texts) if name in changed]
    return ShownTable("Choices", pd.DataFrame(cells), bold=bold)


def view_lists(lists: GroupedLists) -> Document:
    """Return the document of lists: their numbers, and the first lists."""
    parts = [ShownTable("The lists", pd.DataFrame([_count(lists)]), n_left_aligned=0)]
    if first := [*_show_first(lists)]:
        order = "best rank" if lists.order_only else "highest estimate"
        rows = "labelled items" if lists.pool.is_catalogue else "items"
        note = f"The first lists, at most {_N_ITEMS} {rows} each, the {order} first"
        parts.append(ShownTable("The first lists", pd.DataFrame(first), 2, note=note))
    return Document(repr(lists), [Section("lists", "Lists", "", parts)])


def _count(lists: GroupedLists) -> dict[str, str]:
    """Return the numbers of users, items and labels as text."""
    sizes, n_rows = lists.n_items, int(lists.n_items.sum())
    lengths = [sizes.min(), np.median(sizes), sizes.max()] if len(lists) else []
    n_unlabelled = int(lists.pool.count_unlabelled(lists).sum())
    return {
        "users": f"{len(lists):,}",
        "different items": "-" if lists.item_ids is None else f"{len(lists.item_ids):,}",
        "listed items": f"{n_rows:,}",
        "shortest, median and longest list": ", ".join(f"{one:g}" for one in lengths) or "-",
        "with a true value": f"{1 - n_unlabelled / n_rows:.1%}" if n_rows else "-",
        "labels in no list": f"{int(lists.n_unlisted.sum()):,}",
        "users without a list": f"{int(lists.missing.sum()):,}",
    }


def _show_first(lists: GroupedLists) -> Iterator[dict[str, str]]:
    """Yield the first items of the first lists as rows of text."""
    key, items = lists.pool.compute_sort_key(lists, Convention()), lists.items
    for user in np.flatnonzero(np.diff(lists.offsets))[:_N_USERS].tolist():
        first, last = lists.offsets[user], lists.offsets[user + 1]
        order = np.argsort(-key[first:last], kind="stable")[:_N_ITEMS]
        for row in (first + order).tolist():
            shown = {"user": shorten(lists.users[user])}
            if items is not None:
                shown["item"] = shorten(items[row])
            if "estimated" in lists.columns and not lists.order_only:
                shown["estimated"] = f"{lists.estimated[row]:.6g}"
            is_labelled = not np.isnan(lists.true[row])
            yield {**shown, "true": f"{lists.true[row]:.6g}" if is_labelled else "-"}
