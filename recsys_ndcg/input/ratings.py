"""Files of ratings, to train models on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import Place, content_of
from recsys_ndcg.input.ids import Coded, column_of
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.input.text.plain import plain_columns, plain_text
from recsys_ndcg.input.text.tables import TextTable, first_fields, first_line, number

if TYPE_CHECKING:
    from recsys_ndcg.files import Content

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
    text, how = _text_of(content)
    plain = _plain_ratings(content, how)
    if plain is not None:
        return plain
    table = TextTable(content.name, text, how)
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


def _plain_ratings(content: Content, how: TextFormat) -> pd.DataFrame | None:
    """Return the ratings of a text in which nothing is out of the ordinary, None of another."""
    plain = plain_text(content, how)
    if plain is None or len(plain.names) not in (3, 4):
        return None
    names = plain.names
    found = plain_columns(plain, names[:2], dict.fromkeys(names[2:], False))
    if found is None:
        return None
    columns = [
        column_of(one.values) if isinstance(one, Coded) else one
        for one in map(found.__getitem__, names)
    ]
    return pd.DataFrame(dict(zip(RATINGS, columns, strict=False)))


def _text_of(content: Content) -> tuple[str, TextFormat]:
    """Return the text, and how it is written: whether it has a heading tells the third field."""
    how = TextFormat()
    text = how.text_of(content)
    if "::" in first_line(text):
        how = replace(how, separator="::")
    third = "".join(first_fields(text, how)[2:3]).strip()
    return text, replace(how, heading=third != "" and np.isnan(number(third)))
