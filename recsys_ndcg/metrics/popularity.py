"""Popularity of the recommended items: its mean, its lift, the long tail, cold items."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.history import sum_history
from recsys_ndcg.metrics.of_items import POPULARITY, OfItems, count_popularity, count_training
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking

_SHARES = {"reach": 0.8, "pass": 0.8, "rarest": 0.1}
TAIL = frozenset({"tail", "tail_at", "popularity_of", "universe"})


@register_metric
class Popularity(OfItems):
    r"""The mean popularity of the first k items: how many users had them in training.

    .. math:: popularity@k = \frac{1}{\min(k, n)} \sum_{r \le k} \nu(i_r)

    with \nu(i) the number of training users of item i, 0 for a cold item.

    Notes
    -----
    At least 0, in users (or a share: `Convention.popularity_as`); lower means less popular, which
    counts as better. Undefined for an empty list. Other libraries count rows, clip cold items to 1,
    or divide by k; also called ARP, average recommendation popularity.

    References
    ----------
    Yin et al. (2012), doi:10.14778/2311906.2311916

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["popularity@1", "popularity@2"], train=train).mean.to_dict()
    {'popularity@1': 1.0, 'popularity@2': 1.5}
    """

    name = "popularity"
    also_called: ClassVar[tuple[str, ...]] = ("arp", "averagepopularity", "avgrecpopularity")
    needs = frozenset({"items", "train"})
    reads = POPULARITY | {"popularity_as"}
    greater_is_better = False
    nonnegative: ClassVar[bool] = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the popularity of every item."""
        counts: Floats = count_popularity(known, convention)
        if convention.popularity_as == "share":
            return np.asarray(counts / np.asarray(known.n_rows).sum())
        if convention.popularity_as == "max":
            return counts / np.nanmax(counts)
        if convention.popularity_as == "rank":
            ordered = np.sort(counts[np.asarray(known.n_users_of) > 0])
            lower, upper = (np.searchsorted(ordered, counts, side) for side in ("left", "right"))
            # the mean rank of equal counts; cold items have that of their count, 0 if it is 0
            return np.where(counts > 0, (lower + upper + 1) / 2 / max(len(ordered), 1), counts)
        return counts


