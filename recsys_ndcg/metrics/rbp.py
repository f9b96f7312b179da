"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
@dataclass(frozen=True)
class RBP(Linear):
    r"""Rank-biased precision: the rate of relevant items for a reader with patience p.

    .. math:: RBP(p)@k = (1 - p) \sum_{r \le k} rel(r) p^{r-1}

    with rel(r) 1 if the item at rank r is relevant and p the chance of reading on.

    Parameters
    ----------
    k : int, optional
        The number of ranks.
    p : float, default 0.8
        Persistence, above 0 and below 1. Written in the name: ``rbp(p=0.95)@10``.

    Notes
    -----
    In [0, 1), higher is better, no unit. Never undefined.

    References
    ----------
    Moffat & Zobel (2008), doi:10.1145/1416950.1416952

    Examples
    --------
    Relevant at ranks 1 and 3: 0.5 (1 + 0.25).

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3, 5), (2, 1), (1, 4)]}
    >>> rn.evaluate(pairs, metrics=["rbp(p=0.5)@10"], threshold=4)["rbp(p=0.5)@10"]
    0.625
    """

    name = "rbp"
    reads = ORDER
    takes_weights = True
    needs_threshold = True

    p: float = 0.8

    def __post_init__(self) -> None:
        """Raise if the persistence is not a probability."""
        super().__post_init__()
        if not is_number(self.p) or not 0 < self.p < 1:
            msg = f"rbp: p must be above 0 and below 1, not {quote(self.p)}; 0.8 is usual."
            raise InvalidInputError(msg)

    def weights(self, ranking: Ranking) -> Floats:
        """Return the probability to read each rank and stop there."""
        ranks = np.arange(ranking.width(self.k), dtype=np.float64)
        return np.asarray((1 - self.p) * np.power(self.p, ranks))
