"""Expected free discovery: the self-information of the relevant recommended items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.epc import OfRelevantItems
from recsys_ndcg.metrics.of_items import count_popularity, count_training
from recsys_ndcg.metrics.registry import register_metric


@register_metric
class EFD(OfRelevantItems):
    r"""Expected free discovery: relevant items count with their self-information.

    .. math:: efd@k = \frac{\sum_{r \le k} D(r) \, rel(i_r) \, (-\log_2 p(i_r))}
        {\sum_{r \le \min(k, n)} D(r)}, \qquad p(i) = \frac{\nu(i)}{\sum_j \nu(j)}

    with \nu(i) the number of training users of item i, and D(r) the discount, 1/log2(r + 1). A cold
    item counts like the rarest item of training.

    Notes
    -----
    At least 0, in units of bits; higher is better. Undefined for an empty list; a list without a
    relevant item scores 0. Its expectation under ties, its chance level and its z are exact.

    References
    ----------
    Vargas & Castells (2011), doi:10.1145/2043932.2043955

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("cid", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["efd@1", "efd@2"], train=train, threshold=1).mean.round(3)
    efd@1    2.000
    efd@2    1.226
    Name: mean, dtype: float64
    """

    name = "efd"
    also_called = ("expectedfreediscovery",)
    reads = OfRelevantItems.reads | {"popularity_of"}

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the self-information of every item, in bits."""
        rule = convention.cold_item
        by_measure = convention.replace(cold_item="rarest" if rule == "by_measure" else rule)
        counts = count_popularity(known, by_measure)
        in_training = count_training(known, convention)
        with np.errstate(divide="ignore"):
            bits = np.log2(in_training.sum()) - np.log2(counts)
        return np.where((in_training == 0) & (rule == "zero"), 0.0, bits)
