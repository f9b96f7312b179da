"""P-IA: the mean over topics of the precision for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.of_items import OfItems
from recsys_ndcg.metrics.of_topics import OfTopics, list_topics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
@dataclass(frozen=True)
class PIA(OfTopics, OfItems):
    r"""Intent-aware precision: the mean over topics of the precision for each.

    .. math:: P\text{-}IA@k = \frac{1}{k T} \sum_{r \le k} \sum_f rel_f(r)

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, and T the number of topics
    that the user's relevant items have.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that has the topics: categories or sets.

    Notes
    -----
    In [0, 1], no unit; higher is better. Undefined for a user without relevant items that have
    topics, in the list or not. A list shorter than k is over k, or over its own length
    (`Convention.short_list`), as in precision. Its mean over ties, chance, best and worst order and
    z are exact.

    References
    ----------
    Agrawal et al. (2009), doi:10.1145/1498759.1498766

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> rn.evaluate(lists, metrics="p_ia(topic)@2", features=topics, threshold=1).mean.to_dict()
    {'p_ia(topic)@2': 0.25}
    """

    name = "p_ia"
    also_called = ("pia", "precisionia")
    needs_threshold = True
    bounded = True
    best_first = True

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the number of topics of each relevant item, 0 for others."""
        relevant = ranking.graded.compute_relevance(ranking.threshold)
        rows = np.flatnonzero(relevant)
        items = np.asarray(ranking.lists.item_codes)[rows].astype(np.int64)
        place, _ = list_topics(self.get_feature(ranking.lists), items)
        values = np.zeros(len(relevant))
        values[rows] = np.bincount(place, minlength=len(rows))
        return values

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of places times the number of topics."""
        n_items, k = ranking.n_items, self.k
        if k is None or ranking.convention.short_list == "n":
            n_places = np.maximum(n_items if k is None else np.minimum(n_items, k), 1)
            return n_places * self.count_relevant_topics(ranking)
        return k * self.count_relevant_topics(ranking)
