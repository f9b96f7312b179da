"""Entropy of the categories of the recommended items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.metrics.calibration import normalise, sum_shown
from recsys_ndcg.metrics.of_topics import TOPICS, OfTopics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking

_ADDED = 1e-6  # to each category, as LensKit does


@register_metric
class CategoryEntropy(OfTopics):
    r"""The entropy of the categories of the first k items, in bits.

    .. math:: -\sum_f p_f \log_2 p_f, \quad
        p_f \propto 10^{-6} + \sum_{r \le k} w_r \frac{[f \in C(i_r)]}{|C(i_r)|}

    with C(i) the category of item i, or its set of topics, over which it spreads the weight
    of its rank: 1, or patience^(r-1) (`Convention.patience`).

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features: categories or sets.

    Notes
    -----
    From about 0 to the logarithm of the number of categories, in bits; higher means more diverse,
    not better. 10^-6 is added to each category, as LensKit does. Undefined for a list without
    categories. Under tied estimates it is the entropy of the expected shares, which is at least
    the mean over the orders; for a random list the two are far apart, so there is no chance level,
    nor a best or worst order.

    References
    ----------
    Shannon (1948), doi:10.1002/j.1538-7305.1948.tb01338.x

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b"], "topic": ["war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="category_entropy(topic)@2", features=topics)
    >>> report.mean.round(6).to_dict()
    {'category_entropy(topic)@2': 1.0}
    """

    name = "category_entropy"
    also_called = ("categoryentropy", "topicentropy")
    reads = TOPICS | {"patience"}
    bounded = False
    reads_unlisted = False
    no_chance = "the mean entropy of random lists is not known, only the entropy of their mean"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the entropy of the (expected) shares."""
        sums = self._sum_by_category(ranking)
        share = normalise(sums + _ADDED)
        bits = row_sums(share * -np.log2(share))
        return np.where((sums > 0).any(axis=1), bits, 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, or 0 for a list without categories."""
        has_some = (self._sum_by_category(ranking) > 0).any(axis=1)
        return np.asarray(has_some, dtype=np.float64)

    def _sum_by_category(self, ranking: Ranking) -> Floats:
        """Return the sum of the weights of each category: shape (n_users, n_categories)."""

        def add_up() -> Floats:
            feature = self.get_feature(ranking.lists)
            return sum_shown(ranking, self.k, normalise(feature.memberships))

        return ranking.get_or_compute((type(self), self.column, self.k), add_up)
