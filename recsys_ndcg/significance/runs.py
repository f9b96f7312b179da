"""The variance between runs: the same model trained with other seeds or on other samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.parallel import map_in_threads

_SAME = 1e-12  # of the larger of two scores: a smaller difference is rounding


class _PairOfModels(NamedTuple):
    """Two models' runs: see `RunVariance`; `terms` are (part of the variance, freedom)."""

    n_runs: int = 0
    deviation: float = np.nan
    added: float = 0.0
    terms: tuple[tuple[float, float], ...] = ()
    centred_means: Floats = np.zeros(0)


@dataclass(frozen=True, eq=False)
class RunVariance:
    r"""What runs add to the variance of the mean differences of pairs of models.

    .. math:: d_{ur} = \mu + a_u + b_r + e_{ur}, \qquad
        \widehat{Var}(\bar d) = \frac{s_{users}^2}{n}
        + \frac{\max(0, s_{runs}^2 - MS_{ur} / n)}{R}

    with d_ur the difference of user u in run r of R, s_users the standard deviation of the n users'
    mean differences, s_runs that of the R runs' mean differences, and MS_ur the mean square of what
    is left, the interaction of users and runs. Its t has Satterthwaite's degrees of freedom.

    Parameters
    ----------
    count : int64 array, shape (n_pairs,)
        The number of runs of each pair; 0 if a model has only one, so that users are the only
        units. Models with equal numbers of runs are paired run by run; of others, each model has
        a variance of its own, and the smaller number counts.
    deviation : float64 array, shape (n_pairs,)
        s_runs, NaN without runs.
    added : float64 array, shape (n_pairs,)
        The second term.
    pairs : tuple
        The details of each pair.

    References
    ----------
    Satterthwaite (1946), doi:10.2307/3002019; Searle, Casella & McCulloch (1992), Variance
    Components, chapter 4

    Examples
    --------
    Two users, two models, and two runs that differ by 0.25 in the mean:

    >>> one = np.array([[0.5, 0.75], [0.25, 0.5]])
    >>> runs = RunVariance.of([one, np.zeros((2, 2))], np.array([[0, 1]]))
    >>> runs.count.tolist(), runs.deviation.round(4).tolist(), runs.added.round(4).tolist()
    ([2], [0.1768], [0.0156])
    """

    count: Positions
    deviation: Floats
    added: Floats
    pairs: tuple[_PairOfModels, ...]

    @classmethod
    def of(cls, runs: Sequence[Floats], pairs: Positions) -> RunVariance:
        """Measure the variance of pairs of models with these runs; without any, nothing is added.

        Parameters
        ----------
        runs : sequence of float64 arrays, shape (n_runs, n_users)
            The scores of each model, NaN if there is none. Users without a score in some run count
            for the means, but not here.
        pairs : int64 array, shape (n_pairs, 2)
            The models of each pair.
        """

        def measure(pair: int) -> _PairOfModels:
            return _measure_pair(*(runs[model] for model in pairs[pair])) if runs else no_runs

        no_runs = _PairOfModels()
        found = tuple(map_in_threads(measure, range(len(pairs))))
        columns = np.array([one[:3] for one in found], dtype=np.float64).reshape(-1, 3).T
        return cls(columns[0].astype(np.int64), columns[1], columns[2], found)

    def combine_freedom(self, variance: Floats, freedom: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom of the sum of both variances.

        Parameters
        ----------
        variance, freedom : float64 arrays, shape (n_pairs,)
            The variance over users, and its degrees of freedom.
        """
        result = freedom.copy()
        for pair in np.flatnonzero(self.added > 0).tolist():
            terms = [(float(variance[pair]), float(freedom[pair])), *self.pairs[pair].terms]
            total = variance[pair] + self.added[pair]
            result[pair] = 1 / sum((part / total) ** 2 / own for part, own in terms)
        return result

    def extend_rows(self, rows: Floats, variance: Floats, places: Positions) -> Floats:
        """Return rows whose inner products are the correlations over users and runs together.

        Parameters
        ----------
        rows : float64 array, shape (n_places, n)
            Rows of length 1, whose inner products are the correlations over users.
        variance : float64 array, shape (n_pairs,)
            The variance over users.
        places : int64 array, shape (n_places,)
            The pairs of these rows.
        """
        if not self.added[places].any():
            return rows
        total = variance[places] + self.added[places]
        means = [self.pairs[pair].centred_means for pair in places.tolist()]
        # pairs with equal numbers of runs share columns: their runs are the same
        sizes = sorted({len(one) for one in means})
        start = dict(zip(sizes, np.cumsum([0, *sizes]).tolist(), strict=False))
        more = np.zeros((len(rows), sum(sizes)))
        alone = np.zeros((len(rows), len(rows)))  # columns of pairs that share none
        for place, one in enumerate(means):
            length = float(np.linalg.norm(one))
            if length:
                more[place, start[len(one)] :][: len(one)] = one / length
            else:
                alone[place, place] = 1.0
        more = np.hstack([more, alone])
        shares = [np.sqrt(one / total)[:, None] for one in (variance[places], self.added[places])]
        return np.hstack([rows * shares[0], more * shares[1]])


def _measure_pair(first: Floats, second: Floats) -> _PairOfModels:
    """Measure two models' runs; nothing is added if one has a single run."""
    count = min(len(first), len(second))
    is_complete = ~(np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0))
    users = int(is_complete.sum())
    if count < 2 or users < 2:
        return _PairOfModels()
    first, second = first[:, is_complete], second[:, is_complete]
    if len(first) == len(second):
        difference = first - second
        larger = np.maximum(np.abs(first), np.abs(second))
        parts = [np.where(np.abs(difference) <= _SAME * larger, 0.0, difference)]
    else:
        parts = [first, second]
    square, added = 0.0, 0.0
    terms: list[tuple[float, float]] = []
    for part in parts:
        runs = len(part)
        means = part.mean(axis=1)
        rest = part - means[:, None] - part.mean(axis=0) + means.mean()
        freedom = (users - 1) * (runs - 1)
        between = float(np.var(means, ddof=1))
        within = float((rest * rest).sum()) / freedom / users
        square += between
        if between > within:
            added += (between - within) / runs
            terms += [(between / runs, runs - 1), (within / runs, freedom)]
    centred = means - means.mean() if len(parts) == 1 else np.zeros(0)
    return _PairOfModels(count, square**0.5, added, tuple(terms), centred)
