"""Columns of plain text, read by pandas where there is no pyarrow."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.text.plain import ABSENT, UnusualError, count_of, line_at, plain_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.input.text.plain import PlainText

_BEFORE_3_1 = re.match(r"[0-2]\.|3\.0", pd.__version__)
#: How older versions find the nearest float64; the others do, and warn of being told to.
_NEAREST: dict[str, Any] = {"float_precision": "round_trip"} if _BEFORE_3_1 else {}
_ODD_NAN = re.compile(rb"[-+]nan|nan\(", re.IGNORECASE)  # which older versions read


def pandas_columns(
    plain: PlainText, ids: Sequence[str], numbers: Mapping[str, bool]
) -> dict[str, Ids | Coded | Floats]:
    """Return columns of ids and numbers; `numbers` tells which of them may have empty fields.

    Raises
    ------
    UnusualError
        The careful reader has to look at the text.
    """
    line, _ = line_at(plain.data, plain.start)
    # of as many columns as its first line, pandas makes a table
    wide = line.count(plain.separator) != len(plain.names) - 1
    if plain.quoted or plain.decimal != "." or wide:
        raise UnusualError
    stream = io.BytesIO(plain.data)
    stream.seek(plain.start)
    places = {name: place for place, name in enumerate(plain.names)}
    options: dict[str, Any] = {
        "sep": plain.separator,
        "header": None,
        "dtype": {
            place: np.float64 if name in numbers else object for name, place in places.items()
        },
        "keep_default_na": False,
        "na_values": {places[name]: ABSENT for name in numbers},
        "skip_blank_lines": False,
        "quoting": csv.QUOTE_NONE,
    }
    try:
        frame = pd.read_csv(stream, **options, **_NEAREST)
    except ValueError as error:
        raise UnusualError from error
    _refuse_short(frame, plain)
    columns = {name: frame[place].to_numpy() for name, place in places.items()}
    missing = sum(_missing(columns[name], may_be) for name, may_be in numbers.items())
    if missing and _ODD_NAN.search(plain.data):
        raise UnusualError
    return {name: columns[name] for name in numbers} | {name: _ids(columns[name]) for name in ids}


def _refuse_short(frame: pd.DataFrame, plain: PlainText) -> None:
    """Refuse a table with a short row, which pandas fills up: it has not all its separators."""
    width = len(plain.names)
    there = count_of(plain.data, plain.separator.encode(), plain.start)
    if frame.shape[1] != width or there != len(frame) * (width - 1):
        raise UnusualError


def _missing(values: Floats, may_be_empty: bool) -> int:  # noqa: FBT001 - private
    """Return how many numbers are not there; refuse them where all must be."""
    missing = int(np.count_nonzero(np.isnan(values)))
    if np.isinf(values).any() or (missing and not may_be_empty):
        raise UnusualError
    return missing


def _ids(text: Ids) -> Ids | Coded:
    codes, distinct = pd.factorize(text)
    return plain_ids(Coded(distinct, codes.astype(np.int32)))
