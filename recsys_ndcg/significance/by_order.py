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
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing


def by_signed_ranks(compared: Compared, moments: Moments, how: Testing) -> Judged:
    """Return what Wilcoxon's signed ranks say of each pair; users without a difference are out."""
    found = in_threads(partial(_signed_ranks, compared), range(len(moments.users)))
    return _judged(np.array(found, dtype=np.float64), moments, how)


def by_signs(compared: Compared, moments: Moments, how: Testing) -> Judged:  # noqa: ARG001
    """Return what wins against losses say of each pair."""
    counts = zip(moments.wins.tolist(), moments.losses.tolist(), strict=True)
    return _judged(np.array([_sign_test(*one) for one in counts]), moments, how)


def _judged(p: Floats, moments: Moments, how: Testing) -> Judged:
    p = np.where(moments.users > 1, np.maximum(p, SMALLEST), np.nan)
    return Judged(p, BY_NAME[how.correction](p), critical_alone(moments, how))


def _signed_ranks(compared: Compared, pair: int) -> float:
    from scipy.stats import wilcoxon  # noqa: PLC0415 - importing scipy takes longer than pandas

    apart = compared.differences(pair)
    apart = apart[apart != 0]
    if not len(apart):
        return 1.0
    size = np.abs(apart)[:, None]
    settle(size)
    return float(wilcoxon(np.copysign(size[:, 0], apart)).pvalue)


def _sign_test(wins: int, losses: int) -> float:
    from scipy.stats import binomtest  # noqa: PLC0415 - importing scipy takes longer than pandas

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
