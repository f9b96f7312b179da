"""Entropy of the categories of the recommended items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_topics import (
    TOPICS,
    OfTopics,
    add_up,
    count_labels,
    get_topics,
    list_topics,
)
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

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the entropy of the (expected) shares."""
        feature, n_users = get_topics(ranking, self.column), len(ranking.n_items)
        n_topics = count_labels(feature)
        slot_keys, sums = self._sum_by_slot(ranking)
        user = slot_keys // n_topics
        total = add_up(user, sums, n_users)
        whole = np.where(total > 0, total + n_topics * _ADDED, 1.0)
        share = (sums + _ADDED) / whole[user]
        bits = add_up(user, -share * np.log2(share), n_users)
        n_others = n_topics - np.bincount(user, minlength=n_users)
        least = _ADDED / whole
        return np.where(total > 0, bits - n_others * (least * np.log2(least)), 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, or 0 for a list without categories."""
        slot_keys, _ = self._sum_by_slot(ranking)
        n_topics = count_labels(get_topics(ranking, self.column))
        counts = np.bincount(slot_keys // n_topics, minlength=len(ranking.n_items))
        return (counts > 0).astype(np.float64)

    def chance_objection(
        self,
        convention: Convention,  # noqa: ARG002
        known: Background | None,  # noqa: ARG002
        *,
        is_drawn: bool,  # noqa: ARG002
    ) -> str:
        """Return that the mean entropy of random lists is not known."""
        return f"the mean of {self} over random lists is not known, only the entropy of their mean"

    def _sum_by_slot(self, ranking: Ranking) -> tuple[Positions, Floats]:
        """Return user times the number of categories, plus category, and the sum of its weights."""
        key = type(self), self.column, self.k
        return ranking.get_or_compute(key, lambda: self._find_sums(ranking))

    def _find_sums(self, ranking: Ranking) -> tuple[Positions, Floats]:
        feature, width = get_topics(ranking, self.column), ranking.width(self.k)
        patience = ranking.convention.patience
        weights = (1.0 if patience is None else patience) ** np.arange(width, dtype=np.float64)
        rows, user, weight = ranking.exposure(weights)
        items = np.asarray(ranking.lists.item_codes)[rows].astype(np.int64)
        place, topic = list_topics(feature, items)
        n_of = np.bincount(place, minlength=len(rows))[place]
        slot = user[place] * count_labels(feature) + topic
        # in the order of the weights, so that the sum does not depend on that of the rows
        order = np.lexsort((n_of, -weight[place], slot))
        slot, terms = slot[order], (weight[place] / n_of)[order]
        slot_keys, index = np.unique(slot, return_inverse=True)
        return slot_keys, add_up(index, terms, len(slot_keys))
