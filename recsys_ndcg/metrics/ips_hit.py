"""Hits weighted by inverse propensity: a hit of a rare item counts more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.metric import ORDER, get_background
from recsys_ndcg.metrics.of_items import OfItems, count_training
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
@dataclass(frozen=True)
class IPSHit(OfItems):
    r"""The sum of the inverse propensities of the hits.

    .. math:: ips\_hit@k = \sum_{r \le k} rel_r \min\left(\frac{\sum_j \nu(j)}{\nu(i_r)},
        cap\right)

    with \nu(i) the number of training users of item i, so that a hit counts the inverse of the
    item's share of training; 0 for an item that nobody had.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    cap : float
        The largest weight of a hit.

    Notes
    -----
    At least 0, no unit; higher is better. Never undefined: 0 for an empty list. The counts are
    those of ``train=``; recpack counts the test labels by default, so pass these as ``train=`` for
    its number. With `Convention.popularity_of` a count is of rows.

    References
    ----------
    Yang et al. (2018), doi:10.1145/3240323.3240355

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("cid", "a"), ("dan", "a"), ("eve", "a"), ("eve", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}, "bob": {"a"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["ips_hit@2"], train=train).per_user["ips_hit@2"].to_dict()
    {'ann': 4.0, 'bob': 0.0}
    """

    name = "ips_hit"
    also_called = ("ipshit", "ipshitrate", "ipshitratek")
    needs = frozenset({"items", "train"})
    reads = ORDER | {"popularity_of"}
    needs_threshold = True
    nonnegative = True
    same_denominator = True

    cap: float = 10_000.0

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the weight of every relevant item, 0 for others."""
        counts = count_training(get_background(ranking.lists), ranking.convention)
        weights = np.minimum(counts.sum() / np.maximum(counts, 1), self.cap)
        weights = np.where(counts > 0, weights, 0.0)[np.asarray(ranking.lists.item_codes)]
        return np.asarray(weights * ranking.graded.compute_relevance(ranking.threshold))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, so that the sum is the score."""
        return np.ones(len(ranking.n_items))
