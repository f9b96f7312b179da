"""The result of every reader: one row per (user, item), in checked columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, concat_ids
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.ids import (
    EncodedIds,
    check_id_types,
    encode_ids,
    encode_text,
    factorize_ids,
    join_encoded,
    raise_for_rows,
)
from recsys_ndcg.parallel import map_in_threads

IDS = ("user", "item")
#: The kinds of tables of rows that are no predictions, and the columns that each needs.
NEEDED = {
    "interactions": ("user", "item"),
    "ratings": ("user", "item", "rating"),
    "users": ("user",),
    "items": ("item",),
}
#: The column of numbers in each kind of table, if it is not that of interactions.
NUMBERS = {"labels": "true", "results": "estimated"}
#: The number of decimal digits that short floats represent exactly.
SIGNIFICANT_DIGITS = {np.dtype(np.float16): 3, np.dtype(np.float32): 6}
#: The types that NumPy converts to float64 without a check.
_FLOAT_TYPES = {float, int, bool, np.float64, np.int64}
_POWERS_OF_TEN = 10.0 ** np.arange(23)


@dataclass(frozen=True)
class Rows:
    """One row per (user, item), in checked columns: predictions, labels or results.

    Parameters
    ----------
    columns : mapping
        The ids under `user` and, if there are items, `item`. Float64 arrays under `estimated` and
        `true`: predictions have both, labels and results one; NaN in `true` means unlabelled.
        Under `impossible`, if there are any, which predictions the model could not make. Further
        columns of numbers are taken, grouped and joined like these. A column that is None is
        dropped.
    table : str
        The table's name in messages about repeated rows.
    order_only : bool
        Whether the estimates only give an order, and are not ratings.
    score : str
        The name of the estimates in messages.
    may_hold_lists : bool
        Whether the items are text of a table without numbers, which may be several ids.
    names : mapping of str to str
        Our names of the columns to the table's, if they differ.
    others : mapping
        Further columns of ratings in one table in memory, by its names.
    """

    #: The score of the rows with which the library implicit fills up short lists.
    FILLER_SCORE: ClassVar = float(np.finfo(np.float32).min)
    #: How to fix a weight.
    WEIGHT_ADVICE: ClassVar = "a label's weight is a finite number of at least 0"

    columns: Mapping[str, Any]
    table: str = "predictions"
    order_only: bool = False
    score: str = "estimated"
    may_hold_lists: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise if lengths differ, predictions have no rows, or a number cannot be ranked."""
        columns = {name: column for name, column in self.columns.items() if column is not None}
        object.__setattr__(self, "columns", columns)
        is_complete = "estimated" in columns and "true" in columns
        names = [self.score if name == "estimated" else name for name in columns]
        lengths = dict(zip(names, map(len, columns.values()), strict=True))
        if len(set(lengths.values())) > 1:
            msg = (
                f"The columns of {self._table_name} have different lengths: {lengths}. Give one "
                "entry per row."
            )
            raise InvalidInputError(msg)
        if is_complete:
            self.check_not_empty()
        if "estimated" in columns:
            diverged = "if a model diverged, train it again"
            advice = diverged if is_complete else "leave out what was not recommended"
            self.check_finite(self.estimated, self.score, advice)
        if "true" in columns:
            is_infinite, advice = np.isinf(self.true), "use NaN for an unlabelled item"
            raise_for_rows(is_infinite, "true", "an infinite grade", advice)
        if "weight" in columns and "true" in columns:
            self._check_weights(columns["weight"])

    def _check_weights(self, weights: Floats) -> None:
        """Raise if a label has no weight, or one that is negative or infinite."""
        is_missing, is_wrong = np.isnan(weights), (weights < 0) | np.isinf(weights)
        raise_for_rows(is_missing & ~np.isnan(self.true), "weight", "NaN", self.WEIGHT_ADVICE)
        fault = f"{weights[is_wrong][0]:g}" if is_wrong.any() else ""
        raise_for_rows(is_wrong, "weight", fault, self.WEIGHT_ADVICE)

    @property
    def _table_name(self) -> str:
        """The table's name in messages about all rows."""
        if "true" not in self.columns:
            return "the results"
        return "the predictions" if "estimated" in self.columns else "the labels"

    def check_not_empty(self) -> None:
        """Raise if there are no rows."""
        self.check_row_count(self.n_rows, self._table_name)

    @staticmethod
    def check_row_count(count: int, table: str) -> None:
        """Raise if a table has no rows."""
        if not count:
            msg = f"There are no rows in {table}. Check the filter or the file that they came from."
            raise InvalidInputError(msg)

    @staticmethod
    def check_finite(values: Floats, column: str, advice: str) -> None:
        """Raise if a number is NaN or infinite, with the first rows."""
        if not np.isfinite(values).all():
            advice = f"each must be a finite number: {advice}"
            raise_for_rows(np.isnan(values), column, "NaN", advice)
            raise_for_rows(np.isinf(values), column, "an infinite value", advice)

    @staticmethod
    def suggest_conversion(kind: str = "") -> str:
        """Return how to fix a column that is not numeric, by its kind of NumPy type."""
        return CONVERSIONS.get(kind, "convert the column to numbers first")

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
        """Read four columns of any values; `ids` are the names of users and items in messages.

        Raises
        ------
        InvalidInputError
            An argument is not a column, a value is not a number that can be ranked, or the lengths
            differ.
        """
        columns = {
            "user": to_ids(user, ids[0]),
            "item": None if item is None else to_ids(item, ids[1]),
            "estimated": to_floats(estimated, "estimated"),
            "true": to_floats(true, "true"),
        }
        return cls(columns, table)

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of several tables; only ratings and times may be missing in some."""
        names = dict.fromkeys(chain.from_iterable(one.columns for one in parts))
        partial = {name for name in names if any(name not in one.columns for one in parts)}
        if not partial <= {"rating", "timestamp"}:
            msg = "The files have different columns. Give all files the same columns."
            raise InvalidInputError(msg)
        joined: dict[str, Any] = {}
        for name in names:
            missing = [np.full(one.n_rows, np.nan) for one in parts]
            columns = zip(parts, missing, strict=True)
            joined[name] = concat_ids([one.columns.get(name, nan)[:] for one, nan in columns])
        return replace(parts[0], columns=joined, others={})

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    @property
    def user(self) -> Ids | EncodedIds:
        """The user of each row."""
        users: Ids | EncodedIds = self.columns["user"]
        return users

    @property
    def item(self) -> Ids | EncodedIds | None:
        """The item of each row, None if the data has no items."""
        return self.columns.get("item")

    @property
    def estimated(self) -> Floats:
        """The recommender's score of each row."""
        return np.asarray(self.columns["estimated"])

    @property
    def true(self) -> Floats:
        """The user's grade of each row, NaN if it has none."""
        return np.asarray(self.columns["true"])

    def drop_fillers(self) -> Rows:
        """Return results without the rows that implicit adds to short lists.

        implicit gives them, and the items that it was asked to filter, the lowest float32.

        Raises
        ------
        InvalidInputError
            Every row is one of them.

        Warns
        -----
        DataWarning
            Rows were dropped.
        """
        is_filler = self.estimated == self.FILLER_SCORE
        if self.order_only or not is_filler.any():
            return self
        self.check_fillers(int(is_filler.sum()), len(is_filler), self.score)
        return self.select(~is_filler)

    def select(self, kept: Flags) -> Rows:
        """Return the rows for which `kept` is true."""
        return replace(self, columns={name: column[kept] for name, column in self.columns.items()})

    def without_labels(self) -> Rows:
        """Return an empty table of labels, with the same kinds of ids."""
        nothing = self.select(np.zeros(len(self.user), dtype=bool)).columns
        ids = {name: nothing[name] for name in ("user", "item")}
        return Rows({**ids, "true": np.zeros(0)}, "labels")

    @classmethod
    def check_fillers(cls, count: int, n_rows: int, column: str) -> None:
        """Warn about the rows of results that are implicit's fillers, and raise if all are.

        Raises
        ------
        InvalidInputError
            Every row is one.

        Warns
        -----
        DataWarning
            Some rows are.
        """
        if count == n_rows:
            msg = f"Every {column} is {cls.FILLER_SCORE}: the model recommends nothing. Check it."
            raise InvalidInputError(msg)
        warn(
            f"{count} of {n_rows} results have the score {cls.FILLER_SCORE:.7g}: they are "
            "placeholder rows of implicit, and are left out. To silence this, remove these rows."
        )

    def encode_with(self, results: Rows) -> list[tuple[Ids, list[Codes]]]:
        """Return the users, and the items, of labels and results, with the codes of each table.

        Raises
        ------
        InvalidInputError
            An id is missing, or the two tables have ids of different types.

        Warns
        -----
        DataWarning
            They share no user, or no item.
        """
        names = ("the labels", "the results")
        columns = [
            (rows.columns[column], f"{column} of {name}")
            for column in ("user", "item")
            for name, rows in zip(names, (self, results), strict=True)
        ]
        n_rows = self.n_rows + results.n_rows
        encoded = map_in_threads(lambda one: EncodedIds(*encode_ids(*one)), columns, n_rows)
        pairs = [(encoded[:2], "user"), (encoded[2:], "item")]
        for (first, second), column in pairs:
            check_id_types(first, second, column, names, warns=True)
        return map_in_threads(lambda pair: join_encoded(*pair), pairs, n_rows)


