"""A comparison as LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recsys_ndcg.rendering.compared.cells import (
    board,
    board_note,
    head,
    pairs,
    pairs_note,
    top_tier,
)
from recsys_ndcg.rendering.latex import booktabs, escaped
from recsys_ndcg.rendering.table import signature_texts
from recsys_ndcg.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering.compared.view import Compared

_MINUS = re.compile(r"-(?=\d)")
_NAMES = ("a", "b", "model")


def latex(comparison: Compared, metric: str, *, with_pairs: bool = False) -> str:
    """Return a table with its caption, in the manner of booktabs.

    The verdict, the remarks and the whole signatures stand above it as comments.
    """
    short = visible(comparison.signature(metric).short)
    if with_pairs:
        table = booktabs(_escaped(pairs(comparison, metric)), left=2)
        notes = [pairs_note(comparison, metric)]
    else:
        table = latex_board(comparison, metric)
        notes = [board_note(comparison, metric), "bold: the first tier; models that share a letter cannot be told apart"]
    caption = "; ".join([head(comparison), *notes])
    said = [comparison.verdict_in(metric), *comparison.remarks, *signature_texts(comparison)]
    return "\n".join(
        [
            *(f"% {line}" for line in said),
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(caption)}. \texttt{{{escaped(short)}}}}}",
            f"{table.rstrip()}",
            r"\end{table}",
            "",
        ]
    )


def latex_board(comparison: Compared, metric: str) -> str:
    """Return a leaderboard, its top tier in bold, with letters that join what is not told apart."""
    shown = _escaped(board(comparison, metric))
    model, mean = (shown.columns.get_loc(name) for name in ("model", "mean"))
    letters = comparison.leaderboards[metric]["letters"].tolist()
    for row in top_tier(comparison, metric):
        for place in (model, mean):
            shown.iloc[row, place] = rf"\textbf{{{shown.iloc[row, place]}}}"
    shown.isetitem(
        mean,
        [
            rf"{value}\textsuperscript{{{escaped(told)}}}"
            for value, told in zip(shown.iloc[:, mean], letters, strict=True)
        ],
    )
    return booktabs(shown, left=2)


def _escaped(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what LaTeX sets as it stands, with the signs of numbers as in formulas."""
    shown = frame.map(escaped)
    for name in shown.columns.difference(_NAMES):
        shown[name] = shown[name].str.replace(_MINUS, "$-$", regex=True)
    return shown.rename(columns=escaped)
