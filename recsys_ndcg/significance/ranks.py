"""Intervals of ranks, and letters, from the tests of all pairs of models."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Flags, Positions

_MANY = 512  # columns of letters; there can be 3^(n/3) of them


def find_rank_intervals(
    n_models: int, pairs: Positions, better: Any
) -> tuple[Positions, Positions]:
    """Return each model's interval of ranks, from the pairs that are significantly different.

    If the correction bounds the chance of any false finding, all intervals are right at once with
    confidence 1 - alpha.

    Parameters
    ----------
    n_models : int
        Number of models.
    pairs : int64 array, shape (n_pairs, 2)
        The compared models.
    better : int array, shape (n_pairs,)
        1 if the first is significantly better than the second, -1 if it is worse, else 0.

    Returns
    -------
    low, high : int64 arrays, shape (n_models,)
        The first and the last rank, from 1 on.

    References
    ----------
    Mogstad, Romano, Shaikh & Wilhelm (2024), doi:10.1093/restud/rdad006

    Examples
    --------
    Of three models, the first is significantly better than the last.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> low, high = find_rank_intervals(3, pairs, [0, 1, 0])
    >>> low.tolist(), high.tolist()
    ([1, 1, 2], [2, 3, 3])
    """
    pairs, better = np.asarray(pairs, dtype=np.int64).reshape(-1, 2), np.asarray(better)
    winners = np.where(better > 0, pairs[:, 0], pairs[:, 1])[better != 0]
    losers = np.where(better > 0, pairs[:, 1], pairs[:, 0])[better != 0]
    low = 1 + np.bincount(losers, minlength=n_models)
    high = n_models - np.bincount(winners, minlength=n_models)
    return low, high


def assign_letters(
    n_models: int, pairs: Positions, different: Flags, order: Sequence[int]
) -> list[str]:
    """Return letters for each model: two share one if they are not significantly different.

    Parameters
    ----------
    n_models : int
        Number of models.
    pairs : int64 array, shape (n_pairs, 2)
        The compared models.
    different : bool array, shape (n_pairs,)
        Whether each pair is significantly different.
    order : sequence of int
        All models; the first gets an a. After z come A to Z, then (53), (54), ...

    References
    ----------
    Piepho (2004), doi:10.1198/1061860043515

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> assign_letters(3, pairs, np.array([False, True, False]), [0, 1, 2])
    ['a', 'ab', 'b']
    """
    place = np.empty(n_models, dtype=np.int64)
    place[np.asarray(order, dtype=np.int64)] = np.arange(n_models)
    apart = [0] * n_models
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    for first, second in place[pairs[np.asarray(different, dtype=np.bool_)]].tolist():
        apart[first] |= 1 << second
        apart[second] |= 1 << first
    columns = _sweep(_insert_and_absorb(apart), n_models)
    columns.sort(key=lambda column: _list_members(column, n_models))
    numbered = (f"({number})" for number in range(len(ascii_letters) + 1, len(columns) + 1))
    signs = [*ascii_letters, *numbered]
    return [
        "".join(sign for sign, column in zip(signs, columns, strict=False) if column >> model & 1)
        for model in place.tolist()
    ]


def _list_members(column: int, n_models: int) -> list[int]:
    return [one for one in range(n_models) if column >> one & 1]


def _insert_and_absorb(apart: list[int]) -> list[int]:
    """Return all largest sets of models of which no two are different, as bits (insert, absorb)."""
    columns = [(1 << len(apart)) - 1]
    for first in range(len(apart)):
        for second in _list_members(apart[first] >> first << first, len(apart)):
            both = 1 << first | 1 << second
            split = [one for one in columns if one & both == both]
            kept = [one for one in columns if one & both != both]
            halves = {one & ~(1 << out) for one in split for out in (first, second)}
            columns = kept + _absorb(halves, kept)
            if len(columns) > _MANY:
                return _grow_sets(apart)
    return columns


def _absorb(halves: set[int], kept: list[int]) -> list[int]:
    """Return the sets that are not subsets of others."""
    largest: list[int] = []
    for half in sorted(halves, key=lambda column: (-column.bit_count(), column)):
        if not any(half & other == half for other in (*kept, *largest)):
            largest.append(half)
    return largest


def _grow_sets(apart: list[int]) -> list[int]:
    """Return sets that cover all pairs of models that are not different, each grown from a pair."""
    n_models = len(apart)
    open_ = [~one & ((1 << n_models) - 1) for one in apart]
    columns = []
    for first in range(n_models):
        while open_[first] >> first:
            column, out = 0, apart[first]
            wanted = [*_list_members(open_[first] >> first << first, n_models), *range(n_models)]
            for one in [first, *wanted]:
                if not out >> one & 1:
                    column |= 1 << one
                    out |= apart[one]
            for one in _list_members(column, n_models):
                open_[one] &= ~column
            columns.append(column)
    return columns


def _sweep(columns: list[int], n_models: int) -> list[int]:
    """Remove what other sets cover too: whole sets first, then single models."""
    for one in sorted(columns, key=lambda column: (column.bit_count(), -column)):
        others = [other for other in columns if other != one]
        if all(_is_redundant(one, model, others) for model in _list_members(one, n_models)):
            columns = others
    for place, column in enumerate(columns):
        for model in reversed(_list_members(column, n_models)):
            others = columns[:place] + columns[place + 1 :]
            if _is_redundant(columns[place], model, others):
                columns[place] &= ~(1 << model)
    return columns


def _is_redundant(column: int, model: int, others: list[int]) -> bool:
    """Return whether other sets cover the model's pairs with all models of this set."""
    union = 0
    for other in others:
        if other >> model & 1:
            union |= other
    return union & column == column
