"""The candidates that lists were chosen from, for the chance level of recommended lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import pandas as pd  # noqa: TC002 - loaded with all that reads tables

from recsys_ndcg.arrays import Positions, compute_offsets
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import check_id_types, encode_ids, to_column
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.preparation import format_rows

Lists = TypeVar("Lists", bound=GroupedLists)
Sizes: TypeAlias = "int | Mapping[Any, int] | pd.Series[Any]"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CandidateLists(GroupedLists):
    """All candidates of each user, without an order; each list shows the first few.

    The rows are the labelled candidates, recommended or not; unlabelled candidates are only
    counted. In random order they give the score of a list of the same length that is drawn from
    the candidates.

    Parameters
    ----------
    lengths : int64 array, shape (n_users,)
        The number of `candidates` that each list shows.
    """

    is_cut_short: ClassVar[bool] = True

    lengths: Positions
    candidates: Positions

    @property
    def n_items(self) -> Positions:
        """The number of items that each list shows."""
        return self.lengths

    @property
    def n_candidates(self) -> Positions:
        """The number of items that each list is drawn from."""
        return self.candidates

    @property
    def n_ranks(self) -> Positions:
        """The number of ranks of each user's list and ideal list."""
        return np.maximum(self.lengths, np.diff(self.offsets)) + self.n_unlisted

    @classmethod
    def from_lists(cls, lists: GroupedLists) -> GroupedLists:
        """Return the candidates of lists, or the lists if these are unknown."""
        if lists.candidates is None:
            return lists
        listed = np.flatnonzero(~np.isnan(lists.true))
        owner = lists.user_of_label
        is_candidate = lists.unlisted.get("reachable", np.ones(len(owner), dtype=bool))
        user = np.concatenate([lists.user_of_row[listed], owner[is_candidate]])
        true = np.concatenate([lists.true[listed], lists.unlisted_true[is_candidate]])
        order = np.argsort(user, kind="stable")
        return cls(
            users=lists.users,
            offsets=compute_offsets(np.bincount(user, minlength=len(lists))),
            columns={"estimated": np.zeros(len(order)), "true": true[order]},
            item_ids=None,
            unlisted_offsets=compute_offsets(
                np.bincount(owner[~is_candidate], minlength=len(lists))
            ),
            unlisted={"true": lists.unlisted_true[~is_candidate]},
            missing=lists.missing,
            protocol=lists.protocol,
            lengths=lists.n_items,
            candidates=lists.candidates,
        )


def add_candidates(
    lists: Lists, n_items: Sizes | None = None, items: Iterable[Any] | None = None
) -> Lists:
    """Add the number of candidates to recommended lists.

    Parameters
    ----------
    lists : GroupedLists
        Labels and results, joined.
    n_items : int, {user: int} or Series by user, optional
        The number of candidates.
    items : iterable of ids, optional
        The candidates themselves, instead of `n_items`.

    Raises
    ------
    InvalidInputError
        There are fewer candidates than different items in the lists, or both options are given.
    """
    if items is not None:
        if n_items is not None:
            msg = "n_items= and items= exclude each other. Give one of them."
            raise InvalidInputError(msg)
        return _add_items(lists, items)
    if n_items is None:
        return lists
    return replace(lists, protocol="catalogue", candidates=_count_candidates(lists, n_items))


def _add_items(lists: Lists, items: Any) -> Lists:
    catalogue, _ = encode_ids(to_column(items, "items"), "items")
    known, codes = np.asarray(lists.item_ids), np.asarray(lists.item_codes)
    if not len(catalogue):
        msg = "items is empty: give the ids of the catalogue."
        raise InvalidInputError(msg)
    check_id_types(catalogue, known, "item", ("the ids in items=", "the labels and results"))
    candidates = set(catalogue.tolist())
    is_candidate = np.array([item in candidates for item in known.tolist()], dtype=bool)
    is_unknown = ~is_candidate[codes]
    if is_unknown.any():
        msg = (
            f"items= lacks the items of {int(is_unknown.sum())} results, the first "
            f"{format_rows(lists, is_unknown)}. Give all items that could be recommended."
        )
        raise InvalidInputError(msg)
    reachable = is_candidate[lists.unlisted["item"]]
    return replace(
        lists,
        protocol="catalogue",
        candidates=np.full(len(lists), len(catalogue)),
        unlisted={**lists.unlisted, **({} if reachable.all() else {"reachable": reachable})},
    )


def _count_candidates(lists: GroupedLists, n_items: Any) -> Positions:
    """Return the number of candidates of each user."""
    users, is_by_user = lists.users.tolist(), hasattr(n_items, "items")
    size_by_user = dict(n_items.items()) if is_by_user else dict.fromkeys(users, n_items)
    missing = [user for user in users if user not in size_by_user]
    if missing:
        msg = f"n_items has no number for {len(missing)} users, the first {quote(missing[0])}."
        raise InvalidInputError(msg)
    sizes = [size_by_user[user] for user in users]
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
            hint = " Pass a list of items as items=." if isinstance(n_items, Iterable) else ""
            msg = f"n_items must be a whole number of at least 1, not {quote(size)}.{hint}"
            raise InvalidInputError(msg)
    counts = np.array(sizes, dtype=np.int64)
    n_different = len(np.asarray(lists.item_ids))
    fewest = lists.n_ranks if is_by_user else np.full(len(lists), n_different)
    if (counts < fewest).any():
        first = int((counts < fewest).argmax())
        whose = f"of user {quote(users[first])} " if is_by_user else ""
        msg = (
            f"n_items={counts[first]} is less than the {fewest[first]} different items {whose}"
            "in labels and results. Give the size of the whole catalogue; in Python also {user: "
            "number}, if users have different candidates."
        )
        raise InvalidInputError(msg)
    return counts
