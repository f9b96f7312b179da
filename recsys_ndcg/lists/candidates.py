"""What recommended lists were chosen from, where somebody tells: the size of a catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import encode
from recsys_ndcg.input.labels import in_common
from recsys_ndcg.input.rows import objects
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.objections import named

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Positions

    Sizes = int | Mapping[Any, int] | pd.Series[Any]

Lists = TypeVar("Lists", bound=GroupedLists)


def chosen_from(
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
    catalogue, _ = encode(objects(items, "items"), "items")
    known, codes = np.asarray(lists.item_ids), np.asarray(lists.item_codes)
    if not len(catalogue):
        msg = "items is empty: give the ids of the catalogue."
        raise InvalidInputError(msg)
    in_common(catalogue, known, "item", ("the ids in items=", "the labels and results"))
    there = set(catalogue.tolist())
    within = np.array([one in there for one in known.tolist()], dtype=bool)
    strange = ~within[codes]
    if strange.any():
        msg = (
            f"{int(strange.sum())} results are of no item in items=, the first "
            f"{named(lists, strange)}. Give all items that could be recommended."
        )
        raise InvalidInputError(msg)
    reachable = within[np.asarray(lists.unlisted_codes)]
    return replace(
        lists,
        protocol="catalogue",
        candidates=np.full(len(lists), len(catalogue)),
        reachable=None if reachable.all() else reachable,
    )


def _sizes(lists: GroupedLists, n_items: Any) -> Positions:
    """Return the number of candidates of each user."""
    users, by_user = lists.users.tolist(), hasattr(n_items, "items")
    told = dict(n_items.items()) if by_user else dict.fromkeys(users, n_items)
    absent = [user for user in users if user not in told]
    if absent:
        msg = f"n_items has no number for {len(absent)} users, the first {shown(absent[0])}."
        raise InvalidInputError(msg)
    sizes = [told[user] for user in users]
    for one in sizes:
        if isinstance(one, bool) or not isinstance(one, Integral) or one < 1:
            also = " A list of items goes to items=." if isinstance(n_items, Iterable) else ""
            msg = f"n_items must be a whole number of at least 1, not {shown(one)}.{also}"
            raise InvalidInputError(msg)
    found = np.array(sizes, dtype=np.int64)
    fewest = lists.n_places
    if (found < fewest).any():
        first = int((found < fewest).argmax())
        msg = (
            f"n_items={found[first]} is less than the {fewest[first]} different items that user "
            f"{shown(users[first])} has in labels and results. Give the size of the catalogue."
        )
        raise InvalidInputError(msg)
    different = len(np.asarray(lists.item_ids))
    if not by_user and different > n_items:
        msg = (
            f"n_items={n_items}, but labels and results name {different} different items. Give the "
            "size of the whole catalogue, or {user: number} where candidates were left out."
        )
        raise InvalidInputError(msg)
    return found
