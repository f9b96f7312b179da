"""Tables: pandas, polars, pyarrow through narwhals, and dicts of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations
from shlex import quote
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, nearest, shown, warn
from recsys_ndcg.input.column_names import ROLES, is_beside, roles_of, seems_headless
from recsys_ndcg.input.ids import Coded
from recsys_ndcg.input.rows import Rows, floats, objects
from recsys_ndcg.input.shapes import JOIN

if TYPE_CHECKING:
    import numpy as np

    from recsys_ndcg.arrays import Ids


class Table:
    """A table of any library, its columns called by our names.

    Names that people have are recognised, and said once all is read (`say_names`).

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or mapping of columns
        One row per (user, item).
    columns : mapping, optional
        Our name to the table's name, where they differ: ``{"estimated": "est"}``.
    """

    def __init__(self, data: Any, columns: Mapping[str, str] | None = None) -> None:
        self._said = checked_columns(columns)
        self._read: dict[Any, str] = {}
        self._nameless = _has_nameless_index(data)
        self._data, self.names = _opened(_with_index(data, self._said))
        self._roles = roles_of(self.names, self._said)

    def __contains__(self, column: str) -> bool:
        """Tell whether the table has our column, under whichever name."""
        found = self._roles.get(column, [])
        return len(found) == 1 and found[0] in self.names

    def ids(self, column: str) -> Ids:
        """Return a column of ids; categories become their values."""
        ids = self.maybe_coded(column)
        return ids.values if isinstance(ids, Coded) else ids

    def maybe_coded(self, column: str) -> Ids | Coded:
        """Return the same, by its distinct ids where these are known."""
        values = self._column(column)
        return values if isinstance(values, Coded) else objects(values, self._name(column))

    def numbers(self, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return a column of numbers, NaN where there is none."""
        return floats(self._column(column), self._name(column))

    def _column(self, column: str) -> Any:
        name = self._name(column)
        if self._read.setdefault(name, column) != column:
            raise InvalidInputError(_both(self._read[name], column, name))
        values = self._data[name]
        if isinstance(self._data, Mapping):
            return values
        if str(values.dtype) == "Time":  # NumPy has none
            msg = f"{name}: times of day cannot be read; write them as text."
            raise InvalidInputError(msg)
        # nor numbers of 128 bits
        wide = str(values.dtype) in ("Int128", "UInt128")
        return values.to_list() if wide else values.to_numpy()

    def _name(self, column: str) -> Any:
        """Return what the table calls our column."""
        found = self._roles.get(column, [])
        if column in self:
            return found[0]
        if not found and column in self.names:  # given to another of ours
            other = next(ours for ours, theirs in self._said.items() if theirs == column)
            one, another = sorted((other, column), key=ROLES.index)
            raise InvalidInputError(_both(one, another, column))
        there = ", ".join(map(str, self.names)) or "none"
        wanted, why = self._said.get(column, column), f"it has {there}"
        if len(found) > 1:
            why = f"{' and '.join(map(repr, found))} could each be it"
        msg = (
            f"The table has no column {wanted!r}; {why}. Say what it is called: "
            f"{self.naming(column)}"
        )
        if seems_headless(self.names):
            msg += (
                ". If the file has no heading: --no-heading (text=TextFormat(heading=False) of "
                "RankedLists.from_file)."
            )
        else:
            msg += f", or {JOIN}." if column == "true" and not found else "."
        if self._nameless and column in ("user", "item") and not found:
            msg += f" If it is the index, name that: table.rename_axis({column!r})."
        raise InvalidInputError(msg)

    def may_have(self, column: str) -> bool:
        """Tell whether some name of the table, or what somebody says, stands for our column."""
        return bool(self._roles.get(column))

    @property
    def unread(self) -> list[Any]:
        """The names of the columns that nobody has read so far."""
        return [one for one in self.names if one not in self._read]

    def naming(self, column: str) -> str:
        """Return the words that name our column: the only candidate of the table, if it has one."""
        used = [one for names in self._roles.values() for one in names]
        known = [one for one in self._roles.get(column, []) if one in self.names]
        free = known or [one for one in self.names if one not in used and not is_beside(one)]
        guess = free[0] if len(free) == 1 else "..."
        typed = f"{column}={guess}" if guess == "..." else quote(f"{column}={guess}")
        return f"columns={{{column!r}: {guess!r}}} (--columns {typed})"

    def say_names(self) -> None:
        """Warn of columns that were read under names that nobody gave.

        Warns
        -----
        DataWarning
            With what says it.
        """
        read = {ours: theirs for theirs, ours in self._read.items() if ours not in self._said}
        known = {ours: read[ours] for ours in ROLES if read.get(ours, ours) != ours}
        if known:
            told = ", ".join(f"{theirs} as {ours}" for ours, theirs in known.items())
            option = ",".join(f"{ours}={theirs}" for ours, theirs in known.items())
            warn(f"Read {told}. Say it yourself: columns={known!r} (--columns {quote(option)}).")


