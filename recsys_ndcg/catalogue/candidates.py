"""The items that may be recommended to each user, with their estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions, concat_ranges
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.parallel import limit_threads, map_in_threads
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.scoring import Plan

_CELLS = 1 << 20
_FIX = "Test on ratings that are not in the trainset; KFold and train_test_split give such ratings."


def warn_outside_scale(values: Floats, scale: tuple[float, float]) -> None:
    """Warn if ratings are outside the rating scale.

    Parameters
    ----------
    values : float64 array
        The ratings.
    scale : pair of float
        The lowest and the highest possible rating.
    """
    low, high = scale
    outside = int(((values < low) | (values > high)).sum())
    if outside:
        least, most = float(values.min()), float(values.max())
        warn(
            f"{outside} of {len(values)} ratings are outside the rating_scale ({low}, {high}); "
            f"they run from {least:g} to {most:g}. predict() clips estimates to the scale, "
            "so that different ones become equal: give Reader(rating_scale="
            f"({least:g}, {most:g}))."
        )


def warn_of_leak(  # noqa: PLR0913 - a sentence has many parts
    fact: str, n_seen: int, n_rows: int, first: Sequence[str], *, if_some: str, if_all: str
) -> None:
    """Warn if the user and item of test ratings are a rating of the trainset, too.

    Parameters
    ----------
    fact : str
        What happened to them, such as ``"were rated in training"``.
    n_seen, n_rows : int
        The number of such test ratings, and of all test ratings.
    first : sequence of str
        The user and item of the first ones.
    if_some, if_all : str
        What it means for the scores, if some or all test ratings are such.
    """
    share, meaning = f"{n_seen} of {n_rows}", if_some
    if n_seen == n_rows:
        share, meaning = f"All {n_rows}", if_all
    if n_seen:
        warn(f"{share} test ratings, the first {first[0]}, {fact}: {meaning}. {_FIX}")


def check_cutoff(k: int | None, n_items: int) -> None:
    """Raise if a cutoff is larger than the catalogue."""
    if k is not None and k > n_items:
        msg = (
            f"k={k}, but the catalogue has {n_items} items (the trainset). "
            "Give a smaller k, or None for whole lists."
        )
        raise InvalidInputError(msg)


class Estimator(Protocol):
    """A model that estimates every item for every user, as finite numbers."""

    #: Whether several threads may call it at once.
    vectorised: bool

    def estimate_all(self, users: Ids, places: Positions) -> tuple[Floats, Flags | None]:
        """Return a new table of some users' estimates for all items, and which were impossible."""

    def estimate_ids(self, users: Ids, items: Ids) -> tuple[Floats, Flags | None]:
        """Return the estimates for raw ids, known or unknown, and which were impossible."""


class EstimateBlock(NamedTuple):
    """Some users' estimates for all items.

    Parameters
    ----------
    first : int
        The place of the first user.
    table : float64 array, shape (n_users, n_items)
        -inf for items that are no candidates; it may be written to.
    n_impossible : int64 array, shape (n_users,)
        The number of candidates whose estimates were impossible.
    """

    first: int
    table: Floats
    n_impossible: Positions


