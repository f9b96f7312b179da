"""Tables with a row per user, whose cells or columns of ranks are lists, as rows of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import concat_ranges
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input.cells import ListCells, find_rank_columns
from recsys_ndcg.input.frames import Table, get_names, match_columns
from recsys_ndcg.input.ids import factorize_ids
from recsys_ndcg.input.matrices import repeats_items
from recsys_ndcg.input.rows import IDS, NUMBERS, to_column, to_ids

#: The numbers that items may have, in lists of the same length.
_PARALLEL = ("estimated", "true", "weight", "rank", "rating", "timestamp")


def expand_lists(table: Table, index: Any = None) -> Table:
    """Return a table with a row per item, if each row is a user's list; else the table itself.

    Lists are in cells, the best first, or in one column per rank. Results get the column `rank`,
    unless they have scores. Names may be plurals; of two columns the second has the items.

    Parameters
    ----------
    table : Table
        The table.
    index : pandas.Index, optional
        The users, if all columns are ranks; by default they are 0, 1, 2 and so on.
    """
    names = {ours: one[0] for ours, one in table.matches.items() if len(one) == 1}
    may_be_ranks = "item" not in names and table.kind != "predictions"
    ranks = find_rank_columns(table.names) if may_be_ranks else []
    if ranks and ("user" in names or len(ranks) == len(table.names)):
        items = np.column_stack([to_column(table.get_native(one)[:], one) for one in ranks])
        _check_items(items)
        cells = ListCells.from_ranks(items)
        if len(ranks) == len(table.names):
            names["user"], users = "user", np.arange(len(cells.lengths)) if index is None else index
        else:
            users = table.get_native(names["user"])
        return _repeat_users(table, cells, {"user": names["user"]}, users, {})
    names = match_lists(table)
    if not names:
        return table
    if table.find_cell_kind(names["item"]) != "list":
        return _rank_single(table, names)
    found = ListCells.of(table.get_native(names["item"]), names["item"])
    assert found is not None, "it holds lists"  # noqa: S101
    numbers = {
        ours: found.read_parallel(table.get_native(theirs), theirs)
        for ours, theirs in names.items()
        if ours not in IDS
    }
    found, more = _split_entries(found, table.kind)
    return _repeat_users(table, found, names, table.get_native(names["user"]), numbers | more)


def _split_entries(cells: ListCells, kind: str) -> tuple[ListCells, dict[str, Any]]:
    """Return lists of items and their numbers, if each entry has both, as Spark's ALS writes them.

    An entry is a dict or a named tuple, of which one field is the item, or a pair (item, number).
    """
    is_struct = str(getattr(cells.entries, "type", "")).startswith("struct")
    entries = cells.entries.to_pylist() if is_struct else cells.entries
    first = entries[0] if isinstance(entries, list) and entries else None
    names = [*first] if isinstance(first, Mapping) else None
    if isinstance(first, tuple):
        is_pair = len(first) == 2 and isinstance(first[1], Real)
        default = ["item", NUMBERS.get(kind, "rating")] if is_pair else None
        names = getattr(first, "_fields", getattr(first, "__fields__", default))
    if not names:
        return cells, {}
    fields = pd.DataFrame(entries, columns=[*names])
    matches = match_columns(fields, None, get_names(kind))
    item = matches.get("item", [names[0]])[0]
    numbers = {ours: one[0] for ours, one in matches.items() if ours in _PARALLEL}
    if len(names) == 2 and "rank" not in numbers:  # the score may have the name of a rating
        numbers = {NUMBERS.get(kind, "rating"): next(one for one in names if one != item)}
    return replace(cells, entries=fields[item].tolist()), {
        ours: fields[theirs].tolist() for ours, theirs in numbers.items()
    }


def _check_items(ranks: NDArray[Any]) -> None:
    """Raise if columns named 0, 1, 2 hold scores of users × items instead of items."""
    is_number = ranks.dtype.kind in "iuf"
    known = np.nan_to_num(ranks, nan=-1) if is_number else ranks
    if is_number and ((known != np.floor(known)).any() or repeats_items(known)):
        msg = (
            "Columns that are numbered hold the items of each rank, but these have fractions, or a "
            "number twice in a row. If they are scores of users × items, give table.values."
        )
        raise InvalidInputError(msg)


def match_lists(table: Table) -> dict[str, Any]:
    """Return our names of the columns to the table's, if each row may be a user's list; else {}."""
    names = {ours: one[0] for ours, one in table.matches.items() if len(one) == 1}
    names |= _find_list_names(table, names)
    if not {"user", "item"} <= names.keys() or not {names["user"], names["item"]} <= {*table.names}:
        return {}
    if table.find_cell_kind(names["item"]) != "list":
        return {ours: names[ours] for ours in IDS}
    used = [one for one in (*IDS, *_PARALLEL) if names.get(one) in table.names]
    return {ours: names[ours] for ours in used}


def _find_list_names(table: Table, names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of our columns that are found by what is in the cells."""
    if "item" in names:
        is_there = names["item"] in table.names
        if not is_there or table.find_cell_kind(names["item"]) != "list":
            return {}
    lists = [name for name in table.names if table.find_cell_kind(name) == "list"]
    is_pair = len(table.names) == 2 and table.kind != "predictions"
    if not lists and is_pair and (not names or table.find_cell_kind(table.names[1]) == "text"):
        lists = table.names[1:]
    singular = {name.rstrip("s"): name for name in lists if isinstance(name, str)}
    found = {
        ours: singular.get(one[0], one[0])
        for ours, one in match_columns(singular, table.given, get_names(table.kind)).items()
        if len(one) == 1 and ours not in names
    }
    taken = {*names.values(), *found.values()}
    free = lists if len(lists) == 1 else [name for name in lists if name not in taken]
    if "item" not in table.matches | found and len(free) == 1:
        found = {ours: name for ours, name in found.items() if name != free[0]} | {"item": free[0]}
        for ours in [ours for ours, name in names.items() if name == free[0]]:
            del names[ours]
    if "user" not in names and len(lists) == 1 and len(table.names) == 2:
        found["user"] = next(name for name in table.names if name not in lists)
    return found


