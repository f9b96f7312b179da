"""Diversity: the mean distance of the pairs of items in a list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.distances import average_candidates, find_distances
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.history import list_seen_candidates
from recsys_ndcg.metrics.metric import ORDER, Metric, choice
from recsys_ndcg.metrics.pairs import ShownItems
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking


@register_metric
@dataclass(frozen=True)
class Diversity(OfColumn):
    r"""The mean distance of the pairs of items among the first k (intra-list diversity).

    .. math:: diversity@k = \frac{2}{n_k (n_k - 1)} \sum_{r < s \le n_k} d(i_r, i_s)

    with n_k = min(k, n) the number of items that the list shows, and d the distance of two items in
    a column of the features: the Jaccard distance of sets, 1 minus the cosine of vectors, 0 or 1 of
    categories and single numbers.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str, optional
        The name of a column of the features; by default all columns together.
    over : {'pairs', 'k', 'n'}
        The sum of the distances is over the pairs, over k(k-1)/2 also if the list is shorter, or
        over the items.
    as_ : {'distance', 'similarity'}
        Whether pairs are compared by distance, or by 1 - distance.
    single : {'undefined', 0.0, 1.0}
        The score of a list of one item, which has no pairs.

    Notes
    -----
    In [0, 1] with Jaccard and categories, in [0, 2] with cosine, up to the number of columns if
    several are compared (by how many differ); no unit; higher is better. Undefined for an empty
    list and, unless ``single`` says otherwise, for one item. Other libraries have another
    `Convention.distance`, divide by k(k-1)/2 or by the number of items (``over``), or return the
    similarity 1 - d (``as``), where higher is less diverse.

    Two empty sets have the Jaccard distance 0; a vector of zeros has the cosine distance 1 from any
    vector. Numbers are compared like categories, such as years; a warning names a column in which
    nearly every item has a value of its own, a price or a title. ``distance="cooccurrence"`` needs
    training rows instead of features; an item without any has distance 1. A function gets two
    arrays of rows (sets as columns of 0 and 1, categories as their names) and returns their
    distances; it must be symmetric.

    The mean over the orders of ties, and chance, are exact. The most and least diverse orders are
    not known in general: there is no tie range, best or worst. There is no z either, because the
    variance under random order is not computed.

    References
    ----------
    Smyth & McClave (2001), doi:10.1007/3-540-44593-5_25;
    Ziegler et al. (2005), doi:10.1145/1060745.1060754

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a", "c"]})
    >>> films = {"item": [*"abc"], "genres": [{"war"}, {"war", "drama"}, {"drama"}]}
    >>> metrics = ["diversity(genres)@2", "diversity(genres)@3"]
    >>> rn.evaluate(lists, metrics=metrics, features=films).mean.round(3).to_dict()
    {'diversity(genres)@2': 0.5, 'diversity(genres)@3': 0.667}
    """

    name = "diversity"
    also_called = ("ild", "intralistdiversity", "ils", "intralistsimilarity")
    needs = frozenset({"items"})
    reads = ORDER | {"distance", "missing_feature", "popularity_of"}
    bounded = False
    nonnegative = True
    best_first = False

    over: str | None = choice("pairs", "k", "n")
    as_: str | None = choice("distance", "similarity")
    single: str | float | None = choice("undefined", 0.0, 1.0)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: features with distances, or training rows."""
        why = "the catalogue has too many different entries to compare all pairs of them"
        own = [Requirement("distance"), Requirement("no chance", "few", why)]
        found = [*Metric.list_requirements(self, convention), *own]
        if convention.distance == "cooccurrence":
            return [*found, Requirement("source", "train")]
        if self._drops(convention):
            why = (
                f"{self} under `missing_feature='drop'` divides by the number of items that are "
                "left, which depends on the order of tied items. Choose `missing_feature='zero'`, "
                "or a rule for ties such as `ties='input'`."
            )
            found.insert(0, Requirement("no ties", why=why))
        entries = [Requirement("entries", of) for of in ("rows", "candidates")]
        return [*found, Requirement("source", "features"), *entries]

    def _drops(self, convention: Convention) -> bool:
        return convention.missing_feature == "drop" and convention.distance != "cooccurrence"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the expected sum of the distances of the pairs."""
        count = self._count(ranking)
        total, pairs = self._sum_distances(ranking), count * (count - 1) / 2
        if self.as_ == "similarity":
            total = pairs - total
        alone = self.single if isinstance(self.single, float) else 0.0
        return np.where(count >= 2, total, np.where(count == 1, alone, 0.0))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of pairs, or as `over` and `single` say."""
        count = self._count(ranking)
        bottom = count if self.over == "n" else count * (count - 1) / 2
        if self.over == "k" and self.k is not None:
            bottom = np.full(len(count), self.k * (self.k - 1) / 2)
        alone = 1.0 if isinstance(self.single, float) else 0.0
        return np.where(count >= 2, bottom, np.where(count == 1, alone, 0.0))

    def _sum_distances(self, ranking: Ranking) -> Floats:
        lists, convention = ranking.lists, ranking.convention
        known = lists.get_background()
        if not lists.pool.is_drawn:
            shown = self._get_shown(ranking)
            return find_distances(known, self.column, convention).sum_expected(shown)
        count, mean = self._count(ranking), np.full(len(lists), np.nan)
        if known.is_candidate is not None:
            left_out = self._find_left_out(lists)
            mean = average_candidates(known, self.column, convention, left_out)
        return np.asarray(count * (count - 1) / 2 * mean)

    def _find_left_out(self, lists: GroupedLists) -> ShownItems:
        """Return the candidates that each user had in training, if these are not recommended."""
        owner, item = np.zeros((2, 0), dtype=np.int64)
        if lists.pool.excludes_history:
            owner, item = list_seen_candidates(lists)
        is_tied, n_drawn = np.zeros(len(item), dtype=bool), np.zeros(len(lists), dtype=np.int64)
        return ShownItems(len(lists), owner, item, is_tied, n_drawn)

    def _count(self, ranking: Ranking) -> Floats:
        """Return the number of items that each list shows."""
        if ranking.lists.pool.is_drawn:
            return ranking.count_shown(self.k).astype(np.float64)
        return self._get_shown(ranking).count

    def _get_shown(self, ranking: Ranking) -> ShownItems:
        """Return the items that may be among the first k, computed once."""
        key = "shown", self.column, self.k
        return ranking.get_or_compute(key, lambda: self._find_shown(ranking))

    def _find_shown(self, ranking: Ranking) -> ShownItems:
        lists, n_users = ranking.lists, len(ranking.n_items)
        item: Positions = np.asarray(lists.item_codes).astype(np.int64)
        user, is_tied, n_shown = lists.user_of_row, np.zeros(len(item), dtype=bool), ranking.n_items
        if self.k is not None:
            rows, user, share = ranking.exposure(np.ones(ranking.width(self.k)))
            item, is_tied, n_shown = item[rows], share < 1, np.minimum(n_shown, self.k)
        n_drawn = n_shown - np.bincount(user[~is_tied], minlength=n_users)
        if self._drops(ranking.convention):
            kept = np.asarray(self.get_feature(lists).is_known)[item]
            user, item, is_tied = user[kept], item[kept], is_tied[kept]
        order = np.lexsort((item, is_tied, user))
        return ShownItems(n_users, user[order], item[order], is_tied[order], n_drawn)
