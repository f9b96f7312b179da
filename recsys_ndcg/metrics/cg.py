"""Cumulative gain."""

from __future__ import annotations

from recsys_ndcg.metrics.metric import GAINS, Linear
from recsys_ndcg.metrics.registry import register_metric


@register_metric
class CG(Linear):
    r"""Cumulative gain: the gains of the first k items, more is better.

    .. math:: CG@k = \sum_{r \le k} g(r)

    with g(r) the gain of the item at rank r.

    Notes
    -----
    At least 0, without an upper bound, in units of the gain. Never undefined. The textbook sums
    the grades themselves: that is ``gain="linear"``.

    References
    ----------
    Järvelin & Kekäläinen (2002), doi:10.1145/582415.582418

    Examples
    --------
    Two lists with the same items in another order score the same.

    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_tuples({"a": [(2, 5), (1, 2)], "b": [(2, 2), (1, 5)]})
    >>> report = rn.evaluate(lists, metrics=["cg@2"], convention=rn.Convention(gain="linear"))
    >>> float(report.mean["cg@2"])
    7.0
    """

    name = "cg"
    reads = GAINS
    takes_weights = True
    uses_gains = True
    worth = "gain"
    bounded = False
