"""What rows, lists and numbers must be: the shape of Python objects, and what is no number."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import refuse_rows

#: What has a length and is no row.
NO_ROWS = (str, bytes, Mapping, AbstractSet)
#: What to do with items that nothing is known of.
JOIN = "join results with labels: RankedLists.from_labels(labels, results)"


def is_row(one: Any) -> bool:
    """Tell a tuple, a list or an array of one dimension from a single value, or from a table.

    Examples
    --------
    >>> [is_row(one) for one in ((1, 2), [1], "ab", {1, 2}, 3, np.array(3))]
    [True, True, False, False, False, False]
    """
    return hasattr(one, "__len__") and not isinstance(one, NO_ROWS) and getattr(one, "ndim", 1) == 1


def all_rows(rows: Sequence[Any], *widths: int) -> bool:
    """Tell whether all are rows of one of these widths, in two fast passes.

    Examples
    --------
    >>> all_rows([(1, 2), [3, 4]], 2), all_rows([(1, 2), "ab"], 2), all_rows([(1, 2), 3], 2)
    (True, False, False)
    """
    if rows and not is_row(rows[0]):
        return False
    try:
        fitting = set(map(len, rows)) <= set(widths)
    except TypeError:  # some are single values
        return False
    return fitting and not any(issubclass(kind, NO_ROWS) for kind in set(map(type, rows)))


def check_rows(rows: Sequence[Any], widths: AbstractSet[int], form: str) -> None:
    """Refuse the first row that is no row, or not of one of these widths.

    Raises
    ------
    InvalidInputError
        There is one; the message shows it, with the form that it should have.
    """
    if all_rows(rows, *widths):
        return
    for place, row in enumerate(rows):
        if not is_row(row) or len(row) not in widths:
            msg = f"Row {place} (counted from 0) is {shown(row)}; each must be {form}."
            raise InvalidInputError(msg)


def in_order(lengths: Sequence[int]) -> Floats:
    """Return estimates for lists of some lengths in ranked order, one after the other.

    Examples
    --------
    >>> in_order([3, 1])
    array([ 0., -1., -2.,  0.])
    """
    firsts = np.repeat(np.cumsum([0, *lengths])[:-1], lengths)
    return np.asarray(firsts - np.arange(sum(lengths)), dtype=np.float64)


def refuse_unranked(values: Any, found: str, form: str) -> None:
    """Refuse what cannot be a ranked list: it has no order, no entries, or they mean more.

    Parameters
    ----------
    values : object
        What stands in place of a list.
    found, form : str
        How the message begins, and what it asks for.

    Raises
    ------
    InvalidInputError
        It is no list.
    """
    if isinstance(values, AbstractSet):
        msg = f"{found} a set, {shown(values)}, which has no order: give a list, best first."
    elif isinstance(values, Mapping):
        msg = f"{found} a dict, {shown(values)}, in place of a list; {form}."
    elif isinstance(values, str | bytes) or not isinstance(values, Iterable):
        msg = f"{found} no list but {shown(values)}; {form}."
    elif getattr(values, "ndim", 1) == 0:
        msg = f"{found} no list but one value, {shown(values)}; {form}."
    else:
        return
    raise InvalidInputError(msg)


#: What to do with what is no number, by the kind of its NumPy type.
NO_NUMBERS = {
    "M": "dates and times are no grades or scores, name the right column",
    "m": "durations are no grades or scores, name the right column",
    "c": "complex numbers have no order, take .real if the rest is 0",
    "V": "records are no grades or scores, name one of their fields",
}


def advice_on(kind: str = "") -> str:
    """Return what to do with a column of this kind of NumPy type, by default text."""
    return NO_NUMBERS.get(kind, "convert the column to numbers first")


def refuse_no_floats(values: NDArray[Any], column: str) -> None:
    """Refuse what is no number, naming the first rows: text, times, complex numbers, records.

    Raises
    ------
    InvalidInputError
        There is such.
    """
    bad = np.array([bool(_fault(one)) for one in values], dtype=bool)
    if bad.any():
        first = values[bad][0]
        refuse_rows(bad, column, _fault(first), advice_on(_kind(first)))


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
