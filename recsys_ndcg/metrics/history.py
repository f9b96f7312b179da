"""The user's own training items, which some metrics compare lists with."""

from __future__ import annotations

from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists


def list_history(lists: GroupedLists, convention: Convention) -> tuple[Positions, Positions]:
    """Return the user's position and the item of every training item of these users.

    Under ``popularity_of="rows"`` items of repeated rows are repeated.
    """
    if convention.popularity_of != "rows":
        return lists.history
    return lists.get_background().history_rows.of_users(np.asarray(lists.background_users))


def sum_history(lists: GroupedLists, convention: Convention, table: Floats) -> Floats:
    """Return the sum of a table's rows over each user's training items: shape (n_users, n_columns).

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    convention : Convention
        Its `popularity_of` is read.
    table : float64 array, shape (n_items, n_columns)
        A row for each item.
    """
    user, item = list_history(lists, convention)
    return sum_rows(table, item, user, len(lists))


def sum_rows(
    table: Floats, row: Positions, user: Positions, n_users: int, weights: Any = 1.0
) -> Floats:
    """Return the sum of weighted rows of a table for each user: shape (n_users, n_columns).

    Examples
    --------
    >>> sum_rows(np.array([[1.0], [2.0]]), np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    array([[3.],
           [2.]])
    """
    sums = np.empty((n_users, table.shape[1]))
    for number, column in enumerate(table.T):
        sums[:, number] = np.bincount(user, weights * column[row], n_users)
    return sums


def list_seen_candidates(lists: GroupedLists) -> tuple[Positions, Positions]:
    """Return user and item of the training items that could be recommended."""
    owner, item = lists.history
    kept = np.asarray(lists.get_background().is_candidate)[item]
    return owner[kept], item[kept]
