"""What a list has in common: with a base model, the user's training items, other users' lists."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists, contains_pairs
from recsys_ndcg.metrics.of_items import OfItems, divides_by_k
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    find_ends_of_squares,
    find_list_length,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals, Ranking
from recsys_ndcg.ratings import GroupedRows

_ROUNDING = 1e-12


@register_metric
class Overlap(OfItems):
    r"""The share of the first k items that are among the first k of a base model's list.

    .. math:: overlap@k = \frac{|L_k \cap B_k|}{\min(k, n)}

    with L_k the first k items of the list and B_k of the base model's list.

    Notes
    -----
    In [0, 1], no unit; lower counts as better: it is 1 minus ``unexpected``. Undefined for an empty
    list, and for a user without a list of the base model: RecTools scores 0 (``undefined=0.0``). To
    compare with fewer items of the base model, as by RecTools' ref_k, give shorter lists in
    ``base=``. Items that are tied in the base model's list count with the probability to be among
    its first k, in random order.

    References
    ----------
    Murakami, Mori & Orihara (2008), doi:10.1007/978-3-540-78197-4_5, for comparisons with a
    primitive model

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> base = {"ann": ["a", "c"]}
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["overlap@2", "unexpected@2"], base=base).mean.to_dict()
    {'overlap@2': 0.5, 'unexpected@2': 0.5}
    """

    name = "overlap"
    also_called = ("intersection",)
    needs = frozenset({"items", "base"})
    bounded = True
    greater_is_better = False
    marks = ("base",)

    @property
    def _options(self) -> tuple[object, ...]:
        """Also the cutoff: it cuts the base model's lists."""
        return (self.k, *super()._options)

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the probability that each item is among the base model's first k."""
        return find_base_shares(ranking.lists, self.k)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of places, 0 without a list of the base model."""
        return np.where(_has_base(ranking.lists), super().denominator(ranking), 0.0)


@register_metric
class Unexpected(Overlap):
    r"""The share of the first k items that a base model does not recommend: 1 - overlap@k.

    .. math:: unexpected@k = 1 - \frac{|L_k \cap B_k|}{\min(k, n)}

    with L_k the first k items of the list and B_k of a base model's list, such as the most popular
    items.

    Notes
    -----
    In [0, 1], no unit; higher counts as better, but random lists are the most unexpected, so read
    it with NDCG. Undefined for an empty list, and for a user without a list of the base model:
    RePlay scores 0 (``undefined=0.0``). Under ``list_over="k"`` places past the end of a short list
    count as unexpected.

    References
    ----------
    Murakami, Mori & Orihara (2008), doi:10.1007/978-3-540-78197-4_5

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics="unexpected@2", base={"ann": ["a"]}).mean.to_dict()
    {'unexpected@2': 0.5}
    """

    name = "unexpected"
    also_called = ("unexpectedness",)
    greater_is_better = True
    is_complement = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the number of unexpected places: items, and ranks past the end of the list."""
        shown = super().numerator(ranking)
        if self.k is None or not divides_by_k(ranking.convention, self.k):
            return shown
        n_past_end = self.k - ranking.count_shown(self.k)
        return np.where(_has_base(ranking.lists), shown + n_past_end, 0)


def find_base_shares(lists: GroupedLists, k: int | None) -> Floats:
    """Return the probability that each row's item is among the first k of the base model's list."""
    base = _get_base(lists)
    user, rows = base.find_rows(np.asarray(lists.background_users))
    item, begins = base.codes[rows], ~base.values[rows]
    ahead = (np.arange(len(user)) - np.searchsorted(user, user))[begins]
    group = np.cumsum(begins) - 1
    n_left = np.inf if k is None else k - ahead
    share = np.clip(n_left / np.bincount(group), 0.0, 1.0)[group]
    is_sure, is_cut = share == 1, (share > 0) & (share < 1)
    shares = contains_pairs(lists, user[is_sure], item[is_sure]).astype(np.float64)
    if is_cut.any():  # a user's list has one group at the cutoff
        share_of = np.zeros(len(lists))
        share_of[user[is_cut]] = share[is_cut]
        is_found = contains_pairs(lists, user[is_cut], item[is_cut])
        shares[is_found] = share_of[lists.user_of_row[is_found]]
    return shares


