"""Student's paired t test, and the joint distribution of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.significance import student
from recsys_ndcg.significance.columns import PairColumns
from recsys_ndcg.significance.corrections import BY_NAME
from recsys_ndcg.significance.draws import critical_rank, share_beyond
from recsys_ndcg.significance.gram import factor
from recsys_ndcg.significance.judged import Judged
from recsys_ndcg.significance.multivariate_t import largest_drawn, normal_scale, of_normal_scale

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing


def by_t(compared: Compared, moments: Moments, how: Testing) -> Judged:
    """Return what the paired t says of each pair."""
    freedom = np.maximum(moments.users - 1, 1)
    t = np.abs(student.statistic(moments.mean, moments.error))
    p = student.two_sided(t, freedom)
    if how.correction != "max-T":
        return Judged(
            p, BY_NAME[how.correction](p), critical_alone(moments, how), np.sign(moments.mean)
        )
    own = student.critical(how.alpha, freedom)
    drawn = largest_t(compared, moments, how)
    if drawn is None:
        return Judged(p, p, own, np.sign(moments.mean))
    corrected = np.maximum(p, share_beyond(drawn, normal_scale(t, freedom)))
    rank = critical_rank(len(drawn), how.alpha)
    among_all = of_normal_scale(drawn[rank], freedom) if rank < len(drawn) else np.inf
    return Judged(p, corrected, np.maximum(own, among_all), np.sign(moments.mean))


def critical_alone(moments: Moments, how: Testing) -> Floats:
    """Return the critical t of each pair, shared out among them under Bonferroni."""
    tested = max(int((moments.users > 1).sum()), 1)
    level = how.alpha / tested if how.correction == "bonferroni" else how.alpha
    return student.critical(level, np.maximum(moments.users - 1, 1))


def largest_t(compared: Compared, moments: Moments, how: Testing) -> Floats | None:
    """Return the drawn largest t of all pairs, or nothing where fewer than two vary."""
    varied = np.flatnonzero(moments.live & (moments.deviation > 0))
    if len(varied) < 2:
        return None
    rows = factor(PairColumns(compared, moments, varied, centred=True))
    return largest_drawn(rows, moments.users[varied] - 1, how.draws, how.seed)
