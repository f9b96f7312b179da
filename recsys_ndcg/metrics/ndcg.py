"""Normalised discounted cumulative gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recsys_ndcg.convention.gains import discounts
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.metrics.dcg import discounted
from recsys_ndcg.metrics.metric import Metric, register

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking.ranking import Ranking

_MOST_PLACES = 10_000_000


@register
class NDCG(Metric):
    r"""DCG over the best possible DCG: 1 is the ideal order.

    .. math:: NDCG@k = \frac{DCG@k}{IDCG@k}

    with IDCG the DCG of the ideal list, cut at k too: by default of all the user's labelled
    items, best first (`Convention.ideal`).

    Notes
    -----
    In [0, 1], higher is better, no unit. Undefined for a user whose ideal DCG is 0.
    Under ``ideal="max"`` the ideal has the top grade at each of the k places, or of the list's
    places where there is no k. scikit-learn agrees under ``gain="linear"``, where every labelled
    item is in the list and no user is undefined.

    References
    ----------
    Järvelin & Kekäläinen (2002), doi:10.1145/582415.582418;
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    The two best items have changed places.

    >>> import recsys_ndcg as rn
    >>> round(rn.ndcg_at_k([(4.0, 3), (4.5, 2), (1.0, 0)], 10), 4)
    0.834
    """

    name: ClassVar[str] = "ndcg"
    uses_gains: ClassVar[bool] = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return DCG."""
        return discounted(ranking.gain, ranking.discount, self.k)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the ideal DCG."""
        gain, discount = ranking.ideal_gain, ranking.discount
        if ranking.convention.ideal != "max":
            return discounted(gain, discount, self.k)
        if self.k is None:
            places = np.arange(1, len(discount) + 1)
            return discounted(
                gain * (places <= np.maximum(ranking.n_items, 1)[:, None]), discount, None
            )
        return discounted(gain, discount, self.k) + ranking.top_gain * self._beyond(ranking)

    def _beyond(self, ranking: Ranking) -> float:
        """Return the weight of the places up to k that no list here reaches."""
        width, k = len(ranking.discount), self.k or 0
        if k <= width:
            return 0.0
        if k > _MOST_PLACES:
            msg = f"ideal='max' adds up the weights of all k places; choose k up to {_MOST_PLACES}."
            raise InvalidInputError(msg)
        return float(discounts(k, ranking.convention)[width:].sum())
