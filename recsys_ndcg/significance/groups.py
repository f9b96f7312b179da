"""Groups of users whose means are compared: permuted users, and the intervals of the means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Codes, Flags, Floats, Positions, compute_offsets
from recsys_ndcg.parallel import map_in_threads, raise_if_cancelled
from recsys_ndcg.significance.exact_sums import make_generator, to_whole_numbers
from recsys_ndcg.significance.intervals import bound_few_changes, mean_interval
from recsys_ndcg.significance.paired import ShowShare, compute_drawn_p, find_critical_rank
from recsys_ndcg.significance.paired_scores import equalise_near_ties

_ROUNDING = 1e-12  # of the largest score: a smaller difference is rounding
_SAME = 1e-6  # of T: a smaller difference is rounding, if a group's scores are nearly equal
_PRIOR = 10  # users that the variance of all groups counts as
_LEAST_P, _HALVINGS = 1e-15, 50  # p is searched between this and 1, by halving the range
_BUDGET = 100_000_000  # labels in all permutations
_CELLS = 1 << 18  # labels permuted, or contrasts computed, at once
_MANY, _BUNDLES = 1 << 13, 1 << 11  # users who are permuted in bundles; and how many bundles


class GroupResults(NamedTuple):
    """How groups differ: arrays of shape (n_contrasts, n_columns).

    There is a contrast for each group, or for each pair of groups.

    Parameters
    ----------
    difference : float64 array
        The mean of the group minus the mean of the others; of the pair's first minus its second.
    low, high : float64 arrays
        Intervals that contain all true differences at once with the probability `level`.
    p, p_corrected : float64 arrays
        p-values, and those corrected for testing several contrasts.
    by_chance : float64 array, shape (n_columns,)
        The mean absolute difference of random groups of the same sizes.
    draws : int
        The number of permutations; no p-value is below 1 / (draws + 1).
    """

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_corrected: Floats
    by_chance: Floats
    draws: int


def compare_groups(  # noqa: PLR0913 - all are choices
    values: Any,
    codes: Any,
    n_groups: int,
    *,
    scores: Any = None,
    pairwise: bool = False,
    level: float = 0.95,
    draws: int | None = None,
    seed: int = 0,
    min_users: int = 10,
    one_family: bool = False,
    show: ShowShare | None = None,
    **kinds: Any,
) -> GroupResults:
    r"""Test whether each group's mean differs from all others', or the means of each pair.

    Two tests are made, and p is the larger of their two p-values. The first is for groups that are
    alike: then every assignment of the groups to the users is equally likely. For two sides a and
    b, a group and the users of all other groups or two groups,

    .. math:: T = \frac{|\bar x_a - \bar x_b|}{\sqrt{v_a / n_a + v_b / n_b}}, \qquad
        v = \max\left(s^2, \frac{(n - 1) s^2 + 10 s_0^2}{n - 1 + 10}\right)

    with s a side's standard deviation, and s₀² the variance within all groups, which counts as
    much as ten users: else a group in which no user has a hit would have no variance. p =
    (c + 1) / (draws + 1), with c the number of permutations whose T is at least as large; for the
    corrected p, the largest T of all contrasts (max-T). If groups are drawn by lot, this test keeps
    its level for any distribution, for example if most scores are 0.

    If 8,192 users or more have a score, they are put at random into 1,500 bundles or more of equal
    size, and bundles are permuted; about as many users are permuted one by one. Every sixty
    permutations or so, the bundles are new: so they add little to the random error of p.

    The first test errs too often if a small group varies more than the others, because permuted
    groups mix both variances. The second test needs no equal variances. It computes the interval
    of the difference from the intervals of both means (MOVER, Zou & Donner 2008): from
    :math:`d - \sqrt{(\bar x_a - l_a)^2 + (u_b - \bar x_b)^2}` to
    :math:`d + \sqrt{(u_a - \bar x_a)^2 + (\bar x_b - l_b)^2}`. Its p is one minus the level of the
    interval that ends at 0. The correction is Šidák's (1967).

    Groups of ten users or more with equal means are found in at most 7 % of samples (at level 0.95)
    if scores are in [0, 1] or differences of two such scores, whatever the variances, or if their
    distribution is not very skewed. If scores have no upper bound, and a small group alone is as
    skewed as an exponential distribution, the rate is 7 % with ten users; without any bound, 11 %.
    It is higher (up to a third of samples with ten users) if few users of a small group make its
    mean, and the scores or differences of its other users are nearly, but not exactly, the same.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_columns)
        Scores; NaN if there is none. The labels of users with a score are permuted, the same way in
        all columns; from 8,192 users on, in columns in which the same users have a score.
    codes : int array, shape (n_users,)
        The group of each user, from 0; -1 for users in no group, who are left out.
    n_groups : int
        The number of groups.
    scores : float64 array, optional
        Of the same shape as `values`: the scores whose bounds are known, if `values` are these
        scores minus chance; by default the values.
    pairwise : bool
        Whether to compare all pairs of groups, in the order of `numpy.triu_indices`, instead of
        each group with all others.
    level : float
        The probability of the intervals, between 0 and 1.
    draws : int, optional
        The number of permutations. By default 9,999 for up to 10,000 users, fewer for more users
        (or eight columns and more), and never fewer than 999.
    seed : int
        The seed of the permutations.
    min_users : int
        A contrast of which one side has fewer scores is not tested: p is NaN. Where few scores are
        above 0, a single user's T can be so large that the correction would hide what larger groups
        show. A group of one user has only the first test: nothing shows how its scores vary.
    one_family : bool
        Whether the correction is for all columns together, not for each column's contrasts.
    show : callable, optional
        Called with the share of finished permutations.
    **kinds
        bounded, nonnegative, as in `mean_interval`, and both_bounded: whether values are
        differences of two scores in [0, 1] (`bound_few_changes`). One for all columns, or for each.

    Returns
    -------
    GroupResults
        The difference is NaN if a side has no score, and the rest also if one has too few, or no
        group has two users. Differences that are only rounding are 0. Results do not depend on
        threads, nor those of a column on other columns (if there are fewer than eight). Another
        order of the users is as if the seed were another; users of a report are in the order of
        their ids.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley; Smyth (2004),
    doi:10.2202/1544-6115.1027; Zou & Donner (2008), doi:10.1002/sim.3095; Šidák (1967),
    doi:10.1080/01621459.1967.10482935; Phipson & Smyth (2010), doi:10.2202/1544-6115.1585

    Examples
    --------
    Of the 70 ways to divide eight users into two halves, two are as far apart as these.

    >>> scores = np.array([[0.1], [0.2], [0.3], [0.2], [0.9], [0.8], [0.7], [0.8]])
    >>> results = compare_groups(scores, [0] * 4 + [1] * 4, 2, min_users=1)
    >>> results.difference.ravel().round(3).tolist(), results.p.ravel().round(2).tolist()
    ([-0.6, 0.6], [0.03, 0.03])
    """
    codes = np.asarray(codes)
    order = np.argsort(codes, kind="stable")[(codes < 0).sum() :]
    scores = values if scores is None else scores
    values, scores = (np.array(one, dtype=np.float64)[order] for one in (values, scores))
    for column in values.T:
        equalise_near_ties(column[:, None])
    n_users = len(order)
    each = np.arange(n_groups)
    contrasts = np.triu_indices(n_groups, 1) if pairwise else (each, each + n_groups)
    how: dict[str, Any] = {"n_groups": n_groups, "contrasts": contrasts}
    how |= {"codes": codes[order], "min_users": min_users}
    flags = {name: np.broadcast_to(one, values.shape[1]) for name, one in kinds.items()}
    columns = [
        _GroupedScores.of(one, scores[:, n], **how, **{name: flags[name][n] for name in flags})
        for n, one in enumerate(values.T)
    ]
    if draws is None:
        work = max(n_users, 1) * (1 + len(columns) // 8)  # eight sums take as long as permuting
        draws = 1000 * int(np.clip(_BUDGET // (1000 * work), 1, 10)) - 1
    bundle, n_bundles = _count_bundles(np.bincount(how["codes"], minlength=n_groups))
    n_units = n_users - (bundle - 1) * int(n_bundles.sum())
    size = max(1, _CELLS // max(n_units, len(contrasts[0]), 1))
    blocks = [(block, min(size, draws - block * size)) for block in range(-(-draws // size))]
    parts = map_in_threads(partial(_permute, columns, n_users, seed), blocks, show=show)
    counts, largest, apart = (np.concatenate(part) for part in zip(*parts, strict=True))
    if one_family:
        largest = np.broadcast_to(largest.max(axis=1, initial=0.0)[:, None], largest.shape)
    table = np.full((5, len(columns), len(contrasts[0])), np.nan)
    for place, one in enumerate(columns):
        family = columns if one_family else [one]
        share = (counts[:, place, one.tested].sum(axis=0) + 1) / (draws + 1)
        how = {"level": level, "n_tests": sum(each.n_tests for each in family)}
        table[0, place] = one.difference
        table[1:, place, one.tested] = one.find_results(share, np.sort(largest[:, place]), **how)
    by_chance = [one.scale * np.mean(apart[:, place]) for place, one in enumerate(columns)]
    difference, low, high, p, p_corrected = table.transpose(0, 2, 1)
    return GroupResults(difference, low, high, p, p_corrected, np.array(by_chance), draws)


@dataclass(frozen=True, eq=False)
class _GroupedScores:
    """The scores of one column, of users sorted by group.

    There are two sides for each group, with scores or not: the group, and after all groups the
    users of all others.

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
    scale : float
        The deviation of the scores.
    offsets : int64 array, shape (n_groups + 1,)
        The place of the first score of each group.
    freedom : int
        The number of scores minus the number of groups that have some, at least 1.
    sizes, places : float64 arrays, shape (2 * n_groups,)
        The number of scores of each side, at least 1, and the mean of `scores`.
    kinds : dict
        Which bounds scores have, as in `mean_interval`.
    changes : float64 array, shape (2, 2, 2 * n_groups)
        Of each side, the means of the parts of differences above and below 0, and the shares of
        users who have these; empty if values are not differences of two scores in [0, 1].
    difference : float64 array, shape (n_contrasts,)
        The differences of the means.
    tested : int64 array, shape (n_tested,)
        The contrasts that are tested.
    sides : pair of int64 arrays, shape (n_tested,)
        Both sides of each of these.
    n_tests : int
        Their number, but two groups that are compared with each other are one test.
    """

    is_scored: Flags
    whole: Floats
    squares: Floats
    mean: float
    deviation: float
    unit_of_squares: float
    scale: float
    offsets: Positions
    freedom: int
    sizes: Floats
    places: Floats
    kinds: dict[str, Any]
    changes: Floats
    difference: Floats
    tested: Positions
    sides: tuple[Positions, Positions]
    n_tests: int

    @classmethod
    def of(  # noqa: PLR0913 - all are inputs
        cls,
        column: Floats,
        scores: Floats,
        codes: Codes,
        *,
        n_groups: int,
        contrasts: tuple[Positions, Positions],
        min_users: int,
        both_bounded: Any = False,
        **kinds: Any,
    ) -> _GroupedScores:
        """Prepare the scores for permutations."""
        is_scored = ~np.isnan(column)
        values, scores, codes = column[is_scored], scores[is_scored], codes[is_scored]
        counts, total = np.bincount(codes, minlength=n_groups), len(values)
        sizes, n_present = np.append(counts, total - counts), int((counts > 0).sum())
        centred = values - (np.median(values) if total else 0.0)  # equal scores are 0
        parts = np.clip([values, -values], 0.0, 1.0) if both_bounded else np.zeros((0, total))
        means, places, *changes = (
            _sum_sides(np.bincount(codes, one, n_groups), one.sum()) / np.maximum(sizes, 1)
            for one in (centred, scores, *parts, *np.sign(parts))
        )
        difference = means[contrasts[0]] - means[contrasts[1]]
        difference[np.abs(difference) <= _ROUNDING * np.abs(values).max(initial=0.0)] = 0.0
        smaller = sizes[np.array(contrasts)].min(axis=0)
        difference[smaller == 0] = np.nan
        tested = np.flatnonzero((smaller >= max(min_users, 1)) & (total > n_present))
        whole, (unit,) = to_whole_numbers(centred[None], alike=True)
        mean = float(whole.sum()) / max(total, 1)
        deviation = float(whole.std(ddof=1)) if whole.any() else np.inf
        squares = to_whole_numbers(((whole - mean) / deviation) ** 2, alike=True)
        spread = np.zeros((2, len(column)))
        spread[:, is_scored] = whole[0], squares[0][0]
        return cls(
            is_scored=is_scored, whole=spread[0], squares=spread[1], mean=mean, deviation=deviation,
            unit_of_squares=float(squares[1][0]), scale=deviation * unit if whole.any() else 0.0,
            offsets=compute_offsets(counts), freedom=max(total - n_present, 1),
            sizes=np.maximum(sizes, 1.0), places=places, kinds=kinds,
            changes=np.reshape(changes, (-1, 2, 2 * n_groups)),
            difference=difference, tested=tested,
            sides=(contrasts[0][tested], contrasts[1][tested]),
            n_tests=min(len(tested), n_present * (n_present - 1) // 2),
        )  # fmt: skip

    def fill(self, orders: Positions) -> list[_Units]:
        """Fill the groups with the users who have a score, one by one.

        Parameters
        ----------
        orders : int64 array, shape (n_draws, n_users)
            All users in some orders.
        """
        orders = orders[self.is_scored[orders]].reshape(len(orders), -1)
        return [_Units(np.arange(len(self.is_scored))[:, None], orders, self.offsets)]

    def fill_by_bundles(
        self, users: Positions, size: int, generator: np.random.Generator
    ) -> list[_Units]:
        """Fill the groups with permuted bundles, and with permuted users where no bundle fits.

        Parameters
        ----------
        users : int64 array, shape (n_users,)
            All users in random order.
        size : int
            The number of permutations.
        generator : numpy.random.Generator
            A copy, in the same state for every column.
        """
        users, units = users[self.is_scored[users]], []
        counts = np.diff(self.offsets)
        bundle, n_bundles = _count_bundles(counts)
        for members, per_group in (bundle, n_bundles), (1, counts - bundle * n_bundles):
            orders = np.tile(np.arange(per_group.sum()), (size, 1))
            generator.permuted(orders, axis=1, out=orders)
            mine, users = np.split(users, [members * per_group.sum()])
            units.append(_Units(mine.reshape(-1, members), orders, compute_offsets(per_group)))
        return units

    def measure_sides(self, units: Sequence[_Units]) -> tuple[Floats, Floats]:
        """Return each side's mean, and the sum of its squared deviations, if users are exchanged.

        Parameters
        ----------
        units : sequence of _Units
            Each user with a score is in one of them.

        Returns
        -------
        means, squares : float64 arrays, shape (n_draws, 2 * n_groups)
            In the units of `deviation`.
        """
        tables = self.whole, self.squares
        sums, squares = (sum(one.sum_sides(values) for one in units) for values in tables)
        means = (sums / self.sizes - self.mean) / self.deviation
        squares = squares * self.unit_of_squares - means**2 * self.sizes
        return means, np.where(squares > 4 * self.unit_of_squares * self.sizes, squares, 0.0)

    def compute_statistics(self, means: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Return the numerator and the denominator of each T, of shape (n_draws, n_tested)."""
        within = squares[:, : len(self.offsets) - 1].sum(axis=1, keepdims=True) / self.freedom
        moderated = (_PRIOR * within + squares) / (_PRIOR + self.sizes - 1)
        variance = np.maximum(squares / np.maximum(self.sizes - 1, 1), moderated) / self.sizes
        one, other = self.sides
        apart = np.abs(means[:, one] - means[:, other])
        apart[apart <= _ROUNDING] = 0.0
        return apart, np.sqrt(variance[:, one] + variance[:, other])

    @cached_property
    def _sides_as_given(self) -> tuple[Floats, Floats]:
        return self.measure_sides(self.fill(np.arange(len(self.is_scored))[None]))

    @cached_property
    def observed(self) -> tuple[Floats, Floats]:
        """The least T that counts as large as the observed one, and its denominator."""
        apart, errors = self.compute_statistics(*self._sides_as_given)
        apart = np.where(self.difference[self.tested] == 0, 0.0, apart)
        # the rounding of two sums of scores changes the means by 2 units at most
        least = _divide_errors(np.maximum(apart - 2 / self.deviation, 0.0), errors)
        return least[0] * (1 - _SAME), errors[0]

    def find_results(
        self, p: Floats, largest: Floats, level: float, n_tests: int
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the intervals, p and the corrected p of the tested contrasts.

        Parameters
        ----------
        p : float64 array, shape (n_tested,)
            From the permutations.
        largest : float64 array, shape (n_draws,)
            The largest T of each permutation, in ascending order.
        level : float
            As in `compare_groups`.
        n_tests : int
            The number of tests of the family.
        """
        least, errors = self.observed
        difference, by_intervals = self.difference[self.tested], self._test_by_intervals()
        corrected = np.maximum(1 - (1 - by_intervals) ** n_tests, by_intervals)  # rounding
        p, p_corrected = np.maximum([p, compute_drawn_p(largest, least)], [by_intervals, corrected])
        below, above = self._measure_intervals(level ** (1 / max(n_tests, 1)))
        low, high = difference - below, difference + above
        rank = find_critical_rank(len(largest), round(1 - level, 12))
        critical = np.append(largest, np.inf)[rank]
        half = np.where(errors > 0, errors * self.scale, np.isinf(critical)) * critical
        low, high = np.minimum(low, difference - half), np.maximum(high, difference + half)
        return low, high, p, p_corrected

    def _test_by_intervals(self) -> Floats:
        """Return p: one minus the level of the interval that has an end at 0."""
        difference = self.difference[self.tested]
        least, most = np.full((2, len(difference)), [[math.log(_LEAST_P)], [0.0]])
        for _ in range(_HALVINGS):
            middle = (least + most) / 2
            below, above = self._measure_intervals(-np.expm1(middle))
            has_zero = np.abs(difference) <= np.where(difference > 0, below, above)
            least, most = np.where(has_zero, middle, least), np.where(has_zero, most, middle)
        p: Floats = np.exp(most)
        return p

    def _measure_intervals(self, level: Any) -> tuple[Floats, Floats]:
        """Return how far the intervals of the differences reach to both sides (MOVER).

        Each contrast may have its own level.
        """
        distances = []
        for side in self.sides:
            size, place = self.sizes[side], self.places[side]
            low, high = mean_interval(size, place, self.lengths[side], level, **self.kinds)
            if len(self.changes):
                means, shares = self.changes[:, :, side]
                least, most = bound_few_changes(size, np.rint(shares * size), means, level)
                low, high = np.fmin(low, least), np.fmax(high, most)
            distances.append(np.nan_to_num(np.abs(np.array([low, high]) - place)))
        (below, above), (other_below, other_above) = distances
        return np.hypot(below, other_above), np.hypot(above, other_below)

    @cached_property
    def lengths(self) -> Floats:
        """The root of the sum of squared deviations of each side; 0 if its mean is a bound."""
        _, squares = self._sides_as_given
        is_end = np.abs(self.places - 0.5) >= 0.5 - _ROUNDING
        is_end &= self.kinds.get("bounded", False)
        return np.where(is_end, 0.0, np.sqrt(squares[0]) * self.scale)


def _count_bundles(counts: Positions) -> tuple[int, Positions]:
    """Return how many users are permuted together, and how many bundles of these each group has.

    About as many users as there are bundles stay single, of each group its share.

    Parameters
    ----------
    counts : int64 array, shape (n_groups,)
        The number of users of each group.
    """
    n_users = int(counts.sum())
    bundle = n_users // _BUNDLES if n_users >= _MANY else 1
    return bundle, (counts - counts // bundle) // bundle


class _Units(NamedTuple):
    """Bundles of equally many users, or single ones, and the orders in which they fill the groups.

    Parameters
    ----------
    users : int64 array, shape (n_units, n_members)
        The users of each bundle.
    orders : int64 array, shape (n_draws, n_filled)
        For each draw, rows of `users`.
    offsets : int64 array, shape (n_groups + 1,)
        The place of the first bundle of each group in `orders`.
    """

    users: Positions
    orders: Positions
    offsets: Positions

    def sum_sides(self, values: Floats) -> Floats:
        """Return the sums of whole numbers by side, of shape (n_draws, 2 * n_groups)."""
        drawn = values[self.users].sum(axis=1)[self.orders]
        present = np.flatnonzero(np.diff(self.offsets))
        sums = np.zeros((len(drawn), len(self.offsets) - 1))
        sums[:, present] = np.add.reduceat(drawn, self.offsets[present], axis=1)
        return _sum_sides(sums, sums.sum(axis=1, keepdims=True))


def _sum_sides(groups: Any, total: Any) -> Floats:
    """Return the sums of groups, and of all others."""
    return np.concatenate([groups, total - groups], axis=-1)


def _divide_errors(apart: Floats, errors: Floats) -> Floats:
    """Return T: 0 for 0/0, infinite if only the error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart == 0, 0.0, apart / errors)


