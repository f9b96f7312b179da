"""Novelty: the self-information of the recommended items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_items import POPULARITY, OfItems, count_popularity, count_training
from recsys_ndcg.metrics.registry import register_metric


@register_metric
class Novelty(OfItems):
    r"""The mean self-information of the first k items: how surprising it is to know them.

    .. math:: novelty@k = \frac{1}{\min(k, n)} \sum_{r \le k} -\log_2 p(i_r)

    with p(i) the share of the training users who had item i (`Convention.novelty_model`); an item
    that nobody had counts like one of a single user.

    Notes
    -----
    At least 0, in bits; higher means less known, not better: random lists are the most novel, so
    read it with NDCG. Undefined for an empty list. Also called mean inverse user frequency, MIUF;
    surprisal is the same over its largest value (`Convention.novelty_as`).

    References
    ----------
    Zhou et al. (2010), doi:10.1073/pnas.1000488107; Vargas & Castells (2011),
    doi:10.1145/2043932.2043955

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["novelty@1", "novelty@2"], train=train).mean.to_dict()
    {'novelty@1': 1.0, 'novelty@2': 0.5}
    """

    name = "novelty"
    also_called = ("miuf", "surprisal", "selfinformation", "meaninvuserfreq")
    needs = frozenset({"items", "train"})
    reads = POPULARITY | {"novelty_model", "novelty_as"}
    nonnegative = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the self-information of every item, in bits."""
        return compute_information(known, convention)


def compute_information(known: Background, convention: Convention) -> Floats:
    """Return the self-information of every item, in bits or as a share of its largest value."""
    counts = count_popularity(known, convention)
    is_cold = np.asarray(known.n_users_of) == 0
    if convention.cold_item == "by_measure":
        counts = np.where(is_cold, 1.0, counts)
    is_choice = convention.novelty_model == "choice"
    total = count_training(known, convention).sum() if is_choice else float(known.n_train_users)
    with np.errstate(divide="ignore"):
        bits = np.log2(total) - np.log2(counts)
    bits = np.where(is_cold & (convention.cold_item == "zero"), 0.0, bits)
    return bits / np.log2(total) if convention.novelty_as == "share" else bits
