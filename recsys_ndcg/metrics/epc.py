"""Expected popularity complement and free discovery: how unknown relevant items are."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import get_background
from recsys_ndcg.metrics.novelty import compute_information
from recsys_ndcg.metrics.of_items import LISTS, OfItems, count_places
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


class OfRelevantItems(OfItems):
    r"""A mean of values of the relevant items, weighted by rank; other items count 0.

    .. math:: \frac{\sum_{r \le k} D(r) \, rel(i_r) \, v(i_r)}{\sum_{r \le \min(k, n)} D(r)}

    A subclass has `values_by_item`.
    """

    needs = frozenset({"items", "train"})
    reads = LISTS | {"cold_item", "discount"}
    needs_threshold = True
    nonnegative = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return the discount of each of the first ranks."""
        return ranking.weights(self.k)

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the value of every relevant row, 0 for other rows, NaN for rows left out."""
        lists = ranking.lists
        by_item = self.values_by_item(get_background(lists), ranking.convention)
        by_row = by_item[np.asarray(lists.item_codes)]
        relevant = ranking.graded.compute_relevance(ranking.threshold)
        return np.where(np.isnan(by_row) | (relevant > 0), by_row, 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the sum of the discounts of the places of the list (`Convention.list_over`)."""
        rule = ranking.convention.list_over
        if rule == "one" or (rule == "n" and self.get_values(ranking).has_missing):
            return super().denominator(ranking)
        n_places = count_places(ranking, self.k).astype(np.int64)
        discounts = ranking.convention.compute_discounts(int(n_places.max(initial=1)))
        sums: Floats = np.append(0.0, np.cumsum(discounts))[n_places]
        return sums

    def objection(self, convention: Convention, longest: int) -> str:
        """Return why the weights of the ranks cannot be used."""
        return convention.find_discount_objection(self.k or max(longest, 1))


@register_metric
class EPC(OfRelevantItems):
    r"""Expected popularity complement: relevant items count more, the fewer users had them.

    .. math:: epc@k = \frac{\sum_{r \le k} D(r) \, rel(i_r) \, (1 - \nu(i_r) / U)}
        {\sum_{r \le \min(k, n)} D(r)}

    with \nu(i) the number of training users of item i, U of all training users
    (`Convention.population`), and D(r) the discount, 1/log2(r + 1). A cold item has the value 1.

    Notes
    -----
    In [0, 1], no unit; higher is better. Undefined for an empty list; a list without a relevant
    item scores 0. Under ``cold_item="zero"`` a cold item has the value 0, as if everyone had it,
    not the popularity 0. Its expectation under ties, its chance level and its z are exact.

    References
    ----------
    Vargas & Castells (2011), doi:10.1145/2043932.2043955

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["epc@1", "epc@2"], train=train, threshold=1).mean.round(3)
    epc@1    0.500
    epc@2    0.307
    Name: mean, dtype: float64
    """

    name = "epc"
    also_called = ("expectedpopularitycomplement",)
    reads = OfRelevantItems.reads | {"population"}
    bounded = True

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return 1 minus the share of the users who had every item in training."""
        counts = np.asarray(known.n_users_of)
        is_everyone = convention.population == "known"
        n_users = max(known.n_known_users if is_everyone else known.n_train_users, 1)
        shares = counts / n_users
        lowest = shares[counts > 0].min(initial=np.inf)
        cold = {"zero": 0.0, "one_user": 1 - 1 / n_users, "rarest": 1 - lowest, "drop": np.nan}
        return np.where(counts > 0, 1 - shares, cold.get(convention.cold_item, 1.0))


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
        rule = "rarest" if convention.cold_item == "by_measure" else convention.cold_item
        choices = {"novelty_model": "choice", "novelty_as": "bits", "cold_item": rule}
        return compute_information(known, convention.replace(**choices))
