"""Exposures: who was shown what, and their sums by item, which merge over parts of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Ids,
    Positions,
    ReadOnlyArrays,
    add_fields,
    are_equal,
    compute_offsets,
    concat_along,
    concat_ids,
    concat_ranges,
    take_along,
)
from recsys_ndcg.input import encode_ids
from recsys_ndcg.lazy import lazy_property


@dataclass(frozen=True, eq=False)
class Exposures(ReadOnlyArrays):
    """The items that each user was shown, with their probabilities, grouped by user.

    Parameters
    ----------
    item_ids : array
        The distinct items: those that were shown, and all that could be.
    offsets : int64 array, shape (n_users + 1,)
        The start of each user's rows, and the end of the last.
    item : int64 array, one entry per row
        The position of the item in `item_ids`.
    share : float64 array, one entry per row
        The probability that the item stands among the user's first k, or its expected weight.
    by_row, by_user, by_item : mappings of float64 arrays
        Further columns that are summed by item, summed over users, or describe items.
    """

    _axes: ClassVar = {"rows": "item share by_row", "users": "by_user"}

    item_ids: Ids
    offsets: Positions
    item: Positions
    share: Floats
    by_row: Mapping[str, Floats] = field(default_factory=dict)
    by_user: Mapping[str, Floats] = field(default_factory=dict)
    by_item: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def concat(cls, parts: Sequence[Exposures]) -> Exposures:
        """Join the exposures of several parts of the users."""
        first = parts[0]
        if len(parts) == 1:
            return first
        if any(part.item_ids is not first.item_ids for part in parts):
            parts = _unify_items(parts)
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        rows = concat_along(parts, "rows")
        return replace(concat_along([rows, *parts[1:]], "users"), offsets=compute_offsets(sizes))

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns by name, such as ``"share"`` and ``"by_row.hits"``."""
        by_row, by_user, by_item = (
            {f"{part}.{name}": column for name, column in getattr(self, part).items()}
            for part in ("by_row", "by_user", "by_item")
        )
        rows = {"offsets": self.offsets, "item": self.item, "share": self.share, **by_row}
        return {**rows, **by_user, "item_ids": self.item_ids, **by_item}

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Exposures:
        """Return the exposures from their `columns`."""
        parts: dict[str, Any] = {"by_row": {}, "by_user": {}, "by_item": {}}
        for name, column in columns.items():
            part, dot, inner = name.partition(".")
            if dot:
                parts[part][inner] = column
            else:
                parts[name] = column
        return cls(**parts)

    @property
    def n_users(self) -> int:
        """The number of users."""
        return len(self.offsets) - 1

    @lazy_property
    def user_of_row(self) -> Positions:
        """The position of each row's user."""
        return np.repeat(np.arange(self.n_users), np.diff(self.offsets))

    @lazy_property
    def n_shown(self) -> Floats:
        """The (expected) number of items that each user was shown."""
        shown = np.bincount(self.user_of_row, weights=self.share, minlength=self.n_users)
        return shown.astype(np.float64, copy=False)

    def take(self, users: Any) -> Self:
        """Return the exposures of some users, given by a slice, positions or flags."""
        chosen = np.arange(self.n_users)[users]
        sizes = np.diff(self.offsets)[chosen]
        rows = concat_ranges(self.offsets[chosen], sizes)
        taken = take_along(take_along(self, "rows", rows), "users", chosen)
        return replace(taken, offsets=compute_offsets(sizes))

    def sum(self, mask: Flags | None = None) -> ItemTotals:
        """Return the sums by item, of all users or of those for whom `mask` is true."""
        if mask is not None and not mask.all():
            return self.take(mask).sum()
        n_rows = np.bincount(self.item, minlength=len(self.item_ids)).astype(np.float64)
        sums = {
            name: self._add_up(column) if np.ndim(column) else n_rows * column
            for name, column in self._weigh_rows().items()
        }
        users = {name: float(column.sum()) for name, column in self.list_user_columns().items()}
        return ItemTotals(self.item_ids, sums, dict(self.by_item), users)

    def list_user_columns(self) -> dict[str, Floats]:
        """Return what is summed over users: 1, whether they were shown something, and how much."""
        ones = np.ones(self.n_users)
        lists = (self.n_shown > 0).astype(np.float64)
        return {"users": ones, "lists": lists, "slots": self.n_shown, **self.by_user}

    def list_terms(self, name: str) -> Floats:
        """Return the values by row whose sum by item is `ItemTotals.sums[name]`."""
        return np.array(np.broadcast_to(self._weigh_rows()[name], len(self.item)))

    def _weigh_rows(self) -> dict[str, Floats]:
        """Return the columns that are summed by item; a number stands for equal numbers."""
        sizes = np.diff(self.offsets)
        is_sure = bool((self.share == 1).all())
        # rows of users who were shown nothing have the share 0
        shown = np.where(self.n_shown > 0, self.n_shown, 1.0)
        lengths = shown[sizes > 0]
        is_equal = is_sure and len(lengths) > 0 and bool((lengths == lengths[0]).all())
        share: Any = 1.0 if is_sure else self.share
        length: Any = float(lengths[0]) if is_equal else np.repeat(shown, sizes)
        return {**weigh_shares(share, length), **self.by_row}

    def _add_up(self, column: Floats) -> Floats:
        return np.bincount(self.item, column, len(self.item_ids)).astype(np.float64, copy=False)


