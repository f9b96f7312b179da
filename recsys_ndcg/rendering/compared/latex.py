"""A comparison as LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.compared.cells import LEADERBOARD, head, table
from recsys_ndcg.rendering.latex import booktabs, escaped
from recsys_ndcg.rendering.table import signature_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from recsys_ndcg.rendering.compared.cells import Table
    from recsys_ndcg.rendering.compared.view import Compared

_MINUS = re.compile(r"-(?=\d)")
_NAMES = ("a", "b", "model", "segment")
_LETTERS = "bold: the first tier; models that share a letter cannot be told apart"


def latex(comparison: Compared, metric: str, kinds: Sequence[str] = (LEADERBOARD,)) -> str:
    """Return tables with their captions, in the manner of booktabs.

    The verdict, the remarks and the whole signatures stand above them as comments.
    """
    said = [comparison.verdict_in(metric), *comparison.remarks, *signature_texts(comparison)]
    tables = [_captioned(comparison, metric, table(comparison, metric, kind)) for kind in kinds]
    return "\n".join([*(f"% {line}" for line in said), *tables, ""])


def _captioned(comparison: Compared, metric: str, found: Table) -> str:
    letters = [_LETTERS] if found.kind == LEADERBOARD else []
    caption = "; ".join([head(comparison), found.note, *letters])
    short = visible(comparison.signature(metric).short)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(caption)}. \texttt{{{escaped(short)}}}}}",
            tabular(comparison, metric, found).rstrip(),
            r"\end{table}",
        ]
    )


def tabular(comparison: Compared, metric: str, found: Table) -> str:
    """Return a table alone; what stands out is bold, letters join what is not told apart."""
    shown = _escaped(found.cells)
    for name in ("model", "mean") if found.bold else ():
        shown[name] = [
            rf"\textbf{{{text}}}" if row in found.bold else text
            for row, text in enumerate(shown[name])
        ]
    if found.kind == LEADERBOARD:
        letters = comparison.leaderboards[metric]["letters"].tolist()
        shown["mean"] += [rf"\textsuperscript{{{escaped(told)}}}" for told in letters]
    return booktabs(shown.rename(columns=escaped), left=2)


def _escaped(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what LaTeX sets as it stands, with the signs of numbers as in formulas."""
    shown = frame.map(escaped)
    for name in shown.columns.difference([*_NAMES]):
        shown[name] = shown[name].str.replace(_MINUS, "$-$", regex=True)
    return shown
