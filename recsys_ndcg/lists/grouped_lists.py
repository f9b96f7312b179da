"""GroupedLists: one list of items per user, in columns grouped by user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Codes,
    Flags,
    Floats,
    Ids,
    Positions,
    ReadOnlyArrays,
    compute_offsets,
    concat_ranges,
    count_offsets,
    make_read_only,
    take_along,
)
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention, TieRule
from recsys_ndcg.errors import format_count
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.lazy import Viewed, lazy_property


@dataclass(frozen=True, eq=False)
class Pool(ReadOnlyArrays):
    """The items that could stand in lists; in this class, each of them has a row.

    Parameters
    ----------
    sizes : int64 array, shape (n_users,), optional
        The number of items that each list was chosen from; None if it is unknown, or if the list
        has them all.
    excludes_history : bool
        Whether the items that a user had in training are not among them.
    """

    _axes: ClassVar = {"users": "*"}
    #: Whether the lists are drawn from more items, which have no order.
    is_drawn: ClassVar[bool] = False
    #: Whether all items of a catalogue were ranked here.
    is_catalogue: ClassVar[bool] = False

    sizes: Positions | None = None
    excludes_history: bool = False

    @property
    def ranked_under(self) -> tuple[Convention, float | None] | None:
        """The choices and the threshold of a ranking that was made before; None if none was."""
        return None

    def count_candidates(self, lists: GroupedLists) -> Positions:
        """Return the number of items that the recommender ordered for each user."""
        return lists.n_items

    def count_ranks(self, lists: GroupedLists) -> Positions:
        """Return the largest number of ranks of each user's list and ideal list."""
        return lists.n_items + lists.n_unlisted

    def count_unlabelled(self, lists: GroupedLists) -> Floats:
        """Return the number of items in each list without a true value."""
        has_none = np.isnan(lists.true)
        return lists.sum_by_user(has_none) if has_none.any() else np.zeros(len(lists))

    def count_impossible(self, lists: GroupedLists) -> Floats:
        """Return the number of each user's predictions that the model could not make."""
        is_impossible = lists.impossible
        return np.zeros(len(lists)) if is_impossible is None else lists.sum_by_user(is_impossible)

    def count_recommended(
        self, lists: GroupedLists, convention: Convention, threshold: float | None
    ) -> Floats:
        """Return the number of items in each list whose estimate is high enough to recommend."""
        limit = convention.find_recommendation_limit(threshold)
        return lists.sum_by_user(convention.round_estimates(lists.estimated) >= limit)

    def compute_sort_key(self, lists: GroupedLists, convention: Convention) -> Floats:
        """Return the key by which rows are ranked, largest first; equal keys are tied."""
        return lists.estimated if lists.order_only else convention.round_estimates(lists.estimated)

    def compute_tie_key(self, lists: GroupedLists, rule: TieRule) -> Floats:
        """Return the key that orders tied rows, largest first: input order or item id."""
        if rule.by == "input":
            key = np.arange(len(lists.true), dtype=np.float64)
        else:
            places = lists.find_text_places() if rule.by == "text" else lists.item_codes
            key = np.asarray(places, dtype=np.float64)
        return key if rule.descending else -key

    def find_spans(
        self, _lists: GroupedLists, _rows: Positions, ahead: Positions, size: Positions
    ) -> tuple[Positions, Positions]:
        """Return the number of items ahead of each run of equal estimates, and its size.

        Parameters
        ----------
        lists : GroupedLists
            The lists.
        rows : int64 array, shape (n_runs,)
            A row of each run.
        ahead, size : int64 arrays, shape (n_runs,)
            The number of rows ahead of the run in its list, and in the run.
        """
        return ahead, size

    def find_first_tie_ranks(self, lists: GroupedLists, again: Positions) -> Floats:
        """Return the first rank of each user that is part of a tie; inf if there is no tie.

        Parameters
        ----------
        lists : GroupedLists
            The lists.
        again : int64 array
            The positions, in all lists in ranked order, of the rows with the estimate of the row
            before.
        """
        start, end = lists.offsets[:-1], lists.offsets[1:]
        first = np.append(again, len(lists.true))[np.searchsorted(again, start)]
        return np.where(first < end, first - start, np.inf)

    def find_places_in_ties(
        self, _lists: GroupedLists, _rows: Positions, place: Positions
    ) -> Positions:
        """Return the positions of rows among all items of their tie; `place` counts rows only."""
        return place

    def is_one_tie(self, lists: GroupedLists, step: float) -> bool:
        """Return whether the estimates of each list are equal, rounded to multiples of a step."""
        has_items = lists.n_items > 0
        starts = lists.offsets[:-1][has_items]
        steps = np.rint(lists.estimated / step)
        return bool((steps == np.repeat(steps[starts], lists.n_items[has_items])).all())

    def list_items(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int | None
    ) -> tuple[Ids, Ids, Positions]:
        """Return user, item and rank (from 0) of the first k items of every list.

        Parameters
        ----------
        lists : GroupedLists
            The lists.
        rows, ranks : int64 arrays
            Rows, and the rank of each from 0.
        k : int, optional
            The number of ranks; None for all.

        Raises
        ------
        InvalidInputError
            Fewer ranks are known.
        """
        del k  # no further rows are ranked
        return lists.users[lists.user_of_row[rows]], np.asarray(lists.items)[rows], ranks

    def get_items_at(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return the items, estimates and grades at the first ranks; there is only one user.

        Parameters
        ----------
        lists : GroupedLists
            The lists.
        rows, ranks : int64 arrays
            Rows, and the rank of each from 0.
        k : int
            The number of ranks, at most the length of the list.

        Raises
        ------
        InvalidInputError
            Fewer ranks are known.
        """
        order = np.empty(k, dtype=np.int64)
        order[ranks[ranks < k]] = rows[ranks < k]
        items = order if lists.items is None else lists.items[order]
        return items, lists.estimated[order], lists.true[order]

    def select_labelled(self, lists: GroupedLists) -> GroupedLists:
        """Return lists without their unlabelled items."""
        return lists.select_rows(~np.isnan(lists.true))


@dataclass(frozen=True, eq=False, repr=False)
class GroupedLists(ReadOnlyArrays, Viewed):
    """One list of items per user, in columns grouped by user.

    Users are in ascending order of their ids; within a user the rows keep the order of the input.
    Lists are immutable, and share no memory with the data that they were made from.

    Parameters
    ----------
    users : array, shape (n_users,)
        The user ids.
    offsets : int64 array, shape (n_users + 1,)
        The rows of user number u are ``offsets[u]`` to ``offsets[u + 1]``.
    columns : mapping of arrays, one entry per row
        `estimated` and `true`: the recommender's score, and the user's grade (NaN: unlabelled).
        `item`, if the data has items: the position in `item_ids`. `impossible`, if there are such
        rows: predictions that the model could not make. And further columns of the data.
    item_ids : array, optional
        The distinct items in ascending order.
    unlisted_offsets, unlisted : array, mapping of arrays
        The same for labelled items that are not in the user's list: their offsets, and their
        columns `true` and, if the data has items, `item`. `reachable`, if it is false for some:
        whether the recommender could have listed them.
    missing : bool array, shape (n_users,)
        Users with labels but without a list.
    protocol : {'rated', 'supplied', 'catalogue', 'sampled'}
        ``"rated"``: the lists are the user's test ratings; ``"supplied"``: recommendations from
        unknown candidates; ``"catalogue"``: recommendations, and the number of candidates is known;
        ``"sampled"``: relevant items among randomly sampled ones.
    order_only : bool
        Whether the estimates are only an order, because the data had ranks.
    duplicates : str
        The rule by which repeated (user, item) rows were merged.
    repeats : int64 array, shape (n_users,), optional
        The number of each user's rows that were merged into others; None if there were none.
    lengths : int64 array, shape (n_users,), optional
        The number of items in each list; None if every item has a row.
    pool : Pool
        The items that could stand in the lists.
    background : Background, optional
        What is known besides the lists, for the same `item_ids`.
    background_users : int64 array, shape (n_users,), optional
        The position of each user in the background, -1 if unknown.
    """

    _axes: ClassVar = {
        "users": "users missing repeats lengths pool background_users",
        "rows": "columns",
        "labels": "unlisted",
    }
    _view: ClassVar[str] = "recsys_ndcg.report:view_lists"

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
    lengths: Positions | None = None
    pool: Pool = field(default_factory=Pool)
    background: Background | None = None
    background_users: Positions | None = None

    def __repr__(self) -> str:
        """Return a sentence with the numbers of users, items and labels."""
        sizes, labels = self.n_items, len(self.unlisted["true"])
        ends = sorted({int(end) for end in (sizes.min(), sizes.max())}) if len(self) else [0]
        rows = "rating" if self.protocol == "rated" else "recommended item"
        rows = "candidate" if self.pool.is_catalogue else rows
        text = (
            f"RankedLists of {format_count(len(self), 'user')} with "
            f"{format_count(int(sizes.sum()), rows)}, {' to '.join(map(str, ends))} each"
        )
        if self.pool.sizes is not None:
            text += f", of {format_count(int(self.pool.sizes.sum()), 'candidate')}"
        if n_unlabelled := int(self.pool.count_unlabelled(self).sum()):
            text += f"; {n_unlabelled} without a true value"
        if labels:
            text += f"; {format_count(labels, 'labelled item')} in no list"
        return f"{text}."

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
        """The position of each row's item in `item_ids`; None if the data has no items."""
        return self.columns.get("item")

    @property
    def impossible(self) -> Flags | None:
        """Whether the model could not make each row's prediction; None if it made all."""
        return self.columns.get("impossible")

    @lazy_property
    def weights(self) -> Floats | None:
        """The weight of each row's label, 0 if it has none; None if labels are not weighted."""
        return _find_weights(self.columns, self.background)

    @lazy_property
    def unlisted_weights(self) -> Floats | None:
        """The weight of each unlisted label; None if labels are not weighted."""
        return _find_weights(self.unlisted, self.background)

    @property
    def items(self) -> Ids | None:
        """The item id of every row; None if the data has no items."""
        if self.item_ids is None or self.item_codes is None:
            return None
        return self.item_ids[self.item_codes]

    @lazy_property
    def n_items(self) -> Positions:
        """The number of items in each user's list."""
        return make_read_only(np.diff(self.offsets) if self.lengths is None else self.lengths)

    def get_background(self) -> Background:
        """Return what is known besides the lists, for those who need something of it."""
        assert self.background is not None, "checked by the plan"  # noqa: S101
        return self.background

    @lazy_property
    def history(self) -> tuple[Positions, Positions]:
        """The user's position and the item of every training row of these users, each once."""
        return self.get_background().train.of_users(np.asarray(self.background_users))

    @lazy_property
    def is_seen(self) -> Flags:
        """Whether the user of each row had its item in training."""
        return contains_pairs(self, *self.history)

    @lazy_property
    def n_unlisted(self) -> Positions:
        """The number of each user's labelled items that are not in the list."""
        return make_read_only(np.diff(self.unlisted_offsets))

    @lazy_property
    def user_of_row(self) -> Positions:
        """The position in `users` of each row's user."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def user_of_label(self) -> Positions:
        """The position in `users` of each unlisted label's user."""
        return np.repeat(np.arange(len(self)), self.n_unlisted)

    def sum_by_user(self, values: NDArray[Any]) -> Floats:
        """Return the sum of a column over each user's rows."""
        sums = np.zeros(len(self))
        has_rows = np.diff(self.offsets) > 0
        if has_rows.any():
            starts = self.offsets[:-1][has_rows]
            sums[has_rows] = np.add.reduceat(values.astype(np.float64, copy=False), starts)
        return sums

    def find_text_places(self) -> Positions:
        """Return the place of each row's item among all items, in the order of their ids as text.

        A column has it if it was computed once for all parts.
        """
        if "text" in self.columns:
            return self.columns["text"]
        return EncodedIds(np.asarray(self.item_ids), np.asarray(self.item_codes)).text_ranks

    def with_columns(self, **columns: NDArray[Any] | None) -> Self:
        """Return the lists with columns replaced or added, and without those that are None."""
        changed = {**self.columns, **columns}.items()
        return replace(self, columns={name: one for name, one in changed if one is not None})

    def select_rows(self, kept: Flags) -> GroupedLists:
        """Return the lists with only some of their rows."""
        rows = np.flatnonzero(kept)
        return replace(take_along(self, "rows", rows), offsets=np.searchsorted(rows, self.offsets))

    def take(self, users: slice | Positions) -> Self:
        """Return some users: by ascending positions, or by a slice, which shares memory."""
        if isinstance(users, slice):
            first, last, step = users.indices(len(self))
            users = slice(first, max(first, last)) if step == 1 else np.arange(first, last, step)
            if step == 1 and users == slice(0, len(self)):
                return self

        def find_rows(offsets: Positions) -> slice | Positions:
            if isinstance(users, slice):
                return slice(offsets[users.start], offsets[users.stop])
            return concat_ranges(offsets[users], np.diff(offsets)[users])

        taken = take_along(self, "users", users)
        taken = take_along(taken, "rows", find_rows(self.offsets))
        taken = take_along(taken, "labels", find_rows(self.unlisted_offsets))
        return replace(
            taken,
            offsets=compute_offsets(np.diff(self.offsets)[users]),
            unlisted_offsets=compute_offsets(self.n_unlisted[users]),
        )


def contains_pairs(lists: GroupedLists, user: Positions, item: Positions) -> Flags:
    """Return whether the user and item of each row are among some pairs, grouped by user."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - few metrics need it

    if not len(lists.true):  # SciPy returns an array without elements as a sparse one
        return np.zeros(0, dtype=bool)
    shape = len(lists), len(np.asarray(lists.item_ids))
    pairs = csr_array((np.ones(len(item), bool), item, count_offsets(user, len(lists))), shape)
    pairs.sort_indices()  # else each row is compared with all pairs of its user
    return np.asarray(pairs[lists.user_of_row, np.asarray(lists.item_codes)])


def _find_weights(columns: Mapping[str, NDArray[Any]], known: Background | None) -> Floats | None:
    """Return the weights of labels, 0 for rows without a label; None if they have none."""
    weights = columns.get("weight")
    if weights is None and known is not None and known.weights is not None:
        weights = known.weights[columns["item"]]
    return None if weights is None else np.where(np.isnan(columns["true"]), 0.0, weights)