def _has_base(lists: GroupedLists) -> Flags:
    return np.asarray(_get_base(lists).count(np.asarray(lists.background_users)) > 0)


def _get_base(lists: GroupedLists) -> GroupedRows:
    base = lists.get_background().base
    assert base is not None, "checked by the plan"  # noqa: S101
    return base


@register_metric
class Seen(OfItems):
    r"""The share of the first k items that the user had in training.

    .. math:: seen@k = \frac{|L_k \cap H|}{\min(k, n)}

    with L_k the first k items of the list and H the user's training items.

    Notes
    -----
    In [0, 1], no unit; lower is better. Undefined for an empty list; 0 for a user without training
    items. RePlay calls 1 - seen novelty (here ``unseen``).

    References
    ----------
    Castells, Hurley & Vargas (2015), doi:10.1007/978-1-4899-7637-6_26

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["seen@1", "seen@2", "unseen@2"], train=train).mean.to_dict()
    {'seen@1': 0.0, 'seen@2': 0.5, 'unseen@2': 0.5}
    """

    name = "seen"
    needs = frozenset({"items", "train"})
    bounded = True
    greater_is_better = False
    marks = ("history",)

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return whether the user had each item in training, 0 or 1."""
        return ranking.lists.is_seen.astype(np.float64)


@register_metric
class Unseen(Seen):
    r"""The share of the first k items that the user did not have in training: 1 - seen@k.

    .. math:: unseen@k = \frac{|L_k \setminus H|}{\min(k, n)}

    Notes
    -----
    In [0, 1], no unit; higher is better. Undefined for an empty list. RePlay calls it novelty.

    References
    ----------
    Castells, Hurley & Vargas (2015), doi:10.1007/978-1-4899-7637-6_26

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics="unseen@2", train=[("ann", "a")]).mean.to_dict()
    {'unseen@2': 0.5}
    """

    name = "unseen"
    greater_is_better = True
    is_complement = True


@register_metric
class Personalization(OverLists):
    r"""1 minus the mean share of common items of two users' first k.

    .. math:: personalization@k = 1 - \frac{2}{U(U-1)} \sum_{u < v}
              \frac{|L_u \cap L_v|}{\sqrt{n_u n_v}}

    over all pairs of the U users who were shown something.

    Notes
    -----
    In [0, 1], no unit; higher means more different lists. Exact under ties, and for all users: the
    sum over pairs is a sum over items, so it takes as long as reading the lists. Other libraries
    divide by k (``list_over="k"``), or take the first 4,096 users only. Undefined for one user.

    References
    ----------
    Zhou et al. (2010), doi:10.1073/pnas.1000488107

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"], "bob": ["b", "c"]})
    >>> rn.evaluate(lists, metrics="personalization@2").mean.round(12).to_dict()
    {'personalization@2': 0.5}
    """

    name = "personalization"
    is_linear = True
    also_called = ("personalisation", "interlistdiversity")
    reads = (ALL_LISTS - {"universe", "outside"}) | {"list_over"}

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return 1 minus the mean over pairs of users."""
        lists = totals.users["lists"]
        if lists < 2:
            return np.nan
        if convention.list_over == "n" or self.k is None:
            common = (totals.sums["cosine"] ** 2 - totals.sums["cosine_squares"]).sum()
        else:
            common = (totals.shown**2 - totals.sums["squares"]).sum() / self.k
            if convention.list_over == "full":  # evidently subtracts k items of each list
                common -= lists - totals.users["slots"] / self.k
        value = 1 - common / (lists * (lists - 1))
        return 0.0 if abs(value) < _ROUNDING else float(value)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the value if all lists are equal, and if items are shown as equally as possible.

        NaN if lists have different lengths, except for the second under ``list_over="k"``; the
        second also without a catalogue.
        """
        lists, slots = totals.users["lists"], totals.users["slots"]
        length, (most, least) = find_list_length(totals), find_ends_of_squares(totals)
        if lists < 2 or convention.list_over == "full":
            return np.nan, np.nan
        divisor = self.k if convention.list_over == "k" and self.k is not None else length
        scale = divisor * lists * (lists - 1)
        return 1 - (most - slots) / scale, 1 - (least - slots) / scale