def _with_index(data: Any, columns: Mapping[str, str]) -> Any:
    """Return a table of pandas with those of our columns that stand in its index alone."""
    levels = [name for name in getattr(getattr(data, "index", None), "names", []) if name]
    if not levels or not hasattr(data, "columns"):
        return data
    beside, inside = roles_of(data.columns, columns), roles_of(levels, columns)
    names = [name for role, found in inside.items() if role not in beside for name in found]
    said = [name for name in columns.values() if name not in data.columns]
    wanted = [name for name in levels if name in names or name in said]
    return data.reset_index(wanted) if wanted else data


def _has_nameless_index(data: Any) -> bool:
    """Tell a table of pandas whose index is more than the number of the row, and has no name."""
    index = getattr(data, "index", None)
    return list(getattr(index, "names", ())) == [None] and not hasattr(index, "step")


def _opened(data: Any) -> tuple[Any, list[Any]]:
    """Return a table under one interface, and the names of its columns."""
    if isinstance(data, Mapping):
        return data, list(data)
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    try:
        frame: Any = nw.from_native(data)
    except nw.exceptions.DuplicateError:
        names = list(data.columns)
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"The table has the column {twice!r} twice; keep one."
        raise InvalidInputError(msg) from None
    except TypeError:
        kind = type(data).__name__
        msg = (
            f"Cannot read a {kind}. Give predictions as a table (pandas, polars, pyarrow), "
            "rows (user, item, estimated, true), Surprise predictions, "
            "{user: [(estimated, true)]}, a dict of columns, or the path of a file (CSV, JSON "
            "lines, Parquet, Feather)."
        )
        if hasattr(data, "to_dict"):
            msg += " If it has a list per user, give its .to_dict()."
        raise InvalidInputError(msg) from None
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame, list(frame.columns)


def read_frame(table: Table) -> Rows:
    """Read the columns user, item, estimated and true of a table."""
    rows = Rows(
        table.maybe_coded("user"),
        table.maybe_coded("item"),
        table.numbers("estimated"),
        table.numbers("true"),
    )
    table.say_names()
    return rows


def checked_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return the names of columns, each of ours for one of theirs.

    Raises
    ------
    InvalidInputError
        There is no such column of ours, or two are to be read from one of theirs.
    """
    if not (columns is None or isinstance(columns, Mapping)):
        form = "{'true': 'r_ui'}"
        msg = f"columns must map our names to the table's, {form}, not {shown(columns)}."
        raise InvalidInputError(msg)
    for name, theirs in (columns or {}).items():
        if not isinstance(theirs, Hashable):
            msg = f"columns: {name} is the name of one column, not {shown(theirs)}."
            raise InvalidInputError(msg)
        if name not in ROLES:
            msg = f"columns: there is no column {name!r} to rename. {nearest(name, ROLES)}"
            raise InvalidInputError(msg)
    for (one, theirs), (other, same) in combinations((columns or {}).items(), 2):
        if theirs == same:
            raise InvalidInputError(_both(one, other, theirs))
    return dict(columns or {})


def _both(one: str, other: str, theirs: Any) -> str:
    return (
        f"columns (--columns): {one} and {other} would both be read from the column {theirs!r}; "
        "name a column of its own for each."
    )
