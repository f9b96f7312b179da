"""A Surprise trainset as arrays: its ratings by user or by item, and its raw ids."""

from __future__ import annotations

from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, Positions


class Ratings:
    """One side of a trainset in compressed sparse rows, in Surprise's order, repeats among them.

    Parameters
    ----------
    lists : mapping
        As ``trainset.ur`` or ``.ir``: of inner ids to ``(inner id of the other side, rating)``.
    n : int
        How many inner ids there are.

    Attributes
    ----------
    offsets : int64 array, shape (n + 1,)
        Where the ratings of each user (or item) start.
    """

    def __init__(self, lists: Mapping[int, Sequence[tuple[int, float]]], n: int) -> None:
        # get, because reading a missing key of Surprise's defaultdict would add it
        rows = [lists.get(inner, ()) for inner in range(n)]
        self.offsets: Positions = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=n), out=self.offsets[1:])
        self._pairs = list(chain.from_iterable(rows))

    @classmethod
    def by_user(cls, trainset: Any) -> Ratings:
        """Return what each user rated."""
        return cls(trainset.ur, trainset.n_users)

    @classmethod
    def by_item(cls, trainset: Any) -> Ratings:
        """Return who rated each item."""
        return cls(trainset.ir, trainset.n_items)

    # read when asked for, since each stands elsewhere in memory; by way of a list, which takes
    # half as long as fromiter
    @lazy
    def codes(self) -> Codes:
        """The inner id on the other side, of every rating."""
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

    def hold(self, rows: Positions, codes: Positions, n_others: int) -> Flags:
        """Tell which pairs of inner ids are among the ratings; -1 is of nobody and nothing."""
        pairs = self.rows * n_others + self.codes
        asked = pd.Index(rows * n_others + codes)  # whose search is faster than NumPy's
        found: Flags = (rows >= 0) & (codes >= 0) & asked.isin(pairs)
        return found

    @property
    def sizes(self) -> Positions:
        """How many ratings each user (or item) has."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The user (or item) of every rating."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.intp), self.sizes)


def raw_users(trainset: Any) -> Ids:
    """Return the raw id of every user, by inner id."""
    return np.fromiter(map(trainset.to_raw_uid, range(trainset.n_users)), dtype=object)


def raw_items(trainset: Any) -> Ids:
    """Return the raw id of every item, by inner id."""
    return np.fromiter(map(trainset.to_raw_iid, range(trainset.n_items)), dtype=object)


def places_of(raw: Ids) -> dict[Any, int]:
    """Return the inner id of every raw id, given by inner id."""
    return {one: inner for inner, one in enumerate(raw.tolist())}


def inner_ids(places: Mapping[Any, int], raw: Iterable[Any]) -> Positions:
    """Return inner ids, -1 for what is not in the trainset.

    Examples
    --------
    >>> inner_ids({"ann": 0, "bob": 1}, ["bob", "eve"])
    array([ 1, -1])
    """
    return np.fromiter(map(places.get, raw, repeat(-1)), dtype=np.int64)