@dataclass(frozen=True, eq=False)
class Candidates:
    """The items that may be recommended to each user: the catalogue without the rated items.

    Parameters
    ----------
    estimator : Estimator
        A model trained on these ratings.
    training : Interactions
        The training ratings, whose items are the catalogue.
    excludes_rated : bool
        Whether the items that the user rated in training are left out.
    scale : pair of float, optional
        The scale that estimates are clipped to, which makes ties at its ends.
    convention : Convention, optional
        Its `impossible` decides about impossible estimates.
    """

    estimator: Estimator
    training: Interactions
    _: KW_ONLY
    excludes_rated: bool = True
    scale: tuple[float, float] | None = None
    convention: Convention = field(default_factory=Convention)

    @property
    def protocol(self) -> str:
        """The protocol of the lists."""
        clipped = "" if self.scale is None else "+clipped"
        return f"catalogue{'' if self.excludes_rated else '+train'}{clipped}"

    @property
    def n_items(self) -> int:
        """The number of items in the catalogue."""
        return len(self.training.item.ids)

    def map_blocks(
        self,
        users: Ids,
        work: Callable[[EstimateBlock], dict[str, Any]],
        show: Callable[[float], None] | None = None,
    ) -> dict[str, Any]:
        """Apply a function to the estimates of each block of users, and join its columns.

        `users` are raw ids; `show` is called with the share of finished blocks.
        """
        places = self.training.user.find(users)
        step = max(_CELLS // max(self.n_items, 1), 1)

        def work_on(first: int) -> dict[str, Any]:
            own = slice(first, first + step)
            return work(EstimateBlock(first, *self._estimate(users[own], places[own])))

        # a custom algorithm may not support threads, and a random one must draw in order
        with limit_threads(None if self.estimator.vectorised else 1):
            parts = map_in_threads(work_on, range(0, len(users), step), show=show)
        return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}

    def rank(
        self, users: Ids, k: int | None, show: Callable[[float], None] | None = None
    ) -> dict[str, Any]:
        """Return the first k items of raw users, all for None, as columns in order of the ranks."""
        n = k or self.n_items

        def rank_block(block: EstimateBlock) -> dict[str, Any]:
            row, item, rank = select_top(block.table, n, tolerance=Plan.TIE_TOLERANCE)
            return {
                "user": users[row + block.first],
                "item": self.training.item.ids[item],
                "rank": rank + 1,
                "estimated": block.table[row, item],
            }

        return self.map_blocks(users, rank_block, show)

    def estimate_items(
        self, users: Ids, items: Ids, show: Callable[[float], None] | None = None
    ) -> Floats:
        """Return the estimates of raw users for raw items, known or unknown."""
        places = self.training.item.find(items)
        strangers = places < 0
        found = self.map_blocks(users, lambda block: {"all": block.table[:, places]}, show)
        table: Floats = found["all"]
        if strangers.any():
            values, _ = self.estimator.estimate_ids(users, items[strangers])
            table[:, strangers] = values if self.scale is None else np.clip(values, *self.scale)
        return table

    def _estimate(self, users: Ids, places: Positions) -> tuple[Floats, Positions]:
        """Return the estimates of some users, and the number of impossible ones of each."""
        values, impossible = self.estimator.estimate_all(users, places)
        if self.scale is not None:
            np.clip(values, *self.scale, out=values)
        excluded = self.training.by_user.of_users(places if self.excludes_rated else places[:0])
        if impossible is None:
            impossible = np.zeros(values.shape, dtype=bool)
        impossible[excluded] = False
        if self.convention.impossible == "last" and impossible.any():
            step = self.convention.tie_tolerance
            lowest = values.min(axis=1, keepdims=True)
            # below all others even after rounding by the tolerance
            last = lowest - 1 - np.abs(lowest) - (0 if isinstance(step, str) else 2 * step)
            values[impossible] = np.broadcast_to(last, values.shape)[impossible]
        elif self.convention.impossible == "drop":
            values[impossible] = -np.inf
        values[excluded] = -np.inf
        return values, impossible.sum(axis=1)


def select_top(
    table: Floats, k: int, *, tolerance: float = 0.0, tie_order: Positions | None = None
) -> tuple[Positions, Positions, Positions]:
    """Return row, column and rank, from 0, of the k largest values of each row.

    Parameters
    ----------
    table : float64 array, shape (n_rows, n_columns)
        -inf for cells that are left out.
    k : int
        The number of values.
    tolerance : float
        A step; values that are equal after rounding to it are tied.
    tie_order : int64 array, shape (n_columns,), optional
        The order of the columns among ties; by default their order in the table.

    Examples
    --------
    >>> select_top(np.array([[1.0, 3.0, 3.0, -np.inf]]), 2)
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
