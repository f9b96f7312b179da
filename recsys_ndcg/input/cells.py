"""Cells that hold several values: a user's whole list in one row of a table.

Text such as "a b c" may be one id or several: the ids of the other table decide.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Ids, Positions, compute_offsets, concat_ranges
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.ids import EncodedIds, factorize_ids, format_id, import_pyarrow
from recsys_ndcg.input.python_objects import score_by_rank
from recsys_ndcg.input.rows import Rows
from recsys_ndcg.input.text_tables import parse_integers
from recsys_ndcg.parallel import map_in_threads

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


_OTHER = {"labels": "results", "results": "labels"}
#: What may separate ids.
SEPARATORS = (",", ";", "|", " ")
#: A list in brackets, and an id or a list in quotes: each a pattern with groups of what is inside.
BRACKETS = (r"^\[([^\[\]]*)\]$|^\(([^()]*)\)$|^\{([^{}]*)\}$", 3)
QUOTES = (r"""^"([^"]*)"$|^'([^']*)'$""", 2)
_SIGNS = re.compile(r"""[][(){}"']""")
#: How often more cells must match in one reading than in the other.
_MUCH = 2
_SAMPLE_TO_MATCH = 10_000  # cells by which it is decided how to read all
_HALF = 0.5
_FEW = 0.01  # a smaller share that matches may be by chance


class _Match(NamedTuple):
    """The shares that match the other table.

    Parameters
    ----------
    whole : float
        Of the cells that have the separator.
    parts : float
        Of their parts; if no cell matches, the parts of the other table's cells count, too.
    alone : float
        Of their parts: the share that are whole cells of the other table.
    """

    whole: float
    parts: float
    alone: float


def split_text_lists(
    labels: Rows | None, results: Rows, separator: str | None = None
) -> tuple[Rows | None, Rows]:
    """Split the cells of labels and of results that hold several ids, as far as they match.

    Parameters
    ----------
    labels, results : Rows
        Their items may be text such as "a b c".
    separator : str, optional
        What separates ids; "" if each cell is one id. By default it is found.

    Raises
    ------
    InvalidInputError
        The cells may be single ids or lists: both match the other table, or neither.

    Warns
    -----
    DataWarning
        Cells were split, or not split, because of what matched.
    """
    tables: dict[str, Any] = {"labels": labels, "results": results}
    names = [name for name, rows in tables.items() if rows and rows.may_hold_lists]
    if separator:
        names = names or [
            name for name, rows in tables.items() if rows and find_cell_kind(rows.item) == "text"
        ]
    if separator == "" or not names:
        return labels, results
    # distinct ids are enough to decide, and stay encoded, as encoding is what takes time
    encoded = map_in_threads(lambda name: _encode(tables[name], name), names, len(results.user))
    tables |= zip(names, encoded, strict=True)
    found = dict.fromkeys(names, separator or "")
    if separator is None:
        single = {name for name in names if _has_one_row_per_user(tables[name])}
        names = [name for name in names if name in single or None not in tables.values()]
        cells = {name: _list_text(tables[name]) for name in tables}
        found = _find_separators(cells, names, single)
    items = {name: None if rows is None else rows.item for name, rows in tables.items()}
    for name in [name for name in found if found[name]]:
        theirs = items[_OTHER[name]]
        is_numeric = isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iuf"
        tables[name] = _split(tables[name], found[name], keep_text=not is_numeric)
    return tables["labels"], tables["results"]


def reject_text_lists(rows: Rows) -> None:
    """Raise if text of interactions may be a list per user, as there is no table to match.

    Raises
    ------
    InvalidInputError
        Each user has one row, and half of the items or more have a separator.
    """
    # ids of a catalogue have no users
    if not (rows.may_hold_lists and "user" in rows.columns and _has_one_row_per_user(rows)):
        return
    cells = _list_text(rows)
    separator = max(SEPARATORS, key=lambda sign: sum(sign in cell for cell in cells))
    several = [cell for cell in cells if separator in cell]
    if several and len(several) * 2 >= len(cells):
        msg = (
            f"{quote(several[0])} may be one id or several, as each user has one row. If it is a "
            f"list, give table['item'].str.split({separator!r}); if it is one id, lists of one: "
            "table['item'].map(lambda item: [item])."
        )
        raise InvalidInputError(msg)


def _has_one_row_per_user(rows: Rows) -> bool:
    ids, codes = factorize_ids(rows.user, "user")
    return len(ids) == len(codes)


def _encode(rows: Any, name: str) -> Any:
    """Return rows with encoded items."""
    if isinstance(rows.item, EncodedIds):
        return rows
    encoded = EncodedIds(*factorize_ids(rows.item, f"item of the {name}"))
    return replace(rows, columns={**rows.columns, "item": encoded})


def _list_text(rows: Rows | None) -> list[str]:
    """Return the distinct items as text."""
    if rows is None:
        return []
    return [*map(format_id, factorize_ids(rows.columns["item"], "item")[0].tolist())]


