"""The items that may be recommended to each user, with their estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, Positions, concat_ranges, offsets_of
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.parallel import limit_threads, map_in_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS = 1 << 20
_ADVICE = "Test on ratings that are not in the trainset, as KFold and train_test_split give them."


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
        self.offsets = offsets_of(np.fromiter(map(len, rows), dtype=np.int64, count=n))
        self._pairs = list(chain.from_iterable(rows))

    # read when asked for, since each stands elsewhere in memory; by way of a list, which takes
    # half as long as fromiter
    @lazy_property
    def codes(self) -> Codes:
        """The place on the other side, of every rating."""
        return np.array(list(map(itemgetter(0), self._pairs)), dtype=np.int32)

    @lazy_property
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

    def warn_of_scale(self, scale: tuple[float, float]) -> None:
        """Warn of ratings outside the rating scale."""
        values, (low, high) = self.values, scale
        outside = int(((values < low) | (values > high)).sum())
        if outside:
            least, most = float(values.min()), float(values.max())
            msg = (
                f"{outside} of {len(values)} ratings are outside the rating_scale ({low}, {high}); "
                f"they run from {least:g} to {most:g}. predict() cuts estimates to the scale, and "
                f"ties them: give Reader(rating_scale=({least:g}, {most:g}))."
            )
            warn(msg)


class Leak(NamedTuple):
    """How many test ratings are of a user and an item that are in the trainset, too.

    Parameters
    ----------
    n_seen, n_rows : int
        So many of how many.
    first : pair of raw ids, optional
        The first user and item.
    """

    n_seen: int
    n_rows: int
    first: tuple[Any, Any] | None

    def warn(self, fact: str, of_some: str, of_all: str) -> None:
        """Warn of it, if there are any.

        Parameters
        ----------
        fact : str
            Where they were seen, ``"were rated in training"``.
        of_some, of_all : str
            What is wrong with the scores.
        """
        share, meaning = f"{self.n_seen} of {self.n_rows}", of_some
        if self.n_seen == self.n_rows:
            share, meaning = f"All {self.n_rows}", of_all
        if self.n_seen:
            first = quote(self.first)
            warn(f"{share} test ratings, the first {first}, {fact}: {meaning}. {_ADVICE}")


class Training:
    """What a model was trained on, as arrays.

    Parameters
    ----------
    trainset : object
        Of Surprise, or in its shape.

    Attributes
    ----------
    ratings : Ratings
        By user.
    users, items : object arrays
        The id of each place.
    """

    def __init__(self, trainset: Any) -> None:
        self.ratings = Ratings(trainset.ur, trainset.n_users)
        users = map(trainset.to_raw_uid, range(trainset.n_users))
        items = map(trainset.to_raw_iid, range(trainset.n_items))
        self.users: Ids = np.fromiter(users, dtype=object)
        self.items: Ids = np.fromiter(items, dtype=object)

    def places_of_users(self, ids: Iterable[Any]) -> Positions:
        """Return the place of each user, -1 for a stranger."""
        return np.fromiter(map(self._user_places.get, ids, repeat(-1)), dtype=np.int64)

    def places_of_items(self, ids: Iterable[Any]) -> Positions:
        """Return the place of each item, -1 for one that nobody rated."""
        return np.fromiter(map(self._item_places.get, ids, repeat(-1)), dtype=np.int64)

    @lazy_property
    def _user_places(self) -> dict[Any, int]:
        return {one: place for place, one in enumerate(self.users.tolist())}

    @lazy_property
    def _item_places(self) -> dict[Any, int]:
        return {one: place for place, one in enumerate(self.items.tolist())}

    def leak(self, users: Sequence[Any], items: Sequence[Any]) -> Leak:
        """Count the pairs of ids that are among the ratings."""
        rows, codes = self.places_of_users(users), self.places_of_items(items)
        pairs = self.ratings.rows * len(self.items) + self.ratings.codes
        asked = pd.Index(rows * len(self.items) + codes)  # whose search is faster than NumPy's
        seen: Flags = (rows >= 0) & (codes >= 0) & asked.isin(pairs)
        first = int(seen.argmax())
        pair = (users[first], items[first]) if seen[first] else None
        return Leak(int(seen.sum()), len(seen), pair)


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


class Estimator(Protocol):
    """What estimates every item for every user: finite numbers, and whether each could be made."""

    #: Whether several threads may ask at once.
    vectorised: bool

    def of_all(self, users: Ids, places: Positions) -> tuple[Floats, Flags | None]:
        """Return some users' estimates for all items, new, and where they were impossible."""

    def of_raw(self, users: Ids, items: Ids) -> tuple[Floats, Flags | None]:
        """Return the estimates of ids, known or not."""


class Estimated(NamedTuple):
    """Some users' estimates for all items.

    Parameters
    ----------
    first : int
        The place of the first user.
    table : float64 array, shape (n_users, n_items)
        New, -inf for items that are no candidates.
    n_impossible : int64 array, shape (n_users,)
        How many of the candidates' estimates could not be made.
    """

    first: int
    table: Floats
    n_impossible: Positions


