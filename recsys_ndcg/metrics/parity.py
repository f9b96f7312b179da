"""Parity: how unequally groups of items are recommended (RSP), and get hits (REO)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, Ids, Positions, divide
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.item_groups import ByColumn, Columns, OverItemGroups, Pairs, sum_by_group
from recsys_ndcg.metrics.metric import ORDER, find_relevant
from recsys_ndcg.metrics.over_lists import ALL_LISTS, find_inside, find_universe
from recsys_ndcg.metrics.popularity import TAIL, find_tail
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals, Ranking


@dataclass(frozen=True)
class Parity(OverItemGroups):
    """How unequal a rate of groups of items is, or the rate of one group."""

    needs = frozenset({"items", "train"})
    greater_is_better = False

    group: str = ""  # type: ignore[misc] # a field here, a class attribute in the base

    def count(self, totals: ItemTotals, convention: Convention) -> tuple[Floats, Floats]:
        """Return how often each group was reached, and how often it could have been."""
        raise NotImplementedError

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the disparity of the rates, or the rate of a group."""
        reached, possible = self.count(totals, convention)
        rates = divide(reached, possible, possible > 0)
        return float(rates[0]) if self.group else find_disparity(rates)


class ByPopularity(OverItemGroups):
    """A number of all lists together, of the head and the tail of popularity, as in `Tail`."""

    def assign_groups(self, known: Background, convention: Convention) -> tuple[Positions, Ids]:
        """Return whether every item is in the head, 0, or the tail, 1; else -1."""
        codes = np.where(known.in_train, 0, -1)
        codes[find_tail(known, convention)] = 1
        return codes, np.array(["head", "tail"], dtype=object)


def find_disparity(rates: Floats) -> float:
    """Return the standard deviation of rates over their mean, ignoring NaN.

    NaN for fewer than two rates, or if all are 0.

    Examples
    --------
    >>> find_disparity(np.array([0.25, 0.75, np.nan]))
    0.5
    """
    known = rates[~np.isnan(rates)]
    mean = known.mean() if len(known) > 1 else 0.0
    return float(known.std() / mean) if mean else np.nan


class StatisticalParity(Parity):
    """The rates at which groups of items are recommended."""

    reads = ALL_LISTS | {"parity_of"}

    def describe_more(self, ranking: Ranking) -> tuple[Pairs, Columns]:
        """Return the training items of each user."""
        pairs = ranking.lists.history
        return pairs, {"seen": np.ones(len(pairs[1]))}

    def count(self, totals: ItemTotals, convention: Convention) -> tuple[Floats, Floats]:
        """Return the recommendations of each group, and how many could be made."""
        counted, _ = find_universe(totals, convention)
        inside = find_inside(totals, convention)
        possible = sum_by_group(totals, inside)
        if convention.parity_of == "hits":
            seen = sum_by_group(totals, inside * totals.sums["seen"])
            possible = totals.users["users"] * possible - seen
        return sum_by_group(totals, totals.shown * counted), possible


@register_metric
@dataclass(frozen=True)
class RSP(ByColumn, StatisticalParity):
    r"""How unequally items are recommended, by group of items.

    .. math:: rsp@k = \frac{\mathrm{std}_g(p_g)}{\mathrm{mean}_g(p_g)}, \quad
        p_g = \frac{\sum_u |L_u \cap g|}{\sum_u |g \setminus H_u|}

    with L_u the first k items of user u's list, H_u the user's training items, and g a category of
    a column of the features, of the items of the catalogue.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    group : str
        The category whose rate p_g is returned, in place of std / mean.

    Notes
    -----
    At least 0, no unit; 0 if all rates are equal, so lower counts as better. Of all lists together.
    A group of which every user has all items has no rate; undefined for fewer than two rates, and
    if nothing is recommended. Under ties it is computed from the expected rates, which are exact.
    WarpRec divides by the size of the group alone (`Convention.parity_of`).

    References
    ----------
    Zhu, Wang & Caverlee (2020), doi:10.1145/3397271.3401177

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> table = {"item": [*"abcd"], "maker": [*"xyyy"]}
    >>> options = {"train": [("ann", "d")], "features": table, "catalogue": [*"abcd"]}
    >>> names = ["rsp(maker)@2", "rsp(maker,group=y)@2"]
    >>> rn.evaluate(lists, metrics=names, **options).mean.round(4).tolist()
    [0.3333, 0.5]
    """

    name = "rsp"
    needs = frozenset({"items", "train", "features"})
    reads = StatisticalParity.reads | {"missing_feature"}
    bounded = False
    reads_catalogue = True


