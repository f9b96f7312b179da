"""What every adapter delivers: four columns, one row per (user, item)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.grouping import Ids, refuse_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.convention import Floats


@dataclass(frozen=True)
class Rows:
    """Columns as they came, with numbers as float64; NaN in `true` means unlabelled."""

    user: Ids
    item: Ids | None
    estimated: Floats
    true: Floats

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, no rows, and numbers that cannot be ranked."""
        columns = {"user": self.user, "estimated": self.estimated, "true": self.true}
        if self.item is not None:
            columns["item"] = self.item
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            msg = f"The columns have different lengths: {lengths}. Give one entry per row in each."
            raise InvalidInputError(msg)
        if not len(self.user):
            msg = "There are no rows to evaluate. Check the filter or the file that they came from."
            raise InvalidInputError(msg)
        advice = "an estimate must be a finite number; did the model diverge?"
        if not np.isfinite(self.estimated).all():
            refuse_rows(np.isnan(self.estimated), "estimated", "NaN", advice)
            refuse_rows(np.isinf(self.estimated), "estimated", "an infinite value", advice)
        refuse_rows(
            np.isinf(self.true), "true", "an infinite grade", "use NaN for an unlabelled item"
        )


def objects(values: Iterable[Any]) -> Ids:
    """Return a one-dimensional array of any values, text as Python strings.

    Examples
    --------
    >>> objects(["a", (1, 2)])
    array(['a', (1, 2)], dtype=object)
    """
    if isinstance(values, np.ndarray):
        return values.astype(object) if values.dtype.kind in "US" else values
    return np.fromiter(values, dtype=object)


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
    array = objects(values)
    if array.dtype.kind in "fiub" and array.ndim == 1:
        return np.asarray(array, dtype=np.float64)
    array = array.astype(object)
    absent = np.asarray(pd.isna(array))
    textual = np.array([isinstance(value, str | bytes) for value in array], dtype=bool)
    if textual.any():
        example = array[textual][0]
        refuse_rows(
            textual, column, f"text such as {example!r}", "convert the column to numbers first"
        )
    array[absent] = np.nan
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{column}: not a number ({error}); convert the column to numbers first."
        raise InvalidInputError(msg) from None
