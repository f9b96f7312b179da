"""Scores of models compared in pairs: their differences over users, and over runs of the models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.parallel import map_in_threads

_SAME = 1e-12  # of the larger of two scores: a smaller difference is rounding
_EQUALISED_AT_ONCE = 1 << 18


class PairedScores:
    """Scores of models, and their differences by pair, summed up over the users.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_models)
        NaN where there is none. Near ties are made equal.
    pairs : int64 array, shape (n_pairs, 2)
        Which models are compared: the first minus the second.
    runs : sequence of float64 arrays, shape (n_runs, n_users), optional
        The scores of each model in its runs, whose means are `values`.

    Attributes
    ----------
    pairs : int64 array, shape (n_pairs, 2)
        The rows of `table` that each pair compares.
    table : float64 array, shape (n_models, n_users)
        The scores of the models that are in a pair, sorted by their scores, and of users who have
        both scores of any pair, in a unit that makes the largest at most 1.
    exponent : int
        The unit is 2 to this power.
    users, wins, losses : int64 arrays, shape (n_pairs,)
        Numbers of users with a score in both models, of those with a higher one in the first model,
        and of those with a lower one.
    mean, deviation, absolute, skewness : float64 arrays, shape (n_pairs,)
        Mean, standard deviation, sum of absolute values and skewness of the differences; NaN where
        there are too few users.
    mean_of_second, sd_of_second, correlation : float64 arrays, shape (n_pairs,)
        Of the second model's scores, of the same users; their correlation with the differences.
    run_variance : RunVariance
        What the runs add to the variance of each pair's mean.

    Raises
    ------
    InvalidInputError
        A score is infinite.
    """

    def __init__(self, values: Any, pairs: Any, runs: Sequence[Floats] = ()) -> None:
        values = np.asarray(values, dtype=np.float64)
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if np.isinf(values).any():
            user, model = np.argwhere(np.isinf(values))[0].tolist()
            msg = f"The score of user {user} in model {model} is {quote(values[user, model])}."
            raise InvalidInputError(msg)
        # the same draws for the same scores, whatever other models there are, and in any order
        models = sorted(np.unique(pairs).tolist(), key=lambda one: _make_sort_key(values[:, one]))
        place = np.zeros(values.shape[1], dtype=np.int64)
        place[models] = np.arange(len(models))
        self.pairs: Positions = place[pairs]
        values, runs = values[:, models], [runs[one] for one in models] if runs else ()
        self.exponent = math.frexp(float(np.nanmax(np.abs(values), initial=0.0)))[1]
        there = ~np.isnan(values)
        used = np.zeros(len(values), dtype=np.bool_)
        for first, second in self.pairs.tolist():
            used |= there[:, first] & there[:, second]
        some = values if used.all() else values[used]
        self.table: Floats = np.ascontiguousarray(np.ldexp(some, -self.exponent).T)
        equalise_near_ties(self.table)
        self.is_complete = not np.isnan(self.table).any()  # every model has a score of every user
        rows = map_in_threads(self._summarise, range(len(self.pairs)))
        columns = np.array(rows, dtype=np.float64).reshape(-1, 10).T
        self.users, self.wins, self.losses = columns[:3].astype(np.int64)
        self.mean, self.deviation, self.absolute, self.skewness = columns[3:7]
        self.mean_of_second, self.sd_of_second, self.correlation = columns[7:]
        scaled = [np.ldexp(one if used.all() else one[:, used], -self.exponent) for one in runs]
        self.run_variance = RunVariance.of(scaled, self.pairs)

    @property
    def has_difference(self) -> Flags:
        """Whether each pair has at least two users and any difference."""
        return np.asarray((self.users > 1) & (self.wins + self.losses > 0))

    @property
    def n_tested(self) -> int:
        """The number of pairs with two users or more; at least 1."""
        return max(int((self.users > 1).sum()), 1)

    @property
    def has_spread(self) -> Flags:
        """Whether the users' differences vary."""
        return np.asarray(self.has_difference & (self.deviation > 0))

    @property
    def freedom(self) -> Floats:
        """The degrees of freedom of each pair's t, at least 1."""
        least: Floats = np.maximum(self.users - 1.0, 1.0)
        return self.run_variance.combine_freedom(self.variance_over_users, least)

    @property
    def error(self) -> Floats:
        """Standard errors of the means, over the users and over the runs."""
        over_users = self.deviation / np.sqrt(np.maximum(self.users, 1))
        return np.asarray(np.hypot(over_users, np.sqrt(self.run_variance.added)))

    @property
    def smallest_p(self) -> Floats:
        """The smallest p of n users with the same difference, 2^(1 - n), as of random signs."""
        is_constant = self.has_difference & (self.deviation == 0)
        return np.where(is_constant, np.ldexp(2.0, -self.users), 0.0)

    @property
    def variance_over_users(self) -> Floats:
        """The part of the means' variance that is due to the sample of users."""
        variance: Floats = self.deviation**2 / np.maximum(self.users, 1)
        return variance

    def get_differences(self, pair: int) -> Floats:
        """Return a pair's differences for the users with a score in both."""
        apart = self.get_aligned(pair)
        return apart if self.is_complete else apart[~np.isnan(apart)]

    def get_aligned(self, pair: int, users: slice = slice(None)) -> Floats:
        """Return a pair's differences, NaN for users without one."""
        first, second = self.pairs[pair]
        return self.table[first, users] - self.table[second, users]

    def _summarise(self, pair: int) -> tuple[float, ...]:
        apart, second = self.get_differences(pair), self.table[self.pairs[pair, 1]]
        users = len(apart)
        if not users:
            return (0, 0, 0, np.nan, np.nan, 0.0, *[np.nan] * 4)
        wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
        mean, absolute = float(apart.sum() / users), float(np.abs(apart).sum())
        if not self.is_complete:
            second = second[~np.isnan(self.get_aligned(pair))]
        mean_of_second = float(second.sum() / users)
        if users == 1:
            return (users, wins, losses, mean, np.nan, absolute, np.nan, mean_of_second, 0.0, 0.0)
        deviation, scaled = _measure_deviation(apart - mean)
        of_second, other = _measure_deviation(second - mean_of_second)
        if deviation <= 2 * _SAME and self._is_constant(pair, mean):
            deviation = 0.0
        skewness = float((scaled * scaled * scaled).sum()) / users * (users / (users - 1)) ** 1.5
        correlation = float((scaled * other).sum()) / (users - 1)
        return (
            *(users, wins, losses, mean, deviation, absolute, skewness if deviation else 0.0),
            *(mean_of_second, of_second, correlation),
        )

    def _is_constant(self, pair: int, mean: float) -> bool:
        """Return whether the differences of a pair are equal but for rounding."""
        larger = np.abs(self.table[self.pairs[pair]]).max(axis=0)
        distance = np.abs(self.get_aligned(pair) - mean)
        return bool((np.isnan(distance) | (distance <= _SAME * larger)).all())