@register_metric
class PopularityLift(Popularity):
    r"""How much more popular the first k items are than the user's training items, relatively.

    .. math:: popularity\_lift@k = \frac{\bar\nu(L_k) - \bar\nu(H)}{\bar\nu(H)}

    with \bar\nu the mean number of training users of the items in a set, L_k the first k items of
    the list and H the user's training items.

    Notes
    -----
    At least -1, no unit; lower means less popular, which counts as better, 0 as popular as the
    history. Undefined for an empty list and a user without training items. The pooled score of a
    group of users is the lift of their means, GAP. Its expectation under ties, its chance level and
    its z are exact.

    References
    ----------
    Abdollahpouri, Mansoury, Burke & Mobasher (2019), arXiv:1907.13286

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "b"), ("bob", "a"), ("bob", "b"), ("cid", "b"), ("ann", "c")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> metrics = ["popularity_lift@1", "popularity_lift@2"]
    >>> rn.evaluate(lists, metrics=metrics, train=train).mean.to_dict()
    {'popularity_lift@1': -0.5, 'popularity_lift@2': 0.0}
    """

    name = "popularity_lift"
    also_called: ClassVar[tuple[str, ...]] = ("lift",)
    nonnegative = False

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of the list minus the history's."""
        places, profile = super().denominator(ranking), self._find_profile(ranking)
        mean = super().numerator(ranking) / np.where(places > 0, places, 1.0)
        return np.where(self.denominator(ranking) > 0, mean - profile, 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of the history, 0 if there is nothing to compare."""
        is_defined = (super().denominator(ranking) > 0) & (ranking.n_items > 0)
        return np.where(is_defined, self._find_profile(ranking), 0.0)

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        places = super().denominator(ranking)
        return super().deviation(ranking) / np.where(places > 0, places, 1.0)

    def _find_profile(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of each user's training items, 0 without any."""
        return ranking.get_or_compute(type(self).name, lambda: self._average_history(ranking))

    def _average_history(self, ranking: Ranking) -> Floats:
        lists, convention = ranking.lists, ranking.convention
        values = self.values_by_item(lists.get_background(), convention)
        table = np.stack([values, np.ones(len(values))], axis=1)
        total, count = sum_history(lists, convention, table).T
        return np.asarray(total / np.maximum(count, 1))


@register_metric
class Tail(OfItems):
    r"""The share of the first k items that are in the long tail of popularity.

    .. math:: tail@k = \frac{1}{\min(k, n)} \sum_{r \le k} [i_r \text{ is in the tail}]

    The head is the smallest set of most popular items that together have at least 80 % of all
    popularity, counted in training users or rows (`Convention.popularity_of`); the tail is all
    others (`Convention.tail`).

    Notes
    -----
    In [0, 1], no unit; higher means less popular. Undefined for an empty list. An item without
    training rows is in the tail, but not under ``universe="train"`` or ``tail="rarest"``, whose
    tail has training items only. Items of equal popularity at the border of head and tail are in
    the order of their ids. Also called APLT; with ``list_over="one"`` ACLT, a number of items.

    References
    ----------
    Abdollahpouri, Burke & Mobasher (2019), arXiv:1901.07555

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("cid", "a"), ("eve", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["tail@1", "tail@2"], train=train).mean.to_dict()
    {'tail@1': 1.0, 'tail@2': 0.5}
    """

    name = "tail"
    also_called = ("aplt", "aclt", "tailpercentage", "longtail")
    needs = frozenset({"items", "train"})
    reads = OfItems.reads | TAIL
    bounded = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return whether every item is in the tail, 0 or 1."""
        return find_tail(known, convention).astype(np.float64)


def find_tail(known: Background, convention: Convention) -> Flags:
    """Return whether every item is in the tail.

    Items that nobody had in training are in it, unless the universe is training.
    """
    counts = count_training(known, convention)
    in_train = counts > 0
    universe = in_train if convention.universe == "train" else np.ones(len(counts), dtype=bool)
    if convention.tail == "count":
        assert convention.tail_at is not None, "checked by the convention"  # noqa: S101
        return np.asarray(universe & (counts <= convention.tail_at))
    share = convention.tail_at or _SHARES[convention.tail]
    order = np.flatnonzero(in_train)[np.argsort(-counts[in_train], kind="stable")]
    if convention.tail == "rarest":
        is_tail = np.zeros(len(counts), dtype=bool)
        rarest = np.flatnonzero(in_train)[np.argsort(counts[in_train], kind="stable")]
        is_tail[rarest[: max(int(len(order) * share), 1)]] = True
        return is_tail
    reached = np.cumsum(counts[order])
    # relative to the total: a share of 0.8 is not exact in binary
    limit = share * reached[-1]
    near = np.isclose(reached, limit, rtol=1e-12, atol=0)
    ends = (reached >= limit) | near if convention.tail == "reach" else (reached > limit) & ~near
    is_tail = universe.copy()
    is_tail[order[: int(np.argmax(ends)) + 1]] = False
    return is_tail


@register_metric
class Cold(OfItems):
    r"""The share of the first k items that have no training rows.

    .. math:: cold@k = \frac{1}{\min(k, n)} \sum_{r \le k} [\nu(i_r) = 0]

    with \nu(i) the number of training users of item i.

    Notes
    -----
    In [0, 1], no unit; higher means more new items, which counts as better. Undefined for an empty
    list.

    References
    ----------
    Schein et al. (2002), doi:10.1145/564376.564421, for cold items

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["cold@1", "cold@2"], train=[("bob", "a")]).mean.to_dict()
    {'cold@1': 1.0, 'cold@2': 0.5}
    """

    name = "cold"
    also_called = ("coldshare", "colditems")
    needs = frozenset({"items", "train"})
    bounded = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return whether every item is cold, 0 or 1."""
        return np.asarray(np.asarray(known.n_users_of) == 0, dtype=np.float64)
