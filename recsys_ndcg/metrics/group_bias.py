"""Bias between groups: of items in gain, of users in what they are recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, divide
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.item_groups import ByColumn, Columns, sum_by_group
from recsys_ndcg.metrics.metric import GAINS
from recsys_ndcg.metrics.over_lists import ALL_LISTS, find_inside, find_universe
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import ItemTotals, Ranking


@register_metric
@dataclass(frozen=True)
class BiasDisparity(ByColumn):
    r"""How much more of a category a group of users is recommended than it had in training.

    .. math:: bias\_disparity@k = \frac{B_R - B_S}{B_S}, \quad
        B_S = \frac{\sum_{u \in G} |H_u \cap C|}{\sum_{u \in G} |H_u|} \Big/ \frac{|C|}{|I|}, \quad
        B_R = \frac{\sum_{u \in G} |L_u \cap C|}{\sum_{u \in G} |L_u|} \Big/ \frac{|C|}{|I|}

    with L_u the first k items of user u's list, H_u the user's training items, G a group of users,
    C a category of items and I the catalogue.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the categories.
    user_group : str
        The group of users (``groups=``); by default all users.
    item_group : str
        The category.
    which : {'BD', 'BS', 'BR'}
        The disparity, or one of its parts: the preference in training, or in the lists.

    Notes
    -----
    BS and BR are at least 0, and 1 if the category has its share of the catalogue. At least -1, no
    unit; 0 if recommendations keep the preference, higher means more of the category. Of all lists
    together; B_S is of all training users of the group, with and without lists. An item that a user
    had several times in training counts once, also under ``popularity_of="rows"``. Undefined for a
    group without training items (BS, BD), a group that had nothing of the category (BD), and a
    group without lists (BR, BD).

    References
    ----------
    Tsintzou, Pitoura & Tsaparas (2018), arXiv:1811.01461

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> options = {"train": [("ann", "b"), ("ann", "c"), ("ann", "d"), ("ann", "a")]}
    >>> options |= {"catalogue": [*"abcd"], "features": {"item": [*"abcd"], "maker": [*"xyyy"]}}
    >>> names = [f"bias_disparity(maker,item_group=x,which={one})@2" for one in ("BS", "BR", "BD")]
    >>> rn.evaluate(lists, metrics=names, **options).mean.tolist()
    [1.0, 2.0, 1.0]
    """

    name = "bias_disparity"
    needs = frozenset({"items", "train", "features"})
    reads = ALL_LISTS | {"missing_feature"}
    option = "which", ("BD", "BS", "BR")
    bounded = False
    nonnegative = False
    reads_catalogue = True

    user_group: str = ""
    item_group: str = ""
    which: str = "BD"

    @property
    def group(self) -> str:  # type: ignore[override] # a class attribute in the base
        """The category."""
        return self.item_group

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: a category, and the groups of users, if one is named."""
        found = super().list_requirements(convention)
        if not self.item_group:
            found.append(Requirement("group", ""))
        if self.user_group:
            found += [Requirement("source", "groups"), Requirement("user group", self.user_group)]
        return found

    def describe_shown(self, ranking: Ranking, rows: Positions, share: Floats) -> Columns:
        """Return what the group of users was shown."""
        lists = ranking.lists
        members = np.append(self._find_members(lists.get_background()), not self.user_group)
        is_member = members[np.asarray(lists.background_users)]
        return {"shown_to_group": share * is_member[lists.user_of_row[rows]]}

    def describe_background(self, known: Background) -> Columns:
        """Return how many users of the group had each item in training."""
        assert known.history is not None, "checked by the plan"  # noqa: S101
        items = known.history.codes[self._find_members(known)[known.history.owners]]
        return {"owners": np.bincount(items, minlength=len(known.items)).astype(np.float64)}

    def _find_members(self, known: Background) -> Flags:
        """Return whether each user of the background is in the group."""
        if not self.user_group:
            return np.ones(len(known.users), dtype=bool)
        code = [str(name) for name in known.groups].index(self.user_group)
        return np.asarray(known.group_of == code)

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the preference in training or in the lists, or the change."""
        inside, counted = find_inside(totals, convention), find_universe(totals, convention)
        size = _find_share(totals, inside)
        source = _find_share(totals, totals.by_item["owners"]) / size if size else np.nan
        shown = _find_share(totals, totals.sums["shown_to_group"] * counted[0])
        lists = shown / size if size else np.nan
        if self.which != "BD":
            return source if self.which == "BS" else lists
        return (lists - source) / source if source else np.nan


def _find_share(totals: ItemTotals, values: Floats) -> float:
    """Return the share of the category in a sum over items, NaN if the sum is 0."""
    whole = float(values.sum())
    return float(sum_by_group(totals, values).sum()) / whole if whole else np.nan


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

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: of scores, estimates."""
        found = super().list_requirements(convention)
        if self.of == "score":
            found.append(Requirement("estimates", "compares estimates", "measure of=gain"))
        return found

    def describe_shown(self, ranking: Ranking, rows: Positions, share: Floats) -> Columns:
        """Return the expected gain of each recommendation."""
        graded, threshold = ranking.graded, ranking.threshold
        if self.of == "gain":
            worth = graded.compute_gains(ranking.convention, threshold)
        else:
            worth = graded.compute_relevance(threshold) * ranking.lists.estimated
        return {"worth": share * worth[rows]}

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the mean absolute difference of the groups' means."""
        is_shown = totals.shown > 0
        means = divide(totals.sums["worth"], totals.shown, is_shown)
        sums = sum_by_group(totals, np.where(is_shown, means, 0.0))
        return find_mean_difference(divide(sums, sum_by_group(totals, is_shown.astype(np.float64))))


def find_mean_difference(values: Floats) -> float:
    """Return the mean absolute difference of all pairs of values, ignoring NaN.

    NaN for fewer than two values.

    Examples
    --------
    >>> find_mean_difference(np.array([0.0, 1.0, np.nan]))
    1.0
    """
    known = np.sort(values[~np.isnan(values)])
    n = len(known)
    if n < 2:
        return np.nan
    return float((known * (2 * np.arange(n) - n + 1)).sum() / (n * (n - 1) / 2))
