"""The pages of the glossary and of the columns: ``python docs/terms.py`` prints the glossary."""

import re
import sys

from recsys_ndcg.glossary import read_columns, read_terms

_ADDITION = re.compile(r" [\[(].*[\])]$")  # the level of intervals, and how a number is computed


def format_glossary() -> str:
    """Return docs/concepts/glossary.md."""
    intro = "The terms of reports, comparisons and pages, in alphabetical order."
    lines = ["# Glossary", "", intro, "", "| term | meaning |", "|---|---|"]
    for name, term in read_terms().items():
        short = term["short"][0].upper() + term["short"][1:]
        link = f" [More]({term['see']})." if "see" in term else ""
        more = f" {term['more']}" if "more" in term else ""
        columns = _list_columns(name)
        tables = f" In tables: `{'`, `'.join(columns)}`." if {*columns} - {name} else ""
        lines.append(f"| **{name}** | {short}.{more}{tables}{link} |")
    return "\n".join([*lines, ""])


def _list_columns(term: str) -> list[str]:
    """Return the headings of the columns that a term explains, or names that few tables show."""
    names = [
        _ADDITION.sub("", _find_heading(column)) if column["shown"] == "always" else name
        for name, column in read_columns().items()
        if column.get("term") == term
    ]
    return [*dict.fromkeys(names)]


def _find_heading(column: dict[str, str]) -> str:
    return column["heading"].format(level="95%")


def format_columns() -> str:
    """Return docs/reference/columns.md."""
    lines = [
        "# Columns of tables",
        "",
        "Their names in tables of values, CSV and JSON, and their headings in printed tables and",
        "on pages. A column that is shown on request needs an argument or an option, or is in the",
        "audit. The [glossary](../concepts/glossary.md) says more.",
        "",
        "| name | heading | shown | meaning |",
        "|---|---|---|---|",
    ]
    for name, column in read_columns().items():
        meaning = column.get("meaning") or read_terms()[column["term"]]["short"]
        heading = "" if column["shown"] == "never" else _find_heading(column)
        lines.append(f"| `{name}` | {heading} | {column['shown']} | {meaning} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(format_glossary())
