"""A table of users, or a file of one: who they are, and the column that groups them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, nearest
from recsys_ndcg.files import is_place
from recsys_ndcg.input import (
    ROLES,
    Table,
    checked_columns,
    column_list,
    is_beside,
    read_file,
    refuse_rows,
    roles_of,
)
from recsys_ndcg.report.segments.membership import Membership, categories_of, labels_from

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Ids

#: No column is read as one of ours, whatever it is called: ids and labels of a text stay text.
_NO_ROLES: dict[str, Any] = dict.fromkeys(ROLES)


def in_table(
    data: Any, column: Any = None, columns: Mapping[str, str] | None = None, what: str = "groups"
) -> Membership:
    """Read a column of a table or of a file, by default the first one that is not the users'.

    Parameters
    ----------
    data : table, or path of a file
        With a column of users.
    column : str, optional
        What the table calls the groups.
    columns : mapping, optional
        ``{"user": ...}`` says what it calls the users.
    what : str
        What messages call the table.

    Raises
    ------
    InvalidInputError
        There is no such column, or nothing tells which has the users.
    """
    said = _said_user(columns)
    data, by_writing = _opened(data)
    known = said if column is None or column in said.values() else {**said, "item": column}
    names = Table(data, known).names
    user = _user_column(names, known, what)
    others = [one for one in names if one != user]
    if column is None:
        column = next(iter(sorted(others, key=is_beside)), None)  # times are the last choice
    if column not in others:
        hint = nearest(str(column), map(str, others)) if others else "There is none beside it."
        fault = "no column of groups" if column in (None, user) else f"no column {column!r}"
        msg = f"Beside {user!r}, the column of the users, {what} has {fault}. {hint}"
        raise InvalidInputError(msg)
    table = Table(data, {"user": user, "item": column})
    group, order = labels_from(table.ids("item").tolist()), _order_in(data, column)
    if by_writing:
        group, order = _as_written(group)
    ids = _ids(table, by_writing=by_writing)
    return Membership(ids, group, str(column), order, by_writing=by_writing)


def users_in(data: Any, columns: Mapping[str, str] | None, what: str) -> Membership:
    """Return the user of each row of a table or of a file, in a group of his own."""
    said = _said_user(columns)
    data, by_writing = _opened(data)
    name = _user_column(Table(data, said).names, said, what)
    ids = _ids(Table(data, {"user": name}), by_writing=by_writing)
    return Membership(ids, ids, by_writing=by_writing)


def has_column(data: Any, name: str) -> bool:
    """Tell whether something is a table, or the path of one, with a column of that name."""
    if isinstance(data, Mapping):
        return name in data
    if not is_table(data, None):
        return False
    try:
        return name in Table(_opened(data)[0], {"item": name}).names
    except InvalidInputError:  # such as of pickled predictions
        return False


def is_table(data: Any, columns: Mapping[str, str] | None) -> bool:
    """Tell a table of any library, a path, and a dict of columns, one of them that of the users.

    A dict is one if it has a column called user, or said to be, and {group: [users]} if not.
    """
    if not isinstance(data, Mapping):
        return is_place(data) or _has_columns(data)
    if (columns or {}).get("user", "user") not in data:
        return False
    several = [hasattr(one, "__len__") and not isinstance(one, str) for one in data.values()]
    return all(several) and len({*map(len, data.values())}) == 1


def _has_columns(data: Any) -> bool:
    """Tell it by its class: a lazy table would have to resolve its columns."""
    return any(hasattr(type(data), name) for name in ("columns", "schema"))


def _opened(data: Any) -> tuple[Any, bool]:
    """Return a table, that in a file if need be, and whether it is all text."""
    if not is_place(data):
        return data, False
    if isinstance(data, str) and not data:
        msg = "The path of the file is empty."
        raise InvalidInputError(msg)
    table = read_file(data, _NO_ROLES)
    return table, isinstance(table, pd.DataFrame)


def _said_user(columns: Mapping[str, str] | None) -> dict[str, str]:
    return {ours: name for ours, name in checked_columns(columns).items() if ours == "user"}


def _user_column(names: list[Any], said: Mapping[str, Any], what: str) -> Any:
    """Return what a table calls its users: as somebody said, or, where it has none so called, not.

    What is said may be of other tables: the predictions, or the training data.
    """
    if said.get("user") in names:
        return said["user"]
    others = {ours: name for ours, name in said.items() if ours != "user"}
    found = roles_of(names, others).get("user") or roles_of(names).get("user", [])
    if len(found) == 1:
        return found[0]
    missing = f"{what} has no column {said.get('user', 'user')!r}"
    if len(found) > 1:
        missing = f"{' and '.join(map(repr, found))} of {what} could each be the users"
    msg = (
        f"{missing}; its columns are {column_list(names)}. Say which one has the users: "
        "columns={'user': ...}; if they are the index of the table, name that: "
        "table.rename_axis('user')."
    )
    raise InvalidInputError(msg)


def _ids(table: Table, *, by_writing: bool) -> Ids:
    ids = table.ids("user")
    if by_writing:
        blank = np.array([not one.strip() for one in ids.tolist()], dtype=bool)
        refuse_rows(blank, "user", "a missing id", "fill it in or leave the row out")
    return ids


def _as_written(group: Ids) -> tuple[Ids, list[Any] | None]:
    """Return groups of a text without the blank ones, and their order if all are numbers.

    Whole numbers become such, if nothing of their writing is lost.
    """
    named = np.array([bool(one.strip()) for one in group.tolist()], dtype=bool)
    labels = pd.Series(pd.unique(group[named]), dtype=object)
    numbers = pd.to_numeric(labels, errors="coerce")
    is_whole = numbers.dtype.kind in "iu" and bool((numbers.astype(str) == labels).all())
    values = dict(zip(labels, numbers.tolist() if is_whole else labels, strict=True))
    found = labels_from([values.get(one) for one in group.tolist()])
    if is_whole or numbers.isna().any():
        return found, None
    return found, labels[numbers.argsort(kind="stable")].tolist()


def _order_in(data: Any, column: Any) -> list[Any] | None:
    """Return the categories of a column in their own order, where they have one."""
    if isinstance(data, dict | pd.DataFrame):
        return categories_of(data.get(column))
    if isinstance(data, Mapping):
        return None
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    kind = nw.from_native(data).collect_schema()[column]
    return list(kind.categories) if isinstance(kind, nw.Enum) else None
