"""Sums over ranks, and how far they vary over all orders of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import row_sums

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions


def weighted(table: Floats, weights: Floats) -> Floats:
    """Return the sum of a table times weights, over as many ranks as have one: shape (n_users,).

    Parameters
    ----------
    table : float64 array, shape (n_users, width)
        What stands at each rank.
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        What each rank counts.
    """
    return row_sums(table[:, : weights.shape[-1]] * weights)


def length_of_weights(weights: Floats, n_items: Positions) -> Floats:
    r"""Return the length of the centred weights of the ranks of each list, 0 past the cutoff.

    .. math:: \sqrt{\sum_{r=1}^n (w_r - \bar w)^2}

    Parameters
    ----------
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        Those of the first ranks; further ones weigh nothing.
    n_items : int64 array, shape (n_users,)
        How many ranks each list has.

    Examples
    --------
    >>> length_of_weights(np.array([1.0, 0.5]), np.array([2, 1])).round(4)
    array([0.3536, 0.    ])
    """
    if weights.ndim == 1:  # then only the length of a list makes a difference
        n_items, place = np.unique(n_items, return_inverse=True)
        return _length_of_rows(weights, n_items)[place]
    return _length_of_rows(weights, n_items)


def _length_of_rows(weights: Floats, n_items: Positions) -> Floats:
    ranks = weights.shape[-1]
    inside = np.arange(ranks) < n_items[:, None]
    table = np.where(inside, weights, 0.0)
    most = table.max(axis=1, initial=0.0)
    table = np.divide(table, most[:, None], where=most[:, None] > 0, out=np.zeros_like(table))
    mean = row_sums(table) / np.maximum(n_items, 1)
    apart = np.where(inside, table - mean[:, None], 0.0)
    beyond = np.maximum(n_items - ranks, 0)
    length: Floats = most * np.sqrt(row_sums(apart * apart) + beyond * (mean * mean))
    return length
