"""What lists were chosen from, where somebody tells: a catalogue, for their chance level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import pandas as pd  # noqa: TC002 - loaded with all that reads tables

from recsys_ndcg.arrays import Positions, compute_offsets
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import count_common_ids, encode_ids, to_column
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.preparation import format_rows

Lists = TypeVar("Lists", bound=GroupedLists)
Sizes: TypeAlias = "int | Mapping[Any, int] | pd.Series[Any]"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CandidateLists(GroupedLists):
    """All candidates of each user, of whom a list shows the first few: they have no order.

    The rows are the labelled candidates, whether they were recommended or not; the others are
    counted. Measured blind, they tell what a list of the same length scores that is drawn from
    the candidates.

    Parameters
    ----------
    lengths : int64 array, shape (n_users,)
        How many items each list shows, of its `candidates`.
    """

    is_cut_short: ClassVar[bool] = True

    lengths: Positions
    candidates: Positions

    @property
    def n_items(self) -> Positions:
        """How many items each list shows."""
        return self.lengths

    @property
    def n_candidates(self) -> Positions:
        """How many items each list is drawn from."""
        return self.candidates

    @property
    def n_places(self) -> Positions:
        """How many ranks each user's list and ideal list take."""
        return np.maximum(self.lengths, np.diff(self.offsets)) + self.n_unlisted

    @classmethod
    def from_lists(cls, lists: GroupedLists) -> GroupedLists:
        """Return the candidates of lists, or the lists themselves where they are all there is."""
        if lists.candidates is None:
            return lists
        listed = np.flatnonzero(~np.isnan(lists.true))
        owner = np.repeat(np.arange(len(lists)), lists.n_unlisted)
        within = lists.unlisted.get("reachable", np.ones(len(owner), dtype=bool))
        user = np.concatenate([lists.user_of_row[listed], owner[within]])
        true = np.concatenate([lists.true[listed], lists.unlisted_true[within]])
        order = np.argsort(user, kind="stable")
        return cls(
            users=lists.users,
            offsets=compute_offsets(np.bincount(user, minlength=len(lists))),
            columns={"estimated": np.zeros(len(order)), "true": true[order]},
            item_ids=None,
            unlisted_offsets=compute_offsets(np.bincount(owner[~within], minlength=len(lists))),
            unlisted={"true": lists.unlisted_true[~within]},
            missing=lists.missing,
            protocol=lists.protocol,
            lengths=lists.n_items,
            candidates=lists.candidates,
        )


def add_candidates(
    lists: Lists, n_items: Sizes | None = None, items: Iterable[Any] | None = None
) -> Lists:
    """Return recommended lists that know from how many candidates they were chosen.

    Parameters
    ----------
    lists : GroupedLists
        Labels and results, joined.
    n_items : int, {user: int} or Series by user, optional
        How many candidates there are.
    items : iterable of ids, optional
        All of them, in place of `n_items`.

    Raises
    ------
    InvalidInputError
        There are fewer candidates than items that are known, or the two do not fit together.
    """
    if items is not None:
        if n_items is not None:
            msg = "Give n_items= or items=, not both: the items say how many there are."
            raise InvalidInputError(msg)
        return _from_items(lists, items)
    if n_items is None:
        return lists
    return replace(lists, protocol="catalogue", candidates=_sizes(lists, n_items))


def _from_items(lists: Lists, items: Any) -> Lists:
    catalogue, _ = encode_ids(to_column(items, "items"), "items")
    known, codes = np.asarray(lists.item_ids), np.asarray(lists.item_codes)
    if not len(catalogue):
        msg = "items is empty: give the ids of the catalogue."
        raise InvalidInputError(msg)
    count_common_ids(catalogue, known, "item", ("the ids in items=", "the labels and results"))
    there = set(catalogue.tolist())
    within = np.array([one in there for one in known.tolist()], dtype=bool)
    strange = ~within[codes]
    if strange.any():
        msg = (
            f"{int(strange.sum())} results are of no item in items=, the first "
            f"{format_rows(lists, strange)}. Give all items that could be recommended."
        )
        raise InvalidInputError(msg)
    reachable = within[lists.unlisted["item"]]
    return replace(
        lists,
        protocol="catalogue",
        candidates=np.full(len(lists), len(catalogue)),
        unlisted={**lists.unlisted, **({} if reachable.all() else {"reachable": reachable})},
    )


def _sizes(lists: GroupedLists, n_items: Any) -> Positions:
    """Return the number of candidates of each user."""
    users, by_user = lists.users.tolist(), hasattr(n_items, "items")
    told = dict(n_items.items()) if by_user else dict.fromkeys(users, n_items)
    absent = [user for user in users if user not in told]
    if absent:
        msg = f"n_items has no number for {len(absent)} users, the first {quote(absent[0])}."
        raise InvalidInputError(msg)
    sizes = [told[user] for user in users]
    for one in sizes:
        if isinstance(one, bool) or not isinstance(one, Integral) or one < 1:
            also = " A list of items goes to items=." if isinstance(n_items, Iterable) else ""
            msg = f"n_items must be a whole number of at least 1, not {quote(one)}.{also}"
            raise InvalidInputError(msg)
    found = np.array(sizes, dtype=np.int64)
    different = len(np.asarray(lists.item_ids))
    fewest = lists.n_places if by_user else np.full(len(lists), different)
    if (found < fewest).any():
        first = int((found < fewest).argmax())
        whose = f"user {quote(users[first])} has" if by_user else "there are"
        msg = (
            f"n_items={found[first]} is less than the {fewest[first]} different items that {whose} "
            "in labels and results. Give the size of the whole catalogue, or {user: number} where "
            "candidates were left out."
        )
        raise InvalidInputError(msg)
    return found
