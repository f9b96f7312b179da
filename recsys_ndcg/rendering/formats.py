"""A table as text in one of several forms, for people or for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recsys_ndcg.input.text.form import guarded
from recsys_ndcg.rendering.latex import latex_table
from recsys_ndcg.rendering.markdown import markdown_table

if TYPE_CHECKING:
    import pandas as pd


def table_as(form: str, cells: pd.DataFrame, values: pd.DataFrame, left: int = 1) -> str:
    """Return a table in a form other than text.

    Parameters
    ----------
    form : str
        "markdown" or "latex" for people, "csv" or "json" for programs, which get every digit.
    cells : pandas.DataFrame
        What people read, as text.
    values : pandas.DataFrame
        The same for programs.
    left : int
        How many columns are set to the left.
    """
    if form == "markdown":
        return f"{markdown_table(cells, left)}\n"
    if form == "latex":
        return latex_table(cells, left)
    if form == "csv":
        return _csv(values)
    return _json(values)


def _csv(values: pd.DataFrame) -> str:
    """Return CSV in which no text is a formula."""
    safe = values.map(lambda one: guarded(one) if isinstance(one, str) else one)
    return safe.rename(columns=guarded).to_csv(index=False, lineterminator="\n")


def _json(values: pd.DataFrame) -> str:
    """Return a list of objects, null for what is not there; it holds ASCII alone."""
    plain: Any = values.astype(object).where(values.notna(), None)
    return json.dumps(plain.to_dict("records"), indent=2, default=str) + "\n"
