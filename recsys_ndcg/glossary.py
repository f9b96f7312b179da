"""The glossary: one list of terms for docs/glossary.md, the tooltips of pages and the legend.

``python -m recsys_ndcg.glossary`` prints the page.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_terms() -> dict[str, dict[str, Any]]:
    """Return the terms in alphabetical order, each with its meaning."""
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def meanings_of(headings: Iterable[str]) -> dict[str, str]:
    """Return the meaning, in one line, of each heading of a table that is a term."""
    names = _terms_by_column()
    return {one: read_terms()[names[one]]["short"] for one in headings if one in names}


def format_legend(headings: Iterable[str], *, key: bool | None = None) -> list[str]:
    """Return a line for each term among the headings of a table, except plain ones.

    `key`: only key terms, which are explained below the first table, or only the others.
    """
    names = _terms_by_column()
    shown: dict[str, list[str]] = {}
    for heading in headings:
        if heading in names and heading not in shown.setdefault(names[heading], []):
            shown[names[heading]].append(heading)
    terms = {
        name: term
        for name, term in read_terms().items()
        if not term.get("is_plain") and key in {None, term.get("is_key", False)}
    }
    return [f"{', '.join(shown[name])}: {terms[name]['short']}" for name in shown if name in terms]


def _terms_by_column() -> dict[str, str]:
    return {
        column: name
        for name, term in read_terms().items()
        for column in term.get("columns", [name])
    }


def format_page() -> str:
    """Return docs/glossary.md."""
    intro = "The terms of reports, comparisons and pages, in alphabetical order."
    lines = ["# Glossary", "", intro, "", "| term | meaning |", "|---|---|"]
    for name, term in read_terms().items():
        short = term["short"][0].upper() + term["short"][1:]
        link = f" [More]({term['see']})." if "see" in term else ""
        more = f" {term['more']}" if "more" in term else ""
        tables = f" In tables: `{'`, `'.join(term['columns'])}`." if term.get("columns") else ""
        lines.append(f"| **{name}** | {short}.{more}{tables}{link} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(format_page())