def to_ids(values: Iterable[Any], column: str) -> Ids | EncodedIds:
    """Return a column of ids: text encoded, anything else as `to_column` does.

    Raises
    ------
    InvalidInputError
        The values are not a column.
    """
    encoded = values if isinstance(values, EncodedIds) else encode_text(values)
    return to_column(values, column) if encoded is None else encoded


def to_column(values: Iterable[Any], column: str) -> Ids:
    """Return a one-dimensional array of any values, text as Python strings.

    Raises
    ------
    InvalidInputError
        The values are not a column.

    Examples
    --------
    >>> to_column(["a", (1, 2)], "user")
    array(['a', (1, 2)], dtype=object)
    """
    is_text = isinstance(values, str | bytes)
    if is_text or not isinstance(values, Iterable):
        kind = "text" if is_text else quote(values)
        msg = f"{column}: found {kind} in place of a column; give a list or an array."
        raise InvalidInputError(msg)
    values = _unwrap(values, column)
    if not isinstance(values, np.ndarray):
        return _list_to_array(values if isinstance(values, list) else list(values))
    if values.ndim != 1:
        msg = f"{column}: an array of {values.ndim} dimensions; a column has one."
        raise InvalidInputError(msg)
    if isinstance(values, np.ma.MaskedArray):
        raise_for_rows(np.ma.getmaskarray(values), column, "a masked value", "leave the row out")
        values = values.data
    if values.dtype.kind in "mM":
        return _convert_times(values, column)
    return values.astype(object) if values.dtype.kind in "US" else values


