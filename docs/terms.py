"""The pages of terms, columns and findings: ``python docs/terms.py`` prints the glossary."""

import re
import sys

from recsys_ndcg.findings.templates import read_templates
from recsys_ndcg.glossary import read_columns, read_terms

_PLAIN = re.compile(r"\{(\w+):[^{}]*\}")  # a value with its format
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
        "audit. The [glossary](../concepts/glossary.md) has more.",
        "",
        "| name | heading | shown | meaning |",
        "|---|---|---|---|",
    ]
    for name, column in read_columns().items():
        meaning = column.get("meaning") or read_terms()[column["term"]]["short"]
        heading = "" if column["shown"] == "never" else _find_heading(column)
        lines.append(f"| `{name}` | {heading} | {column['shown']} | {meaning} |")
    return "\n".join([*lines, ""])


_TOPICS = {
    "verdict": "Which model of a comparison is better",
    "remark": "Limits of what a comparison shows",
    "report_verdict": "Whether the order of a report is better than chance",
    "report_remark": "Limits of what a report shows",
    "segment": "Groups of users",
    "data_sets_verdict": "Which model is better on several data sets",
    "data_sets_remark": "Limits of what several data sets show",
    "trend": "How scores change from cut to cut",
    "split": "Checks of a split",
    "published": "What a published number implies",
}


def format_findings() -> str:
    """Return docs/reference/findings.md."""
    lines = [
        "# Kinds of findings",
        "",
        "`findings` of a report, a comparison and other results is a table with a row per finding.",
        "`gate`, `--fail-on` and `--accept` take these kinds ([how](../how-to/gate-in-ci.md)). In",
        "the sentences, names and numbers are in braces, and what may be left out is in brackets.",
    ]
    for group, topic in _TOPICS.items():
        lines += ["", f"## {topic}", "", "| kind | severity | sentence |", "|---|---|---|"]
        for kind, template in read_templates().items():
            if template.group == group:
                text = _PLAIN.sub(r"{\1}", template.text.replace("{each}", template.each))
                text = text.replace("|", r"\|")
                severity = "by the check" if group == "split" else template.severity
                lines.append(f"| `{kind}` | {severity} | `{text}` |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(format_glossary())
