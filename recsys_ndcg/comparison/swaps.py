"""The randomisation test of numbers of all lists together: users' lists are swapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from recsys_ndcg.arrays import Flags
from recsys_ndcg.ranking import Exposures, ItemTotals
from recsys_ndcg.significance import (
    PairResults,
    Testing,
    compute_drawn_p,
    count_draws,
    list_changes,
)

_CHUNK = 64  # draws at a time


def run_swap_test(  # noqa: PLR0913 - all are inputs
    results: PairResults,
    exposures: Sequence[Exposures],
    *,
    pairs: Sequence[tuple[int, int]],
    value: Callable[[ItemTotals], float],
    how: Testing,
    show: Callable[[float], None],
) -> PairResults:
    """Return results with the p-values of random swaps of each user's two lists.

    If two models do not differ, each user could as well have had the other's list: the observed
    difference is compared with the differences after swapping the lists of random users. The
    differences and intervals of `results` do not change.

    Parameters
    ----------
    results : PairResults
        The differences and the standard errors of the pairs, of which more is better.
    exposures : sequence of Exposures
        The lists of each model, of the same users.
    pairs : sequence of pair of int
        The models of each pair.
    value : callable
        Returns the number of some sums, of which more is better.
    how : Testing
        The correction, the level, the number of draws and the seed.
    show : callable
        Called with the share of finished draws.

    Notes
    -----
    All pairs have the same draws, so that the largest standardised difference of all corrects for
    testing several pairs (max-T), as in `compare_pairs`.

    References
    ----------
    Fisher (1935), The Design of Experiments; Smucker, Allan & Carterette (2007),
    doi:10.1145/1321440.1321528
    """
    n_users = exposures[0].n_users
    one_for_all = Exposures.concat(list(exposures))  # with the same items
    parts = [
        one_for_all.take(slice(place * n_users, (place + 1) * n_users))
        for place in range(len(exposures))
    ]
    error = np.where(results.standard_error > 0, results.standard_error, 1.0)
    draws = count_draws(how, n_users)
    drawn = np.empty((draws, len(pairs)))
    for column, (a, b) in enumerate(pairs):
        rng = np.random.default_rng(how.seed)  # the same swaps for every pair
        swap = _SwappedLists(parts[a], parts[b])
        for first in range(0, draws, _CHUNK):
            if draws < how.n_draws:
                flags = list_changes(n_users)[first : first + _CHUNK]
            else:
                flags = rng.random((min(_CHUNK, draws - first), n_users)) < 0.5
            drawn[first : first + _CHUNK, column] = [
                value(mine) - value(theirs) for mine, theirs in swap.draw(flags)
            ]
            show((column + first / draws) / len(pairs))
    observed, standard = np.abs(results.difference) / error, np.abs(drawn) / error
    limit = observed - 1e-9 * np.maximum(observed, 1.0)  # sums differ in their last digits
    p = ((standard >= limit).sum(axis=0) + 1) / (draws + 1)
    p = np.where(np.isnan(results.p), np.nan, p)
    if how.corrected_by.function:
        corrected = how.corrected_by.correct(p)
    else:
        corrected = np.maximum(p, compute_drawn_p(np.sort(standard.max(axis=1)), limit))
    return replace(results, p=p, p_corrected=corrected)


class _SwappedLists:
    """The sums by item of two models after swapping the lists of some users."""

    def __init__(self, mine: Exposures, theirs: Exposures) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - scipy takes longer than pandas

        self._sums = mine.sum(), theirs.sum()
        self._rows = {}
        for name in self._sums[0].sums:
            matrices = [
                csr_array(
                    (one.list_terms(name), one.item, one.offsets),
                    shape=(one.n_users, len(one.item_ids)),
                )
                for one in (mine, theirs)
            ]
            self._rows[name] = (matrices[1] - matrices[0]).T.tocsr()
        users = [one.list_user_columns() for one in (mine, theirs)]
        self._users = {name: users[1][name] - users[0][name] for name in users[0]}

    def draw(self, flags: Flags) -> list[tuple[ItemTotals, ItemTotals]]:
        """Return both models' sums for each row of flags: whether each user's lists are swapped."""
        swaps = flags.astype(np.float64)
        moved = {name: (matrix @ swaps.T).T for name, matrix in self._rows.items()}
        users = {name: swaps @ column for name, column in self._users.items()}
        mine, theirs = self._sums
        drawn = []
        for row in range(len(swaps)):
            step = replace(
                mine,
                sums={name: one[row] for name, one in moved.items()},
                users={name: float(one[row]) for name, one in users.items()},
            )
            drawn.append((mine + step, theirs - step))
        return drawn
