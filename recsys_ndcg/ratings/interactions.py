"""Interactions: rows of users and items, with ratings, times and further columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions, concat_ids, sort_by_key
from recsys_ndcg.errors import quote
from recsys_ndcg.input import EncodedIds, encode_ids, format_id, make_index, raise_for_rows, to_ids
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.parallel import map_in_threads


@dataclass(frozen=True, eq=False)
class Interactions:
    """Rows of users and items that are no predictions: ratings, a history, a part of a split.

    Parameters
    ----------
    user, item : EncodedIds
        The ids of each row.
    rating, time : float64 arrays, optional
        The ratings, and the times as numbers; dates are seconds since 1970. NaN if one is missing.
    names : mapping of str to str
        Our names of the columns to the table's, if they differ.
    others : mapping
        Further columns of a table in memory, by its names.
    """

    user: EncodedIds
    item: EncodedIds
    rating: Floats | None = None
    time: Floats | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, user: Any, item: Any, rating: Floats | None = None, time: Floats | None = None
    ) -> Interactions:
        """Encode the ids of rows.

        Raises
        ------
        InvalidInputError
            An id is missing, or a rating is infinite.
        """
        if rating is not None:
            raise_for_rows(np.isinf(rating), "rating", "an infinite value", "correct it")
        columns = [(to_ids(user, "user"), "user"), (to_ids(item, "item"), "item")]
        encoded = map_in_threads(lambda one: encode_ids(*one), columns, len(columns[0][0]))
        users, items = (EncodedIds(*one) for one in encoded)
        return cls(users, items, rating, time)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.user)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns user, item and, if they are known, rating and timestamp."""
        columns = {name: make_index(getattr(self, name)[:]) for name in ("user", "item")}
        numbers = {"rating": self.rating, "timestamp": self.time}
        return pd.DataFrame(
            columns | {name: one for name, one in numbers.items() if one is not None}
        )

    @property
    def rated(self) -> Floats:
        """The ratings, without missing ones."""
        return np.zeros(0) if self.rating is None else self.rating[~np.isnan(self.rating)]

    def name_rows(self, rows: Flags) -> tuple[str, ...]:
        """Return the user and item of the first three of some rows."""
        first = np.flatnonzero(rows)[:3]
        users, items = (one.ids[one.codes[first]].tolist() for one in (self.user, self.item))
        pairs = zip(users, items, strict=True)
        return tuple(f"user {quote(user)} item {quote(item)}" for user, item in pairs)

    def with_text_ids(self, column: str) -> Interactions:
        """Return the rows with the ids of a column as text."""
        encoded = getattr(self, column)
        text = np.array([*map(format_id, encoded.ids.tolist())], dtype=object)
        ids = encode_ids(EncodedIds(text, encoded.codes), column)
        changed: dict[str, Any] = {column: EncodedIds(*ids)}
        return replace(self, **changed)

    @lazy_property
    def _sorted_keys(self) -> tuple[Positions, Positions]:
        """The order of the rows by user and item, and a number for each pair in that order."""
        n_items = len(self.item.ids)
        keys = self.user.codes.astype(np.int64) * n_items + self.item.codes
        order, _ = sort_by_key(keys, len(self.user.ids) * n_items)
        return order, keys[order]

    @property
    def is_repeated(self) -> Flags:
        """Whether the pair of user and item of each row was there before."""
        order, keys = self._sorted_keys
        found = np.zeros(len(self), dtype=bool)
        found[order[1:][keys[1:] == keys[:-1]]] = True
        return found

    def find_rows(self, other: Interactions) -> Positions:
        """Return the first row here with the pair of each row of another part, -1 if none has."""
        order, keys = self._sorted_keys
        places = [
            pd.Index(ours.ids).get_indexer(pd.Index(theirs.ids))[theirs.codes]
            for ours, theirs in ((self.user, other.user), (self.item, other.item))
        ]
        wanted = places[0].astype(np.int64) * len(self.item.ids) + places[1]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_found = (keys[place] == wanted) & (places[0] >= 0) & (places[1] >= 0)
        return np.where(is_found, order[place], -1)

    def contains(self, other: Interactions) -> Flags:
        """Return whether the pair of each row of another part is here."""
        return self.find_rows(other) >= 0


def concat_interactions(parts: Sequence[Interactions]) -> Interactions:
    """Return the rows of several parts; ratings or times that one has not are missing."""
    joined: dict[str, Any] = {
        column: concat_ids([getattr(one, column)[:] for one in parts])
        for column in ("user", "item")
    }
    for column in ("rating", "time"):
        each = [getattr(one, column) for one in parts]
        if any(one is not None for one in each):
            filled = [
                np.full(len(part), np.nan) if one is None else one
                for part, one in zip(parts, each, strict=True)
            ]
            joined[column] = np.concatenate(filled)
    return replace(Interactions.of(**joined), names=parts[0].names)
