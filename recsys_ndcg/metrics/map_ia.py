"""MAP-IA: the mean over topics of the average precision for each."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.of_topics import TOPICS, OfTopics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class MAPIA(OfTopics):
    r"""Intent-aware average precision: the mean over topics of the average precision for each.

    .. math:: MAP\text{-}IA = \frac{1}{T} \sum_f \frac{1}{R_f} \sum_r rel_f(r) \frac{h_f(r)}{r}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, h_f(r) the number of such
    items at ranks up to r, R_f that of all the user's items, and T the number of topics that the
    user's relevant items have.

    Parameters
    ----------
    k : int, optional
        The cutoff; by default all ranks count.
    column : str
        The column of the features that has the topics: categories or sets.

    Notes
    -----
    In [0, 1], no unit; higher is better. Undefined for a user without relevant items that have
    topics, in the list or not. The mean over ties and chance are exact; the best and the worst
    order are not known.

    References
    ----------
    Agrawal et al. (2009), doi:10.1145/1498759.1498766

    Examples
    --------
    The average precision is 1 for war, and 1/2 for sea.

    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "c"}}, {"ann": ["a", "c"]})
    >>> topics = {"item": ["a", "c"], "topic": ["war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="map_ia(topic)", features=topics, threshold=1)
    >>> report.mean.to_dict()
    {'map_ia(topic)': 0.75}
    """

    name = "map_ia"
    also_called = ("mapia", "apia")
    reads = TOPICS
    needs_threshold = True
    cutoff = "possible"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the topics' average precisions."""
        hits, topics = self.find_relevant_hits(ranking), self.find_relevant_topics(ranking)
        precisions = hits.sum_precisions(hits.count_places(ranking, self.k))
        n_items = topics.n_items[np.searchsorted(topics.slot_keys, hits.slot_keys)]
        return hits.sum_by_user(precisions / n_items[hits.slot])

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of topics of the user's relevant items."""
        return self.count_relevant_topics(ranking)