def weigh_shares(share: Any, length: Any) -> dict[str, Floats]:
    """Return what `ItemTotals` sums by item.

    Parameters
    ----------
    share : float or float64 array
        The probability that a list holds an item, or the expected weight of its rank.
    length : float or float64 array
        The number of items of that list, or the sum of their weights.
    """
    is_sure = np.equal(share, 1)
    return {
        "shown": share,
        "squares": share * share,
        "sure": np.asarray(is_sure, dtype=np.float64),
        "log_missed": np.log1p(-np.where(is_sure, 0.0, share)),
        "per_list": share / length,
        "cosine": share / np.sqrt(length),
        "cosine_squares": share * share / length,
    }


@dataclass(frozen=True, eq=False)
class ItemTotals(ReadOnlyArrays):
    """Sums of exposures by item; they merge in any order and grouping, by the ids of the items.

    Parameters
    ----------
    item_ids : array
        The distinct items in ascending order.
    sums : mapping of float64 arrays, shape (n_items,)
        ``"shown"``: Σ p, the expected number of lists that hold the item; ``"squares"``: Σ p²;
        ``"sure"``: the number of lists that hold it for certain; ``"log_missed"``: Σ log(1 - p) of
        all others; ``"per_list"``, ``"cosine"``, ``"cosine_squares"``: Σ p/n, Σ p/√n and Σ p²/n,
        with n the number of items that a user was shown; and the sums of further columns.
    by_item : mapping of float64 arrays, shape (n_items,)
        Facts about the items, the same in all parts.
    users : mapping of str to float
        ``"users"``, ``"lists"`` (users who were shown something), ``"slots"`` (items shown), and
        the sums of further columns.
    """

    item_ids: Ids
    sums: Mapping[str, Floats]
    by_item: Mapping[str, Floats]
    users: Mapping[str, float]

    def __add__(self, other: ItemTotals) -> ItemTotals:
        """Return the sums of the users of both."""
        mine, theirs = self, other
        if not are_equal(mine.item_ids, theirs.item_ids):
            ids, codes = encode_ids(concat_ids([mine.item_ids, theirs.item_ids]), "item")
            split = len(mine.item_ids)
            mine, theirs = mine.reindex(ids, codes[:split]), theirs.reindex(ids, codes[split:])
        by_item = {
            name: np.maximum(one, theirs.by_item[name]) for name, one in mine.by_item.items()
        }
        return add_fields(mine, theirs, item_ids=mine.item_ids, by_item=by_item)

    def __sub__(self, part: ItemTotals) -> ItemTotals:
        """Return the sums without the users of a part, which has the same items."""
        return ItemTotals(
            self.item_ids,
            {name: column - part.sums[name] for name, column in self.sums.items()},
            self.by_item,
            {name: number - part.users[name] for name, number in self.users.items()},
        )

    def reindex(self, item_ids: Ids, positions: NDArray[Any]) -> ItemTotals:
        """Return the same sums for more items, 0 for new ones."""

        def move(column: Floats) -> Floats:
            moved = np.zeros(len(item_ids))
            moved[positions] = column
            return moved

        sums = {name: move(column) for name, column in self.sums.items()}
        by_item = {name: move(column) for name, column in self.by_item.items()}
        return ItemTotals(item_ids, sums, by_item, self.users)

    @property
    def shown(self) -> Floats:
        """The expected number of lists that hold each item."""
        return self.sums["shown"]

    @property
    def covered(self) -> Floats:
        """The probability that some list holds each item: 1 - Π(1 - p)."""
        is_sure = self.sums["sure"] > 0.5  # a difference of sums may have a rounding error
        return np.where(is_sure, 1.0, -np.expm1(np.minimum(self.sums["log_missed"], 0.0)))


def _unify_items(parts: Sequence[Exposures]) -> list[Exposures]:
    """Return the parts with the same item ids."""
    ids, codes = encode_ids(concat_ids([part.item_ids for part in parts]), "item")
    ends = np.cumsum([len(part.item_ids) for part in parts])
    places = np.split(codes.astype(np.int64), ends[:-1])
    by_item: dict[str, Floats] = {}
    for name in parts[0].by_item:
        merged = np.zeros(len(ids))
        for part, place in zip(parts, places, strict=True):
            merged[place] = np.maximum(merged[place], part.by_item[name])
        by_item[name] = merged
    return [
        replace(part, item_ids=ids, item=place[part.item], by_item=by_item)
        for part, place in zip(parts, places, strict=True)
    ]
