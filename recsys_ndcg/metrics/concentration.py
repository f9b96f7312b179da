"""How evenly recommendations are spread over the items: Gini, entropy, Gini-Simpson."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import choice, weigh_by_patience
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    count_catalogue,
    find_ends_of_squares,
    find_list_length,
    find_random_draw,
    find_universe,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals

_MAX_NODES = 1 << 20  # far more than the width of the integrand needs


@register_metric
@dataclass(frozen=True)
class Gini(OverLists):
    r"""The Gini index of how often each item of the catalogue is among the first k.

    .. math:: gini@k = \frac{\sum_{j=1}^{n} (2j - n - 1)\, x_{(j)}}{n \sum_j x_{(j)}}

    with x the number of lists that hold each of the n items of the catalogue, in ascending order;
    items that nobody was shown count as 0.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    over : {'n', 'n-1'}
        Whether it is over the number of items, or that minus 1, so that it can reach 1.
    as_ : {'inequality', 'equality'}
        Whether it is 0 if all items are recommended equally often, or 1: 1 - G.

    Notes
    -----
    In [0, 1), no unit; lower is more even, which counts as better. With few slots even the most
    even lists are unequal: read it with `worst` and `best`, the ends for as many slots (Rampisela
    et al. 2024), and `chance`, the mean over all draws of random lists. They are exact; `worst`
    needs lists of the same length, `chance` also the same candidates for all. Under ties it is the
    index of the expected exposures.
    Other libraries divide by n - 1, leave out items that nobody was shown, which reverses the
    order of models, or return 1 - G (``gini(over=n-1)``, `Convention.universe`,
    ``gini(as=equality)``).
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
    reads = ALL_LISTS | {"patience"}
    greater_is_better = False

    over: str | None = choice("n", "n-1")
    as_: str | None = choice("inequality", "equality")

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
        return self._scale(gini, n_items)

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
        return self._scale((n_items - 1) * distance / (2 * lists * length), n_items)

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
        return self._scale(most, n_items), self._scale(least, n_items)

    def _scale(self, gini: float, n_items: int) -> float:
        if self.over == "n-1":
            gini = gini * n_items / (n_items - 1) if n_items > 1 else np.nan
        return 1 - gini if self.as_ == "equality" else gini


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


@register_metric
@dataclass(frozen=True)
class Entropy(OverLists):
    r"""The Shannon entropy of the items among the first k.

    .. math:: entropy@k = -\sum_i \frac{x_i}{X} \log_2 \frac{x_i}{X}

    with x the number of lists that hold item i and X their sum.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    base : {2.0, 'e'}
        The base of the logarithm: bits or nats.
    over : {'recommendations', 'items', 'lists'}
        Each recommendation counts the same; the entropy is divided by the number of recommended
        items; or each list counts the same, however short it is.

    Notes
    -----
    At least 0, in bits; higher is more even, which counts as better. 2^entropy is the number of
    items that would give it if all were shown equally often. Under ties it is the entropy of the
    expected exposures. Also called distributional coverage.
    ``entropy(over=lists)`` is the cross entropy -Σ q log2(x/X), with q the mean over
    lists of the item's share of the list. If short lists hold rare items, it exceeds the entropy,
    and even the logarithm of the number of items.

    References
    ----------
    Shani & Gunawardana (2011), doi:10.1007/978-0-387-85820-3_8

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"], "bob": ["b", "c"]})
    >>> rn.evaluate(lists, metrics=["entropy@1", "entropy@2"]).mean.to_dict()
    {'entropy@1': 0.0, 'entropy@2': 1.5}
    """

    name = "entropy"
    also_called = ("shannonentropy", "shannon", "distributionalcoverage")
    reads = ALL_LISTS - {"universe", "outside"}
    bounded = False
    nonnegative = True

    base: str | float | None = choice(2.0, "e")
    over: str | None = choice("recommendations", "items", "lists")

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the entropy of the exposures."""
        is_shown = totals.shown > 0
        if not is_shown.any():
            return np.nan
        shares = totals.shown[is_shown] / totals.shown.sum()
        weights = shares
        if self.over == "lists":
            weights = totals.sums["per_list"][is_shown] / totals.users["lists"]
        log = np.log(shares) if self.base == "e" else np.log2(shares)
        entropy = float(-(weights * log).sum()) + 0.0
        return entropy / is_shown.sum() if self.over == "items" else entropy

    def chance(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the mean entropy of random lists of the same length from the same candidates.

        The number of lists that hold an item is binomial.
        """
        from scipy.special import gammaln, xlog1py, xlogy  # noqa: PLC0415 - importing takes long

        lists, n_candidates, length = find_random_draw(totals)
        if np.isnan(lists) or self.over == "items":
            return np.nan
        share, n_lists = length / n_candidates, round(lists)
        margin = 40 * np.sqrt(lists * share * (1 - share)) + 40
        low, high = max(1, int(lists * share - margin)), min(n_lists, int(lists * share + margin))
        count = np.arange(low, high + 1)
        part = count / (lists * length)
        log_probability = gammaln(n_lists + 1) - gammaln(count + 1) - gammaln(n_lists - count + 1)
        log_probability += xlogy(count, share) + xlog1py(n_lists - count, -share)
        entropy = -n_candidates * float((np.exp(log_probability) * part * np.log(part)).sum()) + 0.0
        return entropy if self.base == "e" else entropy / np.log(2)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the entropy if all lists are equal; its largest value needs the catalogue.

        The first is NaN if lists have different lengths.
        """
        slots = totals.users["slots"]
        if not slots or self.over in ("items", "lists"):
            return np.nan, np.nan
        scale = 1.0 if self.base == "e" else np.log(2)
        best = _spread_evenly(slots, count_catalogue(totals)) / scale
        return float(np.log(find_list_length(totals)) / scale), best


def _spread_evenly(slots: float, n_items: float) -> float:
    """Return the entropy in nats of slots that are spread over items as evenly as possible."""
    often, rest = divmod(slots, n_items)
    counts = np.array([often, often + 1]) / slots
    sizes = np.array([n_items - rest, rest])
    logs = np.log(counts, where=counts > 0, out=np.zeros(2))
    return float(-(sizes * counts * logs).sum()) + 0.0


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

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return 1 minus the expected share of equal pairs."""
        slots = totals.users["slots"]
        if not slots:
            return np.nan
        return float(1 - (totals.shown**2 + totals.shown - totals.sums["squares"]).sum() / slots**2)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the index if all lists are equal, and if items are shown as equally as possible.

        NaN if lists have different lengths, and without a catalogue.
        """
        slots = totals.users["slots"]
        if not slots:
            return np.nan, np.nan
        most, least = find_ends_of_squares(totals)
        return 1 - most / slots**2, 1 - least / slots**2
