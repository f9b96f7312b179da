"""What every adapter delivers: four columns, one row per (user, item)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import Coded, refuse_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids


@dataclass(frozen=True)
class Rows:
    """Columns as they came, with numbers as float64; NaN in `true` means unlabelled.

    `order_only` says that the estimates stand for an order, and are no ratings; `impossible`
    which of them the model could not make, None where it does not say or there are none; `table`
    is what messages call them.
    """

    user: Ids | Coded
    item: Ids | Coded | None
    estimated: Floats
    true: Floats
    order_only: bool = False
    impossible: NDArray[np.bool_] | None = None
    table: str = "predictions"

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, no rows, and numbers that cannot be ranked."""
        columns: dict[str, Sized] = {
            "user": self.user,
            "estimated": self.estimated,
            "true": self.true,
        }
        check_lengths(columns if self.item is None else columns | {"item": self.item})
        check_finite(self.estimated, "estimated", "if a model diverged, train it again")
        check_grades(self.true)


def check_lengths(columns: Mapping[str, Sized], table: str = "the predictions") -> None:
    """Refuse columns of different lengths, and a table without rows."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        msg = f"The columns of {table} have different lengths: {lengths}. Give one entry per row."
        raise InvalidInputError(msg)
    if not max(lengths.values()):
        msg = f"There are no rows in {table}. Check the filter or the file that they came from."
        raise InvalidInputError(msg)


def check_grades(true: Floats) -> None:
    """Refuse infinite grades, naming the first rows; NaN is unlabelled."""
    refuse_rows(np.isinf(true), "true", "an infinite grade", "use NaN for an unlabelled item")


def check_finite(values: Floats, column: str, advice: str) -> None:
    """Refuse numbers that cannot be ranked, naming the first rows."""
    if not np.isfinite(values).all():
        advice = f"each must be a finite number: {advice}"
        refuse_rows(np.isnan(values), column, "NaN", advice)
        refuse_rows(np.isinf(values), column, "an infinite value", advice)


def objects(values: Iterable[Any], column: str) -> Ids:
    """Return a one-dimensional array of any values, text as Python strings.

    Raises
    ------
    InvalidInputError
        The values are no column.

    Examples
    --------
    >>> objects(["a", (1, 2)], "user")
    array(['a', (1, 2)], dtype=object)
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = "text" if isinstance(values, str | bytes) else f"{shown(values)}"
        msg = f"{column}: found {kind} in place of a column; give a list or an array."
        raise InvalidInputError(msg)
    if not isinstance(values, np.ndarray):
        return _array_of(values if isinstance(values, list) else list(values))
    if values.ndim != 1:
        msg = f"{column}: an array of {values.ndim} dimensions; a column has one."
        raise InvalidInputError(msg)
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]").astype(object)
    return values.astype(object) if values.dtype.kind in "US" else values


def _array_of(values: list[Any]) -> Ids:
    """Return whole numbers as such, and anything else as objects."""
    if values and type(values[0]) is int:
        try:
            numbers = np.array(values)
        except ValueError:  # not all of them are single values
            numbers = np.zeros(0)
        if numbers.dtype.kind in "iu":
            return numbers
    return np.fromiter(values, dtype=object, count=len(values))


def floats(values: Iterable[Any], column: str) -> Floats:
    """Return numbers as float64, None and NA as NaN.

    Raises
    ------
    InvalidInputError
        A value is text or something else that is not a number; its row is named.

    Examples
    --------
    >>> floats([4, None, 3.5], "true")
    array([4. , nan, 3.5])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "mMc":
        msg = f"{column}: {values.dtype.name} is not a number; name the right column."
        raise InvalidInputError(msg)
    array = objects(values, column)
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=np.float64)
    array = array.astype(object)
    absent = np.asarray(pd.isna(array))
    textual = np.array([isinstance(value, str | bytes) for value in array], dtype=bool)
    if textual.any():
        fault = f"text such as {shown(array[textual][0])}"
        refuse_rows(textual, column, fault, "convert the column to numbers first")
    array[absent] = np.nan
    try:
        return array.astype(np.float64)
    except OverflowError:
        huge = np.array([_is_huge(value) for value in array], dtype=bool)
        refuse_rows(huge, column, "a number beyond 1.8e308", "check where it comes from")
        raise
    except (TypeError, ValueError) as error:
        msg = f"{column}: not a number ({error}); convert the column to numbers first."
        raise InvalidInputError(msg) from None


def _is_huge(value: Any) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False
