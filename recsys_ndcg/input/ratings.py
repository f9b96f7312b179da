"""Files of ratings, to train models on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.contents import Place, content_of
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.input.text.tables import TextTable, first_fields, first_line, number

if TYPE_CHECKING:
    from recsys_ndcg.input.contents import Content

RATINGS = ("user", "item", "rating", "timestamp")


def read_ratings(path: Place) -> pd.DataFrame:
    """Read ``user, item, rating[, timestamp]``, with or without a heading, ``::`` or CSV.

    Returns
    -------
    pandas.DataFrame
        Columns user, item (as written), rating and, where the file has it, timestamp.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    content = content_of(path)
    table = TextTable(content.name, *_text_of(content))
    count = len(table.frame.columns)
    if count not in (3, 4):
        msg = f"{content.name}: {count} columns; ratings are user, item, rating[, timestamp]."
        raise InvalidInputError(msg)
    table.frame.columns = pd.Index(RATINGS[:count])
    for name in ("user", "item"):
        table.read_ids(name)
    for name in RATINGS[2:count]:
        table.read_numbers(name)
    return table.frame


def _text_of(content: Content) -> tuple[str, TextFormat]:
    """Return the text, and how it is written: whether it has a heading tells the third field."""
    how = TextFormat()
    text = how.text_of(content)
    if "::" in first_line(text):
        how = replace(how, separator="::")
    third = "".join(first_fields(text, how)[2:3]).strip()
    return text, replace(how, heading=third != "" and np.isnan(number(third)))
