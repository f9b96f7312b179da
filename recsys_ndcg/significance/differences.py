"""Scores of models, compared in pairs: the differences of the users who have a score in both."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.parallel import in_threads

_SAME = 1e-12  # of the larger of two scores: less is the last digits of their sums
_CELLS = 1 << 18


class PairedScores:
    """Scores of models, and their differences by pair, summed up over the users.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_models)
        NaN where there is none. Near ties are made equal.
    pairs : int64 array, shape (n_pairs, 2)
        Which models are compared: the first less the second.

    Attributes
    ----------
    table : float64 array, shape (n_models, n_users)
        Of the users with a score in both models of any pair, in a unit in which the largest is at
        most 1.
    exponent : int
        The unit is two to this.
    users, wins, losses : int64 arrays, shape (n_pairs,)
        Users with a score in both models, with a higher one in the first, with a lower one.
    mean, deviation, absolute : float64 arrays, shape (n_pairs,)
        Mean, standard deviation and sum of absolute values of the differences; NaN where there are
        too few users.

    Raises
    ------
    InvalidInputError
        A score is infinite, or a pair names no models.
    """

    def __init__(self, values: Any, pairs: Any) -> None:
        values = np.asarray(values, dtype=np.float64)
        self.pairs: Positions = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        _check(values, self.pairs)
        self.exponent = math.frexp(float(np.nanmax(np.abs(values), initial=0.0)))[1]
        there = ~np.isnan(values)
        used = np.zeros(len(values), dtype=np.bool_)
        for first, second in self.pairs.tolist():
            used |= there[:, first] & there[:, second]
        some = values if used.all() else values[used]
        self.table: Floats = np.ascontiguousarray(np.ldexp(some, -self.exponent).T)
        settle(self.table)
        self.complete = not np.isnan(self.table).any()  # every model has a score of every user
        found = in_threads(self._summed_up, range(len(self.pairs)))
        columns = np.array(found, dtype=np.float64).reshape(-1, 6).T
        self.users, self.wins, self.losses = columns[:3].astype(np.int64)
        self.mean, self.deviation, self.absolute = columns[3:]

    @property
    def live(self) -> Flags:
        """Pairs with two users or more, and any difference."""
        return np.asarray((self.users > 1) & (self.wins + self.losses > 0))

    @property
    def n_tested(self) -> int:
        """How many pairs have two users or more, at least 1."""
        return max(int((self.users > 1).sum()), 1)

    @property
    def freedom(self) -> Positions:
        """The degrees of freedom of each pair's t, at least 1."""
        return np.asarray(np.maximum(self.users - 1, 1))

    @property
    def error(self) -> Floats:
        """Standard errors of the means."""
        error: Floats = self.deviation / np.sqrt(np.maximum(self.users, 1))
        return error

    def differences(self, pair: int) -> Floats:
        """Return the differences of one pair, of the users with a score in both."""
        apart = self.aligned(pair)
        return apart if self.complete else apart[~np.isnan(apart)]

    def aligned(self, pair: int, users: slice = slice(None)) -> Floats:
        """Return the differences of one pair, NaN where there is none."""
        first, second = self.pairs[pair]
        apart: Floats = self.table[first, users] - self.table[second, users]
        return apart

    def _summed_up(self, pair: int) -> tuple[float, ...]:
        apart = self.differences(pair)
        users = len(apart)
        if not users:
            return (0, 0, 0, np.nan, np.nan, 0.0)
        wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
        mean, absolute = float(apart.sum() / users), float(np.abs(apart).sum())
        if users == 1:
            return (users, wins, losses, mean, np.nan, absolute)
        centred = apart - mean
        largest = float(np.abs(centred).max()) or 1.0
        inside = centred / largest
        deviation = largest * math.sqrt(float((inside * inside).sum()) / (users - 1))
        if deviation <= 2 * _SAME and self._constant(pair, mean):
            deviation = 0.0
        return (users, wins, losses, mean, deviation, absolute)

    def _constant(self, pair: int, mean: float) -> bool:
        """Tell whether the differences of a pair differ by the last digits of scores alone."""
        larger = np.abs(self.table[self.pairs[pair]]).max(axis=0)
        off = np.abs(self.aligned(pair) - mean)
        return bool((np.isnan(off) | (off <= _SAME * larger)).all())


def _check(values: Floats, pairs: Positions) -> None:
    if values.ndim != 2:
        msg = (
            f"Scores must have a row per user and a column per model, not {values.ndim} dimensions."
        )
        raise InvalidInputError(msg)
    if np.isinf(values).any():
        user, model = (int(one[0]) for one in np.nonzero(np.isinf(values)))
        msg = f"The score of user {user} in model {model} is {shown(values[user, model])}."
        raise InvalidInputError(msg)
    outside = (pairs < 0) | (pairs >= values.shape[1])
    if outside.any() or (pairs[:, 0] == pairs[:, 1]).any():
        msg = f"Pairs must name two of the {values.shape[1]} models, not {shown(pairs)}."
        raise InvalidInputError(msg)


def settle(scores: Floats) -> None:
    """Make the numbers of each column equal that are but for their last digits, in place.

    Examples
    --------
    >>> scores = np.array([[0.1 + 0.2], [0.3], [0.5]])
    >>> settle(scores)
    >>> scores[:, 0].tolist()
    [0.3, 0.3, 0.5]
    """
    models, users = scores.shape
    step = max(1, _CELLS // max(models, 1))
    in_threads(partial(_settle_block, scores, step), range(0, users, step))


def _settle_block(scores: Floats, step: int, start: int) -> None:
    block = scores[:, start : start + step].T
    order = np.argsort(block, axis=1)
    ranked = np.take_along_axis(block, order, axis=1)
    lower, upper = ranked[:, :-1], ranked[:, 1:]
    near = upper - lower <= _SAME * np.maximum(np.abs(lower), np.abs(upper))
    if not (near & (upper != lower)).any():
        return
    first = np.zeros(ranked.shape, dtype=np.int64)
    first[:, 1:] = np.where(near, 0, np.arange(1, ranked.shape[1]))
    first = np.maximum.accumulate(first, axis=1)
    np.put_along_axis(block, order, np.take_along_axis(ranked, first, axis=1), axis=1)
