"""Average popularity of the recommended items."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_items import POPULARITY, OfItems, count_popularity
from recsys_ndcg.metrics.registry import register_metric


@register_metric
class Popularity(OfItems):
    r"""The mean popularity of the first k items: how many users had them in training.

    .. math:: popularity@k = \frac{1}{\min(k, n)} \sum_{r \le k} \nu(i_r)

    with \nu(i) the number of training users of item i, 0 for a cold item.

    Notes
    -----
    At least 0, in users (or a share: `Convention.popularity_as`); lower means less popular, which
    counts as better. Undefined for an empty list. Other libraries count rows, clip cold items to 1,
    or divide by k; also called ARP, average recommendation popularity.

    References
    ----------
    Yin et al. (2012), doi:10.14778/2311906.2311916

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["popularity@1", "popularity@2"], train=train).mean.to_dict()
    {'popularity@1': 1.0, 'popularity@2': 1.5}
    """

    name = "popularity"
    also_called: ClassVar[tuple[str, ...]] = ("arp", "averagepopularity", "avgrecpopularity")
    needs = frozenset({"items", "train"})
    reads = POPULARITY | {"popularity_as"}
    greater_is_better = False

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the popularity of every item."""
        counts: Floats = count_popularity(known, convention)
        if convention.popularity_as == "share":
            return np.asarray(counts / np.asarray(known.n_rows).sum())
        if convention.popularity_as == "max":
            return counts / np.nanmax(counts)
        if convention.popularity_as == "rank":
            from scipy.stats import rankdata  # noqa: PLC0415 - scipy takes longer than pandas

            has_train = np.asarray(known.n_users_of) > 0
            ranks = np.where(np.isnan(counts), np.nan, 0.0)
            ranks[has_train] = rankdata(counts[has_train]) / has_train.sum()
            return ranks
        return counts