def _rank_single(table: Table, names: dict[str, Any]) -> Table:
    """Return a table whose cells of text may be lists; results get a rank if each user has one."""
    is_found = {*table.matches.get("item", [])} == {names["item"]} and "user" in table
    has_score = table.has_candidate("rank") or table.has_candidate("estimated")
    needs_rank = table.kind == "results" and not (has_score and is_found)
    if needs_rank:
        _check_cells(table.get_native(names["item"]), names["item"])
    elif is_found:
        return table
    columns = {one: table.get_native(names[one]) for one in IDS}
    if needs_rank:
        ids, codes = factorize_ids(to_ids(columns["user"], "user"), "user")
        if len(ids) < len(codes):
            return table
        columns["rank"] = np.ones(len(codes))
    table.warn_of_names({one: names[one] for one in IDS}, by_place=not is_found)
    return Table(columns, kind=table.kind, form="one per user")


def _check_cells(cells: Any, name: Any) -> None:
    """Raise if cells may be meant as lists, but are tuples, dicts or Series."""
    first = next(iter(cells), None) if hasattr(cells, "__iter__") else None
    if isinstance(first, tuple | dict | pd.Series):
        kind = type(first).__name__
        msg = (
            f"{name}: the cell {quote(first)} is a {kind}. Write lists: table[{name!r}].map(list)."
        )
        raise InvalidInputError(msg)


def _check_ordered(table: Table, used: dict[str, Any], users: Any) -> None:
    """Raise if lists without scores have no order: sets, or several lists of a user."""
    cells = table.get_native(used["item"]) if "item" in used else ()
    first = next((one for one in cells if isinstance(one, set)), None)
    if first is not None:
        msg = (
            f"{used['item']}: {quote(first)} is a set, which has no order. Give a list, best first."
        )
        raise InvalidInputError(msg)
    ids, codes = factorize_ids(to_ids(users, "user"), "user")
    counts = np.bincount(codes[codes >= 0], minlength=1)  # a missing id is an error later
    if counts.max() > 1:
        user = quote(ids[counts.argmax()])
        msg = f"The user {user} has {counts.max()} lists without scores. Give each user one list."
        raise InvalidInputError(msg)


def _repeat_users(
    table: Table, cells: ListCells, used: dict[str, Any], users: Any, numbers: dict[str, Any]
) -> Table:
    columns: dict[str, Any] = {"user": cells.repeat(to_ids(users, "user")), "item": cells.entries}
    columns |= numbers
    if table.kind == "results" and not {"estimated", "rank"} & {*numbers}:
        _check_ordered(table, used, users)
        columns["rank"] = concat_ranges(np.ones(len(cells.lengths), np.int64), cells.lengths)
    table.warn_of_names(used)
    return Table(columns, kind=table.kind, form="expanded")
