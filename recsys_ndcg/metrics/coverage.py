"""Coverage: the share of all items that some user was shown."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    find_list_length,
    find_universe,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals


@register_metric
class Coverage(OverLists):
    r"""The share of the catalogue that is among the first k items of some list.

    .. math:: coverage@k = \frac{1}{|I|} \sum_{i \in I} 1 - \prod_u (1 - p_{ui})

    with p the probability that item i is among the first k of user u's list: 0 or 1 without ties.

    Notes
    -----
    In [0, 1], no unit; higher is better. It grows with the number of users, so compare
    reports with equally many (`Report.rarefaction`). Other libraries divide by the items of
    training, count recommended items outside it, so that it exceeds 1, or return the number of
    items (`Convention.universe`, ``outside``, ``coverage_as``).

    References
    ----------
    Ge, Delgado-Battenfeld & Jannach (2010), doi:10.1145/1864708.1864761

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"], "bob": ["b", "c"]})
    >>> rn.evaluate(lists, metrics=["coverage@1", "coverage@2"], catalogue=[*"abcd"]).mean.to_dict()
    {'coverage@1': 0.25, 'coverage@2': 0.75}
    """

    name = "coverage"
    is_linear = True
    bounded = False  # `coverage_as` can be a count
    nonnegative = True
    also_called = ("catalogcoverage", "cataloguecoverage", "itemcoverage")
    reads = ALL_LISTS | {"coverage_as"}

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the expected number of items that are shown, over all items."""
        counted, n_items = find_universe(totals, convention)
        covered = float((totals.covered * counted).sum())
        return self.scale(covered, n_items, convention)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the coverage if all lists are equal, and if no two share an item.

        The first is NaN if lists have different lengths.
        """
        _, n_items = find_universe(totals, convention)
        most = min(totals.users["slots"], n_items)
        return (
            self.scale(find_list_length(totals), n_items, convention),
            self.scale(most, n_items, convention),
        )

    @staticmethod
    def scale(covered: float, n_items: int, convention: Convention) -> float:
        """Return a number of items as `coverage_as` says."""
        if convention.coverage_as == "count":
            return covered
        share = covered / n_items if n_items else np.nan
        return round(100 * share, 2) if convention.coverage_as == "percent" else share
