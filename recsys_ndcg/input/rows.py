"""What every reader delivers: one row per (user, item), in checked columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Flags, Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.ids import (
    EncodedIds,
    by_distinct,
    coded_text,
    count_common_ids,
    encode_together,
    raise_for_rows,
)
from recsys_ndcg.parallel import map_in_threads

#: How many digits of a decimal so few bits keep.
DIGITS = {np.dtype(np.float16): 3, np.dtype(np.float32): 6}
#: What is the same number as a float64, or the nearest one.
_PLAIN = {float, int, bool, np.float64, np.int64}
_TENS = 10.0 ** np.arange(23)


@dataclass(frozen=True)
class Rows:
    """One row per (user, item), in checked columns: predictions, labels or results.

    Parameters
    ----------
    columns : mapping
        The ids as they came under `user` and, if there are items, `item`. Under `estimated` and
        `true` float64 arrays: predictions have both, labels and results one; NaN in `true` means
        unlabelled. Under `impossible`, if there are any, which predictions the model could not
        make. Further columns of numbers are taken, grouped and joined like these; those that are
        None are left out.
    table : str
        What messages about repeated rows call it.
    order_only : bool
        Whether the estimates stand for an order, and are no ratings.
    score : str
        What messages call the estimates.
    """

    #: The score of the rows with which the library implicit fills up short lists.
    FILLER_SCORE: ClassVar = float(np.finfo(np.float32).min)

    columns: Mapping[str, Any]
    table: str = "predictions"
    order_only: bool = False
    score: str = "estimated"

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, no rows, and numbers that cannot be ranked."""
        columns = {name: one for name, one in self.columns.items() if one is not None}
        object.__setattr__(self, "columns", columns)
        whole = "estimated" in columns and "true" in columns
        named = {self.score if name == "estimated" else name: one for name, one in columns.items()}
        lengths = {name: len(column) for name, column in named.items()}
        if len(set(lengths.values())) > 1:
            msg = (
                f"The columns of {self._kind} have different lengths: {lengths}. Give one entry "
                "per row."
            )
            raise InvalidInputError(msg)
        if whole:
            self.check_not_empty()
        if "estimated" in columns:
            diverged = "if a model diverged, train it again"
            advice = diverged if whole else "leave out what was not recommended"
            self.check_finite(self.estimated, self.score, advice)
        if "true" in columns:
            infinite, advice = np.isinf(self.true), "use NaN for an unlabelled item"
            raise_for_rows(infinite, "true", "an infinite grade", advice)

    @property
    def _kind(self) -> str:
        """What messages about all rows call them."""
        if "true" not in self.columns:
            return "the results"
        return "the predictions" if "estimated" in self.columns else "the labels"

    def check_not_empty(self) -> None:
        """Refuse a table without rows."""
        self.check_row_count(len(self.user), self._kind)

    @staticmethod
    def check_row_count(count: int, table: str) -> None:
        """Refuse a table without rows."""
        if not count:
            msg = f"There are no rows in {table}. Check the filter or the file that they came from."
            raise InvalidInputError(msg)

    @staticmethod
    def check_finite(values: Floats, column: str, advice: str) -> None:
        """Refuse numbers that cannot be ranked, naming the first rows."""
        if not np.isfinite(values).all():
            advice = f"each must be a finite number: {advice}"
            raise_for_rows(np.isnan(values), column, "NaN", advice)
            raise_for_rows(np.isinf(values), column, "an infinite value", advice)

    @staticmethod
    def suggest_conversion(kind: str = "") -> str:
        """Return what to do with a column of this kind of NumPy type, by default text."""
        return NO_NUMBERS.get(kind, "convert the column to numbers first")

    @classmethod
    def from_arrays(  # noqa: PLR0913 - four columns
        cls,
        user: Iterable[Any],
        item: Iterable[Any] | None,
        estimated: Iterable[Any],
        true: Iterable[Any],
        *,
        table: str = "predictions",
        ids: tuple[str, str] = ("user", "item"),
    ) -> Rows:
        """Read four columns of any values; messages call the ids of users and items by `ids`.

        Raises
        ------
        InvalidInputError
            One is no column, a number is none or cannot be ranked, or their lengths differ.
        """
        columns = {
            "user": ids_of(user, ids[0]),
            "item": None if item is None else ids_of(item, ids[1]),
            "estimated": to_floats(estimated, "estimated"),
            "true": to_floats(true, "true"),
        }
        return cls(columns, table)

    @property
    def user(self) -> Ids | EncodedIds:
        """The user of each row."""
        found: Ids | EncodedIds = self.columns["user"]
        return found

    @property
    def item(self) -> Ids | EncodedIds | None:
        """The item of each row, None if the data has no items."""
        return self.columns.get("item")

    @property
    def estimated(self) -> Floats:
        """The recommender's score of each row."""
        found: Floats = self.columns["estimated"]
        return found

    @property
    def true(self) -> Floats:
        """The user's grade of each row, NaN if it has none."""
        found: Floats = self.columns["true"]
        return found

    def drop_fillers(self) -> Rows:
        """Return results without those that implicit did not recommend, and say so.

        It fills up short lists, and lists what it was told to filter, with the lowest float32.

        Warns
        -----
        DataWarning
            There are such.
        """
        fillers = self.estimated == self.FILLER_SCORE
        if self.order_only or not fillers.any():
            return self
        self.check_fillers(int(fillers.sum()), len(fillers), self.score)
        return self.select(~fillers)

    def select(self, kept: Flags) -> Rows:
        """Return some of the rows."""
        return replace(self, columns={name: one[kept] for name, one in self.columns.items()})

    @classmethod
    def check_fillers(cls, count: int, among: int, column: str) -> None:
        """Warn of results that are none, and refuse them if they are all.

        Raises
        ------
        InvalidInputError
            There are no others.

        Warns
        -----
        DataWarning
            There are others.
        """
        if count == among:
            msg = f"Every {column} is {cls.FILLER_SCORE}: the model recommends nothing. Check it."
            raise InvalidInputError(msg)
        msg = (
            f"{count} of {among} results have the score {cls.FILLER_SCORE:.7g}: they are "
            "placeholder rows of implicit, and are left out. To silence this, remove these rows."
        )
        warn(msg)

    def encode_with(self, results: Rows) -> list[tuple[Ids, Codes]]:
        """Return the distinct users, and items, of labels and results, with the codes of the rows.

        Raises
        ------
        InvalidInputError
            An id is missing, or the ids of the two can never meet.

        Warns
        -----
        DataWarning
            They have none in common.
        """
        names = ("the labels", "the results")
        columns = [
            (one.columns[column], f"{column} of {name}")
            for column in ("user", "item")
            for name, one in zip(names, (self, results), strict=True)
        ]
        n_rows = len(self.user) + len(results.user)
        found = map_in_threads(lambda column: by_distinct(*column), columns, n_rows)
        pairs = [(found[0], found[1], "user"), (found[2], found[3], "item")]
        for known, other, column in pairs:
            count_common_ids(known, other, column, names, warns=True)
        return map_in_threads(lambda pair: encode_together(*pair), pairs, n_rows)


