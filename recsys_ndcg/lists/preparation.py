"""What a convention does to lists before they are ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.lists.grouping import offsets_of

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.grouped_lists import GroupedLists


def prepared(
    lists: GroupedLists, convention: Convention, *, unlabelled_as: float | None = None
) -> GroupedLists:
    """Apply `impossible`, `unlabelled` and `unlisted`.

    Parameters
    ----------
    lists : GroupedLists
        Any that `recsys_ndcg.lists.objections` has nothing against.
    convention : Convention
        How.
    unlabelled_as : float, optional
        The grade that unlabelled items are given.
    """
    if unlabelled_as is not None:
        lists = lists.labelled_as(unlabelled_as)
    if lists.impossible is not None and convention.impossible != "rank":
        lists = _impossible_settled(lists, lists.impossible, convention)
    if convention.unlisted == "ignore" and len(lists.unlisted_true):
        nothing = np.zeros_like(lists.unlisted_offsets)
        lists = replace(
            lists,
            unlisted_offsets=nothing,
            unlisted_true=lists.unlisted_true[:0],
            unlisted_codes=None,
            reachable=None,
        )
    if convention.unlabelled == "filter" and lists.n_unlabelled:
        lists = lists.labelled_only()
    return lists


def _impossible_settled(
    lists: GroupedLists, impossible: Flags, convention: Convention
) -> GroupedLists:
    """Return the lists with the impossible predictions below all others, tied, or without them."""
    if convention.impossible == "drop":
        return without_impossible(lists, impossible)
    estimated = np.where(impossible, -np.inf, lists.estimated)
    return replace(lists, estimated=estimated, impossible=None)


def without_impossible(lists: GroupedLists, impossible: Flags) -> GroupedLists:
    """Return the lists without the impossible predictions, whose labels are then unlisted."""
    extra = np.flatnonzero(impossible & ~np.isnan(lists.true))
    user = np.concatenate(
        [np.repeat(np.arange(len(lists)), lists.n_unlisted), lists.user_of_row[extra]]
    )
    order = np.argsort(user, kind="stable")
    codes = None
    if lists.item_codes is not None:
        known = lists.item_codes[:0] if lists.unlisted_codes is None else lists.unlisted_codes
        codes = np.concatenate([known, lists.item_codes[extra]])[order]
    kept = replace(
        lists.only(~impossible),
        unlisted_offsets=offsets_of(user, len(lists)),
        unlisted_true=np.concatenate([lists.unlisted_true, lists.true[extra]])[order],
        unlisted_codes=codes,
        reachable=None,
        impossible=None,
    )
    return replace(kept, missing=(kept.n_items == 0) & (kept.n_unlisted > 0))
