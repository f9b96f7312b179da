"""Measures of the topics that a user may mean: MAP-IA, P-IA, subtopic recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import choice
from recsys_ndcg.metrics.of_items import OfItems
from recsys_ndcg.metrics.of_topics import OfTopics, list_topics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
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
    needs_threshold = True
    cutoff = "possible"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the topics' average precisions."""
        hits, topics = self.find_relevant_hits(ranking), self.find_relevant_topics(ranking)
        precisions = hits.sum_precisions(hits.count_places(ranking, self.k))
        n_items = topics.n_items[np.searchsorted(topics.slot_keys, hits.slot_keys)]
        return hits.sum_by_user(precisions / n_items[hits.slot])


@register_metric
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
        k, n_topics = self.k, super().denominator(ranking)
        if k is None or ranking.convention.short_list == "n":
            return np.maximum(ranking.count_shown(k), 1) * n_topics
        return k * n_topics


@register_metric
@dataclass(frozen=True)
class SubtopicRecall(OfTopics):
    r"""The share of all topics that the relevant items among the first k have.

    .. math:: subtopic\_recall@k = \frac{|\{f : rel_f(r) = 1 \text{ for an } r \le k\}|}{F}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, and F the number of topics of
    the column, of the user's relevant items, or of the training items (``over``).

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that has the topics: categories or sets.
    over : {'all', 'relevant', 'train'}
        All topics of the column, those of the user's relevant items, or of the training items.

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
    needs_threshold = True

    over: str | None = choice("all", "relevant", "train")

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also the training items, if topics are over theirs."""
        more = [Requirement("source", "train")] if self.over == "train" else []
        return [*super().list_requirements(convention), *more]

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the (expected) number of different topics of relevant items."""
        hits = self.find_relevant_hits(ranking)
        return hits.count_shown(hits.count_places(ranking, self.k))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of topics, 0 for a user without relevant items that have any."""
        n_topics = super().denominator(ranking)
        if self.over == "relevant":
            return n_topics
        feature = self.get_feature(ranking.lists)
        n_all = len(feature.labels)
        if self.over == "train":
            in_train = np.flatnonzero(ranking.lists.get_background().in_train)
            n_all = len(np.unique(list_topics(feature, in_train)[1]))
        return np.where(n_topics > 0, float(n_all), 0.0)
