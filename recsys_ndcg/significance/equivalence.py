"""Whether a difference is surely smaller than one that matters, by the paired t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.significance import student
from recsys_ndcg.significance.by_t import largest_t
from recsys_ndcg.significance.corrections import BY_NAME
from recsys_ndcg.significance.draws import share_beyond
from recsys_ndcg.significance.multivariate_t import normal_scale

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing


def within(
    compared: Compared, moments: Moments, how: Testing, margin: float
) -> tuple[Floats, Floats]:
    """Return corrected p-values of each pair's difference being -margin or less, margin or more.

    All pairs in one direction are a family: a difference cannot be beyond the margin in both. Under
    max-T a p is the chance that the largest absolute t of all pairs is at least as large.
    """
    if not is_number(margin) or not margin > 0:
        msg = f"margin must be a number above 0, such as 0.01, not {shown(margin)}."
        raise InvalidInputError(msg)
    limit = float(np.ldexp(margin, -compared.exponent))
    drawn = largest_t(compared, moments, how) if how.correction == "max-T" else None
    freedom = np.maximum(moments.users - 1, 1)

    def corrected(apart: Floats) -> Floats:
        t = student.statistic(apart, moments.error)
        t = np.where((moments.error == 0) & (apart <= 0), -np.inf, t)
        p = student.upper_tail(t, freedom)
        if how.correction != "max-T":
            return BY_NAME[how.correction](p)
        if drawn is None:  # one pair
            return p
        # both are bounds of the chance that the largest t in one direction is as large
        largest = share_beyond(drawn, normal_scale(t, freedom))
        return np.maximum(p, np.minimum(BY_NAME["bonferroni"](p), largest))

    return corrected(limit + moments.mean), corrected(limit - moments.mean)
