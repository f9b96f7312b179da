"""Subtopic recall: the topics of the relevant recommended items, of all topics."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import get_background
from recsys_ndcg.metrics.of_topics import TOPICS, OfTopics, list_topics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class SubtopicRecall(OfTopics):
    r"""The share of all topics that the relevant items among the first k have.

    .. math:: subtopic\_recall@k = \frac{|\{f : rel_f(r) = 1 \text{ for an } r \le k\}|}{F}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, and F the number of topics of
    the column, of the user's relevant items, or of the training items (`Convention.topics_over`).

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that has the topics: categories or sets.

    Notes
    -----
    In [0, 1], no unit; higher is better. Over the topics of training items it can be above 1, as
    relevant items can have others. Undefined for a user without relevant items that have topics,
    in the list or not. The mean over ties and chance are exact; the best and the worst
    order are not known. Elliot divides by the topics of the training items, ndeval (strec) and
    WarpRec by the topics of the user's relevant items.

    References
    ----------
    Zhai, Cohen & Lafferty (2003), doi:10.1145/860435.860440

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="subtopic_recall(topic)@2", features=topics)
    >>> report.mean.to_dict()
    {'subtopic_recall(topic)@2': 0.5}
    """

    name = "subtopic_recall"
    also_called = ("subtopicrecall", "srecall", "strec")
    reads = TOPICS | {"topics_over"}
    needs_threshold = True

    def find_needs(self, convention: Convention) -> frozenset[str]:
        """Return what it needs to know: also the training items, if topics are over theirs."""
        return self.needs | ({"train"} if convention.topics_over == "train" else set())

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the (expected) number of different topics of relevant items."""
        hits = self.find_relevant_hits(ranking)
        return hits.count_shown(hits.count_places(ranking, self.k))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of topics, 0 for a user without relevant items that have any."""
        n_topics = self.count_relevant_topics(ranking)
        if ranking.convention.topics_over == "relevant":
            return n_topics
        feature = self.get_feature(ranking.lists)
        n_all = len(feature.labels)
        if ranking.convention.topics_over == "train":
            in_train = np.flatnonzero(get_background(ranking.lists).in_train)
            n_all = len(np.unique(list_topics(feature, in_train)[1]))
        return np.where(n_topics > 0, float(n_all), 0.0)
