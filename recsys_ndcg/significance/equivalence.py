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
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.significance.differences import Compared, Moments
    from recsys_ndcg.significance.testing import Testing


def within(
    compared: Compared, moments: Moments, how: Testing, margin: float
) -> tuple[Floats, Floats]:
    """Return corrected p-values of each pair's difference being -margin or less, margin or more.

    Both directions of all pairs are one family. Under max-T a p is the chance that the largest
    absolute t of all pairs is at least as large.
    """
    if not is_number(margin) or not margin > 0:
        msg = f"margin must be a number above 0, such as 0.01, not {shown(margin)}."
        raise InvalidInputError(msg)
    limit = float(np.ldexp(margin, -compared.exponent))
    apart = np.concatenate([limit + moments.mean, limit - moments.mean])
    error, freedom = np.tile(moments.error, 2), np.tile(np.maximum(moments.users - 1, 1), 2)
    t = np.where((error == 0) & (apart <= 0), -np.inf, student.statistic(apart, error))
    p = student.upper_tail(t, freedom)
    if how.correction == "max-T":
        corrected = _among_all(p, t, freedom, largest_t(compared, moments, how))
    else:
        corrected = BY_NAME[how.correction](p)
    not_worse, not_better = np.split(corrected, 2)
    return not_worse, not_better


def _among_all(p: Floats, t: Floats, freedom: Positions, drawn: Floats | None) -> Floats:
    if drawn is None:
        return np.minimum(2 * p, 1.0)
    return np.maximum(p, share_beyond(drawn, normal_scale(t, freedom)))
