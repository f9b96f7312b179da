"""User coverage: the share of users who get recommendations."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ROWS_AND_USERS, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class UserCoverage(Metric):
    r"""Whether the user's list has at least k items; without k, at least one.

    .. math:: user\_coverage@k = [n \ge k]

    with n the length of the list.

    Notes
    -----
    In [0, 1], no unit; higher is better; the mean is a share of the users who count
    (`Convention.mean_over`). Never undefined. RecTools calls it SufficientReco with k, and
    CoveredUsers without: that name has no cutoff here, as its k changes nothing there.

    References
    ----------
    Herlocker et al. (2004), doi:10.1145/963770.963772, for coverage in general

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}, "bob": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["user_coverage", "user_coverage@3"]).mean.to_dict()
    {'user_coverage': 0.5, 'user_coverage@3': 0.0}
    """

    name = "user_coverage"
    also_called = ("usercoverage", "coveredusers", "sufficientreco")
    needs = frozenset({"items"})
    reads = ROWS_AND_USERS
    cutoff = "possible"
    same_denominator = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return whether the list is long enough, 0 or 1."""
        return np.asarray(ranking.n_items >= (self.k or 1), dtype=np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))
