"""What a model was trained on: users, items, and who rated what."""

from __future__ import annotations

from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import encode, in_common, objects
from recsys_ndcg.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, Positions


class Ratings:
    """One side of ratings in compressed sparse rows, in their order, repeats among them.

    Parameters
    ----------
    lists : mapping
        Of the places of users (or items) to ``(place on the other side, rating)``.
    n : int
        How many places there are.

    Attributes
    ----------
    offsets : int64 array, shape (n + 1,)
        Where the ratings of each user (or item) start.
    """

    def __init__(self, lists: Mapping[int, Sequence[tuple[int, float]]], n: int) -> None:
        # get, because reading a missing key of a defaultdict would add it
        rows = [lists.get(inner, ()) for inner in range(n)]
        self.offsets: Positions = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=n), out=self.offsets[1:])
        self._pairs = list(chain.from_iterable(rows))

    # read when asked for, since each stands elsewhere in memory; by way of a list, which takes
    # half as long as fromiter
    @lazy
    def codes(self) -> Codes:
        """The place on the other side, of every rating."""
        return np.array(list(map(itemgetter(0), self._pairs)), dtype=np.int32)

    @lazy
    def values(self) -> Floats:
        """The ratings."""
        return np.array(list(map(itemgetter(1), self._pairs)), dtype=np.float64)

    def matrix(self, n_others: int) -> csr_array:
        """Return how often each user (or item) rates each of the other side."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - every worker would import it

        shape = (len(self.offsets) - 1, n_others)
        return csr_array((np.ones(len(self.codes)), self.codes, self.offsets), shape=shape)

    @property
    def sizes(self) -> Positions:
        """How many ratings each user (or item) has."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The user (or item) of every rating."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.intp), self.sizes)


class Training:
    """What a model was trained on.

    Parameters
    ----------
    ratings : Ratings
        By user.
    users, items : object arrays
        The id of each place.
    """

    def __init__(self, ratings: Ratings, users: Ids, items: Ids) -> None:
        self.ratings, self.users, self.items = ratings, users, items

    def places_of_users(self, ids: Iterable[Any]) -> Positions:
        """Return the place of each user, -1 for a stranger."""
        return np.fromiter(map(self._user_places.get, ids, repeat(-1)), dtype=np.int64)

    def places_of_items(self, ids: Iterable[Any]) -> Positions:
        """Return the place of each item, -1 for one that nobody rated."""
        return np.fromiter(map(self._item_places.get, ids, repeat(-1)), dtype=np.int64)

    @lazy
    def _user_places(self) -> dict[Any, int]:
        return {one: place for place, one in enumerate(self.users.tolist())}

    @lazy
    def _item_places(self) -> dict[Any, int]:
        return {one: place for place, one in enumerate(self.items.tolist())}

    def has(self, users: Iterable[Any], items: Iterable[Any]) -> Flags:
        """Tell which pairs of ids are among the ratings."""
        rows, codes = self.places_of_users(users), self.places_of_items(items)
        pairs = self.ratings.rows * len(self.items) + self.ratings.codes
        asked = pd.Index(rows * len(self.items) + codes)  # whose search is faster than NumPy's
        found: Flags = (rows >= 0) & (codes >= 0) & asked.isin(pairs)
        return found

    def check_users(self, ids: Iterable[Any]) -> Ids:
        """Return ids of users as an array, if they are of a type that is known here."""
        return _checked(ids, self.users, "user")

    def check_items(self, ids: Iterable[Any]) -> Ids:
        """Return ids of items as an array, if they are of a type that is known here."""
        return _checked(ids, self.items, "item")


def refuse_beyond(k: int | None, n_items: int) -> None:
    """Refuse a cutoff that no list of the catalogue can reach.

    Raises
    ------
    InvalidInputError
        There are fewer items.
    """
    if k is not None and k > n_items:
        msg = (
            f"k={k}, but the catalogue has {n_items} items: those of the trainset. "
            "Give a smaller k, or None for whole lists."
        )
        raise InvalidInputError(msg)


def _checked(raw: Iterable[Any], known: Ids, column: str) -> Ids:
    if hasattr(raw, "columns"):
        msg = f"{column}s: found a table in place of a column; give its ids, table[{column!r}]."
        raise InvalidInputError(msg)
    ids = objects(raw, f"{column}s")
    if not len(ids):
        msg = f"{column}s is empty: give raw ids, or None for all of the trainset."
        raise InvalidInputError(msg)
    distinct, _ = encode(ids, f"{column}s")
    names = ("the ratings of the trainset", f"the ids in {column}s=")
    in_common(known, distinct, column, names)
    return ids
