"""Cells that hold several values: a user's whole list in one row of a table."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Ids, Positions
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input.ids import EncodedIds, format_id, import_pyarrow

_POLARS_LISTS = ("List", "Array")
#: The beginnings of the names of types of lists and of text: Arrow's, polars' and Spark's.
_LISTS = ("list", "large_list", "fixed_size_list", *_POLARS_LISTS, "array<")
_TEXTS = ("String", "Categorical", "Enum", "char", "varchar")
_NUMBERS = "iufbcmM"
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_SAMPLE = 100  # cells by which text is taken for lists
_NUMBERED = re.compile(r"(.*?)([0-9]{1,4})")


@dataclass(frozen=True)
class ListCells:
    """The values in the cells of a column, if a cell holds several.

    Parameters
    ----------
    lengths : int64 array, shape (n_rows,)
        The number of values in each cell; 0 for a missing cell.
    entries : column
        The values of all cells, one cell after the other.
    """

    lengths: Positions
    entries: Any

    @classmethod
    def of(cls, column: Any, name: str) -> ListCells | None:
        """Split the cells of a column of any library; None if each holds one value.

        Parameters
        ----------
        column : column
            Lists, one-dimensional arrays or sets; None for an empty list. Tuples and frozen sets
            may be ids.
        name : str
            The column's name in messages.

        Raises
        ------
        InvalidInputError
            Some cells hold lists, and others single values.

        Examples
        --------
        >>> cells = ListCells.of([["a", "b"], None, ["c"]], "item")
        >>> cells.lengths.tolist(), cells.entries
        ([2, 0, 1], ['a', 'b', 'c'])
        """
        if isinstance(column, cls):
            return column
        column = _to_arrow(column)
        if find_cell_kind(column) != "list":
            return None
        if hasattr(column, "type"):
            return cls._of_arrow(column)
        cells = column.tolist() if hasattr(column, "tolist") else list(column)
        wrong = [place for place, one in enumerate(cells) if not (_is_list(one) or _is_none(one))]
        if wrong:
            msg = (
                f"{name}: the cell {quote(cells[wrong[0]])} in row {wrong[0]} (counted from 0) is "
                "no list, but others are. Write one value as a list, too: [value]."
            )
            raise InvalidInputError(msg)
        present = [() if _is_none(one) else _parse_cell(one) for one in cells]
        lengths = np.fromiter(map(len, present), dtype=np.int64, count=len(present))
        if all(isinstance(one, np.ndarray) for one in present if len(one)):
            filled = [one for one in present if len(one)]
            return cls(lengths, np.concatenate(filled) if filled else np.zeros(0))
        return cls(lengths, list(chain.from_iterable(present)))

    @classmethod
    def from_ranks(cls, table: NDArray[Any]) -> ListCells:
        """Return the lists of a table with a column for each rank; a missing id is left out.

        Examples
        --------
        >>> table = np.array([["a", "c"], ["b", None]], dtype=object)
        >>> ListCells.from_ranks(table).entries.tolist()
        ['a', 'c', 'b']
        """
        is_there = ~np.asarray(pd.isna(table))
        entries = table[is_there]
        if entries.dtype == object and len({isinstance(one, str) for one in entries.tolist()}) > 1:
            entries = np.array([*map(format_id, entries.tolist())], dtype=object)
        return cls(is_there.sum(axis=1), entries)

    @classmethod
    def _of_arrow(cls, column: Any) -> ListCells:
        pa = import_pyarrow()
        lengths = pa.compute.list_value_length(column).fill_null(0)
        return cls(lengths.to_numpy().astype(np.int64), pa.compute.list_flatten(column))

    def read_parallel(self, column: Any, name: str) -> Any:
        """Return the entries of a column whose cells have one for each of these.

        Raises
        ------
        InvalidInputError
            A cell has more or fewer.
        """
        other = ListCells.of(column, name)
        if other is None or (other.lengths != self.lengths).any():
            place = 0 if other is None else int((other.lengths != self.lengths).argmax())
            has = "one value" if other is None else f"{other.lengths[place]} values"
            msg = (
                f"{name}: {has} for the {self.lengths[place]} items in row {place} (counted from "
                "0). Give each item of the list one value, in a list of the same length."
            )
            raise InvalidInputError(msg)
        return other.entries

    def repeat(self, column: Ids | EncodedIds) -> Ids | EncodedIds:
        """Return the value of each row once for each value in its cell."""
        if not isinstance(column, EncodedIds):
            return np.repeat(column, self.lengths)
        ids, codes = column.ids, np.repeat(column.codes, self.lengths)
        if not self.lengths.all():  # ids of empty lists are left out
            used, places = np.unique(codes, return_inverse=True)
            ids, codes = ids[used], places.astype(np.int32)
        return EncodedIds(ids, codes, column.is_sorted)


def find_rank_columns(names: Sequence[Any]) -> list[Any]:
    """Return the names of columns that are ranks, such as 1, 2, 3 or item1, item2.

    Examples
    --------
    >>> find_rank_columns(["user", "id3_1", "id3_2"]), find_rank_columns(["x1", "x3"])
    (['id3_1', 'id3_2'], [])
    """
    numbered: dict[str, list[tuple[int, Any]]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(str(name))
        if found and isinstance(name, str | int):
            numbered.setdefault(found[1], []).append((int(found[2]), name))
    stems = [ranks for ranks in numbered.values() if len(ranks) > 1]
    if len(stems) != 1:
        return []
    ranks = dict(sorted(stems[0], key=lambda one: one[0]))  # a pivot sorts names as text
    first = next(iter(ranks))
    is_whole = first in (0, 1) and [*ranks] == [*range(first, first + len(stems[0]))]
    return [*ranks.values()] if is_whole else []


def find_cell_kind(column: Any) -> str:
    """Return whether the cells of a column are a "list" of values or "text"; "" for others.

    Columns of Python objects are judged by the first one that is not missing.

    Examples
    --------
    >>> find_cell_kind([None, ["a"]]), find_cell_kind(["a", "b"]), find_cell_kind(np.array([1, 2]))
    ('list', 'text', '')
    """
    if isinstance(column, ListCells):
        return "list"
    if hasattr(column, "type") and hasattr(column, "null_count"):
        return find_type_kind(column.type)
    dtype = getattr(column, "dtype", None)
    if str(getattr(dtype, "base_type", str)()) in _POLARS_LISTS:
        return "list"
    if getattr(dtype, "kind", "O") in _NUMBERS or not hasattr(column, "__getitem__"):
        return ""
    cells = column.ids if isinstance(column, EncodedIds) else column
    parts = cells[:_SAMPLE], cells  # reading all of a categorical column takes long
    first = next((one for part in parts for one in part if not _is_none(one)), None)
    if isinstance(first, str):  # a title may be in brackets
        sample = (one for one in parts[0] if not _is_none(one))
        return "list" if _is_list(first) and all(map(_is_list, sample)) else "text"
    return "list" if _is_list(first) else ""


def find_type_kind(kind: Any) -> str:
    """Return the same for a type of Arrow, polars or Spark.

    Examples
    --------
    >>> [find_type_kind(kind) for kind in ("list<item: string>", "Enum", "string", "Int64")]
    ['list', 'text', 'text', '']
    """
    name = str(kind)
    if name.startswith(_LISTS):
        return "list"
    return "text" if "string" in name or name.startswith(_TEXTS) else ""


def _is_list(cell: Any) -> bool:
    if isinstance(cell, str):  # as Python, JSON and NumPy write lists
        return len(cell) > 1 and cell.startswith("[") and cell.endswith("]")
    is_array = isinstance(cell, np.ndarray) and cell.ndim == 1
    return is_array or isinstance(cell, list | set | pd.api.extensions.ExtensionArray)


def _parse_cell(cell: Any) -> Any:
    """Return the values of text such as "['a', 'b']" or "[1 2]", and other cells as they are.

    Examples
    --------
    >>> _parse_cell("['a, b', 'c']"), _parse_cell("[1 2]"), _parse_cell("[007, 8]")
    (['a, b', 'c'], [1, 2], ['007', '8'])
    """
    if not isinstance(cell, str):
        return cell
    if "," in cell:
        with suppress(ValueError, SyntaxError):
            return list(literal_eval(cell))
    parts = re.findall(r"""'[^']*'|"[^"]*"|[^\s,]+""", cell[1:-1])
    are_numbers = all(map(_NUMBER.fullmatch, parts))
    return [literal_eval(one) if are_numbers else one.strip("'\"") for one in parts]


def _is_none(cell: Any) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)  # noqa: PLR0124 - NaN


def _to_arrow(column: Any) -> Any:
    """Return lists of polars, or of Arrow in pandas, as an array of Arrow; others as they are."""
    kind = str(getattr(getattr(column, "dtype", None), "base_type", str)())
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.ArrowDtype):
        return import_pyarrow().array(column)
    return column.to_arrow() if hasattr(column, "to_arrow") and kind in _POLARS_LISTS else column
