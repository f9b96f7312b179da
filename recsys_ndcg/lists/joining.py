"""The same (user, item) in two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.lists.grouping import offsets_of
from recsys_ndcg.lists.pairs import by_key
from recsys_ndcg.parallel import blocks_of, in_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.pairs import Pairs


def labels_of(results: Pairs, labels: Pairs, n_users: int, n_items: int) -> tuple[Floats, Pairs]:
    """Join labels to results on user and item.

    Parameters
    ----------
    results, labels : Pairs
        Grouped by user, each pair once; labels of NaN count as none.
    n_users, n_items : int
        How many there are in both.

    Returns
    -------
    true : float64 array, one per row of the results
        NaN where there is no label.
    unlisted : Pairs
        The labels that no result asked for.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.numbers["true"])))
    tables = labels, results
    offsets = [offsets_of(one.user, n_users) for one in tables]
    true, listed = np.full(len(results.user), np.nan), np.zeros(len(labels.user), dtype=bool)

    def join(users: tuple[int, int]) -> None:
        first, last = users
        (known, _), (found, _) = parts = [(edges[first], edges[last]) for edges in offsets]
        keys = [one.keys(n_items, slice(*part)) for one, part in zip(tables, parts, strict=True)]
        order, same = by_key(np.concatenate(keys) - first * n_items, (last - first) * n_items)
        label, result = known + order[:-1][same], found + order[1:][same] - len(keys[0])
        true[result] = labels.numbers["true"][label]
        listed[label] = True

    in_threads(join, blocks_of(offsets[0] + offsets[1]))
    return true, labels.take(np.flatnonzero(~listed))