class Candidates:
    """Every item of the training ratings for every user, but for those the user rated there.

    Parameters
    ----------
    estimator : Estimator
        Trained on them.
    training : Training
        Whose items are the catalogue.
    excludes : bool
        Whether the items that the user rated in training are left out.
    scale : pair of float, optional
        To which estimates are cut, which ties those beyond it.
    convention : Convention, optional
        What becomes of estimates that could not be made.
    """

    def __init__(
        self,
        estimator: Estimator,
        training: Training,
        *,
        excludes: bool = True,
        scale: tuple[float, float] | None = None,
        convention: Convention | None = None,
    ) -> None:
        self._estimator = estimator
        self._scale = scale
        self.training = training
        self.excludes = excludes
        self.convention = Convention() if convention is None else convention
        clipped = "" if scale is None else "+clipped"
        self.protocol = f"catalogue{'' if excludes else '+train'}{clipped}"

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.training.items)

    def by_block(
        self,
        users: Ids,
        work: Callable[[Estimated], dict[str, Any]],
        show: Callable[[float], None] | None = None,
    ) -> dict[str, Any]:
        """Return the columns that are worked out of each block of users, given as raw ids.

        `show` is told which share of the blocks is done.
        """
        places = self.training.places_of_users(users.tolist())
        step = max(_CELLS // max(self.n_items, 1), 1)
        blocks = [(first, min(first + step, len(users))) for first in range(0, len(users), step)]

        def of(block: tuple[int, int]) -> dict[str, Any]:
            own = slice(*block)
            return work(Estimated(block[0], *self._estimated(users[own], places[own])))

        # an algorithm of one's own need not bear threads, and a random one would draw in any order
        with limit_threads(None if self._estimator.vectorised else 1):
            parts = map_in_threads(of, blocks, show=show)
        return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}

    def of_items(
        self, users: Ids, items: Ids, show: Callable[[float], None] | None = None
    ) -> Floats:
        """Return the estimates of raw users for raw items, known or not."""
        places = self.training.places_of_items(items.tolist())
        strangers = places < 0
        found = self.by_block(users, lambda block: {"all": block.table[:, places]}, show)
        table: Floats = found["all"]
        if strangers.any():
            values, _ = self._estimator.of_raw(users, items[strangers])
            table[:, strangers] = values if self._scale is None else np.clip(values, *self._scale)
        return table

    def _estimated(self, users: Ids, places: Positions) -> tuple[Floats, Positions]:
        """Return the estimates of some users, and how many of each were impossible."""
        values, impossible = self._estimator.of_all(users, places)
        if self._scale is not None:
            np.clip(values, *self._scale, out=values)
        excluded = self._rated(places)
        if impossible is None:
            impossible = np.zeros(values.shape, dtype=bool)
        impossible[excluded] = False
        if self.convention.impossible == "last" and impossible.any():
            step = self.convention.tie_tolerance
            lowest = values.min(axis=1, keepdims=True)
            # below all others, also when the tolerance has rounded them
            last = lowest - 1 - np.abs(lowest) - (0 if isinstance(step, str) else 2 * step)
            values[impossible] = np.broadcast_to(last, values.shape)[impossible]
        elif self.convention.impossible == "drop":
            values[impossible] = -np.inf
        values[excluded] = -np.inf
        return values, impossible.sum(axis=1)

    def _rated(self, users: Positions) -> tuple[Positions, Codes | Positions]:
        """Return the rows and columns of what the users rated in training."""
        ratings = self.training.ratings
        known = np.flatnonzero((users >= 0) & self.excludes)
        start, sizes = ratings.offsets[users[known]], ratings.sizes[users[known]]
        return np.repeat(known, sizes), ratings.codes[concat_ranges(start, sizes)]


def top(
    table: Floats, k: int, *, tolerance: float = 0.0, tie_order: Positions | None = None
) -> tuple[Positions, Positions, Positions]:
    """Return row, column and rank, from 0, of the k largest values of each row.

    Parameters
    ----------
    table : float64 array, shape (n_rows, n_columns)
        -inf where there is nothing.
    k : int
        How many.
    tolerance : float
        A step; values that are equal when rounded to it are tied.
    tie_order : int64 array, shape (n_columns,), optional
        The order of the columns among ties; by default that of the table.

    Examples
    --------
    >>> top(np.array([[1.0, 3.0, 3.0, -np.inf]]), 2)
    (array([0, 0]), array([1, 2]), array([0, 1]))
    """
    place = max(table.shape[1] - k, 0)
    least = np.partition(table, place, axis=1)[:, place, None] if place else -np.inf
    cells = np.flatnonzero(table >= least - 2 * tolerance)
    row, column = np.divmod(cells, table.shape[1])
    values = table[row, column]
    rounded = np.rint(values / tolerance) if tolerance else values
    within = column if tie_order is None else tie_order[column]
    order = np.lexsort((within, -rounded, row))
    order = order[values[order] > -np.inf]
    row, column = row[order], column[order]
    sizes = np.bincount(row, minlength=len(table))
    rank = concat_ranges(np.zeros_like(sizes), sizes)
    kept = rank < k
    return row[kept], column[kept], rank[kept]
