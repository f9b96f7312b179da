"""Tables: pandas, polars, pyarrow through narwhals, and dicts of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.input.rows import Rows, floats, objects

if TYPE_CHECKING:
    import numpy as np

    from recsys_ndcg.arrays import Ids

COLUMNS = ("user", "item", "estimated", "true")
_SURPRISE = {"user": "uid", "item": "iid", "estimated": "est", "true": "r_ui"}


class Table:
    """A table of any library, its columns called by our names.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or mapping of columns
        One row per (user, item).
    columns : mapping, optional
        Our name to the table's name, where they differ: ``{"estimated": "est"}``.
    """

    def __init__(self, data: Any, columns: Mapping[str, str] | None = None) -> None:
        self._columns = checked_columns(columns)
        self._read: dict[Any, str] = {}
        if isinstance(data, Mapping):
            self._data: Any = data
            self.names: list[Any] = list(data)
            return
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
                "{user: [(estimated, true)]}, a dict of columns, or the path of a CSV or Parquet "
                "file."
            )
            raise InvalidInputError(msg) from None
        self._data = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        self.names = list(self._data.columns)

    def __contains__(self, column: str) -> bool:
        """Tell whether the table has our column, under whichever name."""
        return self._columns.get(column, column) in self.names

    def ids(self, column: str) -> Ids:
        """Return a column of ids; categories become their values."""
        return objects(self._column(column), self._columns.get(column, column))

    def numbers(self, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return a column of numbers, NaN where there is none."""
        return floats(self._column(column), self._columns.get(column, column))

    def _column(self, column: str) -> Any:
        name = self._columns.get(column, column)
        if name not in self.names:
            raise InvalidInputError(self._missing(name))
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

    def _missing(self, name: str) -> str:
        there = ", ".join(map(str, self.names)) or "none"
        advice = "Say what it is called with columns= (--columns)."
        if set(_SURPRISE.values()) <= set(self.names):
            names = ", ".join(f"{ours}={theirs}" for ours, theirs in _SURPRISE.items())
            advice = f"These look like Surprise's: pass them as columns= (--columns), {names}."
        return f"The table has no column {name!r}; it has {there}. {advice}"


def read_frame(table: Table) -> Rows:
    """Read the columns user, item, estimated and true of a table."""
    return Rows(
        table.ids("user"), table.ids("item"), table.numbers("estimated"), table.numbers("true")
    )


def checked_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return the names of columns, each of ours for one of theirs.

    Raises
    ------
    InvalidInputError
        There is no such column of ours, or two are to be read from one of theirs.
    """
    known = (*COLUMNS, "rank")
    if not (columns is None or isinstance(columns, Mapping)):
        form = "{'true': 'r_ui'}"
        msg = f"columns must map our names to the table's, {form}, not {shown(columns)}."
        raise InvalidInputError(msg)
    for name, theirs in (columns or {}).items():
        if not isinstance(theirs, Hashable):
            msg = f"columns: {name} is the name of one column, not {shown(theirs)}."
            raise InvalidInputError(msg)
        if name not in known:
            msg = f"columns: there is no column {name!r} to rename. {nearest(name, known)}"
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
