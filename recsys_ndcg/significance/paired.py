"""Pairs of models tested on the users who have a score in both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recsys_ndcg.arrays import Columns
from recsys_ndcg.significance import student
from recsys_ndcg.significance.by_order import by_signed_ranks, by_signs
from recsys_ndcg.significance.by_resampling import by_resampling
from recsys_ndcg.significance.by_t import by_t, critical_alone
from recsys_ndcg.significance.differences import Compared, Moments
from recsys_ndcg.significance.equivalence import within
from recsys_ndcg.significance.judged import Judged, agreeing
from recsys_ndcg.significance.testing import AGREEING, DRAWN, SIMULTANEOUS, Testing

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats, Positions

_POWER = 0.8


@dataclass(frozen=True, eq=False)
class Tested(Columns):
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

    __test__: ClassVar[bool] = False  # of pytest's

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


def tested(
    values: Any,
    pairs: Any,
    how: Testing,
    *,
    margin: float | None = None,  # noqa: PT028 - no test of pytest's
    show: Callable[[float], None] | None = None,  # noqa: PT028
) -> Tested:
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
    Tested
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
    >>> found = tested(scores, [(0, 1)], Testing())
    >>> found.difference.tolist(), found.p.round(4).tolist()
    ([0.375], [0.0138])
    """
    compared = Compared.of(values, pairs)
    moments = compared.moments()
    judged = _of_live(_judged(compared, moments, how, show), moments)
    unit = compared.exponent
    difference = np.ldexp(moments.mean, unit)
    low, high = (np.ldexp(end, unit) for end in judged.interval(moments))
    if how.test in AGREEING:
        p = judged.corrected if how.correction in SIMULTANEOUS else judged.p
        low, high = agreeing(low, high, difference, p <= how.alpha)
    none = np.full(len(moments.users), np.nan)
    not_worse, not_better = (
        (none, none) if margin is None else within(compared, moments, how, margin)
    )
    return Tested(
        users=moments.users,
        difference=difference,
        deviation=np.ldexp(moments.deviation, unit),
        low=low,
        high=high,
        effect=_effect(moments),
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


tested.__test__ = False  # type: ignore[attr-defined]


_BY_NAME: dict[str, Callable[[Compared, Moments, Testing], Judged]] = {
    "t": by_t,
    "wilcoxon": by_signed_ranks,
    "sign": by_signs,
}


def _judged(
    compared: Compared, moments: Moments, how: Testing, show: Callable[[float], None] | None
) -> Judged:
    if how.test in DRAWN:
        return by_resampling(compared, moments, how, show)
    return _BY_NAME[how.test](compared, moments, how)


def _of_live(judged: Judged, moments: Moments) -> Judged:
    """Return 1 where there is no difference, NaN where there are fewer than two users."""
    few = moments.users < 2
    p, corrected = (
        np.where(few, np.nan, np.where(moments.live, one, 1.0))
        for one in (judged.p, judged.corrected)
    )
    critical = np.where(few, np.nan, np.where(moments.live, judged.critical, 0.0))
    return Judged(p, corrected, critical, np.where(moments.live, judged.direction, 0.0))


def _effect(moments: Moments) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        effect: Floats = moments.mean / moments.deviation
    return effect


def _detectable(judged: Judged, moments: Moments, how: Testing) -> Floats:
    """Return the differences whose noncentrality has the power, each distinct one solved once.

    Corrections step by step find at least what Bonferroni's finds.
    """
    if how.test not in AGREEING:
        return np.full(len(judged.p), np.nan)
    critical, level = judged.critical, how.alpha
    if how.correction in {"holm", "bh"}:
        critical = critical_alone(moments, replace(how, correction="bonferroni"))
    if how.correction in {"holm", "bh", "bonferroni"}:
        level /= max(int((moments.users > 1).sum()), 1)
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
