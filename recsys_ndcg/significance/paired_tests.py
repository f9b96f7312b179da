"""The tests of paired differences: Student's t, random signs, resampled users, ranks, signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import Columns, Flags, Floats, Positions
from recsys_ndcg.parallel import in_threads
from recsys_ndcg.significance import student
from recsys_ndcg.significance.differences import DifferenceMoments, PairedScores, settle
from recsys_ndcg.significance.exact_sums import (
    PairColumns,
    correlation_rows,
    drawn_sums,
    in_whole_numbers,
)

if TYPE_CHECKING:
    from recsys_ndcg.significance.testing import Testing

    ShowShare = Callable[[float], None]

_SAME = 1e-12  # of the sum of all absolute differences: sums no further apart are equal
_CELLS = 1 << 21
_EXACT = 50  # differences: of more, the sum of ranks is as good as normal


@dataclass(frozen=True, eq=False)
class PValues(Columns):
    """What a test says of pairs, and how far the intervals that say the same reach.

    Parameters
    ----------
    p, corrected : float64 arrays, shape (n_pairs,)
        p-values, and those corrected for testing all pairs.
    critical : float64 array, shape (n_pairs,)
        In standard errors: how far an interval reaches to either side.
    direction : float64 array, shape (n_pairs,)
        1 where what is tested speaks for the first model, -1 for the second.
    """

    p: Floats
    corrected: Floats
    critical: Floats
    direction: Floats


def p_values(
    scores: PairedScores, moments: DifferenceMoments, how: Testing, show: ShowShare | None = None
) -> PValues:
    """Return the p-values of all pairs: 1 where nobody differs, NaN of fewer than two users.

    `show` is told which share of the draws is done, of tests that draw.
    """
    found = _FUNCTIONS[how.test](scores, moments, how, show)
    few = moments.users < 2
    p, corrected = (
        np.where(few, np.nan, np.where(moments.live, one, 1.0))
        for one in (found.p, found.corrected)
    )
    critical = np.where(few, np.nan, np.where(moments.live, found.critical, 0.0))
    return PValues(p, corrected, critical, np.where(moments.live, found.direction, 0.0))


def critical_alone(moments: DifferenceMoments, how: Testing, *, divided: bool) -> Floats:
    """Return the critical t of each pair, of a level that may be divided among them."""
    tested = max(int((moments.users > 1).sum()), 1)
    level = how.alpha / tested if divided else how.alpha
    return student.critical(level, np.maximum(moments.users - 1, 1))


def share_beyond(drawn: Floats, observed: Floats) -> Floats:
    """Return (c + 1) / (draws + 1), with c the drawn values that are at least the observed one.

    Parameters
    ----------
    drawn : float64 array, shape (n_draws,)
        In ascending order.
    observed : float64 array
        A p-value is returned for each; NaN for NaN.

    References
    ----------
    Phipson & Smyth (2010), doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> share_beyond(np.array([1.0, 2.0, 2.0]), np.array([0.5, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    count = len(drawn) - np.searchsorted(drawn, observed, side="left")
    share: Floats = np.where(np.isnan(observed), np.nan, (count + 1) / (len(drawn) + 1))
    return share


def critical_rank(draws: int, alpha: float, family: int = 1) -> int:
    """Return which of the drawn values in ascending order an observed one has to exceed.

    Of the counts c = 0, 1, ..., draws of values that are not exceeded, so many have
    min(1, family · (c + 1) / (draws + 1)) <= alpha; the rank, from 0, is draws less this number.
    It is `draws` if nothing is enough.

    Examples
    --------
    >>> critical_rank(99, 0.05), critical_rank(9, 0.05)
    (94, 9)
    """
    p = np.minimum(np.arange(1, draws + 2) / (draws + 1) * family, 1.0)
    return draws - int(np.searchsorted(p, alpha, side="right"))


def _corrected_alone(
    p: Floats, direction: Floats, moments: DifferenceMoments, how: Testing
) -> PValues:
    """Return p-values that are corrected by themselves, with the intervals of t."""
    critical = critical_alone(moments, how, divided=how.corrected_by.divides_intervals)
    return PValues(p, how.corrected_by.correct(p), critical, direction)


def _by_t(
    scores: PairedScores, moments: DifferenceMoments, how: Testing, _show: ShowShare | None
) -> PValues:
    freedom = np.maximum(moments.users - 1, 1)
    t = np.abs(student.statistic(moments.mean, moments.error))
    p, direction = student.two_sided(t, freedom), np.sign(moments.mean)
    if how.corrected_by.function is not None:
        return _corrected_alone(p, direction, moments, how)
    own = student.critical(how.alpha, freedom)
    drawn = largest_t(scores, moments, how)
    if drawn is None:
        return PValues(p, p, own, direction)
    corrected = np.maximum(p, share_beyond(drawn, student.normal_scale(t, freedom)))
    rank = critical_rank(len(drawn), how.alpha)
    among_all = student.of_normal_scale(drawn[rank], freedom) if rank < len(drawn) else np.inf
    return PValues(p, corrected, np.maximum(own, among_all), direction)


def largest_t(scores: PairedScores, moments: DifferenceMoments, how: Testing) -> Floats | None:
    """Return the drawn largest t of all pairs, or nothing where fewer than two vary."""
    varied = np.flatnonzero(moments.live & (moments.deviation > 0))
    if len(varied) < 2:
        return None
    rows = correlation_rows(PairColumns(scores, moments, varied, centred=True))
    return student.largest_drawn(rows, moments.users[varied] - 1, how.draws, how.seed)


def _by_draws(
    scores: PairedScores, moments: DifferenceMoments, how: Testing, show: ShowShare | None
) -> PValues:
    """Return what random signs, or resampled users, say of each pair.

    A pair's statistic is its sum over the users, over the length of its differences. Under random
    signs that is a function of Student's t, which is how an interval is made of it.
    """
    signs, largest_of_all = how.test == "randomisation", how.corrected_by.function is None
    length = np.sqrt(np.maximum(moments.users - 1, 0)) * moments.deviation
    if signs:
        length = np.hypot(length, np.sqrt(moments.users) * moments.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = moments.users * np.abs(moments.mean) / length
    tested = moments.users > 1
    family = int(tested.sum()) if how.corrected_by.divides_intervals else 1
    rank = critical_rank(how.draws, how.alpha, family)
    # of equal differences no resample has another mean
    p = np.where(moments.live, 1 / (how.draws + 1), np.where(tested, 1.0, np.nan))
    beyond = np.full(len(p), 0.0 if rank < how.draws else np.inf)
    slack, largest = np.zeros(len(p)), np.zeros(how.draws)
    varied = moments.live & (length > 0)
    for pairs, drawn, blurred in _statistics(scores, moments, length, varied, how, show):
        slack[pairs] = blurred
        p[pairs] = ((drawn >= observed[pairs] - blurred).sum(axis=0) + 1) / (how.draws + 1)
        largest = np.maximum(largest, drawn.max(axis=1))
        if not largest_of_all and rank < how.draws:
            beyond[pairs] = np.partition(drawn, rank, axis=0)[rank]
    if largest_of_all:
        largest = np.sort(largest)
        beyond[:] = np.append(largest, np.inf)[rank]
        corrected = share_beyond(largest, np.where(tested, observed - slack, np.nan))
    else:
        corrected = how.corrected_by.correct(p)
    critical = _in_errors(beyond + slack, np.maximum(moments.users, 2), signs=signs)
    return PValues(p, corrected, critical, np.sign(moments.mean))


def _statistics(  # noqa: PLR0913, PLR0917 - all that they hang on
    scores: PairedScores,
    moments: DifferenceMoments,
    length: Floats,
    varied: Flags,
    how: Testing,
    show: ShowShare | None,
) -> Iterator[tuple[Positions, Floats, Floats]]:
    """Go through some pairs at a time: which, all draws of each, and how blurred these are.

    A draw is at least as large as what was observed if it is but for the rounding of the columns
    and the last digits of the scores.
    """
    signs = how.test == "randomisation"
    varying = np.flatnonzero(varied)
    columns = PairColumns(scores, moments, varying, centred=not signs)
    for part, places in columns.parts():
        table = np.empty((len(part), columns.users))
        for row, one in zip(table, part, strict=True):
            row[:] = columns.values(one)
        alike = part.start == 0 and columns.second[places[0]] >= 0
        whole, unit = in_whole_numbers(table, alike=alike)
        told = _of_part(part, len(columns), show)
        sums = drawn_sums(whole, how.draws, how.seed, told, signs=signs) * unit
        step = max(1, _CELLS // how.draws)
        for start in range(0, len(places), step):
            some = places[start : start + step]
            pairs, first, second = varying[some], columns.first[some], columns.second[some]
            drawn = sums[:, first - part.start]
            shared = second >= 0
            if shared.any():
                drawn -= sums[:, second]
            blurred = 3 * columns.users * unit[first - part.start] + _SAME * moments.absolute[pairs]
            yield pairs, np.abs(drawn) / length[pairs], blurred / length[pairs]


def _of_part(part: range, columns: int, show: ShowShare | None) -> ShowShare | None:
    """Return what is told the share of a part of the columns, and tells that of all."""
    if show is None:
        return None
    return lambda share: show((part.start + share * len(part)) / columns)


def _in_errors(beyond: Floats, users: Positions, *, signs: bool) -> Floats:
    """Return critical values of the statistic in standard errors of the mean."""
    if not signs:
        scaled: Floats = beyond * np.sqrt((users - 1) / users)
        return scaled
    with np.errstate(divide="ignore", invalid="ignore"):
        t = beyond * np.sqrt((users - 1) / (users - beyond * beyond))
    return np.where(beyond * beyond < users, t, np.inf)


def _by_order(
    scores: PairedScores, moments: DifferenceMoments, how: Testing, _show: ShowShare | None
) -> PValues:
    """Return what ranks or signs say of each pair; users without a difference are out."""
    one_pair = _signed_ranks if how.test == "wilcoxon" else _sign_test
    found = in_threads(partial(one_pair, scores), range(len(moments.users)))
    p, direction = np.array(found, dtype=np.float64).reshape(-1, 2).T
    p = np.where(moments.users > 1, np.maximum(p, student.SMALLEST), np.nan)
    return _corrected_alone(p, direction, moments, how)


def _signed_ranks(scores: PairedScores, pair: int) -> tuple[float, float]:
    """Return the p-value of Wilcoxon's test, and which model has the larger sum of ranks."""
    from scipy.stats import rankdata, wilcoxon  # noqa: PLC0415 - scipy takes longer than pandas

    apart = scores.differences(pair)
    apart = apart[apart != 0]
    if not len(apart):
        return 1.0, 0.0
    size = np.abs(apart)[:, None]
    settle(size)
    twice = (2 * rankdata(size[:, 0])).astype(np.int64)
    wins = int(twice[apart > 0].sum())
    direction = float(np.sign(2 * wins - int(twice.sum())))
    if len(apart) > _EXACT:
        return float(wilcoxon(np.copysign(size[:, 0], apart)).pvalue), direction
    return _two_sided(twice, wins), direction


def _two_sided(ranks: Positions, observed: int) -> float:
    """Return the p-value of the ranks of wins, over all signs; SciPy's is for no ties alone."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks.tolist():
        ways[rank:] += ways[: len(ways) - rank].copy()
    tail = min(ways[: observed + 1].sum(), ways[observed:].sum())
    return min(1.0, 2 * float(tail) / 2.0 ** len(ranks))


def _sign_test(scores: PairedScores, pair: int) -> tuple[float, float]:
    """Return the p-value of wins against losses, and which model has more wins."""
    from scipy.stats import binomtest  # noqa: PLC0415 - importing scipy takes longer than pandas

    apart = np.sign(scores.differences(pair))
    wins, decided = int((apart > 0).sum()), int((apart != 0).sum())
    p = float(binomtest(wins, decided).pvalue) if decided else 1.0
    return p, float(np.sign(2 * wins - decided))


_FUNCTIONS: dict[
    str, Callable[[PairedScores, DifferenceMoments, Testing, ShowShare | None], PValues]
] = {
    "t": _by_t,
    "randomisation": _by_draws,
    "bootstrap": _by_draws,
    "wilcoxon": _by_order,
    "sign": _by_order,
}
