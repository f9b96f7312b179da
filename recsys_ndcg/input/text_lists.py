"""Cells of text that may hold several ids, such as "a b c": decided by the ids of another table."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from recsys_ndcg.arrays import compute_offsets, concat_ranges
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input.cells import ListCells, find_cell_kind
from recsys_ndcg.input.ids import EncodedIds, factorize_ids, format_id
from recsys_ndcg.input.python_objects import score_by_rank
from recsys_ndcg.input.text_tables import parse_integers
from recsys_ndcg.parallel import map_in_threads

if TYPE_CHECKING:
    from recsys_ndcg.input.rows import Rows

_OTHER = {"labels": "results", "results": "labels"}
#: What may separate ids.
SEPARATORS = (",", ";", "|", " ")
#: What may stand around lists and ids.
QUOTES = "\"' \t\n[](){}"
#: How often more cells must match in one reading than in the other.
_MUCH = 2
_FEW = 0.01  # a smaller share that matches may be by chance


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
        names = [name for name in names if _has_one_row_per_user(tables[name])]
        found = _find_separators({name: _list_text(tables[name]) for name in tables}, names)
    items = {name: None if rows is None else rows.item for name, rows in tables.items()}
    for name in [name for name in found if found[name]]:
        theirs = items[_OTHER[name]]
        is_numeric = isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iuf"
        tables[name] = _split(tables[name], found[name], keep_text=not is_numeric)
    return tables["labels"], tables["results"]


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


def _find_separators(known: dict[str, list[str]], names: list[str]) -> dict[str, str]:
    """Return what separates the ids in the cells of each table; "" if each cell is one id."""
    shares = {
        separator: {
            name: _match(known[name], known[_OTHER[name]], separator)
            for name in names
            if any(separator in cell for cell in known[name])
        }
        for separator in SEPARATORS
    }
    chosen = max(shares, key=lambda one: sum(parts for _, parts in shares[one].values()))
    present = next((one for one in SEPARATORS if shares[one]), "")
    separator = chosen if shares[chosen] else present
    return {
        name: _decide(name, known[name], separator, *share)
        for name, share in shares.get(separator, {}).items()
    }


def _decide(name: str, cells: list[str], separator: str, whole: float, parts: float) -> str:
    """Return the separator, or "" if each cell is one id, by the shares that match."""
    example = next(cell for cell in cells if separator in cell)
    if parts > max(_MUCH * whole, _FEW) or whole < parts == 1:
        items = quote(split_cell(example, separator))
        warn(
            f"{name}: {quote(example)} is read as the items {items}, which the other table has. To "
            f"silence this, pass list_separator={separator!r}."
        )
        return separator
    if whole > max(_MUCH * parts, _FEW) or parts < whole == 1:
        return ""
    why = "both match" if whole > _FEW else "neither matches"
    return raise_ambiguous(name, example, separator, f"; {why} the other table")


def raise_ambiguous(name: str, cell: str, separator: str, why: str = "") -> NoReturn:
    """Raise the error that a cell of a table may be one id or several."""
    msg = (
        f"{name}: {quote(cell)} may be one id or several{why}. Pass "
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
    parts = cell.strip(QUOTES).split(None if separator == " " else separator)
    return [part.strip(QUOTES) for part in parts if part.strip(QUOTES)]


def _split(rows: Rows, separator: str, *, keep_text: bool) -> Rows:
    """Return rows with a row for each id in a cell."""
    ids, codes = factorize_ids(rows.columns["item"], "item")
    lists = [split_cell(format_id(one), separator) for one in ids.tolist()]
    sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    cells = ListCells(sizes[codes], None)
    encoded = EncodedIds.factorize(np.array([*chain.from_iterable(lists)], dtype=object))
    new_codes = encoded.codes[concat_ranges(compute_offsets(sizes)[codes], cells.lengths)]
    integers = None if keep_text else parse_integers(encoded.ids.tolist())
    item = EncodedIds(encoded.ids, new_codes) if integers is None else integers[new_codes]
    columns: dict[str, Any] = {name: cells.repeat(column) for name, column in rows.columns.items()}
    columns["item"] = item
    if "estimated" in columns and rows.order_only:
        columns["estimated"] *= max(sizes, default=1)
        columns["estimated"] += score_by_rank(cells.lengths)
    return replace(rows, columns=columns)
