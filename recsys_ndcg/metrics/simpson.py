"""Gini-Simpson: how likely two recommendations are different items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.over_lists import ALL_LISTS, OverLists, find_ends_of_squares
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals


@register_metric
class Simpson(OverLists):
    r"""The Gini-Simpson index of the items among the first k.

    .. math:: simpson@k = 1 - \sum_i \left(\frac{x_i}{X}\right)^2

    with x the number of lists that hold item i and X their sum: the probability that two
    recommendations, drawn with replacement, are different items.

    Notes
    -----
    In [0, 1), no unit; higher is more even, which counts as better. Exact under ties: the mean of
    x² over their orders is (Σp)² + Σp(1-p). 1 - simpson is the Herfindahl-Hirschman index.

    References
    ----------
    Simpson (1949), doi:10.1038/163688a0

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"], "bob": ["b", "c"]})
    >>> rn.evaluate(lists, metrics="simpson@2").mean.to_dict()
    {'simpson@2': 0.625}
    """

    name = "simpson"
    is_linear = True
    also_called = ("ginisimpson",)
    reads = ALL_LISTS - {"universe", "outside"}

    def value(self, totals: ItemTotals, convention: Convention) -> float:  # noqa: ARG002
        """Return 1 minus the expected share of equal pairs."""
        slots = totals.users["slots"]
        if not slots:
            return np.nan
        squares = totals.shown**2 + totals.shown - totals.sums["squares"]
        return float(1 - squares.sum() / slots**2)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:  # noqa: ARG002
        """Return the index if all lists are equal, and if items are shown as equally as possible.

        NaN if lists have different lengths, and without a catalogue.
        """
        slots = totals.users["slots"]
        if not slots:
            return np.nan, np.nan
        most, least = find_ends_of_squares(totals)
        return 1 - most / slots**2, 1 - least / slots**2
