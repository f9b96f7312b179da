"""Personalization: how different the lists of two users are."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    find_ends_of_squares,
    find_list_length,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals

_ROUNDING = 1e-12


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
            pairs = totals.shown**2 - totals.sums["squares"]
            common = pairs.sum() / self.k
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
