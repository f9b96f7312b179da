"""Apply a convention to lists before they are ranked, and check that it can rank them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recsys_ndcg.arrays import Flags
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.labels import remove_impossible


def prepare_lists(
    lists: GroupedLists, convention: Convention, *, unlabelled_as: float | None = None
) -> GroupedLists:
    """Apply the choices `impossible`, `unlabelled` and `unlisted` to lists.

    Parameters
    ----------
    lists : GroupedLists
        Lists without `Objections`.
    convention : Convention
        The choices.
    unlabelled_as : float, optional
        A grade for unlabelled items.
    """
    if unlabelled_as is not None:
        lists = lists.with_columns(true=np.where(np.isnan(lists.true), unlabelled_as, lists.true))
    if convention.impossible == "drop":
        lists = remove_impossible(lists)
    elif lists.impossible is not None and convention.impossible == "last":  # and tied
        estimated = np.where(lists.impossible, -np.inf, lists.estimated)
        lists = lists.with_columns(estimated=estimated, impossible=None)
    if convention.unlisted == "ignore" and len(lists.unlisted["true"]):
        offsets = np.zeros_like(lists.unlisted_offsets)
        empty = {name: column[:0] for name, column in lists.unlisted.items()}
        lists = replace(lists, unlisted_offsets=offsets, unlisted=empty)
    if convention.unlabelled == "filter" and lists.pool.count_unlabelled(lists).any():
        lists = lists.pool.select_labelled(lists)
    return lists


def format_rows(lists: GroupedLists, rows: Flags) -> str:
    """Return the users and items of the first three rows in a mask."""
    chosen = np.flatnonzero(rows)[:3]
    users = lists.users[np.searchsorted(lists.offsets, chosen, side="right") - 1].tolist()
    if lists.item_ids is None or lists.item_codes is None:
        return ", ".join(f"user {user!r}" for user in users)
    items = lists.item_ids[lists.item_codes[chosen]].tolist()
    pairs = zip(users, items, strict=True)
    return ", ".join(f"user {user!r} item {item!r}" for user, item in pairs)
