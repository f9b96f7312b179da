"""Errors of the estimates of ratings: RMSE, MSE and MAE."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ROWS_AND_USERS, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class RMSE(Metric):
    r"""Root mean squared error of the estimates, less is better.

    .. math:: \sqrt{\frac{1}{m} \sum (estimated - true)^2}

    over the m labelled items of the user's list.

    Notes
    -----
    At least 0, in units of the rating. Undefined for a user without labelled items. The pooled
    score is over all ratings, which is the usual RMSE. It does not depend on the order, so it has
    no chance level, and is an error if the estimates are not on the rating scale.
    In no preset: there is nothing to choose.

    References
    ----------
    Herlocker et al. (2004), doi:10.1145/963770.963772

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(3.0, 5), (2.0, 2)]}, metrics=["rmse"])
    >>> round(float(report.pooled["rmse"]), 4)
    1.4142
    """

    name = "rmse"
    reads = ROWS_AND_USERS
    takes_weights = True
    weighs_denominator = True
    cutoff = "none"
    depends_on_order = False
    bounded = False
    nonnegative = True
    greater_is_better = False

    @property
    def depth(self) -> int | None:
        """The number of ranks that the metric reads: the least, because it ignores the order."""
        return 1

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the squared errors."""
        return ranking.per_user(ranking.error**2)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of errors, or the sum of their weights."""
        return ranking.per_user(~np.isnan(ranking.error))

    def score(self, ratio: Floats) -> Floats:
        """Return the square root; the end of an interval may be below 0."""
        return np.sqrt(np.maximum(ratio, 0))


@register_metric
class MSE(RMSE):
    r"""Mean squared error of the estimates, less is better.

    .. math:: \frac{1}{m} \sum (estimated - true)^2

    over the m labelled items of the user's list.

    Notes
    -----
    At least 0, in units of the rating, squared. Undefined for a user without labelled items. As
    for `RMSE`. Each user's score and the pooled score are the square of `RMSE`; the mean is not.

    References
    ----------
    Herlocker et al. (2004), doi:10.1145/963770.963772

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> float(rn.evaluate({"ann": [(3.0, 5), (2.0, 2)]}, metrics=["mse"]).pooled["mse"])
    2.0
    """

    name = "mse"

    def score(self, ratio: Floats) -> Floats:
        """Return the mean unchanged."""
        return ratio


@register_metric
class MAE(RMSE):
    r"""Mean absolute error of the estimates, less is better.

    .. math:: \frac{1}{m} \sum |estimated - true|

    over the m labelled items of the user's list.

    Notes
    -----
    As for `RMSE`.

    References
    ----------
    Herlocker et al. (2004), doi:10.1145/963770.963772

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> float(rn.evaluate({"ann": [(3.0, 5), (2.0, 2)]}, metrics=["mae"]).pooled["mae"])
    1.0
    """

    name = "mae"
    score = MSE.score

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the absolute errors."""
        return ranking.per_user(np.abs(ranking.error))
