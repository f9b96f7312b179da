"""Compare pairs of models on the users who have a score in both.

The tests are Student's t, random signs, resampled users, ranks, and signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, ReadOnlyArrays, concat_along, take_along
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.significance import student
from recsys_ndcg.significance.effects import (
    draw_probabilities,
    exclude_zero,
    find_relative_intervals,
    measure_effects,
)
from recsys_ndcg.significance.exact_sums import (
    PairColumns,
    compute_correlation_rows,
    draw_sums,
    sum_with_all_signs,
    to_whole_numbers,
)
from recsys_ndcg.significance.paired_scores import PairedScores, equalise_near_ties
from recsys_ndcg.significance.testing import CORRECTIONS, Testing

ShowShare = Callable[[float], None]

_POWER = 0.8
_SAME = 1e-12  # of the sum of absolute differences: sums that differ by less are equal
_CELLS = 1 << 21
_PRODUCTS = 10**10  # multiplications of all draws of the largest t
_FEWEST = 10_000  # draws of it, however many multiplications each takes
_EXACT = 50  # differences: with more, the sum of ranks is close to normal


@dataclass(frozen=True, eq=False)
class PairResults(ReadOnlyArrays):
    """The difference of each pair of models, with its tests: arrays of shape (n_pairs,).

    Parameters
    ----------
    users : int64 array
        Users with a score in both.
    difference, low, high : float64 arrays
        The mean of the first model's score minus the second's, over these users, and its interval;
        without an interval if all differences are the same.
    standard_error, freedom : float64 arrays
        The standard error of the difference, and its degrees of freedom.
    statistic : float64 array
        The difference over its standard error; or the sum of the ranks of wins, or the wins.
    sd_difference, skewness : float64 arrays
        The standard deviation and the skewness of the users' differences.
    runs : int64 array
        The number of runs whose variation the standard error has, too; 0 if it is over users only.
    sd_runs : float64 array
        The standard deviation of the runs' mean differences, NaN without runs.
    d_z, d_z_error, d_z_low, d_z_high : float64 arrays
        d_z = difference / sd_difference (Cohen 1988), its standard error and its interval, for one
        pair alone. It is infinite if all differences are the same, NaN if all are 0.
    relative, relative_low, relative_high : float64 arrays
        The difference over the mean of the second model, and its interval: see
        `find_relative_intervals`.
    wins, ties, losses : int64 arrays
        Users whose score is higher in the first model, the same, lower.
    p, p_corrected : float64 arrays
        p-values, and those corrected for testing all pairs.
    detectable : float64 array
        The smallest true difference that is found with 80 % power, or an upper bound for
        stepwise corrections; NaN for tests of ranks and signs, and if no user differs.
    p_not_worse, p_not_better, p_equivalent : float64 arrays
        Corrected p-values of the hypotheses that the first model is worse by the margin or more,
        or better by it, and the larger of the two (Schuirmann 1987); NaN without a margin.
    probability_worse, probability_equivalent, probability_better : float64 arrays
        The probabilities that the first model is worse by the margin or more, better by it, or
        neither (`draw_probabilities`); NaN without a margin, and if no user differs.
    direction : float64 array
        1 if the test favours the first model, -1 for the second: by the mean, or by the ranks or
        signs, whose direction may differ from the mean's.
    """

    _axes: ClassVar = {"pairs": "*"}

    users: Positions
    difference: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    freedom: Floats
    statistic: Floats
    sd_difference: Floats
    skewness: Floats
    runs: Positions
    sd_runs: Floats
    d_z: Floats
    d_z_error: Floats
    d_z_low: Floats
    d_z_high: Floats
    relative: Floats
    relative_low: Floats
    relative_high: Floats
    wins: Positions
    ties: Positions
    losses: Positions
    p: Floats
    p_corrected: Floats
    detectable: Floats
    p_not_worse: Floats
    p_not_better: Floats
    p_equivalent: Floats
    probability_worse: Floats
    probability_equivalent: Floats
    probability_better: Floats
    direction: Floats

    @classmethod
    def join(cls, parts: Sequence[PairResults], families: Sequence[Positions]) -> PairResults:
        """Join the results of families of pairs, each in its places."""
        order = np.argsort(np.concatenate(families), kind="stable")
        return concat_along(parts, "pairs").take(order)

    def take(self, pairs: Any) -> PairResults:
        """Return the results of some pairs."""
        return take_along(self, "pairs", pairs)


def compare_pairs(  # noqa: PLR0913 - all are inputs
    values: Any,
    pairs: Any,
    how: Testing,
    *,
    margin: float | None = None,
    runs: Sequence[Floats] = (),
    show: ShowShare | None = None,
) -> PairResults:
    """Test pairs of models on the users who have a score in both.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_models)
        Higher is better; NaN if there is no score. A user's scores count as the same if they differ
        by at most 1e-12 of the larger.
    pairs : int64 array, shape (n_pairs, 2)
        Which models are compared: the first minus the second. They are one family.
    how : Testing
        Test, correction and level.
    margin : float, optional
        The smallest difference that matters, above 0.
    runs : sequence of float64 arrays, shape (n_runs, n_users), optional
        The scores of each model in its runs, whose means are `values`. The t test counts the
        variation between runs (`RunVariance`); other tests have only users as units.
    show : callable, optional
        Called with the share of finished draws, if the test draws.

    Returns
    -------
    PairResults
        For each pair. Under max-T and Bonferroni the intervals are simultaneous, and exclude 0
        if the adjusted p-value is at most alpha; under other corrections each interval belongs
        to the unadjusted p-value. Tests of ranks and signs have the interval of t.

    Raises
    ------
    InvalidInputError
        A score is infinite, or the margin is no number above 0.

    Notes
    -----
    If the differences of all n users are the same, t is infinite for any n. Then p is at least
    2^(1 - n), as of random signs, and there is no interval.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.25], [1.0, 0.75], [0.75, 0.25], [0.5, 0.0]])
    >>> results = compare_pairs(scores, [(0, 1)], Testing())
    >>> results.difference.tolist(), results.p.round(4).tolist()
    ([0.375], [0.0138])
    """
    scores = PairedScores(values, pairs, runs if how.test == "t" else ())
    results, unit = _run_test(scores, how, show), scores.exponent
    low, high, relative, relative_low, relative_high = _find_intervals(scores, results, how)
    d_z, d_z_error = measure_effects(scores)
    d_z_half = student.find_critical_t(how.alpha, scores.freedom) * d_z_error
    of_margin = np.full((5, len(scores.users)), np.nan)
    if margin is not None:
        limit = float(np.ldexp(check_margin(margin), -unit))
        of_margin[:2] = _test_margin(scores, how, limit)
        of_margin[2:] = draw_probabilities(scores, limit, how)
    not_worse, not_better, worse, equivalent, better = of_margin
    return PairResults(
        users=scores.users,
        difference=np.ldexp(scores.mean, unit),
        low=low,
        high=high,
        standard_error=np.ldexp(scores.error, unit),
        freedom=scores.freedom,
        statistic=results.statistic,
        sd_difference=np.ldexp(scores.deviation, unit),
        skewness=scores.skewness,
        runs=scores.run_variance.count,
        sd_runs=np.ldexp(scores.run_variance.deviation, unit),
        d_z=d_z,
        d_z_error=d_z_error,
        d_z_low=d_z - d_z_half,
        d_z_high=d_z + d_z_half,
        relative=relative,
        relative_low=relative_low,
        relative_high=relative_high,
        wins=scores.wins,
        ties=scores.users - scores.wins - scores.losses,
        losses=scores.losses,
        p=results.p,
        p_corrected=results.corrected,
        direction=results.direction,
        detectable=np.ldexp(_find_detectable(results, scores, how), unit),
        p_not_worse=not_worse,
        p_not_better=not_better,
        p_equivalent=np.maximum(not_worse, not_better),
        probability_worse=worse,
        probability_equivalent=equivalent,
        probability_better=better,
    )


def _find_intervals(scores: PairedScores, results: PValues, how: Testing) -> tuple[Floats, ...]:
    """Return the ends of the differences; and the relative differences with their ends."""
    with np.errstate(invalid="ignore"):
        half = np.where(np.isinf(results.critical), np.inf, results.critical * scores.error)
    half = np.where(np.isnan(results.p) | (scores.deviation == 0), np.nan, half)
    low, high = np.ldexp([scores.mean - half, scores.mean + half], scores.exponent)
    relative, relative_low, relative_high = find_relative_intervals(scores, results.critical)
    if how.test_kind.is_test_of_mean:
        p = results.corrected if how.corrected_by.is_simultaneous else results.p
        is_found = p <= how.alpha
        low, high = exclude_zero(low, high, scores.mean, is_found)
        relative_low, relative_high = exclude_zero(relative_low, relative_high, relative, is_found)
    return low, high, relative, relative_low, relative_high


def _run_test(scores: PairedScores, how: Testing, show: ShowShare | None) -> PValues:
    """Test all pairs: p is 1 if no user differs, NaN if there are too few users."""
    if how.test_kind.is_resampling:
        results = _test_by_draws(scores, how, show)
    else:
        test = _test_by_t if how.test_kind.is_test_of_mean else _test_by_order
        results = test(scores, how)
    # in the order of `PValues`
    of_equal, of_few = (1.0, 1.0, 0.0, 0.0, 0.0), (np.nan, np.nan, np.nan, 0.0, np.nan)
    of_no_difference = np.where(scores.users[:, None] < 2, of_few, of_equal).T
    return PValues(*np.where(scores.has_difference, results, of_no_difference))


def check_margin(margin: Any) -> float:
    """Check a margin and return it as a float.

    Raises
    ------
    InvalidInputError
        The margin is not a number above 0.
    """
    if not is_number(margin) or margin <= 0:
        msg = (
            f"`margin` must be a number above 0, such as 0.005, not {quote(margin)}: the largest "
            "difference that does not matter."
        )
        raise InvalidInputError(msg)
    return float(margin)


def _test_margin(scores: PairedScores, how: Testing, limit: float) -> tuple[Floats, Floats]:
    """Return corrected p-values for each pair's difference being <= -limit, and >= limit.

    The test is the paired t. All pairs in one direction are a family, because a difference cannot
    be beyond the margin in both. Under max-T, p is the chance that the largest absolute t of all
    pairs is at least as large.
    """
    correction = how.corrected_by
    # of users whose differences are the same, no more is known than from their signs
    least = np.where(scores.deviation == 0, np.ldexp(1.0, -scores.users), 0.0)
    drawn = None if correction.function else draw_largest_t(scores, how)

    def compute_p(distance: Floats) -> Floats:
        t = student.compute_t(distance, scores.error)
        t = np.where((scores.error == 0) & (distance <= 0), -np.inf, t)
        p = np.maximum(student.compute_p(t, scores.freedom, 1), least)
        if correction.function:
            return correction.correct(p)
        if drawn is None:  # the differences of fewer than two pairs vary
            return p
        # both bound the chance that the largest t in one direction is as large
        largest = compute_drawn_p(drawn, student.to_normal_scale(t, scores.freedom))
        return np.maximum(p, np.minimum(CORRECTIONS["bonferroni"].correct(p), largest))

    return compute_p(limit + scores.mean), compute_p(limit - scores.mean)


def _find_detectable(results: PValues, scores: PairedScores, how: Testing) -> Floats:
    """Return the smallest differences that are found with 80 % power."""
    if not how.test_kind.is_test_of_mean:
        return np.full(len(results.p), np.nan)
    critical, level, correction = results.critical, how.alpha, how.corrected_by
    if "detectable" in correction.divided_for:
        level /= scores.n_tested
        if "intervals" not in correction.divided_for:
            critical = student.find_critical_t(level, scores.freedom)
    each = zip(scores.freedom.tolist(), critical.tolist(), strict=True)
    shift = np.array([student.find_shift(_POWER, *one) for one in each])
    # random signs are all alike with this chance, however large the differences are
    never = (how.test == "randomisation") & (2.0 ** (1 - scores.users) > level)
    with np.errstate(invalid="ignore"):
        smallest = np.where(np.isinf(shift) | never, np.inf, shift * scores.error)
    return np.where(scores.has_spread, smallest, np.nan)


class PValues(NamedTuple):
    """The p-values of pairs, and half the width of their intervals in standard errors.

    Parameters
    ----------
    p, corrected : float64 arrays, shape (n_pairs,)
        p-values, and those corrected for testing all pairs.
    critical : float64 array, shape (n_pairs,)
        Half the width of the intervals, in standard errors.
    direction : float64 array, shape (n_pairs,)
        1 if the test favours the first model, -1 for the second.
    statistic : float64 array, shape (n_pairs,)
        As in `PairResults`.
    """

    p: Floats
    corrected: Floats
    critical: Floats
    direction: Floats
    statistic: Floats


def compute_drawn_p(drawn: Floats, observed: Floats) -> Floats:
    """Return (c + 1) / (draws + 1), with c the number of draws at least as large.

    Parameters
    ----------
    drawn : float64 array, shape (n_draws,)
        In ascending order.
    observed : float64 array
        The observed values; NaN gives NaN.

    References
    ----------
    Phipson & Smyth (2010), doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> compute_drawn_p(np.array([1.0, 2.0, 2.0]), np.array([0.5, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    count = len(drawn) - np.searchsorted(drawn, observed, side="left")
    return np.where(np.isnan(observed), np.nan, (count + 1) / (len(drawn) + 1))


def find_critical_rank(draws: int, alpha: float, family: int = 1) -> int:
    """Return the rank, from 0, of the drawn value that a significant value has to exceed.

    Draws are in ascending order. The rank is `draws` minus the number of counts c = 0, 1, ...,
    draws with min(1, family · (c + 1) / (draws + 1)) <= alpha; it is `draws` if no value is
    significant.

    Examples
    --------
    >>> find_critical_rank(99, 0.05), find_critical_rank(9, 0.05)
    (94, 9)
    """
    p = np.minimum(np.arange(1, draws + 2) / (draws + 1) * family, 1.0)
    return draws - int(np.searchsorted(p, alpha, side="right"))


def _correct_p_values(
    p: Floats, direction: Floats, statistic: Floats, scores: PairedScores, how: Testing
) -> PValues:
    """Return p-values with a correction that needs only p-values, and the intervals of t."""
    critical = student.find_critical_t(how.alpha / _count_family(scores, how), scores.freedom)
    return PValues(p, how.corrected_by.correct(p), critical, direction, statistic)


def _count_family(scores: PairedScores, how: Testing) -> int:
    """Return the number of pairs that the level of the intervals is divided by."""
    return scores.n_tested if "intervals" in how.corrected_by.divided_for else 1


def _test_by_t(scores: PairedScores, how: Testing) -> PValues:
    freedom, t = scores.freedom, student.compute_t(scores.mean, scores.error)
    least, direction = scores.smallest_p, np.sign(scores.mean)
    p = np.maximum(student.compute_p(np.abs(t), freedom, 2), least)
    if not how.corrected_by.is_max_t:
        return _correct_p_values(p, direction, t, scores, how)
    own = student.find_critical_t(how.alpha, freedom)
    drawn = draw_largest_t(scores, how)
    if drawn is None:
        # no draws: the pairs without spread are corrected by Bonferroni's method
        corrected = np.maximum(p, np.minimum(least * scores.n_tested, 1.0))
        return PValues(p, corrected, own, direction, t)
    among_drawn = compute_drawn_p(drawn, student.to_normal_scale(np.abs(t), freedom))
    corrected = np.maximum.reduce([p, among_drawn, np.minimum(least * scores.n_tested, 1.0)])
    rank = find_critical_rank(len(drawn), how.alpha)
    among_all = student.from_normal_scale(drawn[rank], freedom) if rank < len(drawn) else np.inf
    return PValues(p, corrected, np.maximum(own, among_all), direction, t)


def draw_largest_t(scores: PairedScores, how: Testing) -> Floats | None:
    """Draw the largest t of all pairs; None if the differences of fewer than two vary."""
    varied = np.flatnonzero(scores.has_spread)
    if len(varied) < 2:
        return None
    varied = varied[np.lexsort(np.sort(scores.pairs[varied]).T)]  # in any order of pairs the same
    rows = compute_correlation_rows(PairColumns(scores, varied, centred=True))
    rows = scores.run_variance.extend_rows(rows, scores.variance_over_users, varied)
    draws = min(how.n_draws, max(_FEWEST, _PRODUCTS // rows.size))
    return student.draw_largest(rows, scores.freedom[varied], draws, how.seed)


def _test_by_draws(scores: PairedScores, how: Testing, show: ShowShare | None) -> PValues:
    """Test each pair by random signs or resampled users.

    A pair's statistic is the sum of its differences, over their length. Under random signs it is a
    function of Student's t, from which the interval follows.
    """
    signs, largest_of_all = how.test == "randomisation", how.corrected_by.is_max_t
    draws = count_draws(how, scores.table.shape[1])
    length = np.sqrt(np.maximum(scores.users - 1, 0)) * scores.deviation
    if signs:
        length = np.hypot(length, np.sqrt(scores.users) * scores.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = scores.users * np.abs(scores.mean) / length
    tested = scores.users > 1
    rank = find_critical_rank(draws, how.alpha, _count_family(scores, how))
    # if all differences are equal, every resample has the same mean
    least = np.maximum(scores.smallest_p, 1 / (draws + 1))
    p = np.where(scores.has_difference, least, np.where(tested, 1.0, np.nan))
    beyond = np.full(len(p), 0.0 if rank < draws else np.inf)
    slack, largest = np.zeros(len(p)), np.zeros(draws)
    varied = scores.has_difference & (length > 0)
    for pairs, drawn, tolerance in _iterate_draws(scores, length, varied, how, show):
        slack[pairs] = tolerance
        p[pairs] = ((drawn >= observed[pairs] - tolerance).sum(axis=0) + 1) / (draws + 1)
        largest = np.maximum(largest, drawn.max(axis=1))
        if not largest_of_all and rank < draws:
            beyond[pairs] = np.partition(drawn, rank, axis=0)[rank]
    if largest_of_all:
        largest = np.sort(largest)
        beyond[:] = np.append(largest, np.inf)[rank]
        corrected = compute_drawn_p(largest, np.where(tested, observed - slack, np.nan))
        corrected = np.maximum(corrected, np.where(scores.has_difference, scores.smallest_p, 0.0))
    else:
        corrected = how.corrected_by.correct(p)
    critical = _to_standard_errors(beyond + slack, np.maximum(scores.users, 2), signs=signs)
    t = student.compute_t(scores.mean, scores.error)
    return PValues(p, corrected, critical, np.sign(scores.mean), t)


def count_draws(how: Testing, users: int) -> int:
    """Return the number of draws, or of all signs but the observed ones, if these are fewer.

    Examples
    --------
    >>> count_draws(Testing("randomisation"), 6), count_draws(Testing("randomisation"), 60)
    (63, 10000)
    """
    if how.test == "randomisation" and users < how.n_draws.bit_length():
        return int(max(2**users - 1, 1))
    return how.n_draws


def _iterate_draws(
    scores: PairedScores, length: Floats, varied: Flags, how: Testing, show: ShowShare | None
) -> Iterator[tuple[Positions, Floats, Floats]]:
    """Yield some pairs at a time: their places, all draws of each, and the draws' tolerance.

    A draw counts as at least the observed value if it is smaller by no more than the tolerance:
    the rounding of the columns and of the scores.
    """
    signs = how.test == "randomisation"
    varying = np.flatnonzero(varied)
    columns = PairColumns(scores, varying, centred=not signs)
    draws = count_draws(how, columns.users)
    for part, places in columns.iterate_parts():
        table = np.empty((len(part), columns.users))
        for row, one in zip(table, part, strict=True):
            row[:] = columns.get_column(one)
        alike = part.start == 0 and columns.second[places[0]] >= 0
        whole, unit = to_whole_numbers(table, alike=alike)
        scaled = _scale_progress(part, len(columns), show)
        if draws < how.n_draws:
            sums = sum_with_all_signs(whole) * unit
        else:
            sums = draw_sums(whole, draws, how.seed, scaled, signs=signs) * unit
        step = max(1, _CELLS // draws)
        for start in range(0, len(places), step):
            some = places[start : start + step]
            pairs, first, second = varying[some], columns.first[some], columns.second[some]
            drawn = sums[:, first - part.start]
            if (second >= 0).any():
                drawn -= sums[:, second]
            rounding = 3 * columns.users * unit[first - part.start]
            tolerance = rounding + _SAME * scores.absolute[pairs]
            yield pairs, np.abs(drawn) / length[pairs], tolerance / length[pairs]


def _scale_progress(part: range, columns: int, show: ShowShare | None) -> ShowShare | None:
    """Return a function that reports the finished share of a part as a share of all columns."""
    if show is None:
        return None
    return lambda share: show((part.start + share * len(part)) / columns)


def _to_standard_errors(beyond: Floats, users: Positions, *, signs: bool) -> Floats:
    """Return critical values of the statistic in standard errors of the mean."""
    if not signs:
        return beyond * np.sqrt((users - 1) / users)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = beyond * np.sqrt((users - 1) / (users - beyond * beyond))
    return np.where(beyond * beyond < users, t, np.inf)


def _test_by_order(scores: PairedScores, how: Testing) -> PValues:
    """Test each pair by ranks or signs, without the users whose difference is 0."""
    test = _test_signed_ranks if how.test == "wilcoxon" else _test_signs
    results = map_in_threads(partial(test, scores), range(len(scores.users)))
    p, direction, statistic = np.array(results, dtype=np.float64).reshape(-1, 3).T
    p = np.where(scores.users > 1, np.maximum(p, student.SMALLEST), np.nan)
    return _correct_p_values(p, direction, statistic, scores, how)


def _test_signed_ranks(scores: PairedScores, pair: int) -> tuple[float, float, float]:
    """Return Wilcoxon's p-value, which model has the larger sum of ranks, and the first's sum."""
    from scipy.stats import rankdata, wilcoxon  # noqa: PLC0415 - scipy takes longer than pandas

    apart = scores.get_differences(pair)
    apart = apart[apart != 0]
    if not len(apart):
        return 1.0, 0.0, 0.0
    size = np.abs(apart)[:, None]
    equalise_near_ties(size)
    twice = (2 * rankdata(size[:, 0])).astype(np.int64)
    wins = int(twice[apart > 0].sum())
    direction = float(np.sign(2 * wins - int(twice.sum())))
    if len(apart) > _EXACT:
        return float(wilcoxon(np.copysign(size[:, 0], apart)).pvalue), direction, wins / 2
    return _compute_rank_p(twice, wins), direction, wins / 2


def _compute_rank_p(ranks: Positions, observed: int) -> float:
    """Return the exact p-value of the ranks of wins; SciPy's does not allow ties."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks.tolist():
        ways[rank:] += ways[: len(ways) - rank].copy()
    tail = min(ways[: observed + 1].sum(), ways[observed:].sum())
    return min(1.0, 2 * float(tail) / 2.0 ** len(ranks))


def _test_signs(scores: PairedScores, pair: int) -> tuple[float, float, float]:
    """Return the p-value of wins against losses, which model has more wins, and the first's."""
    from scipy.stats import binomtest  # noqa: PLC0415 - importing scipy takes longer than pandas

    wins, decided = int(scores.wins[pair]), int(scores.wins[pair] + scores.losses[pair])
    p = float(binomtest(wins, decided).pvalue) if decided else 1.0
    return p, float(np.sign(2 * wins - decided)), wins
