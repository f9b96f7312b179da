"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.metrics.dcg import discounted
from recsys_ndcg.metrics.metric import Metric, register

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking.ranking import Ranking


@register
@dataclass(frozen=True)
class RBP(Metric):
    r"""Rank-biased precision: the rate at which a patient reader meets relevant items.

    .. math:: RBP(p)@k = (1 - p) \sum_{r \le k} rel(r) p^{r-1}

    with rel(r) 1 where the item at rank r is relevant and p the chance of reading on.

    Parameters
    ----------
    k : int, optional
        How many of the first items count.
    p : float, default 0.8
        Persistence, above 0 and below 1. Written in the name: ``rbp(0.95)@10``.

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
    >>> rn.evaluate(pairs, metrics=["rbp(0.5)@10"], threshold=4).mean["rbp(0.5)@10"]
    np.float64(0.625)
    """

    name: ClassVar[str] = "rbp"
    needs_threshold: ClassVar[bool] = True

    p: float = 0.8

    def __post_init__(self) -> None:
        """Refuse a persistence that is no probability."""
        super().__post_init__()
        if not is_number(self.p) or not 0 < self.p < 1:
            msg = f"rbp: p must be above 0 and below 1, not {shown(self.p)}; 0.8 is usual."
            raise InvalidInputError(msg)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted sum."""
        table = ranking.relevance[:, : self.k]
        weights = (1 - self.p) * np.power(self.p, np.arange(table.shape[1], dtype=np.float64))
        return discounted(table, weights)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))
