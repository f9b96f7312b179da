"""What is no number, though NumPy makes floats of much of it without being asked."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import shown
from recsys_ndcg.input.ids import refuse_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONVERT = "convert the column to numbers first"
#: What to do with each, by the kind of its NumPy type.
NO_NUMBERS = {
    "M": "dates and times are no grades or scores, name the right column",
    "m": "durations are no grades or scores, name the right column",
    "c": "complex numbers have no order, take .real if the rest is 0",
    "V": "records are no grades or scores, name one of their fields",
}


def refuse_no_numbers(values: NDArray[Any], column: str) -> None:
    """Refuse times, complex numbers and records among objects, naming the first rows.

    Raises
    ------
    InvalidInputError
        There are such.
    """
    _refuse(np.array([_kind(one) in NO_NUMBERS for one in values], dtype=bool), values, column)


def refuse_no_floats(values: NDArray[Any], column: str) -> None:
    """Refuse what cannot become a float at all, naming the first rows.

    Raises
    ------
    InvalidInputError
        There is such.
    """
    _refuse(np.array([bool(_fault(one)) for one in values], dtype=bool), values, column)


def _refuse(bad: NDArray[np.bool_], values: NDArray[Any], column: str) -> None:
    if bad.any():
        first = values[bad][0]
        refuse_rows(bad, column, _fault(first), NO_NUMBERS.get(_kind(first), CONVERT))


def _kind(value: Any) -> str:
    """Return the kind of NumPy type that a value has, or would have if it is a time or complex."""
    if isinstance(value, dt.date | dt.time | pd.Period):
        return "M"
    if isinstance(value, dt.timedelta):
        return "m"
    kind = "c" if isinstance(value, complex) else getattr(getattr(value, "dtype", None), "kind", "")
    return kind if isinstance(kind, str) else ""


def _fault(value: Any) -> str:
    """Return why a value is no float; nothing if it is one."""
    try:
        if _kind(value) not in NO_NUMBERS:
            float(value)
            return ""
    except OverflowError:
        return "a number beyond 1.8e308"
    except (TypeError, ValueError):
        pass
    return f"{shown(value)}, which is not a number,"
