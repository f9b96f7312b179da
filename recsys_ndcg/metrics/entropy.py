"""Entropy: how evenly recommendations are spread over the items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.over_lists import (
    ALL_LISTS,
    OverLists,
    count_catalogue,
    find_list_length,
    find_random_draw,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals


@register_metric
class Entropy(OverLists):
    r"""The Shannon entropy of the items among the first k.

    .. math:: entropy@k = -\sum_i \frac{x_i}{X} \log_2 \frac{x_i}{X}

    with x the number of lists that hold item i and X their sum.

    Notes
    -----
    At least 0, in bits; higher is more even, which counts as better. 2^entropy is the number of
    items that would give it if all were shown equally often. Under ties it is the entropy of the
    expected exposures. Also called distributional coverage.
    Under ``entropy_over="lists"`` it is the cross entropy -Σ q log2(x/X), with q the mean over
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
    reads = (ALL_LISTS - {"universe", "outside"}) | {"log_base", "entropy_over"}
    bounded = False
    nonnegative = True

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the entropy of the exposures."""
        is_shown = totals.shown > 0
        if not is_shown.any():
            return np.nan
        shares = totals.shown[is_shown] / totals.shown.sum()
        weights = shares
        if convention.entropy_over == "lists":
            weights = totals.sums["per_list"][is_shown] / totals.users["lists"]
        log = np.log(shares) if convention.log_base == "e" else np.log2(shares)
        entropy = float(-(weights * log).sum()) + 0.0
        return entropy / is_shown.sum() if convention.entropy_over == "items" else entropy

    def chance(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the mean entropy of random lists of the same length from the same candidates.

        The number of lists that hold an item is binomial.
        """
        from scipy.special import gammaln, xlog1py, xlogy  # noqa: PLC0415 - importing takes long

        lists, n_candidates, length = find_random_draw(totals)
        if np.isnan(lists) or convention.entropy_over == "items":
            return np.nan
        share, n_lists = length / n_candidates, round(lists)
        margin = 40 * np.sqrt(lists * share * (1 - share)) + 40
        low, high = max(1, int(lists * share - margin)), min(n_lists, int(lists * share + margin))
        count = np.arange(low, high + 1)
        part = count / (lists * length)
        log_probability = gammaln(n_lists + 1) - gammaln(count + 1) - gammaln(n_lists - count + 1)
        log_probability += xlogy(count, share) + xlog1py(n_lists - count, -share)
        entropy = -n_candidates * float((np.exp(log_probability) * part * np.log(part)).sum()) + 0.0
        return entropy if convention.log_base == "e" else entropy / np.log(2)

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the entropy if all lists are equal; its largest value needs the catalogue.

        The first is NaN if lists have different lengths.
        """
        slots = totals.users["slots"]
        if not slots or convention.entropy_over != "recommendations":
            return np.nan, np.nan
        scale = 1.0 if convention.log_base == "e" else np.log(2)
        best = _spread_evenly(slots, count_catalogue(totals)) / scale
        return float(np.log(find_list_length(totals)) / scale), best


def _spread_evenly(slots: float, n_items: float) -> float:
    """Return the entropy in nats of slots that are spread over items as evenly as possible."""
    often, rest = divmod(slots, n_items)
    counts = np.array([often, often + 1]) / slots
    sizes = np.array([n_items - rest, rest])
    logs = np.log(counts, where=counts > 0, out=np.zeros(2))
    return float(-(sizes * counts * logs).sum()) + 0.0
