"""Cells of text that may hold several ids, such as "a b c": decided by the ids of another table."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

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
#: A list in brackets, and an id or a list in quotes: each a pattern with groups of what is inside.
BRACKETS = (r"^\[([^\[\]]*)\]$|^\(([^()]*)\)$|^\{([^{}]*)\}$", 3)
QUOTES = (r"""^"([^"]*)"$|^'([^']*)'$""", 2)
_SIGNS = re.compile(r"""[][(){}"']""")
#: How often more cells must match in one reading than in the other.
_MUCH = 2
_SAMPLE = 10_000  # cells by which it is decided how to read all
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
    several = [*islice((cell for cell in cells if separator in cell), _SAMPLE)]
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
