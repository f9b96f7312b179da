"""GroupedLists: lists of items in columns grouped by user, and what a ranking asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Codes,
    Flags,
    Floats,
    Ids,
    Positions,
    Record,
    compute_offsets,
    concat_ranges,
    make_read_only,
)
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import format_count
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.lazy import lazy_property

#: All other arrays have an entry per user.
_NOT_BY_USER = ("offsets", "unlisted_offsets", "item_ids")


@dataclass(frozen=True, eq=False, repr=False)
class GroupedLists(Record):
    """One list of items per user, in columns grouped by user: what there is to rank.

    Users stand in ascending order of their ids; within a user the rows keep the order of the
    input. Nothing here is changed once it is made, and nothing shares memory with what it was
    made of.

    Every field that is an array, in subclasses too, has one entry per user, but for those in
    `_NOT_BY_USER`.

    Parameters
    ----------
    users : array, shape (n_users,)
        The user ids.
    offsets : int64 array, shape (n_users + 1,)
        The rows of user number u are ``offsets[u]`` to ``offsets[u + 1]``.
    columns : mapping of arrays, one entry per row
        `estimated` and `true`: the recommender's score, and the user's grade (NaN: unlabelled).
        `item`, if there are items: its place among `item_ids`. `impossible`, if there are any:
        predictions that the model could not make. And further columns of the data.
    item_ids : array, optional
        The distinct items in ascending order.
    unlisted_offsets, unlisted : array, mapping of arrays
        The same for labelled items that are not in the user's list: where each user's start, and
        their `true` and, if there are items, `item`. With `reachable`, if some are not: whether
        the recommender could have listed them.
    missing : bool array, shape (n_users,)
        Users with labels but without a list.
    protocol : {'rated', 'supplied', 'catalogue'}
        Whether the lists hold the user's test ratings only, or what was recommended of items that
        nobody tells of, or of a catalogue: then the number of its candidates is known.
    order_only : bool
        Whether the estimates stand for an order alone: they were ranks.
    duplicates : str
        By which rule repeated (user, item) rows were merged.
    repeats : int64 array, shape (n_users,), optional
        How many rows of each user that removed; None where there were none.
    candidates : int64 array, shape (n_users,), optional
        How many items each list was chosen from; None where it is all of them, or nobody tells.
    """

    #: Whether they show the first of more candidates, which have no order.
    is_cut_short: ClassVar[bool] = False

    users: Ids
    offsets: Positions
    columns: Mapping[str, NDArray[Any]]
    item_ids: Ids | None
    unlisted_offsets: Positions
    unlisted: Mapping[str, NDArray[Any]]
    missing: Flags
    protocol: str = "rated"
    order_only: bool = False
    duplicates: str = "raise"
    repeats: Positions | None = None
    candidates: Positions | None = None

    def __repr__(self) -> str:
        """Say in a sentence how many users and items there are, and how many are labelled."""
        sizes, labels = self.n_items, len(self.unlisted_true)
        ends = sorted({int(end) for end in (sizes.min(), sizes.max())}) if len(self) else [0]
        rows = "rating" if self.protocol == "rated" else "recommended item"
        rows = "candidate" if self.placement_choices is not None else rows
        first = (
            f"{type(self).__name__} of {format_count(len(self), 'user')} with "
            f"{format_count(int(sizes.sum()), rows)}, {' to '.join(map(str, ends))} each"
        )
        if self.candidates is not None:
            first += f", of {format_count(int(self.candidates.sum()), 'candidate')}"
        told = [first]
        if self.n_unlabelled:
            told.append(f"{self.n_unlabelled} without a true value")
        if labels:
            told.append(f"{format_count(labels, 'labelled item')} in no list")
        return "; ".join(told) + "."

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.users)

    @property
    def estimated(self) -> Floats:
        """The recommender's score of each row."""
        return self.columns["estimated"]

    @property
    def true(self) -> Floats:
        """The user's grade of each row, NaN if it is unlabelled."""
        return self.columns["true"]

    @property
    def item_codes(self) -> Codes | None:
        """Each row's place among the distinct items, None if the data has no items."""
        return self.columns.get("item")

    @property
    def impossible(self) -> Flags | None:
        """Whether the model could not make each row's prediction; None if it made all."""
        return self.columns.get("impossible")

    @property
    def unlisted_true(self) -> Floats:
        """The grades of labelled items that are not in the user's list."""
        return self.unlisted["true"]

    @property
    def items(self) -> Ids | None:
        """The item id of every row, or None where the data has no items."""
        if self.item_ids is None or self.item_codes is None:
            return None
        return self.item_ids[self.item_codes]

    @lazy_property
    def n_items(self) -> Positions:
        """How many items each user's list has."""
        return make_read_only(np.diff(self.offsets))

    @property
    def n_candidates(self) -> Positions:
        """How many items there are to be ordered for each user: those of the list."""
        return self.n_items

    @property
    def n_places(self) -> Positions:
        """How many ranks each user's list and ideal list may take."""
        return self.n_items + self.n_unlisted

    @lazy_property
    def n_unlisted(self) -> Positions:
        """How many labelled items of each user are not in the list."""
        return make_read_only(np.diff(self.unlisted_offsets))

    @property
    def unlabelled_by_user(self) -> Floats:
        """How many items of each list have no true value."""
        absent = np.isnan(self.true)
        return self.sum_by_user(absent.astype(np.float64)) if absent.any() else np.zeros(len(self))

    @property
    def impossible_by_user(self) -> Floats:
        """How many predictions of each user the model could not make."""
        if self.impossible is None:
            return np.zeros(len(self))
        return self.sum_by_user(self.impossible.astype(np.float64))

    @property
    def n_unlabelled(self) -> int:
        """How many listed items have no true value."""
        return int(self.unlabelled_by_user.sum())

    @property
    def n_impossible(self) -> int:
        """How many predictions the model could not make."""
        return int(self.impossible_by_user.sum())

    @property
    def n_merged(self) -> int:
        """How many repeated rows were merged into others."""
        return 0 if self.repeats is None else int(self.repeats.sum())

    @property
    def placement_choices(self) -> tuple[Convention, float | None] | None:
        """By which choices and threshold places are held; None where every item has a row."""
        return None

    @lazy_property
    def user_of_row(self) -> Positions:
        """Whose list each row is in, by place."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def sum_by_user(self, values: Floats) -> Floats:
        """Return the sum of a column over each user's rows."""
        sums = np.zeros(len(self))
        own = np.diff(self.offsets) > 0
        if own.any():
            sums[own] = np.add.reduceat(values, self.offsets[:-1][own])
        return sums

    def compute_sort_key(self, convention: Convention) -> Floats:
        """Return by what the rows of a list are ranked, largest first; equal ones are tied."""
        return self.estimated if self.order_only else convention.round_estimates(self.estimated)

    def find_spans(
        self,
        rows: Positions,  # noqa: ARG002 - lists that hold places look there
        ahead: Positions,
        size: Positions,
    ) -> tuple[Positions, Positions]:
        """Return how many items stand before each run of equal estimates, and how many it has.

        Parameters
        ----------
        rows : int64 array, shape (n_runs,)
            A row of each run.
        ahead, size : int64 arrays, shape (n_runs,)
            How many rows of the list stand before it, and how many it has.
        """
        return ahead, size

    def find_first_ties(self, again: Positions) -> Floats:
        """Return the first rank of each user whose item shares its estimate; inf if none does.

        Parameters
        ----------
        again : int64 array
            The places, among the rows of all lists in order, of those with the estimate of the
            row before.
        """
        start, end = self.offsets[:-1], self.offsets[1:]
        first = np.append(again, len(self.true))[np.searchsorted(again, start)]
        return np.where(first < end, first - start, np.inf)

    def compute_tie_key(self, rule: str) -> Floats:
        """Return by what the rows of a tie stand, largest first, if not by what they are worth."""
        if rule == "input":
            return -np.arange(len(self.true), dtype=np.float64)
        places = self.text_places if rule.startswith("text") else self.item_codes
        key = np.asarray(places, dtype=np.float64)
        return -key if rule.endswith("asc") else key

    def find_places_in_ties(self, rows: Positions, place: Positions) -> Positions:  # noqa: ARG002
        """Return the places of rows among the items of their tie; `place` is that among rows."""
        return place

    def count_recommended(self, convention: Convention, threshold: float | None) -> Floats:
        """Return how many items of each list are estimated high enough to be recommended."""
        least = convention.find_recommendation_limit(threshold)
        enough = convention.round_estimates(self.estimated) >= least
        return self.sum_by_user(enough.astype(np.float64))

    @property
    def text_places(self) -> Positions:
        """The place of each row's item among all items, compared as text."""
        known = self.columns.get("text")
        if known is None:
            known = EncodedIds(np.asarray(self.item_ids), np.asarray(self.item_codes)).text_ranks
        return known

    def with_text_order(self) -> Self:
        """Return the lists with the order of their items as text, found once for all parts."""
        return self if self.item_ids is None else self.with_columns(text=self.text_places)

    def find_items_at(
        self, rows: Positions, ranks: Positions, depth: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return item, estimate and grade at the first ranks of the only user's list.

        Parameters
        ----------
        rows, ranks : int64 arrays
            The rows that stand there, and the rank of each, from 0.
        depth : int
            How many ranks, at most as many as the list has.
        """
        order = np.empty(depth, dtype=np.int64)
        order[ranks[ranks < depth]] = rows[ranks < depth]
        items = self.items
        return order if items is None else items[order], self.estimated[order], self.true[order]

    def with_columns(self, **columns: NDArray[Any]) -> Self:
        """Return the lists with other or further columns."""
        return replace(self, columns={**self.columns, **columns})

    def without_columns(self, *names: str) -> Self:
        """Return the lists without some columns."""
        columns = {name: one for name, one in self.columns.items() if name not in names}
        return replace(self, columns=columns)

    def select_labelled(self) -> GroupedLists:
        """Return the lists without their unlabelled items."""
        return self.select_rows(~np.isnan(self.true))

    def select_rows(self, kept: Flags) -> GroupedLists:
        """Return the lists with some of the rows."""
        rows = np.flatnonzero(kept)
        columns = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, offsets=np.searchsorted(rows, self.offsets), columns=columns)

    def without_impossible(self) -> GroupedLists:
        """Return the lists without the impossible predictions, whose labels are then unlisted."""
        if self.impossible is None:
            return self
        extra = np.flatnonzero(self.impossible & ~np.isnan(self.true))
        user = np.concatenate(
            [np.repeat(np.arange(len(self)), self.n_unlisted), self.user_of_row[extra]]
        )
        order = np.argsort(user, kind="stable")
        kept = self.select_rows(~self.impossible).without_columns("impossible")
        unlisted = {
            name: np.concatenate([known, self.columns[name][extra]])[order]
            for name, known in self.unlisted.items()
            if name != "reachable"
        }
        offsets = compute_offsets(np.bincount(user, minlength=len(self)))
        kept = replace(kept, unlisted_offsets=offsets, unlisted=unlisted)
        return replace(kept, missing=(kept.n_items == 0) & (kept.n_unlisted > 0))

    def slice_users(self, first: int, last: int) -> Self:
        """Return the users number `first` to `last`, sharing memory."""
        rows = slice(self.offsets[first], self.offsets[last])
        labels = slice(self.unlisted_offsets[first], self.unlisted_offsets[last])
        return self._select(slice(first, last), rows, labels)

    def take(self, users: Positions) -> Self:
        """Return some users, given by their places in ascending order."""
        rows = concat_ranges(self.offsets[users], np.diff(self.offsets)[users])
        return self._select(
            users, rows, concat_ranges(self.unlisted_offsets[users], self.n_unlisted[users])
        )

    def _select(self, users: Any, rows: Any, labels: Any) -> Self:
        """Return some users, whose rows and labels outside the lists are told, too."""
        by_user = {
            one.name: value[users]
            for one in fields(self)
            if one.name not in _NOT_BY_USER
            and isinstance(value := getattr(self, one.name), np.ndarray)
        }
        return replace(
            self,
            offsets=compute_offsets(np.diff(self.offsets)[users]),
            columns={name: column[rows] for name, column in self.columns.items()},
            unlisted_offsets=compute_offsets(self.n_unlisted[users]),
            unlisted={name: column[labels] for name, column in self.unlisted.items()},
            **by_user,
        )
