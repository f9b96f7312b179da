"""Cells of text that may hold several ids, such as "a b c": decided by the ids of another table."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Ids
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.cells import ListCells
from recsys_ndcg.input.ids import EncodedIds, factorize_ids, format_id
from recsys_ndcg.input.python_objects import score_by_rank
from recsys_ndcg.input.text_tables import parse_integers

if TYPE_CHECKING:
    from recsys_ndcg.input.rows import Rows

_SEPARATORS = (",", ";", "|", " ")
_QUOTES = "\"' \t\n[](){}"
#: How often more cells must match in one reading than in the other.
_MUCH = 2


def split_tables(
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
    if labels is None:
        return None, _split(results, None, "results", separator)
    return _split(labels, results, "labels", separator), _split(
        results, labels, "results", separator
    )


def _list_text(rows: Rows | None) -> list[str]:
    """Return the distinct items as text; none if they are not text."""
    if rows is None or rows.item is None:
        return []
    if isinstance(rows.item, np.ndarray) and rows.item.dtype.kind in "iuf":
        return [*map(format_id, np.unique(rows.item).tolist())]
    return [*map(format_id, factorize_ids(rows.item, "item")[0].tolist())]


def _find_separator(name: str, cells: list[str], others: list[str]) -> str:
    """Return what separates the ids in cells; "" if each cell is one id."""
    present = [one for one in _SEPARATORS if any(one in cell for cell in cells)]
    if not present:
        return ""
    shares = {one: _match(cells, others, one) for one in present}
    separator = max(shares, key=lambda one: shares[one][1])
    whole, parts = shares[separator]
    if parts > _MUCH * whole or whole < parts == 1:
        example = next(cell for cell in cells if separator in cell)
        items = quote(split_cell(example, separator))
        warn(
            f"{name}: {quote(example)} is read as the items {items}, which the other table has. To "
            f"silence this, pass list_separator={separator!r}."
        )
        return separator
    if whole > _MUCH * parts or parts < whole == 1:
        return ""
    example = next(cell for cell in cells if separator in cell)
    why = "both match" if whole else "neither matches"
    msg = (
        f"{name}: {quote(example)} may be one id or several; {why} the other table. Pass "
        f"list_separator={separator!r} if it is a list, or list_separator='' if it is one id."
    )
    raise InvalidInputError(msg)


def _match(cells: list[str], others: list[str], separator: str) -> tuple[float, float]:
    """Return the share of cells that the other table has, and the share of their parts."""
    several = [cell for cell in cells if separator in cell]
    known = {*others}
    whole = sum(cell in known for cell in several) / len(several)
    single = {*chain.from_iterable(split_cell(one, separator) for one in others)}
    parts = [*chain.from_iterable(split_cell(cell, separator) for cell in several)]
    known_parts = known if whole else known | single
    return whole, sum(part in known_parts for part in parts) / max(len(parts), 1)


def split_cell(cell: str, separator: str) -> list[str]:
    """Return the ids in a cell.

    Examples
    --------
    >>> split_cell("['a', 'b']", ","), split_cell("1  2 3", " ")
    (['a', 'b'], ['1', '2', '3'])
    """
    parts = cell.strip(_QUOTES).split(None if separator == " " else separator)
    return [part.strip(_QUOTES) for part in parts if part.strip(_QUOTES)]


def _split(rows: Rows, other: Rows | None, name: str, separator: str | None) -> Rows:
    """Return rows with a row for each id in a cell; they are numbers if the other table's are."""
    if separator is None:
        separator = _find_separator(name, _list_text(rows), _list_text(other))
    if not separator:
        return rows
    item: Any = rows.item
    ids, codes = factorize_ids(item, "item")
    lists = [split_cell(format_id(one), separator) for one in ids.tolist()]
    distinct = [*dict.fromkeys(chain.from_iterable(lists))]
    code_of = {one: place for place, one in enumerate(distinct)}
    flat = [np.array([code_of[one] for one in each], dtype=np.int32) for each in lists]
    lengths = np.fromiter(map(len, flat), dtype=np.int64, count=len(flat))
    cells = ListCells(lengths[codes], None)
    new_codes = np.concatenate([flat[code] for code in codes.tolist()] or [np.zeros(0, np.int32)])
    new_ids: Ids = np.array(distinct, dtype=object)
    theirs = None if other is None else other.item
    has_numbers = isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iuf"
    integers = parse_integers(distinct) if has_numbers else None
    encoded = integers[new_codes] if integers is not None else EncodedIds(new_ids, new_codes)
    columns = {name: cells.repeat(column) for name, column in rows.columns.items()}
    columns |= {"item": encoded}
    if "estimated" in columns and rows.order_only:
        columns["estimated"] = score_by_rank(cells.lengths.tolist())
    return replace(rows, columns=columns)