def ids_of(values: Iterable[Any], column: str) -> Ids | EncodedIds:
    """Return a column of ids: text by its distinct values, and all else as `to_column` has it.

    Raises
    ------
    InvalidInputError
        The values are no column.
    """
    found = values if isinstance(values, EncodedIds) else coded_text(values)
    return to_column(values, column) if found is None else found


def to_column(values: Iterable[Any], column: str) -> Ids:
    """Return a one-dimensional array of any values, text as Python strings.

    Raises
    ------
    InvalidInputError
        The values are no column.

    Examples
    --------
    >>> to_column(["a", (1, 2)], "user")
    array(['a', (1, 2)], dtype=object)
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = "text" if isinstance(values, str | bytes) else f"{quote(values)}"
        msg = f"{column}: found {kind} in place of a column; give a list or an array."
        raise InvalidInputError(msg)
    values = _from_table(values, column)
    if not isinstance(values, np.ndarray):
        return _array_of(values if isinstance(values, list) else list(values))
    if values.ndim != 1:
        msg = f"{column}: an array of {values.ndim} dimensions; a column has one."
        raise InvalidInputError(msg)
    if isinstance(values, np.ma.MaskedArray):
        raise_for_rows(np.ma.getmaskarray(values), column, "a masked value", "leave the row out")
        values = values.data
    if values.dtype.kind in "mM":
        return _times(values, column)
    return values.astype(object) if values.dtype.kind in "US" else values


def _from_table(values: Any, column: str) -> Any:
    """Return a column of a table as an array of NumPy, and all else as it came."""
    if isinstance(values, EncodedIds):
        return values.ids[values.codes]
    if hasattr(values, "to_pylist"):
        return _from_arrow(values, column)
    if isinstance(values, np.ndarray) or not hasattr(values, "dtype"):
        return values
    plain = isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufbO"
    if isinstance(values, pd.Series) and (plain or isinstance(values.dtype, pd.CategoricalDtype)):
        return values.to_numpy()
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    if series.dtype == nw.Time:
        _refuse_times_of_day(column)
    # NumPy has no numbers of 128 bits
    wide = series.dtype in (nw.Int128, nw.UInt128)
    return series.to_list() if wide else series.to_numpy()


def _from_arrow(values: Any, column: str) -> Any:
    """Return a column of pyarrow as an array."""
    kind = str(values.type)
    if kind.startswith(("time32", "time64")):
        _refuse_times_of_day(column)
    if not kind.startswith("dictionary"):
        dates = kind.startswith("date")  # NumPy's are no days
        return values.to_pylist() if dates else values.to_numpy(zero_copy_only=False)
    found = [np.zeros(0, dtype=object)]
    for chunk in getattr(values, "chunks", [values]):
        # the last value is that of code -1; a long text is not copied for every row
        distinct = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        found.append(distinct[chunk.indices.cast("int64").fill_null(-1).to_numpy()])
    return np.concatenate(found)


def _refuse_times_of_day(column: str) -> None:
    msg = f"{column}: times of day cannot be read; write them as text."
    raise InvalidInputError(msg)


def _times(values: NDArray[Any], column: str) -> Ids:
    """Return times as pandas has them: those of the standard library end at microseconds."""
    unit, _ = np.datetime_data(values.dtype)
    if unit in ("ps", "fs", "as"):
        msg = f"{column}: times in {unit} are finer than nanoseconds; use those, or whole numbers."
        raise InvalidInputError(msg)
    return np.array(pd.Index(values).astype(object), dtype=object)


def _array_of(values: list[Any]) -> Ids:
    """Return whole numbers as such, and anything else as objects."""
    if set(map(type, values)) == {int}:
        numbers = np.array(values)
        if numbers.dtype.kind in "iu":
            return numbers
    return np.fromiter(values, dtype=object, count=len(values))


def to_floats(values: Iterable[Any], column: str) -> Floats:
    """Return numbers as float64, None and NA as NaN.

    Raises
    ------
    InvalidInputError
        A value is text or something else that is not a number; its row is named.

    Examples
    --------
    >>> to_floats([4, None, 3.5], "true")
    array([4. , nan, 3.5])
    """
    if isinstance(values, pd.Series) and values.dtype in (np.float64, np.int64):
        return values.to_numpy(dtype=np.float64)
    if type(values) is list and set(map(type, values)) <= _PLAIN:
        with suppress(OverflowError):  # which is told of by those who look at each value
            return np.fromiter(values, dtype=np.float64, count=len(values))
    values = _from_table(values, column)
    if isinstance(values, np.ndarray) and values.dtype.kind in NO_NUMBERS:
        advice = Rows.suggest_conversion(values.dtype.kind)
        msg = f"{column}: {values.dtype.name} is not a number; {advice}."
        raise InvalidInputError(msg)
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.nan, to_floats(values.filled(0), column))
    array = to_column(values, column)
    if array.dtype.newbyteorder("=") in DIGITS:
        return as_written(array)
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=np.float64)
    array = array.astype(object)
    kinds = set(map(type, array))
    for kind in kinds & {np.float16, np.float32}:
        short = np.array([type(value) is kind for value in array], dtype=bool)
        array[short] = as_written(array[short].astype(kind))
    array[pd.isna(array)] = np.nan
    array[np.array([value is np.ma.masked for value in array], dtype=bool)] = np.nan
    others = [kind for kind in kinds if not issubclass(kind, np.floating)]
    if any(issubclass(kind, str | bytes) or hasattr(kind, "dtype") for kind in others):
        refuse_no_floats(array, column)  # whose conversion would not fail
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse_no_floats(array, column)
        raise


def as_written(numbers: NDArray[Any]) -> Floats:
    """Return short floats as the decimals that they stand for, where there are such.

    A grade of 0.7 in 32 bits is 0.699999988079071 in 64, and would miss a threshold of 0.7. No
    two numbers become one, and none changes its place among the others.

    Parameters
    ----------
    numbers : float16 or float32 array
        A decimal of up to 3 or 6 digits comes back as it was.

    Examples
    --------
    >>> as_written(np.array([0.7, 1 / 3], dtype=np.float32))
    array([0.7       , 0.33333334])
    """
    numbers = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
    exact = numbers.astype(np.float64)
    usual = (np.abs(exact) > 1e-16) & (np.abs(exact) < 1e22)  # powers of ten up to 1e22 are exact
    size = np.log10(np.abs(exact), where=usual, out=np.zeros(exact.shape))
    places = DIGITS[numbers.dtype] - 1 - np.floor(size).astype(np.int64)
    up, down = _TENS[np.maximum(places, 0)], _TENS[np.maximum(-places, 0)]
    decimal = np.rint(exact * up / down) / up * down
    return np.where(usual & (decimal.astype(numbers.dtype) == numbers), decimal, exact)


#: What to do with what is no number, by the kind of its NumPy type.
NO_NUMBERS = {
    "M": "dates and times are no grades or scores, name the right column",
    "m": "durations are no grades or scores, name the right column",
    "c": "complex numbers have no order, take .real if the rest is 0",
    "V": "records are no grades or scores, name one of their fields",
}


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
        raise_for_rows(bad, column, _fault(first), Rows.suggest_conversion(_kind(first)))


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
    if isinstance(value, str | bytes):
        return f"text such as {quote(value)}"
    try:
        if _kind(value) not in NO_NUMBERS:
            float(value)
            return ""
    except OverflowError:
        return "a number beyond 1.8e308"
    except (TypeError, ValueError):
        pass
    return f"{quote(value)}, which is not a number,"
