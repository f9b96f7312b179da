"""What lists have in common with what is known besides them: seen, cold and outside items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.lists.grouped_lists import GroupedLists


def count_history(lists: GroupedLists) -> Positions:
    """Return the number of training items of each user."""
    return lists.get_background().train.count(np.asarray(lists.background_users))


def find_seen(lists: GroupedLists) -> Flags:
    """Return whether the user of each row had its item in training."""
    return find_pairs(lists, *lists.history)


def count_items_by_background(lists: GroupedLists, needs: frozenset[str]) -> dict[str, Floats]:
    """Return the number of each user's listed items that are cold, outside, or were seen.

    0 if it is unknown or not needed, and for a `CataloguePool`, whose items are all inside.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    needs : frozenset of str
        What the metrics need to know, and which items of a user they depend on.
    """
    counts = {name: np.zeros(len(lists)) for name in ("cold", "outside", "seen")}
    known, codes = lists.background, lists.item_codes
    if not needs or known is None or codes is None or lists.pool.placement is not None:
        return counts
    if known.in_catalogue is not None:
        counts["outside"] = lists.sum_by_user(~known.in_catalogue[codes])
    if known.history is not None and "train" in needs:
        counts["cold"] = lists.sum_by_user(~known.in_train[codes])
    if "history" in needs:
        counts["seen"] = lists.sum_by_user(find_seen(lists))
    return counts


def find_pairs(lists: GroupedLists, user: Positions, item: Positions) -> Flags:
    """Return whether the user and item of each row are among some pairs."""
    n_items = len(np.asarray(lists.item_ids))
    keys = user * n_items + item
    wanted = lists.user_of_row * n_items + np.asarray(lists.item_codes)
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    if not len(keys):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(keys[place] == wanted)
