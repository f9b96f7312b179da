"""The items that may be recommended to each user, with their estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from surprise import Trainset

from recsys_ndcg.arrays import ranges
from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import encode, in_common
from recsys_ndcg.input.rows import objects
from recsys_ndcg.lazy import lazy
from recsys_ndcg.parallel import at_most, in_threads
from recsys_ndcg.surprise.divergence import refuse_infinite
from recsys_ndcg.surprise.estimates.estimates import Estimates
from recsys_ndcg.surprise.trainsets import Ratings, inner_ids, places_of, raw_items, raw_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from recsys_ndcg.arrays import Codes, Floats, Ids, Positions

    Result = TypeVar("Result")

_CELLS = 1 << 20


class Estimated(NamedTuple):
    """Some users' estimates for all items.

    Parameters
    ----------
    first : int
        The place of the first user.
    table : float64 array, shape (n_users, n_items)
        New, -inf for items that are no candidates.
    n_impossible : int64 array, shape (n_users,)
        How many of the candidates' estimates the algorithm could not make.
    """

    first: int
    table: Floats
    n_impossible: Positions


class Candidates:
    """Every item of the trainset for every user, but for those the user rated in it.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted on the trainset.
    trainset : surprise.Trainset
        Whose items are the catalogue.
    exclude : {'train', None}
        Whether the items that the user rated in the trainset are left out.
    clip : bool
        Whether estimates are cut to the rating scale, which ties those beyond it.
    convention : Convention, optional
        What becomes of estimates that the algorithm could not make.

    Raises
    ------
    InvalidInputError
        The algorithm was not fitted, or on other ratings; an option is unknown.
    """

    def __init__(
        self,
        algo: Any,
        trainset: Any,
        *,
        exclude: str | None = "train",
        clip: bool = False,
        convention: Convention | None = None,
    ) -> None:
        if exclude not in ("train", None):
            msg = f"exclude must be 'train' or None, not {shown(exclude)}."
            raise InvalidInputError(msg)
        _refuse_other_trainset(algo, trainset)
        self._name = type(algo).__name__
        self._scale = trainset.rating_scale if clip else None
        self.convention = Convention() if convention is None else convention
        self.excludes = exclude is not None
        self.ratings = Ratings.by_user(trainset)
        self._estimates = Estimates(algo)
        self._trainset = trainset
        self.n_items = int(trainset.n_items)
        self.protocol = "catalogue" + ("" if exclude else "+train") + ("+clipped" if clip else "")

    @lazy
    def users(self) -> Ids:
        """The raw id of every user of the trainset, by inner id."""
        return raw_users(self._trainset)

    @lazy
    def items(self) -> Ids:
        """The raw id of every item of the trainset, by inner id."""
        return raw_items(self._trainset)

    def strangers(self, users: Ids) -> Ids:
        """Return the raw users who are not in the trainset."""
        return users[self.inner_users(users.tolist()) < 0]

    def checked_users(self, users: Iterable[Any]) -> Ids:
        """Return raw ids of users as an array, if they are of a type that the trainset has."""
        return _checked(users, self.users, "user")

    def checked_items(self, items: Iterable[Any]) -> Ids:
        """Return raw ids of items as an array, if they are of a type that the trainset has."""
        return _checked(items, self.items, "item")

    def inner_users(self, raw: Iterable[Any]) -> Positions:
        """Return the inner ids, -1 for a user who is not in the trainset."""
        return inner_ids(self._user_places, raw)

    def inner_items(self, raw: Iterable[Any]) -> Positions:
        """Return the inner ids, -1 for an item that is not in the trainset."""
        return inner_ids(self._item_places, raw)

    @lazy
    def _user_places(self) -> dict[Any, int]:
        return places_of(self.users)

    @lazy
    def _item_places(self) -> dict[Any, int]:
        return places_of(self.items)

    def by_block(
        self,
        users: Ids,
        work: Callable[[Estimated], Result],
        show: Callable[[float], None] | None = None,
    ) -> list[Result]:
        """Return what is worked out of each block of users, given as raw ids.

        `show` is told which share of the blocks is done.
        """
        inner = self.inner_users(users.tolist())
        step = max(_CELLS // max(self.n_items, 1), 1)
        edges = [(first, min(first + step, len(users))) for first in range(0, len(users), step)]

        def of(block: tuple[int, int]) -> Result:
            own = slice(*block)
            return work(Estimated(block[0], *self._estimated(users[own], inner[own])))

        # an algorithm of one's own need not bear threads, and a random one would draw in any order
        with at_most(None if self._estimates.vectorised else 1):
            return in_threads(of, edges, show=show)

    def of_items(
        self, users: Ids, items: Ids, show: Callable[[float], None] | None = None
    ) -> Floats:
        """Return the estimates of raw users for raw items, known or not."""
        inner = self.inner_items(items.tolist())
        strangers = inner < 0
        table = np.concatenate(self.by_block(users, lambda block: block.table[:, inner], show))
        if strangers.any():
            values, _ = self._estimates.of_raw(users, items[strangers])
            refuse_infinite(self._name, users, values)
            table[:, strangers] = values if self._scale is None else np.clip(values, *self._scale)
        return table

    def _estimated(self, raw: Ids, users: Positions) -> tuple[Floats, Positions]:
        """Return the estimates of some users, and how many of each were impossible."""
        if self._estimates.vectorised:
            values, impossible = self._estimates.block(users)
        else:
            values, impossible = self._estimates.of_raw(raw, self.items)
        refuse_infinite(self._name, raw, values)
        if self._scale is not None:
            np.clip(values, *self._scale, out=values)
        excluded = self._rated(users)
        if impossible is None:
            values[excluded] = -np.inf
            return values, np.zeros(len(users), dtype=np.int64)
        impossible[excluded] = False
        if self.convention.impossible == "last":
            lowest = _below_all(values.min(axis=1, keepdims=True), self.convention)
            values[impossible] = np.broadcast_to(lowest, values.shape)[impossible]
        elif self.convention.impossible == "drop":
            values[impossible] = -np.inf
        values[excluded] = -np.inf
        return values, impossible.sum(axis=1)

    def _rated(self, users: Positions) -> tuple[Positions, Codes | Positions]:
        """Return the rows and columns of what the users rated in the trainset."""
        if not self.excludes:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        known = np.flatnonzero(users >= 0)
        start, sizes = self.ratings.offsets[users[known]], self.ratings.sizes[users[known]]
        return np.repeat(known, sizes), self.ratings.codes[ranges(start, sizes)]


def refuse_beyond(k: int | None, trainset: Any) -> None:
    """Refuse a cutoff that no list of the catalogue can reach.

    Raises
    ------
    InvalidInputError
        The trainset has fewer items.
    """
    if k is not None and k > trainset.n_items:
        msg = (
            f"k={k}, but the catalogue has {trainset.n_items} items: those of the trainset. "
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


def _refuse_other_trainset(algo: Any, trainset: Any) -> None:
    """Refuse an algorithm that was not fitted, or whose inner ids are others."""
    own = getattr(algo, "trainset", None)
    if own is None or isinstance(algo, type):
        name = algo.__name__ if isinstance(algo, type) else type(algo).__name__
        msg = f"{name} is not fitted. Give an algorithm after algo.fit(trainset)."
        raise InvalidInputError(msg)
    if not isinstance(trainset, Trainset):
        msg = (
            f"trainset must be a surprise.Trainset, not {shown(trainset)}: what "
            "data.build_full_trainset() returns, or the first of what a split gives."
        )
        raise InvalidInputError(msg)
    if own is trainset:
        return
    sides = ((raw_users(own), raw_users(trainset)), (raw_items(own), raw_items(trainset)))
    same = all(mine.tolist() == yours.tolist() for mine, yours in sides) and own.ur == trainset.ur
    if not same:
        msg = (
            f"{type(algo).__name__} was fitted on another trainset ({own.n_ratings} ratings) than "
            f"this one ({trainset.n_ratings} ratings). Give the one it was fitted on."
        )
        raise InvalidInputError(msg)


def _below_all(lowest: Floats, convention: Convention) -> Floats:
    """Return estimates below the lowest ones of some lists, that no tolerance rounds up to them.

    Examples
    --------
    >>> from recsys_ndcg import Convention
    >>> _below_all(np.array([1.0, -2.0]), Convention(tie_tolerance=0.5))
    array([-2., -6.])
    """
    step = convention.tie_tolerance
    return lowest - 1 - np.abs(lowest) - (0 if isinstance(step, str) else 2 * step)
