"""Tests by random signs of the differences, and by resampled users.

A pair's statistic is its sum over the users, over the length of its differences. Under random
signs that is a function of Student's t, which is how an interval is made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.significance.columns import PairColumns
from recsys_ndcg.significance.corrections import BY_NAME
from recsys_ndcg.significance.draws import critical_rank, share_beyond
from recsys_ndcg.significance.judged import Judged
from recsys_ndcg.significance.resampling import exact, of_resamples, under_signs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recsys_ndcg.arrays import Flags, Floats, Positions
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing

_SAME = 1e-12  # of the sum of all absolute differences: sums no further apart are equal
_CELLS = 1 << 21


def by_resampling(
    compared: Compared,
    moments: Moments,
    how: Testing,
    show: Callable[[float], None] | None = None,
) -> Judged:
    """Return what random signs, or resampled users, say of each pair.

    `show` is told which share of the draws is done.
    """
    signs = how.test == "randomisation"
    length = np.sqrt(np.maximum(moments.users - 1, 0)) * moments.deviation
    if signs:
        length = np.hypot(length, np.sqrt(moments.users) * moments.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = moments.users * np.abs(moments.mean) / length
    tested = moments.users > 1
    family = int(tested.sum()) if how.correction == "bonferroni" else 1
    rank = critical_rank(how.draws, how.alpha, family)
    # of equal differences no resample has another mean
    p = np.where(moments.live, 1 / (how.draws + 1), np.where(tested, 1.0, np.nan))
    beyond = np.full(len(p), 0.0 if rank < how.draws else np.inf)
    slack, largest = np.zeros(len(p)), np.zeros(how.draws)
    varied = moments.live & (length > 0)
    for pairs, drawn, blurred in _statistics(compared, moments, length, varied, how, show):
        slack[pairs] = blurred
        p[pairs] = ((drawn >= observed[pairs] - blurred).sum(axis=0) + 1) / (how.draws + 1)
        largest = np.maximum(largest, drawn.max(axis=1))
        if how.correction != "max-T" and rank < how.draws:
            beyond[pairs] = np.partition(drawn, rank, axis=0)[rank]
    if how.correction == "max-T":
        largest = np.sort(largest)
        beyond[:] = np.append(largest, np.inf)[rank]
        corrected = share_beyond(largest, np.where(tested, observed - slack, np.nan))
    else:
        corrected = BY_NAME[how.correction](p)
    critical = _in_errors(beyond + slack, np.maximum(moments.users, 2), signs=signs)
    return Judged(p, corrected, critical, np.sign(moments.mean))


def _statistics(  # noqa: PLR0913, PLR0917 - all that they hang on
    compared: Compared,
    moments: Moments,
    length: Floats,
    varied: Flags,
    how: Testing,
    show: Callable[[float], None] | None,
) -> Iterator[tuple[Positions, Floats, Floats]]:
    """Go through some pairs at a time: which, all draws of each, and how blurred these are.

    A draw is at least as large as what was observed if it is but for the rounding of the columns
    and the last digits of the scores.
    """
    signs = how.test == "randomisation"
    sums_of = under_signs if signs else of_resamples
    varying = np.flatnonzero(varied)
    columns = PairColumns(compared, moments, varying, centred=not signs)
    for part, places in columns.parts():
        table = np.empty((len(part), columns.users))
        for row, one in zip(table, part, strict=True):
            row[:] = columns.values(one)
        whole, unit = exact(table, alike=part.start == 0 and columns.second[places[0]] >= 0)
        sums = sums_of(whole, how.draws, how.seed, _of(part, len(columns), show)) * unit
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


def _of(
    part: range, columns: int, show: Callable[[float], None] | None
) -> Callable[[float], None] | None:
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
