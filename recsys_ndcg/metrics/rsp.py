"""Ranking-based statistical parity: how unequally groups of items are recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import divide
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.item_groups import (
    ByColumn,
    ByPopularity,
    Columns,
    OverItemGroups,
    Pairs,
    find_disparity,
    sum_by_group,
)
from recsys_ndcg.metrics.over_lists import ALL_LISTS, find_inside, find_universe
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.tail import TAIL
from recsys_ndcg.ranking import ItemTotals, Ranking

_PARITY = ALL_LISTS | {"parity_of"}


class StatisticalParity(OverItemGroups):
    """The rates at which groups of items are recommended, and how unequal they are."""

    greater_is_better = False

    def describe_more(self, ranking: Ranking) -> tuple[Pairs, Columns]:
        """Return the training items of each user."""
        pairs = ranking.lists.history
        return pairs, {"seen": np.ones(len(pairs[1]))}

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the disparity of the rates, or the rate of a group."""
        counted, _ = find_universe(totals, convention)
        inside = find_inside(totals, convention)
        possible = sum_by_group(totals, inside)
        if convention.parity_of == "hits":
            seen = sum_by_group(totals, inside * totals.sums["seen"])
            possible = totals.users["users"] * possible - seen
        rates = divide(sum_by_group(totals, totals.shown * counted), possible, possible > 0)
        return float(rates[0]) if self.group else find_disparity(rates)


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
    reads = _PARITY | {"missing_feature"}
    bounded = False
    reads_catalogue = True

    group: str = ""  # type: ignore[misc] # a field here, a class attribute in the base


@register_metric
@dataclass(frozen=True)
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
    needs = frozenset({"items", "train"})
    reads = _PARITY | TAIL

    group: str = ""  # type: ignore[misc] # a field here, a class attribute in the base
