"""Novelty: how unknown the recommended items are, all of them or the relevant ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import ORDER, Linear, choice
from recsys_ndcg.metrics.of_items import (
    LISTS,
    POPULARITY,
    OfItems,
    count_places,
    count_popularity,
    count_training,
)
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking


@register_metric
@dataclass(frozen=True)
class Novelty(OfItems):
    r"""The mean self-information of the first k items: how surprising it is to know them.

    .. math:: novelty@k = \frac{1}{\min(k, n)} \sum_{r \le k} -\log_2 p(i_r)

    with p(i) the share of the training users who had item i (``model``); an item
    that nobody had counts like one of a single user.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    model : {'discovery', 'choice'}
        The probability of an item: its share of the training users, or of training interactions.
    as_ : {'bits', 'share'}
        In bits, or over the novelty of an item of one user.

    Notes
    -----
    At least 0, in bits; higher means less known, not better: random lists are the most novel, so
    read it with NDCG. Undefined for an empty list. Also called mean inverse user frequency, MIUF;
    surprisal is the same over its largest value, ``novelty(as=share)``.

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
    reads = POPULARITY
    nonnegative = True

    model: str | None = choice("discovery", "choice")
    as_: str | None = choice("bits", "share")

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the self-information of every item, in bits."""
        return compute_information(
            known, convention, is_choice=self.model == "choice", is_share=self.as_ == "share"
        )


def compute_information(
    known: Background, convention: Convention, *, is_choice: bool, is_share: bool
) -> Floats:
    """Return the self-information of every item, in bits or as a share of its largest value.

    `is_choice`: whether an item's probability is its share of the interactions, not of the users.
    """
    counts = count_popularity(known, convention)
    is_cold = np.asarray(known.n_users_of) == 0
    if convention.cold_item == "by_measure":
        counts = np.where(is_cold, 1.0, counts)
    total = count_training(known, convention).sum() if is_choice else float(known.n_train_users)
    with np.errstate(divide="ignore"):
        bits = np.log2(total) - np.log2(counts)
    bits = np.where(is_cold & (convention.cold_item == "zero"), 0.0, bits)
    return bits / np.log2(total) if is_share else bits


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
        by_item = self.values_by_item(lists.get_background(), ranking.convention)
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
        return np.append(0.0, np.cumsum(discounts))[n_places]

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also usable discounts."""
        usable = Requirement("weights", convention.find_discount_objection)
        return [*super().list_requirements(convention), usable]


@register_metric
@dataclass(frozen=True)
class EPC(OfRelevantItems):
    r"""Expected popularity complement: relevant items count more, the fewer users had them.

    .. math:: epc@k = \frac{\sum_{r \le k} D(r) \, rel(i_r) \, (1 - \nu(i_r) / U)}
        {\sum_{r \le \min(k, n)} D(r)}

    with \nu(i) the number of training users of item i, U of all training users
    (``population``), and D(r) the discount, 1/log2(r + 1). A cold item has the value 1.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    population : {'train', 'known'}
        Whose share an item's users are: the users of training, or all users in ``train=`` or
        ``groups=``.

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
    bounded = True

    population: str | None = choice("train", "known")

    @property
    def needs_if_known(self) -> frozenset[str]:  # type: ignore[override] # a class attribute there
        """The groups, which can have further users."""
        return frozenset({"groups"} if self.population == "known" else ())

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return 1 minus the share of the users who had every item in training."""
        counts = np.asarray(known.n_users_of)
        is_everyone = self.population == "known"
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
        convention = convention.replace(cold_item=rule)
        return compute_information(known, convention, is_choice=True, is_share=False)


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
        counts = count_training(ranking.lists.get_background(), ranking.convention)
        weights = np.minimum(counts.sum() / np.maximum(counts, 1), self.cap)
        weights = np.where(counts > 0, weights, 0.0)[np.asarray(ranking.lists.item_codes)]
        return np.asarray(weights * ranking.graded.compute_relevance(ranking.threshold))

    denominator = Linear.denominator  # 1, so that the sum is the score
