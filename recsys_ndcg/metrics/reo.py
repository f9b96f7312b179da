"""Ranking-based equal opportunity: how unequally groups of items get hits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, divide
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.item_groups import (
    ByColumn,
    ByPopularity,
    Columns,
    OverItemGroups,
    Pairs,
    find_disparity,
    sum_by_group,
)
from recsys_ndcg.metrics.metric import ORDER, find_relevant
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.tail import TAIL
from recsys_ndcg.ranking import ItemTotals, Ranking

_PARITY = ORDER | {"parity_of"}


class EqualOpportunity(OverItemGroups):
    """The rates at which groups of items get hits, and how unequal they are."""

    needs_threshold = True
    greater_is_better = False

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

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the disparity of the rates, or the rate of a group."""
        reached = totals.sums["hits" if convention.parity_of == "hits" else "shown"]
        rates = divide(sum_by_group(totals, reached), sum_by_group(totals, totals.sums["possible"]))
        return float(rates[0]) if self.group else find_disparity(rates)


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
    reads = _PARITY | {"missing_feature"}
    bounded = False
    reads_relevant = True

    group: str = ""  # type: ignore[misc] # a field here, a class attribute in the base


@register_metric
@dataclass(frozen=True)
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
    needs = frozenset({"items", "train"})
    reads = _PARITY | TAIL

    group: str = ""  # type: ignore[misc] # a field here, a class attribute in the base

    def find_needs(self, convention: Convention) -> frozenset[str]:  # noqa: ARG002
        """Return what it needs to know: the universe only matters for the tail."""
        return self.needs

    def list_objection(self, lists: GroupedLists, convention: Convention) -> str:  # noqa: ARG002
        """Return "": items outside the catalogue have a popularity, too."""
        return ""
