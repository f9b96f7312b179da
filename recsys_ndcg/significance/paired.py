"""Pairs of models compared on the users who have a score in both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Columns, Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.significance import student
from recsys_ndcg.significance.differences import DifferenceMoments, PairedScores
from recsys_ndcg.significance.paired_tests import (
    PValues,
    critical_alone,
    largest_t,
    p_values,
    share_beyond,
)
from recsys_ndcg.significance.testing import CORRECTIONS, Testing

_POWER = 0.8
_NEXT = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, eq=False)
class PairResults(Columns):
    """What is known of the difference of each pair of models: arrays of shape (n_pairs,).

    Parameters
    ----------
    users : int64 array
        Users with a score in both.
    difference, deviation : float64 arrays
        Mean and standard deviation of the first model's score less the second's, of these users.
    low, high : float64 arrays
        The interval for the difference.
    effect : float64 array
        d_z = difference / deviation (Cohen 1988): infinite where all differences are the same,
        NaN where all are 0.
    wins, ties, losses : int64 arrays
        Users whose score is higher in the first model, the same, lower.
    p, corrected : float64 arrays
        p-values, and those corrected for testing all pairs.
    direction : float64 array
        1 where the test speaks for the first model, -1 for the second: that of the mean, or of the
        ranks or signs, which may speak for the other.
    detectable : float64 array
        The smallest true difference that would be found with 80 % power, or more where a pair is
        tested step by step; NaN of tests of ranks and signs, and where nobody differs.
    p_not_worse, p_not_better, p_equivalent : float64 arrays
        Corrected p-values: of the first being worse by the margin or more, of its being better by
        that, and the larger of the two (Schuirmann 1987); NaN without a margin.
    """

    users: Positions
    difference: Floats
    deviation: Floats
    low: Floats
    high: Floats
    effect: Floats
    wins: Positions
    ties: Positions
    losses: Positions
    p: Floats
    corrected: Floats
    direction: Floats
    detectable: Floats
    p_not_worse: Floats
    p_not_better: Floats
    p_equivalent: Floats


def compare_pairs(
    values: Any,
    pairs: Any,
    how: Testing,
    *,
    margin: float | None = None,
    show: Callable[[float], None] | None = None,
) -> PairResults:
    """Test pairs of models on the users who have a score in both.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_models)
        Higher is better; NaN where there is no score. Scores of a user that are equal to 1e-12
        of the larger count as the same.
    pairs : int64 array, shape (n_pairs, 2)
        Which models are compared: the first less the second.
    how : Testing
        Test, correction and level.
    margin : float, optional
        How large a difference matters, above 0.
    show : callable, optional
        Is told which share of the draws is done, of tests that draw.

    Returns
    -------
    PairResults
        Of each pair. Under max-T and Bonferroni the intervals hold for all pairs at once, and
        leave out 0 where the corrected p is at most alpha; under the others each holds alone, and
        goes with the p that is not corrected. Tests of ranks and signs have the interval of t.

    Raises
    ------
    InvalidInputError
        A score is infinite, a pair names no models, or the margin is no number above 0.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.25], [1.0, 0.75], [0.75, 0.25], [0.5, 0.0]])
    >>> found = compare_pairs(scores, [(0, 1)], Testing())
    >>> found.difference.tolist(), found.p.round(4).tolist()
    ([0.375], [0.0138])
    """
    scores = PairedScores.of(values, pairs)
    moments = scores.moments()
    judged = p_values(scores, moments, how, show)
    unit = scores.exponent
    difference = np.ldexp(moments.mean, unit)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(np.isinf(judged.critical), np.inf, judged.critical * moments.error)
        effect = moments.mean / moments.deviation
    half = np.where(np.isnan(judged.p), np.nan, half)
    low, high = (np.ldexp(end, unit) for end in (moments.mean - half, moments.mean + half))
    if how.kind.has_intervals:
        p = judged.corrected if how.corrected_by.is_simultaneous else judged.p
        low, high = leave_out_0(low, high, difference, p <= how.alpha)
    not_worse = not_better = np.full(len(moments.users), np.nan)
    if margin is not None:
        not_worse, not_better = _within(scores, moments, how, margin)
    return PairResults(
        users=moments.users,
        difference=difference,
        deviation=np.ldexp(moments.deviation, unit),
        low=low,
        high=high,
        effect=effect,
        wins=moments.wins,
        ties=moments.users - moments.wins - moments.losses,
        losses=moments.losses,
        p=judged.p,
        corrected=judged.corrected,
        direction=judged.direction,
        detectable=np.ldexp(_detectable(judged, moments, how), unit),
        p_not_worse=not_worse,
        p_not_better=not_better,
        p_equivalent=np.maximum(not_worse, not_better),
    )


def leave_out_0(low: Floats, high: Floats, mean: Floats, found: Flags) -> tuple[Floats, Floats]:
    """Return ends that leave out 0 where a difference is found, and nowhere else.

    They do so by themselves, but for their last digits.

    Examples
    --------
    >>> ends = np.array([-1e-17, 0.5]), np.array([2.0, 1.5]), np.array([1.0, 1.0])
    >>> [end.tolist() for end in leave_out_0(*ends, np.array([True, True]))]
    [[5e-324, 0.5], [2.0, 1.5]]
    """
    up, down = found & (mean > 0), found & (mean < 0)
    low = np.where(up, np.maximum(low, _NEXT), np.where(found, low, np.minimum(low, 0.0)))
    high = np.where(down, np.minimum(high, -_NEXT), np.where(found, high, np.maximum(high, 0.0)))
    return low, high


def check_margin(margin: Any) -> float:
    """Return a margin.

    Raises
    ------
    InvalidInputError
        It is no number above 0.
    """
    if not is_number(margin) or margin <= 0:
        msg = (
            f"margin must be a number above 0, such as 0.005, not {shown(margin)}: up to which a "
            "model may be worse."
        )
        raise InvalidInputError(msg)
    return float(margin)


def _within(
    scores: PairedScores, moments: DifferenceMoments, how: Testing, margin: float
) -> tuple[Floats, Floats]:
    """Return corrected p-values of each pair's difference being -margin or less, margin or more.

    By the paired t. All pairs in one direction are a family: a difference cannot be beyond the
    margin in both. Under max-T a p is the chance that the largest absolute t of all pairs is at
    least as large.
    """
    limit = float(np.ldexp(check_margin(margin), -scores.exponent))
    correction = how.corrected_by
    drawn = None if correction.function else largest_t(scores, moments, how)
    freedom = np.maximum(moments.users - 1, 1)

    def corrected(apart: Floats) -> Floats:
        t = student.statistic(apart, moments.error)
        t = np.where((moments.error == 0) & (apart <= 0), -np.inf, t)
        p = student.upper_tail(t, freedom)
        if correction.function:
            return correction.correct(p)
        if drawn is None:  # one pair
            return p
        # both are bounds of the chance that the largest t in one direction is as large
        largest = share_beyond(drawn, student.normal_scale(t, freedom))
        return np.maximum(p, np.minimum(CORRECTIONS["bonferroni"].correct(p), largest))

    return corrected(limit + moments.mean), corrected(limit - moments.mean)


def _detectable(judged: PValues, moments: DifferenceMoments, how: Testing) -> Floats:
    """Return the differences whose noncentrality has the power, each distinct one solved once."""
    if not how.kind.has_intervals:
        return np.full(len(judged.p), np.nan)
    critical, level, correction = judged.critical, how.alpha, how.corrected_by
    if correction.divides_detectable:
        level /= max(int((moments.users > 1).sum()), 1)
        if not correction.divides_intervals:
            critical = critical_alone(moments, how, divided=True)
    asked = np.stack([moments.users - 1, critical], axis=1)
    known, place = np.unique(asked[~np.isnan(judged.p)], axis=0, return_inverse=True)
    shifts = [student.shift_for(_POWER, int(freedom), beyond) for freedom, beyond in known.tolist()]
    shift = np.full(len(judged.p), np.nan)
    shift[~np.isnan(judged.p)] = np.array([*shifts, np.nan])[place.reshape(-1)]
    with np.errstate(invalid="ignore"):
        found = np.where(np.isinf(shift), np.inf, shift * moments.error)
    # all signs are alike in one of so many draws, however large the differences are
    never = (how.test == "randomisation") & (2.0 ** (1 - moments.users) > level)
    return np.where(moments.live, np.where(never, np.inf, found), np.nan)
