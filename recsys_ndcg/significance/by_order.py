"""Tests that look at the ranks or the signs of differences alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.parallel import in_threads
from recsys_ndcg.significance.by_t import critical_alone
from recsys_ndcg.significance.corrections import BY_NAME
from recsys_ndcg.significance.differences import settle
from recsys_ndcg.significance.judged import Judged
from recsys_ndcg.significance.student import SMALLEST

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing

_EXACT = 50  # differences: of more, the sum of ranks is as good as normal


def by_signed_ranks(compared: Compared, moments: Moments, how: Testing) -> Judged:
    """Return what Wilcoxon's signed ranks say of each pair; users without a difference are out."""
    found = in_threads(partial(_signed_ranks, compared), range(len(moments.users)))
    p, direction = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return _judged(p, direction, moments, how)


def by_signs(compared: Compared, moments: Moments, how: Testing) -> Judged:  # noqa: ARG001
    """Return what wins against losses say of each pair."""
    counts = zip(moments.wins.tolist(), moments.losses.tolist(), strict=True)
    p = np.array([_sign_test(*one) for one in counts])
    return _judged(p, np.sign(moments.wins - moments.losses).astype(np.float64), moments, how)


def _judged(p: Floats, direction: Floats, moments: Moments, how: Testing) -> Judged:
    p = np.where(moments.users > 1, np.maximum(p, SMALLEST), np.nan)
    return Judged(p, BY_NAME[how.correction](p), critical_alone(moments, how), direction)


def _signed_ranks(compared: Compared, pair: int) -> tuple[float, float]:
    """Return the p-value, and which model has the larger sum of ranks."""
    from scipy.stats import rankdata, wilcoxon  # noqa: PLC0415 - scipy takes longer than pandas

    apart = compared.differences(pair)
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


def _sign_test(wins: int, losses: int) -> float:
    from scipy.stats import binomtest  # noqa: PLC0415 - importing scipy takes longer than pandas

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
