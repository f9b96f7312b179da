"""A report as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.table import cells, signature_texts

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown

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


def latex(report: Shown) -> str:
    """Return a table in the manner of booktabs, below remarks and signatures as comments."""
    shown = cells(report).map(_escaped).rename(columns=_escaped)
    sides = "l" + "r" * (len(shown.columns) - 1)
    with needing("jinja2", job="LaTeX", extra="report"):
        table = shown.to_latex(index=False, escape=False, column_format=sides)
    comments = [f"% {line}" for line in [*report.remarks, *signature_texts(report)]]
    return "\n".join([*comments, table])


def _escaped(text: str) -> str:
    """Return a text that LaTeX sets as it stands."""
    return text.translate(_ACTS)
