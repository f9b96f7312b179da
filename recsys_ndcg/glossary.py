"""The glossary: one list of terms for docs/glossary.md, the tooltips of pages and the legend.

``python -m recsys_ndcg.glossary`` prints the page.
"""

from __future__ import annotations

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
    known = {
        column: term["short"]
        for name, term in read_terms().items()
        for column in term.get("columns", [name])
    }
    return {heading: known[heading] for heading in headings if heading in known}


def format_page() -> str:
    """Return docs/glossary.md."""
    lines = ["# Glossary", "", "| term | meaning |", "|---|---|"]
    for name, term in read_terms().items():
        short = term["short"][0].upper() + term["short"][1:]
        link = f" [More]({term['see']})." if "see" in term else ""
        more = f" {term['more']}" if "more" in term else ""
        headings = [f"`{one}`" for one in term.get("columns", []) if one != name]
        columns = f" In tables: {', '.join(headings)}." if headings else ""
        lines.append(f"| **{name}** | {short}.{more}{columns}{link} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(format_page(), end="")  # noqa: T201 - a script