def _permute(
    columns: list[_GroupedScores], n_users: int, seed: int, block: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    """Permute the users.

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
    counts : float64 array, shape (1, n_columns, n_contrasts)
        How often each T is large.
    largest, apart : float64 arrays, shape (n_permutations, n_columns)
        The largest T of each column, and the mean of the numerators.
    """
    number, size = block
    is_many = n_users >= _MANY
    generator = make_generator(seed, number)
    orders = np.tile(np.arange(n_users), (1 if is_many else size, 1))
    generator.permuted(orders, axis=1, out=orders)
    units_of: dict[bytes, list[_Units]] = {}  # by who has a score
    counts = np.zeros((1, len(columns), max((len(one.difference) for one in columns), default=0)))
    largest, mean = np.zeros((2, size, len(columns)))
    for place, one in enumerate(columns):
        raise_if_cancelled()
        key = one.is_scored.tobytes()
        if key not in units_of:
            units_of[key] = (
                one.fill_by_bundles(orders[0], size, deepcopy(generator))
                if is_many
                else one.fill(orders)
            )
        apart, errors = one.compute_statistics(*one.measure_sides(units_of[key]))
        drawn = _divide_errors(apart, errors)
        counts[0, place, one.tested] = (drawn >= one.observed[0]).sum(axis=0)
        largest[:, place] = drawn.max(axis=1, initial=0.0)
        mean[:, place] = apart.mean(axis=1) if len(one.tested) else np.nan
    return counts, largest, mean
