"""The number of recommended items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ROWS_AND_USERS, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class NRetrieved(Metric):
    r"""The number of items that the user is recommended, at most k.

    .. math:: n\_retrieved@k = \min(k, n)

    with n the length of the list.

    Notes
    -----
    At least 0, in units of items; higher counts as better. Never undefined: 0 for an empty list.
    trec_eval calls it num_ret, Elliot NumRetrieved.

    References
    ----------
    Buckley & Voorhees (2005), in TREC: Experiment and Evaluation in Information Retrieval, MIT
    Press

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}, "bob": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics="n_retrieved@3").mean.to_dict()
    {'n_retrieved@3': 1.0}
    """

    name = "n_retrieved"
    also_called = ("nretrieved", "numretrieved", "numret")
    needs = frozenset({"items"})
    reads = ROWS_AND_USERS
    bounded = False
    nonnegative = True
    same_denominator = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the number of items, at most k."""
        n_items = ranking.n_items
        return np.asarray(n_items if self.k is None else np.minimum(n_items, self.k), np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))