@register_metric
class PopRSP(ByPopularity, StatisticalParity):
    r"""How unequally items are recommended: popular ones and others.

    .. math:: poprsp@k = \frac{\mathrm{std}_g(p_g)}{\mathrm{mean}_g(p_g)}, \quad
        p_g = \frac{\sum_u |L_u \cap g|}{\sum_u |g \setminus H_u|}

    as in `RSP`, with the groups head and tail of popularity, as in `Tail`.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    group : str
        ``"head"`` or ``"tail"`` for the rate of one group, in place of std / mean.

    Notes
    -----
    In [0, 1], no unit; 0 if both rates are equal, so lower counts as better. Undefined for a head
    or tail without items that can be recommended, and if nothing is recommended.

    References
    ----------
    Zhu, Wang & Caverlee (2020), doi:10.1145/3397271.3401177

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("cid", "a"), ("dan", "a"), ("eve", "a"), ("fay", "a"), ("fay", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> names, items = ["poprsp@2", "poprsp(tail)@2"], [*"abcd"]
    >>> rn.evaluate(lists, metrics=names, train=train, catalogue=items).mean.round(4).tolist()
    [0.5, 0.3333]
    """

    name = "poprsp"
    reads = StatisticalParity.reads | TAIL


class EqualOpportunity(Parity):
    """The rates at which groups of items get hits."""

    reads = ORDER | {"parity_of"}
    needs_threshold = True

    def describe_shown(self, ranking: Ranking, rows: Positions, share: Floats) -> Columns:
        """Return the expected hits."""
        return {"hits": share * ranking.graded.compute_relevance(ranking.threshold)[rows]}

    def describe_more(self, ranking: Ranking) -> tuple[Pairs, Columns]:
        """Return the relevant items, and which can be hits: they are not from training."""
        user, item = find_relevant(ranking)
        possible = np.ones(len(item))
        if ranking.convention.parity_of == "hits":
            n_items = len(np.asarray(ranking.lists.item_ids))
            owner, seen = ranking.lists.history
            possible[np.isin(user * n_items + item, owner * n_items + seen)] = 0.0
        return (user, item), {"possible": possible}

    def count(self, totals: ItemTotals, convention: Convention) -> tuple[Floats, Floats]:
        """Return the hits or recommendations of each group, and its relevant items."""
        reached = totals.sums["hits" if convention.parity_of == "hits" else "shown"]
        return sum_by_group(totals, reached), sum_by_group(totals, totals.sums["possible"])


@register_metric
@dataclass(frozen=True)
class REO(ByColumn, EqualOpportunity):
    r"""How unequally relevant items are recommended, by group of items.

    .. math:: reo@k = \frac{\mathrm{std}_g(p_g)}{\mathrm{mean}_g(p_g)}, \quad
        p_g = \frac{\sum_u |L_u \cap R_u \cap g|}{\sum_u |(R_u \cap g) \setminus H_u|}

    with L_u the first k items of user u's list, R_u the relevant items, H_u the training items, and
    g a category of a column of the features.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    group : str
        The category whose rate p_g is returned, in place of std / mean.

    Notes
    -----
    At least 0, no unit; 0 if all rates are equal, so lower counts as better. Of all lists together.
    A group without relevant items has no rate; undefined for fewer than two rates, and if all are
    0. Under ties it is computed from the expected rates, which are exact. WarpRec counts all
    recommended items in place of hits (`Convention.parity_of`).

    References
    ----------
    Zhu, Wang & Caverlee (2020), doi:10.1145/3397271.3401177

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b"}, "bob": {"a"}}, {"ann": ["a", "b"]})
    >>> options = {"train": [("ann", "d")], "features": {"item": [*"abd"], "maker": [*"xyy"]}}
    >>> names = ["reo(maker)@2", "reo(maker,group=x)@2"]
    >>> rn.evaluate(lists, metrics=names, **options).mean.round(4).tolist()
    [0.3333, 0.5]
    """

    name = "reo"
    needs = frozenset({"items", "train", "features"})
    reads = EqualOpportunity.reads | {"missing_feature"}
    bounded = False
    reads_relevant = True


@register_metric
class PopREO(ByPopularity, EqualOpportunity):
    r"""How unequally relevant items are recommended: popular ones and others.

    .. math:: popreo@k = \frac{\mathrm{std}_g(p_g)}{\mathrm{mean}_g(p_g)}, \quad
        p_g = \frac{\sum_u |L_u \cap R_u \cap g|}{\sum_u |(R_u \cap g) \setminus H_u|}

    as in `REO`, with the groups head and tail of popularity, as in `Tail`.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    group : str
        ``"head"`` or ``"tail"`` for the rate of one group, in place of std / mean.

    Notes
    -----
    In [0, 1], no unit; 0 if both rates are equal, so lower counts as better. Undefined for a head
    or tail without relevant items, and if both rates are 0.

    References
    ----------
    Zhu, Wang & Caverlee (2020), doi:10.1145/3397271.3401177

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("cid", "a"), ("dan", "a"), ("eve", "a"), ("fay", "a"), ("fay", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b"}, "bob": {"a"}}, {"ann": ["a", "b"]})
    >>> names = ["popreo@2", "popreo(head)@2"]
    >>> rn.evaluate(lists, metrics=names, train=train).mean.round(4).tolist()
    [0.3333, 0.5]
    """

    name = "popreo"
    reads = EqualOpportunity.reads | TAIL
    is_of_universe = False  # items outside have a popularity, too
