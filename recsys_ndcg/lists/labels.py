"""Labels of lists: as a convention counts them, and digests by which reports use the same ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Ids
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import is_encodable
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.grouping import Pairs, group_by_user
from recsys_ndcg.parallel import map_in_threads, split_users

_EXACT = 2.0**53  # smaller whole numbers are exact as floats
_LOWEST, _HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def collect_labels(lists: GroupedLists) -> Pairs:
    """Return all labels, of listed items first: user, true, and if known item and weight."""
    rows = np.flatnonzero(~np.isnan(lists.true))
    columns = {
        name: np.append(lists.columns[name][rows], lists.unlisted[name])
        for name in ("true", "item")
        if name in lists.columns
    }
    if lists.weights is not None and lists.unlisted_weights is not None:
        columns["weight"] = np.append(lists.weights[rows], lists.unlisted_weights)
    return Pairs({"user": np.append(lists.user_of_row[rows], lists.user_of_label), **columns})


def remove_impossible(lists: GroupedLists) -> GroupedLists:
    """Return lists without predictions that the model could not make; their labels are unlisted."""
    if lists.impossible is None:
        return lists
    extra = np.flatnonzero(lists.impossible & ~np.isnan(lists.true))
    columns = {
        name: np.append(known, lists.columns[name][extra])
        for name, known in lists.unlisted.items()
        if name != "reachable"
    }
    columns["user"] = np.append(lists.user_of_label, lists.user_of_row[extra])
    unlisted, offsets = group_by_user(Pairs(columns), len(lists))
    kept = lists.select_rows(~lists.impossible).with_columns(impossible=None)
    kept = replace(kept, unlisted_offsets=offsets, unlisted=unlisted.without_user)
    return replace(kept, missing=(kept.n_items == 0) & (kept.n_unlisted > 0))


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


def digest_labels(lists: GroupedLists) -> NDArray[np.uint32]:
    """Return a digest of each user's labelled items, in the list or not.

    The digest is a sum modulo 2^32 over (user, item, true), with the weight if labels have weights.
    It depends neither on the order of the rows nor on the recommendations, and digests of parts of
    the data add up to the digest of the whole. Data without items has other digests than the same
    data with items.

    Examples
    --------
    >>> from recsys_ndcg.lists import to_lists
    >>> one = to_lists([("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2)])
    >>> two = to_lists([("ann", "b", 9.0, 2), ("ann", "a", 1.0, 5)])
    >>> (digest_labels(one) == digest_labels(two)).all()
    np.True_
    """
    users = hash_ids(lists.users)
    items = np.zeros(0, dtype=np.uint64) if lists.item_ids is None else hash_ids(lists.item_ids)

    def digest_block(block: tuple[int, int]) -> NDArray[np.uint32]:
        some = lists.take(slice(*block))
        labels = collect_labels(some)
        columns: dict[str, NDArray[Any]] = {"user": users[slice(*block)][labels.user]}
        columns["true"] = labels.columns["true"] + 0.0  # -0.0 is 0.0
        if labels.item is not None:
            columns["item"] = items[labels.item]
        if "weight" in labels.columns:
            columns["weight"] = labels.columns["weight"] + 0.0
        total = np.zeros(len(some), dtype=np.uint64)
        rows = pd.util.hash_pandas_object(pd.DataFrame(columns, copy=False), index=False).to_numpy()
        np.add.at(total, labels.user, rows)
        return total.astype(np.uint32)

    blocks = split_users(lists.offsets + lists.unlisted_offsets)
    return np.concatenate(map_in_threads(digest_block, blocks))


def hash_ids(ids: Ids) -> NDArray[np.uint64]:
    """Return a hash of each id, the same in every process and array."""
    if ids.dtype.kind in "mM":
        ids = ids.astype(f"{ids.dtype.kind}8[ns]").astype(np.int64)
    if ids.dtype.kind in "ib" or (ids.dtype.kind == "u" and ids.max(initial=0) <= _HIGHEST):
        return _hash_values(ids.astype(np.int64))
    values = ids.tolist()
    is_whole = np.array([_is_whole(value) for value in values], dtype=bool)
    texts = [value if isinstance(value, str) else repr(value) for value in values]
    texts = [text if text.isascii() or is_encodable(text) else ascii(text) for text in texts]
    hashes = np.empty(len(values), dtype=np.uint64)
    hashes[is_whole] = _hash_values(np.array([int(id_) for id_ in ids[is_whole]], dtype=np.int64))
    hashes[~is_whole] = _hash_values(np.array(texts, dtype=object)[~is_whole])
    return hashes


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, as an int or as a float."""
    if isinstance(value, float):
        return abs(value) < _EXACT and value == int(value)
    return isinstance(value, int) and _LOWEST <= value <= _HIGHEST


def _hash_values(values: NDArray[Any]) -> NDArray[np.uint64]:
    return np.asarray(pd.util.hash_array(values, categorize=False), dtype=np.uint64)
