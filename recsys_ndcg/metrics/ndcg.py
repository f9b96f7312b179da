"""Cumulative gain, discounted (DCG) and normalised (NDCG)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import GAINS, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking, weighted_sum

MAX_PLACES = 10_000_000


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
    nonnegative = True


@register_metric
class DCG(CG):
    r"""Discounted cumulative gain: gains weighted by rank, more is better.

    .. math:: DCG@k = \sum_{r \le k} g(r) D(r)

    with g(r) the gain of the item at rank r and D(r) the weight of the rank.

    Notes
    -----
    At least 0, without an upper bound, in units of the gain. Never undefined.

    References
    ----------
    Järvelin & Kekäläinen (2002), doi:10.1145/582415.582418;
    Burges et al. (2005), doi:10.1145/1102351.1102363, for the gain 2^t - 1

    Examples
    --------
    Grade 3 at rank 1 and grade 1 at rank 2: 7/1 + 1/log2(3).

    >>> import recsys_ndcg as rn
    >>> round(rn.dcg_at_k([3, 1], 10), 4)
    7.6309
    """

    name = "dcg"
    reads = GAINS | {"discount"}

    def weights(self, ranking: Ranking) -> Floats:
        """Return the discount of each rank."""
        return ranking.weights(self.k)


@register_metric
class NDCG(DCG):
    r"""DCG over the best possible DCG: 1 is the ideal order.

    .. math:: NDCG@k = \frac{DCG@k}{IDCG@k}

    with IDCG the DCG of the ideal list, cut at k too: by default of all the user's labelled
    items, best first (`Convention.ideal`).

    Notes
    -----
    In [0, 1], higher is better, no unit. Undefined for a user whose ideal DCG is 0.
    Under ``ideal="max"`` the ideal has the top grade at each of the k places, or of the list's
    places without k; an empty list has one place. scikit-learn has the same scores under
    ``gain="linear"``, if every labelled item is in the list and no user is undefined.

    References
    ----------
    Järvelin & Kekäläinen (2002), doi:10.1145/582415.582418;
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    The two best items are swapped.

    >>> import recsys_ndcg as rn
    >>> round(rn.ndcg_at_k([(4.0, 3), (4.5, 2), (1.0, 0)], 10), 4)
    0.834
    """

    name = "ndcg"
    reads = GAINS | {"discount", "ideal", "max_grade"}
    weighs_denominator = True
    bounded = True

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the ideal DCG."""
        return sum_ideal_gains(self, ranking, ranking.convention.compute_discounts)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: for the maximal ideal, not too many places."""
        found = super().list_requirements(convention)
        if convention.ideal == "max" and self.k is not None and self.k > MAX_PLACES:
            why = f"`ideal='max'` adds up the weights of all k places; choose k up to {MAX_PLACES}."
            found.append(Requirement("never", why=why))
        return found


def sum_ideal_gains(metric: Linear, ranking: Ranking, weigh: Callable[[int], Floats]) -> Floats:
    """Return the weighted sum of the gains of the ideal list, for a metric of gains.

    Under ``ideal="max"`` it has the top grade at each of the k places, or of the list's places.

    Parameters
    ----------
    metric : Linear
        The metric.
    ranking : Ranking
        The users' ranked lists.
    weigh : callable
        Takes a number of ranks, which may exceed the width of the tables, and returns weights.
    """
    if ranking.convention.ideal != "max":
        return weighted_sum(ranking.ideal_gain, metric.weights(ranking))
    k = metric.k
    sums = np.cumsum(ranking.top_gain * weigh(ranking.width(None) if k is None else k))
    if k is not None:
        return np.full(len(ranking.n_items), sums[-1])
    ideal: Floats = sums[np.maximum(ranking.n_items, 1) - 1]
    return ideal
