"""Estimates from predict itself, a pair at a time: for any algorithm, slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.lazy import lazy
from recsys_ndcg.surprise.trainsets import raw_items, raw_users

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.surprise.estimates.rules import Inner, Items, Mask


class OneByOne:
    """What ``algo.predict(..., clip=False)`` says.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted.
    """

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def block(self, users: Inner, items: Items) -> tuple[Floats, Mask | None]:
        """Return the estimates, and where they were impossible.

        Parameters
        ----------
        users : int array
            Inner ids, -1 for one that the trainset does not know.
        items : int array or slice
            Inner ids, -1 likewise.
        """
        raw = self._items[:-1][items] if isinstance(items, slice) else self._items[items]
        return self.of_raw(self._users[users], raw)

    def of_raw(self, users: Ids, items: Ids) -> tuple[Floats, Mask | None]:
        """Return the same for raw ids."""
        values = np.empty((len(users), len(items)))
        impossible = np.zeros(values.shape, dtype=bool)
        for row, user in enumerate(users.tolist()):
            for column, item in enumerate(items.tolist()):
                prediction = self._algo.predict(user, item, clip=False)
                values[row, column] = prediction.est
                impossible[row, column] = (prediction.details or {}).get("was_impossible", False)
        return values, impossible if impossible.any() else None

    @lazy
    def _users(self) -> Ids:
        """The raw ids, and last one that cannot exist, so that -1 stands for it."""
        return _with_stranger(raw_users(self._algo.trainset))

    @lazy
    def _items(self) -> Ids:
        return _with_stranger(raw_items(self._algo.trainset))


class InTables(OneByOne):
    """What a function says of many pairs at once."""

    def of_raw(self, users: Ids, items: Ids) -> tuple[Floats, None]:
        """Return the estimates of raw ids; none is impossible."""
        return self._algo.of_raw(users, items), None


def _with_stranger(ids: Ids) -> Ids:
    return np.fromiter([*ids, object()], dtype=object)