def _unwrap(values: Any, column: str) -> Any:
    """Return a column of a table as an array or a list, and anything else as it is."""
    if isinstance(values, EncodedIds):
        return values.ids[values.codes]
    if hasattr(values, "to_pylist"):
        return _convert_arrow(values, column)
    if isinstance(values, np.ndarray) or not hasattr(values, "dtype"):
        return values
    dtype = values.dtype
    is_plain = isinstance(dtype, np.dtype) and dtype.kind in "iufbO"
    if isinstance(values, pd.Series) and (is_plain or isinstance(dtype, pd.CategoricalDtype)):
        return values.to_numpy()
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    if series.dtype == nw.Time:
        _raise_time_of_day(column)
    # NumPy has no integers of 128 bits
    is_wide = series.dtype in (nw.Int128, nw.UInt128)
    return series.to_list() if is_wide else series.to_numpy()


def _convert_arrow(values: Any, column: str) -> Any:
    """Return a column of pyarrow as an array or a list."""
    kind = str(values.type)
    if kind.startswith(("time32", "time64")):
        _raise_time_of_day(column)
    if not kind.startswith("dictionary"):
        is_date = kind.startswith("date")  # NumPy would return times
        return values.to_pylist() if is_date else values.to_numpy(zero_copy_only=False)
    parts = [np.zeros(0, dtype=object)]
    for chunk in getattr(values, "chunks", [values]):
        # code -1 selects the last value; a long text is not copied for every row
        distinct = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        parts.append(distinct[chunk.indices.cast("int64").fill_null(-1).to_numpy()])
    return np.concatenate(parts)


