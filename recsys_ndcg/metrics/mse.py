"""Mean squared error."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.rmse import RMSE


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
