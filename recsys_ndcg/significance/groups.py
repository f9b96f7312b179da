"""Groups of users compared with all other users: p-values from permuted group labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Codes, Flags, Floats, Positions, compute_offsets, divide
from recsys_ndcg.parallel import map_in_threads, raise_if_cancelled
from recsys_ndcg.significance.exact_sums import (
    make_generator,
    to_whole_numbers,
)
from recsys_ndcg.significance.paired import ShowShare, compute_drawn_p
from recsys_ndcg.significance.paired_scores import equalise_near_ties

_ROUNDING = 1e-12  # of the largest score: a smaller difference is rounding
_OF_ALL = 40  # users that the variance of all scores counts as
_BUDGET = 100_000_000  # permuted labels: they take about a second
_CELLS = 1 << 18  # labels permuted at once


class GroupResults(NamedTuple):
    """How each group differs from the others: arrays of shape (n_groups, n_columns).

    Parameters
    ----------
    difference : float64 array
        The mean of the group minus the mean of the others.
    p, p_corrected : float64 arrays
        p-values, and those corrected for testing several groups.
    draws : int
        The number of permutations; no p-value is below 1 / (draws + 1).
    """

    difference: Floats
    p: Floats
    p_corrected: Floats
    draws: int


def compare_groups(  # noqa: PLR0913 - all are choices
    values: Any,
    codes: Any,
    n_groups: int,
    *,
    draws: int | None = None,
    seed: int = 0,
    min_users: int = 10,
    one_family: bool = False,
    show: ShowShare | None = None,
) -> GroupResults:
    r"""Test whether each group's mean differs from the mean of all other groups' users.

    If it does not matter which group a user is in, every assignment of the labels to the users is
    equally likely. The statistic of group g is

    .. math:: T_g = \frac{|\bar x_g - \bar x_{others}|}
        {\sqrt{\hat s_g^2 / n_g + \hat s_{others}^2 / n_{others}}}, \qquad
        \hat s_g^2 = \frac{(n_g - 1) s_g^2 + 40 s^2}{n_g - 1 + 40}

    with s_g the standard deviation of the group's scores, and s of all scores. p = (c + 1) /
    (draws + 1), with c the number of permutations whose T_g is at least as large; for the corrected
    p, the largest T of all groups (max-T). If groups are drawn by lot, both keep their level for
    any distribution, for example if most scores are 0. Welch's test does not: a small group in
    which no user hits has no variance.

    The variance of all scores counts as much as 40 users (a moderated t, as in Tusher et al. 2001).
    Without it, groups without a hit would have such large T that nothing else is found; with
    nothing else, groups of equal means would be found because their scores vary more or less.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_columns)
        Scores; NaN if there is none. The labels of users with a score are permuted, the same way in
        all columns.
    codes : int array, shape (n_users,)
        The group of each user, from 0; -1 for users in no group, who are left out.
    n_groups : int
        The number of groups.
    draws : int, optional
        The number of permutations. By default 9,999 for up to 10,000 users, fewer for more users
        (or eight columns and more), and never fewer than 999.
    seed : int
        The seed of the permutations.
    min_users : int
        A group with fewer scores is not tested: p is NaN. Where few scores are above 0, a single
        user's T can be so large that the correction would hide what larger groups show.
    one_family : bool
        Whether the correction is for all groups and columns together, not for each column's groups.
    show : callable, optional
        Called with the share of finished permutations.

    Returns
    -------
    GroupResults
        The difference is NaN if the group or the others have no score, and p also if the group is
        too small. Differences that are only rounding are 0. Results do not depend on threads, nor
        those of a column on other columns (if there are fewer than eight). Another order of the
        users is as if the seed were another; users of a report are in the order of their ids.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley; Tusher, Tibshirani & Chu
    (2001), doi:10.1073/pnas.091062498; Phipson & Smyth (2010), doi:10.2202/1544-6115.1585

    Examples
    --------
    Of the 70 ways to divide eight users into two halves, two are as far apart as these.

    >>> scores = np.array([[0.1], [0.2], [0.3], [0.2], [0.9], [0.8], [0.7], [0.8]])
    >>> results = compare_groups(scores, [0] * 4 + [1] * 4, 2, min_users=1)
    >>> results.difference.ravel().round(3).tolist(), results.p.ravel().round(2).tolist()
    ([-0.6, 0.6], [0.03, 0.03])
    """
    codes = np.asarray(codes)
    values, codes = np.array(values, dtype=np.float64)[codes >= 0], codes[codes >= 0]
    for column in values.T:
        equalise_near_ties(column[:, None])
    order = np.argsort(codes, kind="stable")
    n_users = len(order)
    columns = [_GroupedScores.of(one, codes[order], n_groups, min_users) for one in values[order].T]
    if draws is None:
        work = max(n_users, 1) * (1 + len(columns) // 8)  # eight sums take as long as permuting
        draws = 1000 * int(np.clip(_BUDGET // (1000 * work), 1, 10)) - 1
    size = max(1, _CELLS // max(n_users, 1))
    blocks = [(block, min(size, draws - block * size)) for block in range(-(-draws // size))]
    parts = map_in_threads(partial(_permute, columns, n_users, seed), blocks, show=show)
    counts, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    least = np.array([one.least for one in columns])
    p = np.where(np.isnan(least), np.nan, (counts.sum(axis=0) + 1) / (draws + 1))
    if one_family:
        largest = np.broadcast_to(largest.max(axis=1, initial=0.0)[:, None], largest.shape)
    both = zip(np.sort(largest, axis=0).T, least, strict=True)
    corrected = np.array([compute_drawn_p(*one) for one in both])
    difference = np.array([one.difference for one in columns])
    return GroupResults(difference.T, p.T, corrected.T, draws)


@dataclass(frozen=True, eq=False)
class _GroupedScores:
    """The scores of one column, of users sorted by group.

    Parameters
    ----------
    is_scored : bool array, shape (n_users,)
        Whether each user has a score.
    whole : float64 array, shape (n_users,)
        Scores as whole numbers of a unit, so that their sums are exact; 0 if there is none.
    squares : float64 array, shape (n_users,)
        Squared deviations from the mean, as whole numbers of another unit.
    mean, deviation, unit_of_squares : float
        Of all whole numbers; and the unit, if their deviation is 1.
    present, starts : int64 arrays, shape (n_present,)
        The groups with scores, and the place of the first score of each.
    sizes : float64 arrays, shape (2, n_present)
        The number of scores in each group and in the others; NaN if a group is not tested.
    difference, least : float64 arrays, shape (n_groups,)
        The differences of the means, and the least T that counts as large as the observed one.
    """

    is_scored: Flags
    whole: Floats
    squares: Floats
    mean: float
    deviation: float
    unit_of_squares: float
    present: Positions
    starts: Positions
    sizes: Floats
    difference: Floats
    least: Floats

    @classmethod
    def of(cls, column: Floats, codes: Codes, n_groups: int, min_users: int) -> _GroupedScores:
        """Prepare the scores for permutations."""
        is_scored = ~np.isnan(column)
        scores, sizes = column[is_scored], np.bincount(codes[is_scored], minlength=n_groups)
        present, total = np.flatnonzero(sizes), len(scores)
        count, starts = sizes[present], compute_offsets(sizes)[present]
        others = total - count
        centred = scores - (np.median(scores) if total else 0.0)  # equal scores are 0
        sums = np.add.reduceat(centred, starts)
        apart = divide(sums, count) - divide(sums.sum() - sums, others)
        apart[np.abs(apart) <= _ROUNDING * np.abs(scores).max(initial=0.0)] = 0.0
        whole = np.zeros(len(column))
        whole[is_scored] = to_whole_numbers(centred[None], alike=True)[0][0]
        mean, deviation = float(whole.sum()) / max(total, 1), np.inf
        if whole.any():
            deviation = float(whole[is_scored].std(ddof=1))
        squares = np.where(is_scored, ((whole - mean) / deviation) ** 2, 0.0)
        squares, unit = to_whole_numbers(squares[None], alike=True)
        both = np.array([count, others], dtype=np.float64)
        both[:, (count < min_users) | (others == 0)] = np.nan
        difference, least = np.full((2, n_groups), np.nan)
        difference[present] = apart
        one = cls(
            is_scored=is_scored, whole=whole, squares=squares[0], mean=mean, deviation=deviation,
            unit_of_squares=float(unit[0]), present=present, starts=starts, sizes=both,
            difference=difference, least=least,
        )  # fmt: skip
        statistics, errors = one.compute_statistics(np.flatnonzero(is_scored)[None])
        # the rounding of two sums of scores changes the means by 2 units at most
        least[present] = statistics[0] * (1 - _ROUNDING) - 2 / deviation / errors[0]
        return one

    def compute_statistics(self, orders: Positions) -> tuple[Floats, Floats]:
        """Return T of each group with scores, if groups are filled with users in these orders.

        Parameters
        ----------
        orders : int64 array, shape (n_draws, n_scored)
            The users with a score, in any order.

        Returns
        -------
        statistics, errors : float64 arrays, shape (n_draws, n_present)
            T, and its denominator in the unit of `deviation`.
        """
        count, others = self.sizes
        sums = np.add.reduceat(self.whole[orders], self.starts, axis=1)
        squares = np.add.reduceat(self.squares[orders], self.starts, axis=1)
        apart = (sums - count * self.mean) / self.deviation
        variance = np.zeros(apart.shape)
        for size, total in ((count, squares), (others, self.squares.sum() - squares)):
            rest = total * self.unit_of_squares - apart**2 / size
            variance += (np.maximum(rest, 0.0) + _OF_ALL) / (size - 1 + _OF_ALL) / size
        errors = np.sqrt(variance)
        return np.abs(apart) * (1 / count + 1 / others) / errors, errors


def _permute(
    columns: list[_GroupedScores], n_users: int, seed: int, block: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Permute the users, and return how often each T is large, and the largest T of each column.

    Parameters
    ----------
    columns : list of _GroupedScores
        The scores.
    n_users, seed : int
        The number of users, and the seed.
    block : pair of int
        The number of the block, and its number of permutations.

    Returns
    -------
    counts : float64 array, shape (1, n_columns, n_groups)
    largest : float64 array, shape (n_permutations, n_columns)
    """
    number, size = block
    orders = np.tile(np.arange(n_users), (size, 1))
    make_generator(seed, number).permuted(orders, axis=1, out=orders)
    orders_of: dict[bytes, Positions] = {}  # by who has a score
    counts, largest = [], []
    for one in columns:
        raise_if_cancelled()
        key = one.is_scored.tobytes()
        if key not in orders_of:
            orders_of[key] = orders[one.is_scored[orders]].reshape(size, -1)
        drawn, _ = one.compute_statistics(orders_of[key])
        count = np.zeros(len(one.least))
        count[one.present] = (drawn >= one.least[one.present]).sum(axis=0)
        counts.append(count)
        largest.append(np.fmax.reduce(drawn, axis=1, initial=0.0))
    return np.array([counts]), np.array(largest).T
