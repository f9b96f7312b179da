"""How many categories a list has, and how evenly: their number, and their entropy."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, row_sums
from recsys_ndcg.background import Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.calibration import normalise, sum_shown
from recsys_ndcg.metrics.history import list_seen_candidates
from recsys_ndcg.metrics.of_items import count_places
from recsys_ndcg.metrics.of_topics import OfTopics, compute_missed, count_labels, list_topics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking

_ADDED = 1e-6  # to each category, as LensKit does


@register_metric
class Categories(OfTopics):
    r"""The number of different categories of the first k items, over the number of items.

    .. math:: categories@k = \frac{|\bigcup_{r \le k} C(i_r)|}{\min(k, n)}

    with C(i) the category of item i, or its set of topics.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features: categories or sets.

    Notes
    -----
    At least 0; at most 1 if each item has one category, and at most the number of topics if it has
    a set; higher means more diverse, not better: a random list is diverse, too. Undefined for an
    empty list. The number itself is ``list_over="one"``; RePlay divides by k (``"k"``). The mean
    over ties and chance are exact; the best and the worst order are not known. A candidate without
    an entry in the features has no category.

    References
    ----------
    Kunaver & Požrl (2017), doi:10.1016/j.knosys.2017.02.009, a survey

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b"], "topic": ["war", "war"]}
    >>> rn.evaluate(lists, metrics="categories(topic)@2", features=topics).mean.to_dict()
    {'categories(topic)@2': 0.5}
    """

    name = "categories"
    also_called = ("categoricaldiversity",)
    reads = OfTopics.reads | {"list_over"}
    bounded = False
    reads_unlisted = False

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the (expected) number of different categories."""
        if ranking.lists.pool.is_drawn:
            return self._count_drawn(ranking.lists, ranking.count_shown(self.k))
        hits = self.find_hits(ranking)
        return hits.count_shown(hits.count_places(ranking, self.k))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of the first k items that have an entry, or as `list_over` says."""
        convention, feature = ranking.convention, self.get_feature(ranking.lists)
        n_places = count_places(ranking, self.k)
        if not self._leaves_out(convention) or feature.is_known.all():
            return n_places
        rows, user, _ = ranking.exposure(np.ones(ranking.width(self.k)))
        is_missing = ~feature.is_known[np.asarray(ranking.lists.item_codes)[rows]]
        return n_places - np.bincount(user[is_missing], minlength=len(n_places))

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: no ties if items are left out, and for chance known candidates."""
        found = super().list_requirements(convention)
        if self._leaves_out(convention) and not convention.tie_rule.gives_each_item_a_place:
            why = (
                f"{self} leaves out items without an entry in the features (`missing_feature="
                "'drop'), so that its denominator depends on the order of tied items. Choose "
                "`missing_feature='zero'`, `list_over='k'`, or `ties='item_asc'`."
            )
            found.insert(0, Requirement("no ties", why=why))
        why = "only the number of candidates is known, not which they are: give `catalogue=`"
        return [*found, Requirement("no chance", "catalogue", why)]

    @staticmethod
    def _leaves_out(convention: Convention) -> bool:
        """Return whether items without an entry do not count in the denominator."""
        return convention.missing_feature == "drop" and convention.list_over == "n"

    def _count_drawn(self, lists: GroupedLists, shown: Positions) -> Floats:
        """Return the expected number of categories of as many items drawn from the candidates."""
        candidates = np.flatnonzero(np.asarray(lists.get_background().is_candidate))
        feature = self.get_feature(lists)
        _, topic = list_topics(feature, candidates)
        n_with = np.bincount(topic, minlength=count_labels(feature))
        lengths, index = np.unique(shown, return_inverse=True)
        size = np.full(len(lengths), len(candidates))
        n_with = np.tile(n_with, (len(lengths), 1))
        if lists.pool.excludes_history:  # each user has other candidates
            n_seen, n_seen_with = self._count_seen(lists, feature)
            lengths, index, size = shown, np.arange(len(shown)), size[index] - n_seen
            n_with = n_with[np.zeros_like(index)] - n_seen_with
        places, sizes = (np.repeat(one, n_with.shape[1]) for one in (lengths, size))
        missed = compute_missed(sizes, n_with.ravel(), places)
        return row_sums(1.0 - missed.reshape(n_with.shape))[index]

    @staticmethod
    def _count_seen(lists: GroupedLists, feature: Feature) -> tuple[Positions, Positions]:
        """Return how many candidates each user had in training, and how many with each topic."""
        (owner, item), n_topics = list_seen_candidates(lists), count_labels(feature)
        place, topic = list_topics(feature, item)
        shape = len(lists), n_topics
        cells = np.bincount(owner[place] * n_topics + topic, minlength=shape[0] * shape[1])
        return np.bincount(owner, minlength=len(lists)), cells.reshape(shape)


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
    reads = OfTopics.reads | {"patience"}
    bounded = False
    reads_unlisted = False
    no_chance = "the mean entropy of random lists is not known, only the entropy of their mean"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the entropy of the (expected) shares."""
        sums = self._sum_by_category(ranking)
        share = normalise(sums + _ADDED)
        return np.where((sums > 0).any(axis=1), row_sums(share * -np.log2(share)), 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, or 0 for a list without categories."""
        return np.asarray((self._sum_by_category(ranking) > 0).any(axis=1), dtype=np.float64)

    def _sum_by_category(self, ranking: Ranking) -> Floats:
        """Return the sum of the weights of each category: shape (n_users, n_categories)."""

        def add_up() -> Floats:
            feature = self.get_feature(ranking.lists)
            return sum_shown(ranking, self.k, normalise(feature.memberships))

        return ranking.get_or_compute((type(self), self.column, self.k), add_up)
