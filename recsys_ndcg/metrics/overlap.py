"""Share of the recommended items that a base model recommends, too."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.background import UserItems
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.metric import get_background
from recsys_ndcg.metrics.of_items import LISTS, OfItems, divides_by_k
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


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
    reads = LISTS
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
        places = super().denominator(ranking)
        return np.where(_has_base(ranking.lists), places, 0.0)


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
    value_of_others = 1.0

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the probability that each item is not among the base model's first k."""
        return 1.0 - super().values_by_row(ranking)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the number of unexpected places: items, and ranks past the end of the list."""
        shown = super().numerator(ranking)
        if self.k is None or not divides_by_k(ranking.convention, self.k):
            return shown
        n_past_end = self.k - np.minimum(ranking.n_items, self.k)
        return np.where(_has_base(ranking.lists), shown + n_past_end, 0)


def find_base_shares(lists: GroupedLists, k: int | None) -> Floats:
    """Return the probability that each row's item is among the first k of the base model's list."""
    base, is_tied = _get_base(lists), get_background(lists).is_base_tied
    user, rows = base.find_rows(np.asarray(lists.background_users))
    item, begins = base.items[rows], ~np.asarray(is_tied)[rows]
    ahead = (np.arange(len(user)) - np.searchsorted(user, user))[begins]
    group = np.cumsum(begins) - 1
    n_left = np.inf if k is None else k - ahead
    share = np.clip(n_left / np.bincount(group), 0.0, 1.0)[group]
    is_sure, is_cut = share == 1, (share > 0) & (share < 1)
    shares = lists.find_pairs(user[is_sure], item[is_sure]).astype(np.float64)
    if is_cut.any():  # a user's list has one group at the cutoff
        share_of = np.zeros(len(lists))
        share_of[user[is_cut]] = share[is_cut]
        is_found = lists.find_pairs(user[is_cut], item[is_cut])
        shares[is_found] = share_of[lists.user_of_row[is_found]]
    return shares


def _has_base(lists: GroupedLists) -> Flags:
    return np.asarray(_get_base(lists).count(np.asarray(lists.background_users)) > 0)


def _get_base(lists: GroupedLists) -> UserItems:
    base = get_background(lists).base
    assert base is not None, "checked by the plan"  # noqa: S101
    return base
