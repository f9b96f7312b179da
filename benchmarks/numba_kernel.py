"""A reference near the limit, which nobody needs to beat: three metrics in one compiled pass.

It needs numba, ids that are codes from 0 on, and checks only that no user has an item twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

K = 10


@njit
def score_users(user: Any, item: Any, estimated: Any, true: Any, threshold: float) -> Any:
    """Return each user's NDCG, precision and recall at 10, the exact means over ties."""
    n_users = user.max() + 1
    offsets = np.zeros(n_users + 2, np.int64)
    for code in user:
        offsets[code + 2] += 1
    offsets = np.cumsum(offsets)
    table = np.empty((len(user), 3))  # in one table, a row is one access to memory
    for row, code in enumerate(user):
        place = offsets[code + 1]
        table[place, 0], table[place, 1], table[place, 2] = estimated[row], true[row], item[row]
        offsets[code + 1] += 1
    seen = np.full(item.max() + 1, -1)
    rows, best, discount = np.empty(len(user), np.int64), np.empty(K), 1 / np.log2(np.arange(K) + 2)
    scores = np.empty((n_users, 3))
    for code in range(n_users):
        listed = table[offsets[code] : offsets[code + 1]]
        for number in listed[:, 2]:
            if seen[int(number)] == code:
                raise ValueError  # a user has an item twice
            seen[int(number)] = code
        scores[code] = _score(listed, threshold, discount, best, rows)
    return scores


@njit
def _score(listed: Any, threshold: float, discount: Any, best: Any, rows: Any) -> Any:
    """Return the scores of a list of estimates and grades; `best` and `rows` are overwritten."""
    n_best = _find_largest(listed[:, 1], best)
    ideal = ((2.0 ** best[:n_best] - 1) * discount[:n_best]).sum()
    n_best, n_rows, n_relevant = _find_largest(listed[:, 0], best), 0, 0
    for row in range(len(listed)):
        n_relevant += listed[row, 1] >= threshold
        if listed[row, 0] >= best[n_best - 1]:
            n_rows, place = n_rows + 1, n_rows
            while place > 0 and listed[rows[place - 1], 0] < listed[row, 0]:
                rows[place] = rows[place - 1]
                place -= 1
            rows[place] = row
    dcg, hits, start = 0.0, 0.0, 0
    while start < n_best:
        end, gain, relevant = start, 0.0, 0
        while end < n_rows and listed[rows[end], 0] == listed[rows[start], 0]:
            gain += 2.0 ** listed[rows[end], 1] - 1
            relevant += listed[rows[end], 1] >= threshold
            end += 1
        shown = min(end, K)
        dcg += gain / (end - start) * discount[start:shown].sum()
        hits += relevant / (end - start) * (shown - start)
        start = end
    recall = hits / n_relevant if n_relevant else np.nan
    return dcg / ideal if ideal > 0 else np.nan, hits / K, recall


@njit
def _find_largest(values: Any, best: Any) -> int:
    """Put the largest values into `best`, in descending order, and return their number."""
    n = 0
    for value in values:
        if n == K and value <= best[-1]:
            continue
        n = min(n + 1, K)
        place = n - 1
        while place > 0 and best[place - 1] < value:
            best[place] = best[place - 1]
            place -= 1
        best[place] = value
    return n