def _find_separators(
    known: dict[str, list[str]], names: list[str], single: AbstractSet[str]
) -> dict[str, str]:
    """Return what separates the ids in the cells of each table, if they are lists.

    First comes the table whose parts are whole cells of the other. If it is split, the other table
    is compared with its parts.
    """
    found, cells = dict[str, str](), known
    texts = {name: "\n".join(known[name]) for name in names}  # which is fast to search
    while left := [name for name in names if name not in found]:
        matches = {
            (name, separator): _match(known[name], known[_OTHER[name]], separator)
            for name in left
            for separator in SEPARATORS
            if separator in texts[name]
        }
        if not matches:
            break
        name, separator = max(matches, key=lambda one: (matches[one].alone, matches[one].parts))
        match = matches[name, separator]
        if name in single:
            found[name] = _decide(name, known[name], separator, match)
        else:  # one id per row is usual: only what cannot be one is split
            found[name] = separator if not match.whole and match.alone > _HALF else ""
        if found[name] and len(left) > 1:
            parts = chain.from_iterable(split_cell(cell, separator) for cell in known[name])
            known = {**known, name: [*{*parts}]}
    found = {name: separator for name, separator in found.items() if separator}
    for name, separator in found.items():
        example = next(cell for cell in cells[name] if separator in cell)
        advice = f"pass `list_separator={separator!r}`"
        if len({*found.values()}) > 1:
            advice = f"give lists, such as table['item'].str.split({separator!r})"
        warn(
            f"{name}: {quote(example)} is read as the items "
            f"{quote(split_cell(example, separator))}, which the other table has. To silence "
            f"this, {advice}."
        )
    return found


def _decide(name: str, cells: list[str], separator: str, match: _Match) -> str:
    """Return the separator, or "" if each cell is one id, by the shares that match."""
    whole, parts, _ = match
    if parts > max(_MUCH * whole, _FEW) or whole < parts == 1:
        return separator
    if whole > max(_MUCH * parts, _FEW) or parts < whole == 1:
        return ""
    example = next(cell for cell in cells if separator in cell)
    why = "both match" if whole > _FEW else "neither matches"
    return raise_ambiguous(name, example, separator, f"; {why} the other table")


def raise_ambiguous(name: str, cell: str, separator: str, why: str = "") -> NoReturn:
    """Raise the error that a cell of a table may be one id or several."""
    msg = (
        f"{name}: {quote(cell)} may be one id or several{why}. Pass "
        f"`list_separator={separator!r}` if it is a list, or `list_separator=''` if it is one id."
    )
    raise InvalidInputError(msg)


def _match(cells: list[str], others: list[str], separator: str) -> _Match:
    """Compare cells that have a separator, and their parts, with the cells of the other table."""
    several = [*islice((cell for cell in cells if separator in cell), _SAMPLE_TO_MATCH)]
    known = {*others}
    parts = [*chain.from_iterable(split_cell(cell, separator) for cell in several)]
    whole = sum(cell in known for cell in several) / len(several)
    alone = sum(part in known for part in parts) / max(len(parts), 1)
    if whole:
        return _Match(whole, alone, alone)
    theirs = {part for one in others for sign in SEPARATORS for part in split_cell(one, sign)}
    return _Match(whole, sum(part in theirs for part in parts) / max(len(parts), 1), alone)


def split_cell(cell: str, separator: str) -> list[str]:
    """Return the ids in a cell, without brackets around all and quotes around each.

    Examples
    --------
    >>> split_cell("['a', 'b']", ","), split_cell("1  2 3", " "), split_cell("f (x);g (x)", ";")
    (['a', 'b'], ['1', '2', '3'], ['f (x)', 'g (x)'])
    """
    if not _SIGNS.search(cell):
        if separator == " ":
            return cell.split()
        return [one for one in map(str.strip, cell.split(separator)) if one]
    parts = _unwrap(_unwrap(cell, BRACKETS), QUOTES).split(None if separator == " " else separator)
    ids = (_unwrap(part, QUOTES) for part in parts)
    return [one for one in ids if one]


def _unwrap(text: str, what: tuple[str, int]) -> str:
    """Return a text without the signs that enclose it, and without blanks at its ends."""
    text, (pattern, n_groups) = text.strip(), what
    if text[:1].isalnum():  # as nearly all are
        return text
    inside = "".join(rf"\{group}" for group in range(1, n_groups + 1))
    return re.sub(pattern, inside, text).strip()


def _split(rows: Rows, separator: str, *, keep_text: bool) -> Rows:
    """Return rows with a row for each id in a cell."""
    ids, codes = factorize_ids(rows.columns["item"], "item")
    parts: list[str] = []  # of all cells: a list for each would take Python's collector long
    ends = [0]
    for one in ids.tolist():
        parts += split_cell(format_id(one), separator)
        ends.append(len(parts))
    sizes = np.append(np.diff(ends), 0)  # the last one is that of code -1
    cells = ListCells(sizes[codes], None)
    encoded = EncodedIds.factorize(np.array(parts, dtype=object))
    new_codes = encoded.codes[concat_ranges(compute_offsets(sizes)[codes], cells.lengths)]
    integers = None if keep_text else parse_integers(encoded.ids.tolist())
    item = EncodedIds(encoded.ids, new_codes) if integers is None else integers[new_codes]
    columns: dict[str, Any] = {name: cells.repeat(column) for name, column in rows.columns.items()}
    columns["item"] = item
    if "estimated" in columns and rows.order_only:
        columns["estimated"] *= max(sizes, default=1)
        columns["estimated"] += score_by_rank(cells.lengths)
    return replace(rows, columns=columns)