def _make_sort_key(scores: Floats) -> tuple[bytes, bytes]:
    """Return a key that depends on a model's scores alone, and seldom on the order of users."""
    in_any_unit = scores.astype(">f8")  # its bytes sort the same if scores are doubled
    return np.sort(in_any_unit).tobytes(), in_any_unit.tobytes()


def _measure_deviation(centred: Floats) -> tuple[float, Floats]:
    """Return the standard deviation of centred values, and the values in this unit."""
    largest = float(np.abs(centred).max()) or 1.0
    scaled = centred / largest
    deviation = math.sqrt(float((scaled * scaled).sum()) / (len(centred) - 1))
    return largest * deviation, scaled / (deviation or 1.0)


def equalise_near_ties(scores: Floats) -> None:
    """Make numbers of a column equal if they differ only by rounding, in place.

    Examples
    --------
    >>> scores = np.array([[0.1 + 0.2], [0.3], [0.5]])
    >>> equalise_near_ties(scores)
    >>> scores[:, 0].tolist()
    [0.3, 0.3, 0.5]
    """
    models, users = scores.shape
    step = max(1, _EQUALISED_AT_ONCE // max(models, 1))
    map_in_threads(partial(_equalise_block, scores, step), range(0, users, step))


def _equalise_block(scores: Floats, step: int, start: int) -> None:
    block = scores[:, start : start + step].T
    ranked = np.sort(block, axis=1)
    lower, upper = ranked[:, :-1], ranked[:, 1:]
    near = upper - lower <= _SAME * np.maximum(np.abs(lower), np.abs(upper))
    if not (near & (upper != lower)).any():
        return
    order = np.argsort(block, axis=1)
    first = np.zeros(ranked.shape, dtype=np.int64)
    first[:, 1:] = np.where(near, 0, np.arange(1, ranked.shape[1]))
    first = np.maximum.accumulate(first, axis=1)
    np.put_along_axis(block, order, np.take_along_axis(ranked, first, axis=1), axis=1)


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

        They are never fewer than the fewest of its parts.

        Parameters
        ----------
        variance, freedom : float64 arrays, shape (n_pairs,)
            The variance over users, and its degrees of freedom.
        """
        result = freedom.copy()
        for pair in np.flatnonzero(self.added > 0).tolist():
            terms = [(float(variance[pair]), float(freedom[pair])), *self.pairs[pair].terms]
            total = variance[pair] + self.added[pair]
            found = 1 / sum((part / total) ** 2 / own for part, own in terms)
            # what is subtracted makes the total small, and would leave less than any part has
            result[pair] = max(found, min(own for _, own in terms))
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
        if between > within * (1 + _SAME):  # a smaller excess is rounding
            added += (between - within) / runs
            terms += [(between / runs, runs - 1), (within / runs, freedom)]
    centred = means - means.mean() if len(parts) == 1 else np.zeros(0)
    return _PairOfModels(count, square**0.5, added, tuple(terms), centred)
