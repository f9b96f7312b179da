"""Mean absolute error."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.rmse import RMSE
from recsys_ndcg.ranking import Ranking


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

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the absolute errors."""
        return ranking.per_user(np.abs(ranking.error))

    def score(self, ratio: Floats) -> Floats:
        """Return the mean unchanged."""
        return ratio
