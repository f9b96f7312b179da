"""A report as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.table import cells, signature_texts

if TYPE_CHECKING:
    import pandas as pd

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
    comments = [f"% {line}" for line in [*report.remarks, *signature_texts(report)]]
    return "\n".join([*comments, latex_table(cells(report))])


def latex_table(frame: pd.DataFrame, left: int = 1) -> str:
    """Return a table of text, all but its first columns set to the right."""
    return booktabs(frame.map(escaped).rename(columns=escaped), left)


def booktabs(frame: pd.DataFrame, left: int = 1) -> str:
    """Return the same of what is LaTeX already."""
    sides = "l" * left + "r" * (len(frame.columns) - left)
    with needing("jinja2", job="LaTeX", extra="report"):
        table: str = frame.to_latex(index=False, escape=False, column_format=sides)
    return table


def escaped(text: str) -> str:
    """Return a text that LaTeX sets as it stands."""
    return text.translate(_ACTS)
