"""Gini: how unequally often items are recommended."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import weigh_by_patience
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    find_list_length,
    find_random_draw,
    find_universe,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals

_MAX_NODES = 1 << 20  # far more than the width of the integrand needs


@register_metric
class Gini(OverLists):
    r"""The Gini index of how often each item of the catalogue is among the first k.

    .. math:: gini@k = \frac{\sum_{j=1}^{n} (2j - n - 1)\, x_{(j)}}{n \sum_j x_{(j)}}

    with x the number of lists that hold each of the n items of the catalogue, in ascending order;
    items that nobody was shown count as 0.

    Notes
    -----
    In [0, 1), no unit; lower is more even, which counts as better. With few slots even the most
    even lists are unequal: read it with `worst` and `best`, the ends for as many slots (Rampisela
    et al. 2024), and `chance`, the mean over all draws of random lists. They are exact; `worst`
    needs lists of the same length, `chance` also the same candidates for all. Under ties it is the
    index of the expected exposures.
    Other libraries divide by n - 1, leave out items that nobody was shown, which reverses the
    order of models, or return 1 - G (`Convention.inequality_over`, ``universe``, ``gini_as``).
    Under ``outside="count"`` n is the number of items in the universe, or of those that were shown,
    whichever is larger.
    With ``patience=0.85`` an item at rank r counts 0.85^(r-1).

    References
    ----------
    Fleder & Hosanagar (2009), doi:10.1287/mnsc.1080.0974;
    Rampisela et al. (2024), doi:10.1145/3631943

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"], "bob": ["b", "c"]})
    >>> rn.evaluate(lists, metrics=["gini@1", "gini@2"], catalogue=[*"abcd"]).mean.to_dict()
    {'gini@1': 0.75, 'gini@2': 0.375}
    """

    name = "gini"
    also_called = ("giniindex", "listgini", "exposuregini")
    reads = ALL_LISTS | {"inequality_over", "gini_as", "patience"}
    greater_is_better = False

    def exposure_key(self, convention: Convention) -> Hashable:
        """Return a key of its own if exposures are weighted by rank."""
        key = super().exposure_key(convention)
        return key if convention.patience is None else ("gini", key)

    def weigh_ranks(self, n_ranks: int, convention: Convention) -> Floats:
        """Return 1, or the patience to the power of the number of ranks before."""
        return weigh_by_patience(n_ranks, convention)

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the index of the exposures."""
        counted, n_items = find_universe(totals, convention)
        shown = totals.shown[counted > 0]
        shown = np.sort(shown[shown > 0])
        total = shown.sum()
        if not total or n_items < 1:
            return np.nan
        n_items = max(n_items, len(shown))
        places = np.arange(n_items - len(shown) + 1, n_items + 1)
        gini = float(((2 * places - n_items - 1) * shown).sum() / (n_items * total))
        return _scale(gini, n_items, convention)

    def chance(self, totals: ItemTotals, convention: Convention) -> float:
        r"""Return the mean index of random lists of the same length from the same candidates.

        .. math:: \frac{n - 1}{2 X} E|D|

        with X the number of slots, and D the difference of the counts of two items, a sum over
        lists of independent steps of -1, 0 or 1.
        """
        lists, n_candidates, length = find_random_draw(totals)
        _, n_items = find_universe(totals, convention)
        if n_candidates != n_items or convention.patience is not None:
            return np.nan
        # the probability of 1, and of -1
        step = length * (n_items - length) / (n_items * max(n_items - 1, 1))
        distance = average_distance(step, round(lists))
        return _scale((n_items - 1) * distance / (2 * lists * length), n_items, convention)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the index if all lists are equal, and if items are shown as equally as possible.

        NaN with weights of ranks; the first also if lists have different lengths.
        """
        _, n_items = find_universe(totals, convention)
        slots = totals.users["slots"]
        if not slots or not n_items or convention.patience is not None:
            return np.nan, np.nan
        rest = slots % n_items
        least = rest * (n_items - rest) / (n_items * slots)
        most = max(1 - find_list_length(totals) / n_items, least)
        return _scale(most, n_items, convention), _scale(least, n_items, convention)


def average_distance(step: float, n_steps: int) -> float:
    r"""Return E|D| of a walk of independent steps, 1 and -1 each with this probability.

    .. math:: |d| = \frac{1}{\pi} \int_0^\pi \frac{1 - \cos dt}{1 - \cos t} dt

    for whole d; the mean over walks is a polynomial in cos t, so that the midpoint rule is exact
    with half as many nodes as steps.

    Examples
    --------
    >>> round(average_distance(0.5, 2), 12)  # 0 or 2
    1.0
    """
    n_nodes = min(n_steps // 2 + 1, _MAX_NODES)
    drop = 1 - np.cos((np.arange(n_nodes) + 0.5) * np.pi / n_nodes)
    return float(np.mean((1 - np.power(1 - 2 * step * drop, n_steps)) / drop))


def _scale(gini: float, n_items: int, convention: Convention) -> float:
    if convention.inequality_over == "n-1":
        gini = gini * n_items / (n_items - 1) if n_items > 1 else np.nan
    return 1 - gini if convention.gini_as == "equality" else gini
