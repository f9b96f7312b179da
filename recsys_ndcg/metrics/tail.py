"""Share of the recommended items that are in the long tail."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_items import LISTS, OfItems, count_training
from recsys_ndcg.metrics.registry import register_metric

_SHARES = {"reach": 0.8, "pass": 0.8, "rarest": 0.1}
TAIL = frozenset({"tail", "tail_at", "popularity_of", "universe"})


@register_metric
class Tail(OfItems):
    r"""The share of the first k items that are in the long tail of popularity.

    .. math:: tail@k = \frac{1}{\min(k, n)} \sum_{r \le k} [i_r \text{ is in the tail}]

    The head is the smallest set of most popular items that together have at least 80 % of all
    popularity, counted in training users or rows (`Convention.popularity_of`); the tail is all
    others (`Convention.tail`).

    Notes
    -----
    In [0, 1], no unit; higher means less popular. Undefined for an empty list. An item without
    training rows is in the tail, but not under ``universe="train"`` or ``tail="rarest"``, whose
    tail has training items only. Items of equal popularity at the border of head and tail are in
    the order of their ids. Also called APLT; with ``list_over="one"`` ACLT, a number of items.

    References
    ----------
    Abdollahpouri, Burke & Mobasher (2019), arXiv:1901.07555

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("cid", "a"), ("eve", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["tail@1", "tail@2"], train=train).mean.to_dict()
    {'tail@1': 1.0, 'tail@2': 0.5}
    """

    name = "tail"
    also_called = ("aplt", "aclt", "tailpercentage", "longtail")
    needs = frozenset({"items", "train"})
    reads = LISTS | TAIL

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return whether every item is in the tail, 0 or 1."""
        return find_tail(known, convention).astype(np.float64)


def find_tail(known: Background, convention: Convention) -> Flags:
    """Return whether every item is in the tail.

    Items that nobody had in training are in it, unless the universe is training.
    """
    counts = count_training(known, convention)
    in_train = counts > 0
    universe = in_train if convention.universe == "train" else np.ones(len(counts), dtype=bool)
    if convention.tail == "count":
        assert convention.tail_at is not None, "checked by the convention"  # noqa: S101
        return np.asarray(universe & (counts <= convention.tail_at))
    share = convention.tail_at or _SHARES[convention.tail]
    order = np.flatnonzero(in_train)[np.argsort(-counts[in_train], kind="stable")]
    if convention.tail == "rarest":
        is_tail = np.zeros(len(counts), dtype=bool)
        rarest = np.flatnonzero(in_train)[np.argsort(counts[in_train], kind="stable")]
        is_tail[rarest[: max(int(len(order) * share), 1)]] = True
        return is_tail
    reached = np.cumsum(counts[order])
    # relative to the total: a share of 0.8 is not exact in binary
    limit = share * reached[-1]
    near = np.isclose(reached, limit, rtol=1e-12, atol=0)
    ends = (reached >= limit) | near if convention.tail == "reach" else (reached > limit) & ~near
    is_tail = universe.copy()
    is_tail[order[: int(np.argmax(ends)) + 1]] = False
    return is_tail