def _raise_time_of_day(column: str) -> NoReturn:
    msg = f"{column}: times of day cannot be read; write them as text."
    raise InvalidInputError(msg)


def _convert_times(values: NDArray[Any], column: str) -> Ids:
    """Return times as pandas' objects, as the standard library has no nanoseconds."""
    unit, _ = np.datetime_data(values.dtype)
    if unit in ("ps", "fs", "as"):
        msg = f"{column}: times in {unit} are finer than nanoseconds; use those, or whole numbers."
        raise InvalidInputError(msg)
    return np.array(pd.Index(values).astype(object), dtype=object)


def _list_to_array(values: list[Any]) -> Ids:
    """Return integers as an integer array, and anything else as an object array."""
    if set(map(type, values)) == {int}:
        integers = np.array(values)
        if integers.dtype.kind in "iu":
            return integers
    return np.fromiter(values, dtype=object, count=len(values))


def to_floats(values: Iterable[Any], column: str) -> Floats:
    """Return numbers as float64, None and NA as NaN.

    Raises
    ------
    InvalidInputError
        A value is not a number; the message has its row.

    Examples
    --------
    >>> to_floats([4, None, 3.5], "true")
    array([4. , nan, 3.5])
    """
    if type(values) is list and set(map(type, values)) <= _FLOAT_TYPES:
        with suppress(OverflowError):  # reported below, with its row
            return np.fromiter(values, dtype=np.float64, count=len(values))
    values = _unwrap(values, column)
    if isinstance(values, np.ndarray) and values.dtype.kind in CONVERSIONS:
        msg = f"{column}: {values.dtype.name} is not a number; {CONVERSIONS[values.dtype.kind]}."
        raise InvalidInputError(msg)
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.nan, to_floats(values.filled(0), column))
    array = to_column(values, column)
    if array.dtype.kind in "fiub":
        return np.asarray(restore_decimals(array), dtype=np.float64)
    array = array.astype(object)
    kinds = set(map(type, array))
    for kind in kinds & {np.float16, np.float32}:
        is_short = np.array([type(value) is kind for value in array], dtype=bool)
        array[is_short] = restore_decimals(array[is_short].astype(kind))
    array[pd.isna(array)] = np.nan
    array[np.array([value is np.ma.masked for value in array], dtype=bool)] = np.nan
    others = [kind for kind in kinds if not issubclass(kind, np.floating)]
    # NumPy would convert text and some scalars that are not numbers
    if any(issubclass(kind, str | bytes) or hasattr(kind, "dtype") for kind in others):
        check_numeric(array, column)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        check_numeric(array, column)
        raise


