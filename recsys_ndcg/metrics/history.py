"""What metrics compare lists with: the user's own training items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, compute_offsets, concat_ranges, row_sums
from recsys_ndcg.background import Background, Feature, UserItems
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import quote
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.metric import Metric

#: The distances of pairs of rows of two tables.
PairDistance: TypeAlias = Callable[[Floats, Floats], Floats]
_BY_KIND = {
    "set": "jaccard",
    "category": "category",
    "number": "cosine",
    "vector": "cosine",
    "columns": "hamming",
}
_CHUNK = 1 << 22  # numbers in memory at once


def get_background(lists: GroupedLists) -> Background:
    """Return what is known besides the lists."""
    assert lists.background is not None, "checked by the plan"  # noqa: S101
    return lists.background


def list_history(lists: GroupedLists, convention: Convention) -> tuple[Positions, Positions]:
    """Return the user's position and the item of every training item of these users.

    Under ``popularity_of="rows"`` items of repeated rows are repeated.
    """
    if convention.popularity_of != "rows":
        return lists.history
    rows = get_background(lists).history_rows
    return rows.of_users(np.asarray(lists.background_users))


def sum_history(lists: GroupedLists, history: tuple[Positions, Positions], table: Floats) -> Floats:
    """Return the sum of a table's rows over each user's training items: shape (n_users, n_columns).

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    history : tuple of int64 arrays
        Users and items of `list_history`, or some of them.
    table : float64 array, shape (n_items, n_columns)
        A row for each item.
    """
    user, item = history
    sums = np.empty((len(lists), table.shape[1]))
    for number, column in enumerate(table.T):
        sums[:, number] = np.bincount(user, weights=column[item], minlength=len(lists))
    return sums


def find_missing_history(metric: Metric, lists: GroupedLists, convention: Convention) -> str:
    """Return which training items have no entry in the features, if that is an error."""
    if convention.missing_feature != "raise":
        return ""
    known = get_background(lists)
    user, item = lists.history
    is_missing = ~known.get_feature(metric.column).is_known[item]
    if not is_missing.any():
        return ""
    first = int(np.argmax(is_missing))
    names = lists.users.tolist()[user[first]], known.items.tolist()[item[first]]
    return (
        f"{metric}: {int(is_missing.sum())} training rows have items without an entry in the "
        f"features, the first user {quote(names[0])} item {quote(names[1])}. Add them, or choose "
        "missing_feature='drop' or 'zero'."
    )


def measure_distances(
    lists: GroupedLists, column: str, convention: Convention
) -> tuple[Floats, Positions]:
    """Return the mean distance of each row's item from its user's training items.

    It is NaN if the user has none, or if an item without features is left out. Also return the
    number of each user's training items that count.

    Parameters
    ----------
    lists : GroupedLists
        The lists, with what is known besides them.
    column : str
        The column of the features; "" for all columns.
    convention : Convention
        Its `distance`, `missing_feature` and `popularity_of` are read.
    """
    user, item = list_history(lists, convention)
    if convention.distance == "cooccurrence":
        counts = np.bincount(user, minlength=len(lists))
        total = _sum_cooccurrences(lists, convention)
        return _subtract(total, counts[lists.user_of_row]), counts
    feature = get_background(lists).get_feature(column)
    drops = convention.missing_feature == "drop"
    counted = feature.is_known if drops else np.ones(len(feature.is_known), dtype=bool)
    user, item = user[counted[item]], item[counted[item]]
    counts = np.bincount(user, minlength=len(lists))
    n_others = counts[lists.user_of_row]
    compare, table = _find_distance(feature, convention)
    if compare is None:
        distances = _subtract(_sum_cosines(lists, (user, item), table), n_others)
    else:
        total = _sum_pairs(lists, item, counts, compare, table)
        distances = np.where(n_others > 0, total / np.maximum(n_others, 1), np.nan)
    return np.where(counted[np.asarray(lists.item_codes)], distances, np.nan), counts


def find_distance_objection(metric: Metric, feature: Feature, convention: Convention) -> str:
    """Return why a column has no such distance; "" if it has."""
    if convention.distance not in ("cosine", "jaccard") or feature.kind != "columns":
        return ""
    return (
        f"{metric}: the features have several columns that are not all numbers, so "
        f"distance={convention.distance!r} is not defined. Name a column, such as "
        f"'{metric.name}(genres)@10'."
    )


def _subtract(similarity: Floats, n_others: Positions) -> Floats:
    """Return 1 minus the mean similarity, NaN without training items."""
    mean = similarity / np.maximum(n_others, 1)
    distance = np.maximum(1.0 - mean, 0.0)  # rounding can put a cosine just above 1
    return np.where(n_others > 0, distance, np.nan)


def _find_distance(feature: Feature, convention: Convention) -> tuple[PairDistance | None, Floats]:
    """Return a distance of pairs, None for cosine; and a row of numbers for each item."""
    rule = convention.distance
    rule = _BY_KIND[feature.kind] if rule == "by_column" else rule
    is_category = feature.kind == "category"
    table = feature.memberships if is_category else feature.vectors
    if callable(rule):
        return rule, table
    if rule == "cosine" or (rule == "category" and is_category):
        return None, table
    if rule == "jaccard":
        return _compare_sets, table
    table = feature.values.astype(np.float64).reshape(len(feature.is_known), -1)
    table = np.where(feature.is_known[:, None], table, np.nan)  # which differs from everything
    if rule == "hamming":
        return _count_differences, table
    return _are_different, table


def _compare_sets(first: Floats, second: Floats) -> Floats:
    common = ((first > 0) & (second > 0)).sum(axis=1)
    either = ((first > 0) | (second > 0)).sum(axis=1)
    return np.asarray(1.0 - common / np.maximum(either, 1))


def _count_differences(first: Floats, second: Floats) -> Floats:
    return np.asarray((first != second).sum(axis=1), dtype=np.float64)


def _are_different(first: Floats, second: Floats) -> Floats:
    return np.asarray((first != second).any(axis=1), dtype=np.float64)


def _normalise(table: Floats) -> Floats:
    """Return rows of length 1, or 0 for rows of zeros."""
    largest = np.abs(table).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(table, largest, where=largest > 0, out=np.zeros_like(table))
    norm = np.sqrt(row_sums(scaled * scaled))[:, None]
    unit: Floats = np.divide(scaled, norm, where=norm > 0, out=np.zeros_like(table))
    return unit


def _sum_cosines(
    lists: GroupedLists, history: tuple[Positions, Positions], table: Floats
) -> Floats:
    """Return the sum of each row's cosines with the user's training items: by their sum."""
    unit = _normalise(table)
    sums = sum_history(lists, history, unit)
    codes, user = np.asarray(lists.item_codes), lists.user_of_row
    total = np.zeros(len(codes))
    for rows in _split_rows(np.full(len(codes), max(table.shape[1], 1))):
        total[rows] = row_sums(unit[codes[rows]] * sums[user[rows]])
    return total


def _sum_pairs(
    lists: GroupedLists, item: Positions, counts: Positions, compare: PairDistance, table: Floats
) -> Floats:
    """Return the sum of each row's distances from the user's training items, pair by pair."""
    codes, user = np.asarray(lists.item_codes), lists.user_of_row
    first, n_others = compute_offsets(counts), counts[user]
    total = np.zeros(len(codes))
    for rows in _split_rows(n_others * max(table.shape[1], 1)):
        sizes = n_others[rows]
        pair = np.repeat(np.arange(len(sizes)), sizes)
        others = item[concat_ranges(first[user[rows]], sizes)]
        distances = np.asarray(compare(table[codes[rows][pair]], table[others]), dtype=np.float64)
        total[rows] = np.bincount(pair, weights=distances, minlength=len(sizes))
    return total


def _sum_cooccurrences(lists: GroupedLists, convention: Convention) -> Floats:
    """Return the sum of each row's cosines of training users with the user's training items.

    A user's training items are added up as a vector over the training users.
    """
    known = get_background(lists)
    history = known.history_rows if convention.popularity_of == "rows" else known.history
    assert history is not None, "checked by the plan"  # noqa: S101
    users_of, n_others = _invert(history, len(known.items)), len(known.users)
    n_users_of = np.diff(users_of.offsets)
    scale = 1.0 / np.sqrt(np.maximum(n_users_of, 1))
    owner, item = list_history(lists, convention)
    cost = n_others + np.bincount(owner, weights=n_users_of[item], minlength=len(lists))
    codes, total = np.asarray(lists.item_codes), np.zeros(len(lists.true))
    first_item = np.searchsorted(owner, np.arange(len(lists) + 1))
    for users in _split_rows(cost.astype(np.int64)):
        begin, end = first_item[users.start], first_item[users.stop]
        pair, other = users_of.of_users(item[begin:end])
        cell = (owner[begin:end][pair] - users.start) * n_others + other
        weights = scale[item[begin:end][pair]]
        sums = np.bincount(cell, weights=weights, minlength=(users.stop - users.start) * n_others)
        rows = slice(lists.offsets[users.start], lists.offsets[users.stop])
        pair, other = users_of.of_users(codes[rows].astype(np.int64))
        cell = (lists.user_of_row[rows][pair] - users.start) * n_others + other
        total[rows] = np.bincount(pair, weights=sums[cell], minlength=rows.stop - rows.start)
    return np.asarray(total * scale[codes])


def _invert(history: UserItems, n_items: int) -> UserItems:
    """Return the users of each item, in ascending order."""
    owner = np.repeat(np.arange(len(history.offsets) - 1), np.diff(history.offsets))
    order = np.argsort(history.items, kind="stable")
    return UserItems(compute_offsets(np.bincount(history.items, minlength=n_items)), owner[order])


def _split_rows(cost: Positions) -> Iterator[slice]:
    """Yield ranges of rows whose costs add up to about as many numbers as memory may hold."""
    reached = np.cumsum(cost)
    begin = 0
    while begin < len(cost):
        before = reached[begin - 1] if begin else 0
        end = max(int(np.searchsorted(reached, before + _CHUNK, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end
