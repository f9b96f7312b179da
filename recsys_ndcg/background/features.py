"""Features of items: numbers, categories, sets and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions, ReadOnlyArrays
from recsys_ndcg.errors import InvalidInputError, quote, suggest, warn
from recsys_ndcg.input import read_indexed_table

_SEPARATOR = "|"  # as in the genres of MovieLens
_OWN = 0.9  # values are no categories if this share of the items, or more, have different ones
_MIN_ITEMS = 5  # in a smaller table, different values mean nothing
_KINDS = "numbers, texts (categories), sets, or vectors of equal length"


@dataclass(frozen=True, eq=False)
class Feature(ReadOnlyArrays):
    """One column of the features table, an entry per item.

    Parameters
    ----------
    name : str
        The name of the column; "" for several columns together.
    kind : {'number', 'category', 'set', 'vector', 'columns'}
        What the entries are.
    values : array, shape (n_items,) or (n_items, n_columns)
        Numbers; for a category, its code; for a set, a column per member, 0 or 1; for several
        columns, the code of each entry among the entries of its column.
    is_known : bool array, shape (n_items,)
        Whether the item has an entry.
    labels : tuple
        The categories, or the members of the sets, in ascending order of their text.
    problem : str
        Why the column cannot be read, an error as soon as a metric needs it; "" if it can.
    """

    name: str
    kind: str
    values: NDArray[Any]
    is_known: Flags
    labels: tuple[Any, ...] = ()
    problem: str = ""

    @property
    def memberships(self) -> Floats:
        """A column per category or member, 0 or 1: shape (n_items, n_labels)."""
        if self.kind == "category":
            table = np.zeros((len(self.values), len(self.labels)))
            rows = np.flatnonzero(self.is_known)
            table[rows, self.values[rows].astype(np.int64)] = 1.0
            return table
        return self.vectors

    @property
    def vectors(self) -> Floats:
        """The entries as rows of numbers, 0 where an item has none: shape (n_items, n_columns)."""
        table = self.values.astype(np.float64)
        table = table[:, None] if table.ndim == 1 else table
        return np.where(self.is_known[:, None], table, 0.0)

    @property
    def n_values(self) -> int:
        """The number of different entries of a column of numbers or categories."""
        return len(np.unique(self.values[self.is_known]))

    @property
    def has_own_values(self) -> bool:
        """Whether nearly every item has a price or a title of its own: no categories."""
        n_items, is_category = int(self.is_known.sum()), self.kind in ("number", "category")
        return is_category and n_items >= _MIN_ITEMS and self.n_values >= _OWN * n_items

    @property
    def code_for_categories(self) -> str:
        """Python that makes categories of a column of numbers: ranges if items share no number."""
        column = f"features[{self.name!r}]"
        cut = f"pd.qcut({column}, 5)" if self.has_own_values else column
        return f"{column} = {cut}.astype('string')"

    def reindex(self, positions: Positions, n_items: int) -> Feature:
        """Return the column for other items, given the new position of each item."""
        values = np.zeros((n_items, *self.values.shape[1:]), dtype=self.values.dtype)
        is_known = np.zeros(n_items, dtype=bool)
        values[positions], is_known[positions] = self.values, self.is_known
        return replace(self, values=values, is_known=is_known)


def read_features(table: Any) -> tuple[Ids, dict[str, Feature]]:
    """Return the items of a features table, and its columns.

    Parameters
    ----------
    table : table of any library, Series, mapping of columns, or path of a file
        As in `read_indexed_table`.

    Raises
    ------
    InvalidInputError
        It has no items or no columns, or an item is repeated.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [7, 8], "genres": [{"drama"}, {"drama", "war"}]})
    >>> items, features = read_features(table)
    >>> items.tolist(), features["genres"].kind, features["genres"].labels
    ([7, 8], 'set', ('drama', 'war'))
    """
    items, frame = read_indexed_table(table, "features")
    if not len(items) or not len(frame.columns):
        msg = (
            "features has no items or no columns. Give a table indexed by item, or with a column "
            "'item', and a column for each feature."
        )
        raise InvalidInputError(msg)
    counts = pd.Series(items).value_counts()
    if counts.iloc[0] > 1:
        msg = f"features: the item {quote(counts.index[0])} has {counts.iloc[0]} rows. Give one."
        raise InvalidInputError(msg)
    columns = {}
    for label in frame:
        name = str(label)
        try:
            columns[name] = _read_column(name, frame[label])
        except InvalidInputError as error:  # a table has columns for other uses, such as dates
            nothing = np.zeros(len(items))
            columns[name] = Feature(name, "", nothing, nothing > 0, problem=str(error))
    return items, columns


def _read_column(name: str, column: pd.Series[Any]) -> Feature:
    if pd.api.types.is_complex_dtype(column):
        msg = f"features: {name} has complex numbers. Give {_KINDS}."
        raise InvalidInputError(msg)
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(numbers).any():
            msg = f"features: {name} has an infinite number. Give finite numbers, or none."
            raise InvalidInputError(msg)
        return Feature(name, "number", numbers, ~np.isnan(numbers))
    is_known = column.notna().to_numpy(dtype=bool)
    known = column[is_known].astype(object).tolist()
    joined = [one for one in known if isinstance(one, str) and _SEPARATOR in one]
    if joined:
        warn(f"features: {name} has texts such as {quote(joined[0])}: they are read as sets.")
        known = [
            {part.strip() for part in one.split(_SEPARATOR)} - {""} if isinstance(one, str) else one
            for one in known
        ]
    if all(isinstance(one, str | bool | Real) for one in known):
        return _read_categories(name, known, is_known)
    lists = [_to_list(one) for one in known]
    others = [one for one, each in zip(known, lists, strict=True) if each is None]
    if others:
        msg = f"features: {name} has {quote(others[0])} among other values. Give {_KINDS}."
        raise InvalidInputError(msg)
    are_vectors = all(
        not isinstance(one, set | frozenset) and all(isinstance(x, Real) for x in each or ())
        for one, each in zip(known, lists, strict=True)
    )
    if are_vectors and any(lists):
        return _read_vectors(name, [each or [] for each in lists], is_known)
    return _read_sets(name, [each or [] for each in lists], is_known)


def _to_list(value: Any) -> list[Any] | None:
    if isinstance(value, np.ndarray):
        return list(value.tolist()) if value.ndim == 1 else None
    is_group = isinstance(value, set | frozenset | Sequence) and not isinstance(value, str | bytes)
    return list(value) if is_group else None


def _read_categories(name: str, known: list[Any], is_known: Flags) -> Feature:
    labels, code_of = number_labels(known)
    codes = np.full(len(is_known), -1.0)
    codes[is_known] = [code_of[one] for one in known]
    return Feature(name, "category", codes, is_known, labels)


def number_labels(labels: Iterable[Any]) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """Return the distinct labels in the order of their text, and the position of each.

    Examples
    --------
    >>> number_labels(["war", "love", "war"])
    (('love', 'war'), {'love': 0, 'war': 1})
    """
    ordered = tuple(sorted(set(labels), key=str))
    return ordered, {label: code for code, label in enumerate(ordered)}


def _read_vectors(name: str, known: list[list[Any]], is_known: Flags) -> Feature:
    lengths = sorted({len(one) for one in known})
    if len(lengths) > 1:
        msg = (
            f"features: {name} has vectors of {lengths[0]} and of {lengths[1]} numbers. Give "
            "vectors of one length, or sets."
        )
        raise InvalidInputError(msg)
    table = np.zeros((len(is_known), lengths[0]))
    table[is_known] = np.array(known, dtype=np.float64)
    if not np.isfinite(table).all():
        msg = f"features: {name} has a vector with NaN or an infinite number. Give finite numbers."
        raise InvalidInputError(msg)
    return Feature(name, "vector", table, is_known)


def _read_sets(name: str, known: list[list[Any]], is_known: Flags) -> Feature:
    try:
        labels, code_of = number_labels(label for one in known for label in one)
    except TypeError:
        msg = f"features: {name} has lists inside lists. Give {_KINDS}."
        raise InvalidInputError(msg) from None
    table = np.zeros((len(is_known), len(labels)), dtype=bool)
    for row, one in zip(np.flatnonzero(is_known), known, strict=True):
        table[row, [code_of[label] for label in one]] = True
    return Feature(name, "set", table, is_known, labels)


def combine_features(features: Mapping[str, Feature], name: str = "") -> Feature:
    """Return one column, or all columns together: an item is known if it is known in each.

    Columns of numbers together are a vector.

    Raises
    ------
    InvalidInputError
        There is no such column, or it cannot be read.
    """
    if name and name not in features:
        msg = f"features has no column {quote(name)}. {suggest(name, features)}"
        raise InvalidInputError(msg)
    columns = [features[name]] if name else [*features.values()]
    InvalidInputError.raise_if(next((one.problem for one in columns if one.problem), ""))
    if len(columns) == 1:
        return columns[0]
    is_known = np.logical_and.reduce([one.is_known for one in columns])
    if all(one.kind == "number" for one in columns):
        numbers = [one.values for one in columns]  # noqa: PD011 - not of pandas
        return Feature("", "vector", np.stack(numbers, axis=1), is_known)
    codes = [_encode_rows(one.values) for one in columns]
    return Feature("", "columns", np.stack(codes, axis=1), is_known)


def _encode_rows(values: NDArray[Any]) -> Positions:
    """Return a whole number for each entry, equal for equal entries."""
    rows: Iterable[Any] = values if values.ndim == 1 else map(tuple, values.tolist())
    codes, _ = pd.factorize(np.fromiter(rows, dtype=object, count=len(values)))
    return np.asarray(codes, dtype=np.int64)
