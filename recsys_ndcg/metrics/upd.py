"""User popularity deviation: how far a list is from the user's history."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.calibration import Divergence
from recsys_ndcg.metrics.metric import ORDER
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.tail import find_tail

_HEAD, _NOT_TAIL = 0.2, 0.8  # shares of all popularity


@register_metric
class UPD(Divergence):
    r"""User popularity deviation: how far the list is from the user's history.

    .. math:: upd@k = \frac12 KL(p \| m) + \frac12 KL(q \| m), \qquad m = \frac{p + q}{2}

    with p the shares of popular, middling and rare items among the user's training items, and q
    among the first k items of the list. Popular items are the fewest that together have 20 % of
    all popularity, rare ones all but the fewest that have 80 %.

    Notes
    -----
    At least 0 and at most ln 2, in units of nats; lower is better: 0 if the list has the same
    shares. Undefined for an empty list and a user without training items. Popularity is the number
    of users in training, or of rows (`Convention.popularity_of`); items of equal popularity at a
    border are in the order of their ids. With ``patience=0.85`` an item at rank r counts 0.85^(r-1)
    in the list. Not linear: under ties it is that of the expected shares, and there is no chance
    level.

    References
    ----------
    Abdollahpouri et al. (2021), doi:10.1145/3450613.3456821

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b"), ("cid", "c"), ("cid", "a")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["upd@1", "upd@2"], train=train).mean.round(3).to_dict()
    {'upd@1': 0.693, 'upd@2': 0.216}
    """

    name = "upd"
    also_called = ("userpopularitydeviation",)
    reads = ORDER | {"popularity_of", "patience"}
    always_js = True

    def topics(self, known: Background, convention: Convention) -> Floats:
        """Return whether every item is popular, middling or rare: 0 or 1."""
        rule = convention.replace(tail="reach", tail_at=_HEAD, universe="catalogue")
        is_head = ~find_tail(known, rule)
        is_tail = find_tail(known, rule.replace(tail_at=_NOT_TAIL))
        return np.stack([is_head, ~is_head & ~is_tail, is_tail], axis=1).astype(np.float64)
