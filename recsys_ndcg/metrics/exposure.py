"""Exposure of groups of items: compared with ideal lists, or with the catalogue."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, divide
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.calibration import compute_js
from recsys_ndcg.metrics.item_groups import ByColumn, Columns, Pairs, sum_by_group
from recsys_ndcg.metrics.metric import ORDER, find_relevant, weigh_by_patience
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals, Ranking


class OfExposure(ByColumn):
    """A number of the exposure of groups of items, which fades from rank to rank."""

    needs = frozenset({"items", "catalogue", "features"})
    reads = ORDER | {"patience", "missing_feature"}
    reads_catalogue = True

    def weigh_ranks(self, n_ranks: int, convention: Convention) -> Floats:
        """Return the probability that a user looks at each rank."""
        return weigh_by_patience(n_ranks, convention, patience=0.5)


class ExpectedExposure(OfExposure):
    """The exposure of groups of items, and the exposure that they have in ideal lists."""

    needs_threshold = True
    bounded = False

    def exposure_key(self, convention: Convention) -> Hashable:
        """Return a key that both metrics share."""
        return "expected exposure", self.k, self.column

    def _find_relevant(self, ranking: Ranking) -> Pairs:
        """Return the relevant items of each user that are in the catalogue."""
        user, item = find_relevant(ranking)
        kept = _in_catalogue(ranking)[item]
        return user[kept], item[kept]

    def describe_more(self, ranking: Ranking) -> tuple[Pairs, Columns]:
        """Return the relevant items, and how much more than others each is in ideal lists."""
        user, item = self._find_relevant(ranking)
        relevant, others = self._find_ideal(ranking, user)
        return (user, item), {"more": (relevant - others)[user]}

    def describe_users(self, ranking: Ranking) -> Columns:
        """Return how much other items are shown in each user's ideal list."""
        return {"others": self._find_ideal(ranking, self._find_relevant(ranking)[0])[1]}

    def _find_ideal(self, ranking: Ranking, owner: Positions) -> tuple[Floats, Floats]:
        """Return the exposure of a relevant item, and of any other, in each user's ideal list.

        It has all relevant items in random order, then all others, up to k.
        """
        n_items = int(_in_catalogue(ranking).sum())
        n_relevant = np.bincount(owner, minlength=len(ranking.lists))
        depth = n_items if self.k is None else min(self.k, n_items)
        sums = np.append(0.0, np.cumsum(self.weigh_ranks(depth, ranking.convention)))
        first = sums[np.minimum(n_relevant, depth)]
        relevant: Floats = first / np.maximum(n_relevant, 1)
        others: Floats = (sums[-1] - first) / np.maximum(n_items - n_relevant, 1)
        return relevant, others

    def find_exposures(self, totals: ItemTotals) -> tuple[Floats, Floats]:
        """Return the mean exposure of each group, and its mean exposure in ideal lists."""
        sizes = sum_by_group(totals, totals.by_item["catalogue"])
        ideal = sum_by_group(totals, totals.sums["more"]) + totals.users["others"] * sizes
        return average_exposure(totals), divide(ideal, totals.users["users"])


def average_exposure(totals: ItemTotals) -> Floats:
    """Return the mean exposure of each group over users, NaN without users."""
    return divide(sum_by_group(totals, totals.shown), totals.users["users"])


def _in_catalogue(ranking: Ranking) -> Flags:
    return np.asarray(ranking.lists.get_background().in_catalogue)


