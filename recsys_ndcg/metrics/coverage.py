"""Coverage: how much of the catalogue, of the users, of the lists and of their labels there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import ORDER, ROWS_AND_USERS, Linear, Metric, choice
from recsys_ndcg.metrics.over_lists import ALL_LISTS, OverLists, find_list_length, find_universe
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals, Ranking


@register_metric
@dataclass(frozen=True)
class Coverage(OverLists):
    r"""The share of the catalogue that is among the first k items of some list.

    .. math:: coverage@k = \frac{1}{|I|} \sum_{i \in I} 1 - \prod_u (1 - p_{ui})

    with p the probability that item i is among the first k of user u's list: 0 or 1 without ties.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    as_ : {'share', 'count', 'percent'}
        A share of all items, a number of items, or a percentage with two decimals.

    Notes
    -----
    In [0, 1], no unit; higher is better. It grows with the number of users, so compare
    reports with equally many (`Report.rarefaction`). Other libraries divide by the items of
    training, count recommended items outside it, so that it exceeds 1, or return the number of
    items (`Convention.universe`, ``outside``, ``coverage(as=count)``).

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
    nonnegative = True
    also_called = ("catalogcoverage", "cataloguecoverage", "itemcoverage")
    reads = ALL_LISTS

    as_: str | None = choice("share", "count", "percent")

    @property
    def bounded(self) -> bool:  # type: ignore[override] # a class attribute in Metric
        """Whether it is a share, not a count or a percentage."""
        return self.as_ in (None, "share")

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the expected number of items that are shown, over all items."""
        counted, n_items = find_universe(totals, convention)
        return self.scale(float((totals.covered * counted).sum()), n_items)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the coverage if all lists are equal, and if no two share an item.

        The first is NaN if lists have different lengths.
        """
        _, n_items = find_universe(totals, convention)
        most = min(totals.users["slots"], n_items)
        least = find_list_length(totals)
        return self.scale(least, n_items), self.scale(most, n_items)

    def scale(self, covered: float, n_items: int) -> float:
        """Return a number of items as `as_` says."""
        if self.as_ == "count":
            return covered
        share = covered / n_items if n_items else np.nan
        return round(100 * share, 2) if self.as_ == "percent" else share


@register_metric
class UserCoverage(Metric):
    r"""Whether the user's list has at least k items; without k, at least one.

    .. math:: user\_coverage@k = [n \ge k]

    with n the length of the list.

    Notes
    -----
    In [0, 1], no unit; higher is better; the mean is a share of the users who count
    (`Convention.mean_over`). Never undefined. RecTools calls it SufficientReco with k, and
    CoveredUsers without: that name has no cutoff here, as its k changes nothing there.

    References
    ----------
    Herlocker et al. (2004), doi:10.1145/963770.963772, for coverage in general

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}, "bob": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["user_coverage", "user_coverage@3"]).mean.to_dict()
    {'user_coverage': 0.5, 'user_coverage@3': 0.0}
    """

    name = "user_coverage"
    also_called = ("usercoverage", "coveredusers", "sufficientreco")
    needs = frozenset({"items"})
    reads = ROWS_AND_USERS
    cutoff = "possible"
    same_denominator = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return whether the list is long enough, 0 or 1."""
        return np.asarray(ranking.n_items >= (self.k or 1), dtype=np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))


@register_metric
class NRetrieved(UserCoverage):
    r"""The number of items that the user is recommended, at most k.

    .. math:: n\_retrieved@k = \min(k, n)

    with n the length of the list.

    Notes
    -----
    At least 0, in units of items; higher counts as better. Never undefined: 0 for an empty list.
    trec_eval calls it num_ret, Elliot NumRetrieved.

    References
    ----------
    Buckley & Voorhees (2005), in TREC: Experiment and Evaluation in Information Retrieval, MIT
    Press

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}, "bob": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics="n_retrieved@3").mean.to_dict()
    {'n_retrieved@3': 1.0}
    """

    name = "n_retrieved"
    also_called = ("nretrieved", "numretrieved", "numret")
    cutoff = "usual"
    bounded = False
    nonnegative = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the number of items, at most k."""
        return ranking.count_shown(self.k).astype(np.float64)


@register_metric
class Judged(Linear):
    r"""The share of the first k items that have a true value.

    .. math:: judged@k = \frac{1}{\min(k, n)} \sum_{r \le k} [t_r \text{ is known}]

    with n the length of the list.

    Notes
    -----
    In [0, 1], no unit. Not a score of the recommender: if it is low, the other scores depend on
    few labels. Undefined for an empty list.
    In no preset: libraries have other measures of labels.

    References
    ----------
    Sakai (2007), doi:10.1145/1277741.1277756; McSherry & Najork (2008) for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_trec({"ann": {"a": 1}}, {"ann": {"a": 0.9, "b": 0.5}})
    >>> rn.evaluate(lists, metrics=["judged@1", "judged@10"]).mean.to_dict()
    {'judged@1': 1.0, 'judged@10': 0.5}
    """

    name = "judged"
    reads = ORDER
    takes_weights = True
    worth = "labelled"

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of the first k items."""
        return ranking.count_shown(self.k).astype(np.float64)
