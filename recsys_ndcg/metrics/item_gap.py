"""Item gap: how much the gain of a recommendation differs between groups of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, divide
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.item_groups import (
    ByColumn,
    Columns,
    find_mean_difference,
    sum_by_group,
)
from recsys_ndcg.metrics.metric import GAINS
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals, Ranking


@register_metric
@dataclass(frozen=True)
class ItemGap(ByColumn):
    r"""The mean absolute difference of two groups of items in the gain of a recommendation.

    .. math:: item\_gap@k = \frac{1}{|P|} \sum_{(g, h) \in P} |m_g - m_h|, \quad
        m_g = \frac{1}{|g|} \sum_{i \in g} \frac{1}{x_i} \sum_{u: i \in L_u} gain_u(i)

    with P the pairs of categories of a column, L_u the first k items of user u's list, x_i the
    number of lists that hold item i, and g the items of a category that are in some list.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the categories.
    of : {'gain', 'score'}
        The gain of a recommendation, or its estimate if it is relevant, else 0.

    Notes
    -----
    At least 0, no unit; lower counts as better. Of all lists together; every item counts the same.
    Undefined for fewer than two categories that were recommended. Under ties the mean of an item
    is its expected gain over its expected number of lists. Elliot calls it ItemMADranking and
    ItemMADrating.

    References
    ----------
    Deldjoo et al. (2021), doi:10.1007/s11257-020-09285-1

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"], "bob": ["a"]})
    >>> options = {"features": {"item": [*"ab"], "maker": [*"xy"]}}
    >>> rn.evaluate(lists, metrics="item_gap(maker)@2", **options).mean.to_dict()
    {'item_gap(maker)@2': 0.5}
    """

    name = "item_gap"
    needs = frozenset({"items", "features"})
    reads = GAINS | {"missing_feature"}
    option = "of", ("gain", "score")
    needs_threshold = True
    uses_gains = True
    bounded = False
    greater_is_better = False

    of: str = "gain"

    def list_objection(self, lists: GroupedLists, convention: Convention) -> str:
        """Return an objection if there are no estimates, or no categories."""
        if self.of == "score" and lists.order_only:
            return (
                f"{self} compares estimates, but these lists have only ranks. Give a column "
                "'estimated', or measure of=gain."
            )
        return super().list_objection(lists, convention)

    def describe_shown(self, ranking: Ranking, rows: Positions, share: Floats) -> Columns:
        """Return the expected gain of each recommendation."""
        graded, threshold = ranking.graded, ranking.threshold
        if self.of == "gain":
            worth = graded.compute_gains(ranking.convention, threshold)
        else:
            worth = graded.compute_relevance(threshold) * ranking.lists.estimated
        return {"worth": share * worth[rows]}

    def value(self, totals: ItemTotals, convention: Convention) -> float:  # noqa: ARG002
        """Return the mean absolute difference of the groups' means."""
        is_shown = totals.shown > 0
        means = divide(totals.sums["worth"], totals.shown, is_shown)
        sums = sum_by_group(totals, np.where(is_shown, means, 0.0))
        return find_mean_difference(divide(sums, sum_by_group(totals, is_shown.astype(np.float64))))