@register_metric
class EEL(ExpectedExposure):
    r"""Expected exposure loss: how far the exposure of groups is from that in ideal lists.

    .. math:: ee\_l@k = \sum_g (\epsilon_g - \epsilon^*_g)^2, \quad
        \epsilon_g = \frac{1}{|U|} \sum_u \sum_{r \le k} \gamma^{r-1} [i_{ur} \in g]

    with g a category of a column of the features, such as the provider, and \epsilon^* the same for
    ideal lists, which have all relevant items of the catalogue in random order, then all others in
    random order.

    Parameters
    ----------
    k : int, optional
        The cutoff, of the lists and of the ideal lists.
    column : str
        The column of the features with the groups.

    Notes
    -----
    At least 0, no unit; lower is better. Of all lists together: exposure is added up over users
    before groups are compared. Loss = disparity (`EED`) - 2 relevance (`EER`) + a constant. The
    patience \gamma is 0.5 (`Convention.patience`). Undefined without users. Ties in the estimates
    are a random ranking, so their exposure is exact.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega & Carterette (2020), doi:10.1145/3340531.3411962

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["b", "a"]})
    >>> options = {"features": {"item": [*"ab"], "maker": [*"xy"]}, "catalogue": [*"ab"]}
    >>> names = ["ee_l(maker)@2", "ee_d(maker)@2", "ee_r(maker)@2"]
    >>> rn.evaluate(lists, metrics=names, **options).mean.tolist()
    [0.5, 1.25, 1.0]
    """

    name = "ee_l"
    greater_is_better = False

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the squared distance of the exposures from the ideal."""
        exposure, ideal = self.find_exposures(totals)
        return float(np.square(exposure - ideal).sum())


@register_metric
class EED(OfExposure):
    r"""Expected exposure disparity: how unequal the exposure of groups is.

    .. math:: ee\_d@k = \sum_g \epsilon_g^2

    with \epsilon_g the exposure of a group, as in `EEL`.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the groups.

    Notes
    -----
    At least 0, no unit; lower means less disparity, which counts as better. Undefined without
    users.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega & Carterette (2020), doi:10.1145/3340531.3411962

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["b", "a"]})
    >>> options = {"features": {"item": [*"ab"], "maker": [*"xy"]}, "catalogue": [*"ab"]}
    >>> rn.evaluate(lists, metrics="ee_d(maker)@2", **options).mean.tolist()
    [1.25]
    """

    name = "ee_d"
    bounded = False
    greater_is_better = False

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the sum of the squared exposures."""
        return float(np.square(average_exposure(totals)).sum())


@register_metric
class EER(ExpectedExposure):
    r"""Expected exposure relevance: how much of the exposure goes where ideal lists have it.

    .. math:: ee\_r@k = \sum_g \epsilon_g \epsilon^*_g

    with \epsilon_g the exposure of a group and \epsilon^*_g that in ideal lists, as in `EEL`.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the groups.

    Notes
    -----
    At least 0, no unit; higher is better. Undefined without users.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega & Carterette (2020), doi:10.1145/3340531.3411962

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["b", "a"]})
    >>> options = {"features": {"item": [*"ab"], "maker": [*"xy"]}, "catalogue": [*"ab"]}
    >>> rn.evaluate(lists, metrics="ee_r(maker)@2", **options).mean.tolist()
    [1.0]
    """

    name = "ee_r"

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the product of the exposures and the ideal ones."""
        exposure, ideal = self.find_exposures(totals)
        return float((exposure * ideal).sum())


@register_metric
@dataclass(frozen=True)
class AWRF(OfExposure):
    r"""How near the attention that groups of items get is to their share of the catalogue.

    .. math:: awrf@k = 1 - \Delta(\epsilon, p), \quad
        \epsilon_g \propto \sum_u \sum_{r \le k} \gamma^{r-1} [i_{ur} \in g], \quad
        p_g \propto |g \cap I|

    with g a category of a column of the features, I the catalogue, and \Delta the Jensen-Shannon
    divergence in bits, or half the sum of the absolute differences.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the groups.
    difference : {'js', 'absolute'}
        The Jensen-Shannon divergence, or half the sum of the absolute differences.

    Notes
    -----
    In [0, 1], no unit; higher is better, 1 is in proportion. Of all lists together: attention is
    added up over users before groups are compared. The patience \gamma is 0.5
    (`Convention.patience`). Items without a category are left out of both shares. Undefined if no
    recommended item has a category. Under ties it is computed from the expected attention, which
    is exact.

    References
    ----------
    Sapiezynski et al. (2019), doi:10.1145/3308560.3317595;
    Raj & Ekstrand (2022), doi:10.1145/3477495.3532018, with the Jensen-Shannon divergence

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> options = {"features": {"item": [*"abcd"], "maker": [*"xyyx"]}, "catalogue": [*"abcd"]}
    >>> names = ["awrf(maker)@2", "awrf(maker,difference=absolute)@2"]
    >>> rn.evaluate(lists, metrics=names, **options).mean.round(4).tolist()
    [0.9793, 0.8333]
    """

    name = "awrf"
    option = "difference", ("js", "absolute")

    difference: str = "js"

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return 1 minus the difference of the two distributions."""
        attention = sum_by_group(totals, totals.shown)
        sizes = sum_by_group(totals, totals.by_item["catalogue"])
        if not attention.sum() or not sizes.sum():
            return np.nan
        attention, sizes = attention / attention.sum(), sizes / sizes.sum()
        if self.difference == "absolute":
            return 1 - float(np.abs(attention - sizes).sum()) / 2
        bits = float(compute_js(attention[None], sizes[None])[0] / np.log(2))
        return 1 - min(max(bits, 0.0), 1.0)