def to_times(values: Any, column: str) -> Floats:
    """Return times as numbers, NaN for a missing one; dates become seconds since 1970.

    Dates without a time zone are UTC. Texts are numbers if all of them are, or dates.

    Raises
    ------
    InvalidInputError
        A value is no time; the message has its row.

    Examples
    --------
    >>> to_times(["1970-01-02", None, "1970-01-01T02:00+02:00"], "timestamp")
    array([86400.,    nan,     0.])
    """
    ids: Any
    codes: NDArray[Any]
    if isinstance(values, EncodedIds):
        ids, codes = values.ids, values.codes
    else:
        series = values if isinstance(values, pd.Series) else pd.Series(_unwrap(values, column))
        if pd.api.types.is_numeric_dtype(series.dtype):
            return to_floats(series, column)
        if pd.api.types.is_datetime64_any_dtype(series.dtype):
            codes, ids = pd.factorize(series)
        else:
            ids, codes = factorize_ids(np.asarray(series, dtype=object), column)
    distinct = pd.Series(ids, dtype=object if isinstance(ids, np.ndarray) else None)
    kinds = set(map(type, ids)) if distinct.dtype == object else set()
    if not all(issubclass(kind, str | bytes | dt.date) for kind in kinds):
        return to_floats(np.append(ids, np.nan)[codes], column)
    if kinds == {str}:
        numbers = pd.to_numeric(distinct, errors="coerce")
        if np.isfinite(numbers).all():
            return np.append(np.asarray(numbers, dtype=np.float64), np.nan)[codes]
    dates = pd.to_datetime(distinct, utc=True, format="ISO8601", errors="coerce")
    bad = np.append(dates.isna().to_numpy(), False)[codes]
    if bad.any():
        first = ids[codes[bad][0]]
        some = "text such as " if isinstance(first, str) else ""
        fault = f"{some}{quote(first)}, which is no time,"
        raise_for_rows(bad, column, fault, "write numbers, dates, or texts such as 2020-01-31")
    microseconds = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return np.append(microseconds / 1e6, np.nan)[codes]


def restore_decimals(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return float16 and float32 as the float64 of their decimal, and other arrays as they are.

    A grade of 0.7 in 32 bits is 0.699999988079071 in 64 bits, and would miss a threshold of 0.7.
    Different numbers stay different, and the order does not change.

    Parameters
    ----------
    numbers : array
        Decimals of up to 3 or 6 digits are restored.

    Examples
    --------
    >>> restore_decimals(np.array([0.7, 1 / 3], dtype=np.float32))
    array([0.7       , 0.33333334])
    """
    dtype = numbers.dtype.newbyteorder("=")
    if dtype not in SIGNIFICANT_DIGITS:
        return numbers
    exact = numbers.astype(np.float64)
    size = np.abs(exact)
    is_usual = (size > 1e-16) & (size < 1e22)  # powers of ten up to 1e22 are exact
    exponent = np.floor(np.log10(size, where=is_usual, out=np.zeros(exact.shape)))
    places = SIGNIFICANT_DIGITS[dtype] - 1 - exponent.astype(np.int64)
    up, down = _POWERS_OF_TEN[np.maximum(places, 0)], _POWERS_OF_TEN[np.maximum(-places, 0)]
    decimal = np.rint(exact * up / down) / up * down
    return np.where(is_usual & (decimal.astype(dtype) == numbers), decimal, exact)


#: How to fix values that are not numbers, by the kind of their NumPy type.
CONVERSIONS = {
    "M": "dates and times are not grades or scores, name the right column",
    "m": "durations are not grades or scores, name the right column",
    "c": "complex numbers have no order, take .real if the rest is 0",
    "V": "records are not grades or scores, name one of their fields",
}


def check_numeric(values: NDArray[Any], column: str) -> None:
    """Raise if a value is not a number: text, a time, a complex number or a record.

    Raises
    ------
    InvalidInputError
        The message has the first such rows.
    """
    bad = np.array([bool(_explain_fault(value)) for value in values], dtype=bool)
    if bad.any():
        first = values[bad][0]
        advice = Rows.suggest_conversion(_find_kind(first))
        raise_for_rows(bad, column, _explain_fault(first), advice)


def _find_kind(value: Any) -> str:
    """Return the kind of a value's NumPy type, also for times and complex numbers of Python."""
    if isinstance(value, dt.date | dt.time | pd.Period):
        return "M"
    if isinstance(value, dt.timedelta):
        return "m"
    kind = "c" if isinstance(value, complex) else getattr(getattr(value, "dtype", None), "kind", "")
    return kind if isinstance(kind, str) else ""


def _explain_fault(value: Any) -> str:
    """Return why a value is not a float, "" if it is one."""
    if isinstance(value, str | bytes):
        return f"text such as {quote(value)}"
    try:
        if _find_kind(value) not in CONVERSIONS and not getattr(value, "ndim", 0):
            float(value)
            return ""
    except OverflowError:
        return "a number beyond 1.8e308"
    except (TypeError, ValueError):
        pass
    return f"{quote(value)}, which is not a number,"
