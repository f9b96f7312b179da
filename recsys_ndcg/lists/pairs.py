"""(user, item) pairs: a table as codes, with columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Codes, Flags, Floats, Positions


@dataclass(frozen=True)
class Pairs:
    """Rows of (user, item) as codes, with columns of numbers: one table, checked."""

    user: Codes
    item: Codes | None
    numbers: dict[str, Floats]
    table: str = "predictions"

    def keys(self, n_items: int, rows: slice | Positions = slice(None)) -> Positions:
        """Return one whole number per (user, item)."""
        keys: Positions = self.user[rows].astype(np.int64) * n_items
        return keys if self.item is None else keys + self.item[rows]

    def take(self, rows: Positions) -> Pairs:
        """Return some of the rows."""
        codes = [self.user] if self.item is None else [self.user, self.item]
        columns: list[NDArray[Any]] = [*codes, *self.numbers.values()]
        taken = in_threads(lambda column: column.take(rows), columns, len(rows))
        item = None if self.item is None else taken[1]
        numbers = dict(zip(self.numbers, taken[len(codes) :], strict=True))
        return replace(self, user=taken[0], item=item, numbers=numbers)

    def copy(self) -> Pairs:
        """Return the same rows, their numbers in memory of their own; the codes are our own."""
        numbers = {name: column.copy() for name, column in self.numbers.items()}
        return replace(self, numbers=numbers)


def by_key(keys: Positions, bound: int) -> tuple[Positions, Flags]:
    """Return the order of rows by key, in input order where it is the same.

    And of each but the first whether it has the key of the row before it.

    Parameters
    ----------
    keys : int64 array
        At least 0.
    bound : int
        They are less.

    Examples
    --------
    >>> by_key(np.array([7, 3, 7]), 8)
    (array([1, 0, 2]), array([False,  True]))
    """
    size = len(keys)
    if bound * size <= np.iinfo(np.int64).max:  # with the place below, values alone are sorted
        both = keys * size + np.arange(size)
        both.sort()
        keys, order = np.divmod(both, size)
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    return order, keys[1:] == keys[:-1]
