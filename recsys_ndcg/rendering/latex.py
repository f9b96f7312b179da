"""A document as LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.document import Chart, Code, Panels, Sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.rendering.document import Document, ShownTable

_ACTS = str.maketrans(
    {
        **{one: f"\\{one}" for one in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # behind the end of a row it would be an option
        "]": "{]}",
        "`": r"\textasciigrave{}",
    }
)
_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_LETTERS = "bold: the first tier; models that share a letter cannot be told apart"


def to_latex(document: Document, *, tables_only: bool = False) -> str:
    """Return tables in the manner of booktabs, with captions where they have notes.

    The verdict, the remarks and the signatures stand above them as comments.
    """
    if tables_only:
        return "".join(f"{_tabular(one).rstrip()}\n" for one in document.tables)
    tables = (
        _captioned(document.facts, one) if one.note else _tabular(one).rstrip()
        for one in document.tables
    )
    return "\n".join([*(f"% {line}" for line in _comments(document)), *tables, ""])


def _comments(document: Document) -> Iterator[str]:
    if document.verdict:
        yield document.verdict
    for part in document.parts:
        if isinstance(part, Sentences | Code | Chart | Panels):
            yield from part.lines


def _captioned(facts: str, table: ShownTable) -> str:
    caption = "; ".join([facts, table.note, *([_LETTERS] if table.letters else [])])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(caption)}. \texttt{{{_escaped(table.signature)}}}}}",
            _tabular(table).rstrip(),
            r"\end{table}",
        ]
    )


def _tabular(table: ShownTable) -> str:
    """Return a table alone; what stands out is bold, letters join what is not told apart."""
    shown = table.cells.map(_escaped)
    for name in shown.columns[table.left :]:  # the signs of numbers are those of formulas
        shown[name] = shown[name].str.replace(_MINUS, "$-$", regex=True)
    for name in table.emphasised if table.bold else ():
        shown[name] = [
            rf"\textbf{{{text}}}" if row in table.bold else text
            for row, text in enumerate(shown[name])
        ]
    if table.letters:
        letters = [rf"\textsuperscript{{{_escaped(one)}}}" for one in table.letters]
        shown[table.emphasised[-1]] += letters
    sides = "l" * table.left + "r" * (len(shown.columns) - table.left)
    with needing("jinja2", job="LaTeX", extra="report"):
        text: str = shown.rename(columns=_escaped).to_latex(
            index=False, escape=False, column_format=sides
        )
    return text


def _escaped(text: str) -> str:
    """Return a text that LaTeX sets as it stands."""
    return text.translate(_ACTS)
