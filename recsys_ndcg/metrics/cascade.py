"""Cascade measures, in which repeated topics fade: alpha-DCG, ERR-IA, and normalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, as_float, is_number, quote
from recsys_ndcg.metrics.of_topics import TOPICS, OfTopics
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking

_FADED = 38  # ranks times alpha, from which on a gain no longer changes the sum: e^-38 < 2^-54


@dataclass(frozen=True)
class Repeating(OfTopics):
    r"""A sum over ranks and topics in which repeated topics count less.

    .. math:: \sum_{r \le k} w_r \sum_f rel_f(r) (1 - \alpha)^{h_f(r - 1)}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, and h_f(r - 1) the number of
    such items before it. Its expectation over the orders of ties is exact.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    alpha : float
        How much a topic that was shown loses, in [0, 1].
    """

    needs_threshold = True
    #: Whether it is divided by the sum of an ideal list, which is made greedily. Else it is divided
    #: by the sum of a list whose every item has all topics of the user's relevant items.
    is_over_ideal = True

    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Check and normalise the parameters."""
        if not is_number(self.alpha) or not 0 <= self.alpha <= 1:
            msg = f"{self.name}: alpha must be a number from 0 to 1, not {quote(self.alpha)}."
            raise InvalidInputError(msg)
        object.__setattr__(self, "alpha", as_float(self.alpha))
        super().__post_init__()

    def weigh_ranks(self, convention: Convention, n_ranks: int) -> Floats:
        """Return the discount of the first ranks."""
        return convention.compute_discounts(n_ranks)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum that the list reaches."""
        hits = self.find_relevant_hits(ranking)
        places = hits.count_places(ranking, self.k)
        weights = self.weigh_ranks(ranking.convention, ranking.width(self.k))
        return hits.sum_by_user(hits.sum_fading(places, weights, 1.0 - self.alpha))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the sum of the ideal list, or of a list whose items have all topics."""
        topics = self.find_relevant_topics(ranking)
        most = 1 + _FADED / max(self.alpha, 1e-300)
        if self.is_over_ideal:
            most = np.bincount(topics.user).max(initial=0)
        depth = int(min(self.k or most, most))
        weights = self.weigh_ranks(ranking.convention, depth)
        if self.is_over_ideal:
            return topics.sum_greedily(weights, 1.0 - self.alpha)
        fading = (1.0 - self.alpha) ** np.arange(depth)
        return topics.n_topics * float(np.cumsum(weights * fading)[-1])

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: a cutoff, if it is divided by a sum over k ranks."""
        found = super().list_requirements(convention)
        if not self.is_over_ideal and self.k is None:
            why = (
                f"{self} has no cutoff, and is divided by a sum over k ranks. Write "
                f"'{self.name}({self.column})@10', for example."
            )
            found.append(Requirement("never", why=why))
        return found


@register_metric
class AlphaDCG(Repeating):
    r"""DCG in which a topic that was shown before counts less.

    .. math:: \alpha\text{-}DCG@k = \frac{\sum_{r \le k} \frac{1}{\log_2(r + 1)}
        \sum_f rel_f(r) (1 - \alpha)^{h_f(r - 1)}}
        {T \sum_{r \le k} \frac{(1 - \alpha)^{r - 1}}{\log_2(r + 1)}}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, h_f(r - 1) the number of such
    items before it, and T the number of topics of the user's relevant items.

    Parameters
    ----------
    k : int, optional
        The cutoff, required.
    column : str
        The column of the features that has the topics: categories or sets.
    alpha : float
        How much a topic that was shown loses, in [0, 1]; 0.5 by default.

    Notes
    -----
    In [0, 1], no unit; higher is better. 1 only if each of the first k items is relevant and has
    all topics, so compare users with alpha_ndcg. Undefined for a user without relevant items that
    have topics. The mean over ties and chance are exact; the best and the worst order are not
    known. The denominator is ndeval's, which does not divide at k = 1; others report the
    numerator.

    References
    ----------
    Clarke et al. (2008), doi:10.1145/1390334.1390446; Clarke et al. (2011),
    doi:10.1145/1935826.1935847, for the denominator

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="alpha_dcg(topic)@2", features=topics, threshold=1)
    >>> report.mean.to_dict()
    {'alpha_dcg(topic)@2': 0.5}
    """

    name = "alpha_dcg"
    also_called = ("alphadcg", "adcg")
    reads = TOPICS | {"discount"}
    is_over_ideal = False


@register_metric
class AlphaNDCG(Repeating):
    r"""NDCG in which a topic that was shown before counts less.

    .. math:: \alpha\text{-}nDCG@k = \frac{1}{I} \sum_{r \le k}
        \frac{1}{\log_2(r + 1)} \sum_f rel_f(r) (1 - \alpha)^{h_f(r - 1)}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, h_f(r - 1) the number of such
    items before it, and I the sum of an ideal list of the user's relevant items.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that has the topics: categories or sets.
    alpha : float
        How much a topic that was shown loses, in [0, 1]; 0.5 by default.

    Notes
    -----
    At least 0, no unit; higher is better. Undefined for a user without relevant items that have
    topics. The ideal list takes at each rank a relevant item, in the list or not, of the largest
    gain; of equal ones the last by id as text, as ndeval does: 9 comes after 10. It is not
    always the best list, which is hard to find, so that a score can be a little above 1. The mean
    over ties and chance are exact; the best and the worst order are not known.

    References
    ----------
    Clarke et al. (2008), doi:10.1145/1390334.1390446

    Examples
    --------
    Both items are about war, and the second one only repeats it.

    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="alpha_ndcg(topic)@2", features=topics, threshold=1)
    >>> report.mean.round(4).to_dict()
    {'alpha_ndcg(topic)@2': 0.8066}
    """

    name = "alpha_ndcg"
    also_called = ("alphandcg", "andcg")
    reads = TOPICS | {"discount"}
    bounded = False


@register_metric
class ERRIA(Repeating):
    r"""Intent-aware expected reciprocal rank: a topic that was shown before counts less.

    .. math:: ERR\text{-}IA@k = \frac{\sum_{r \le k} \frac{1}{r}
        \sum_f rel_f(r) (1 - \alpha)^{h_f(r - 1)}}
        {T \sum_{r \le k} \frac{(1 - \alpha)^{r - 1}}{r}}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, h_f(r - 1) the number of such
    items before it, and T the number of topics of the user's relevant items.

    Parameters
    ----------
    k : int, optional
        The cutoff, required.
    column : str
        The column of the features that has the topics: categories or sets.
    alpha : float
        How much a topic that was shown loses, in [0, 1]; 0.5 by default.

    Notes
    -----
    In [0, 1], no unit; higher is better. 1 only if each of the first k items is relevant and has
    all topics, so compare users with nerr_ia. Undefined for a user without relevant items that have
    topics. The mean over ties and chance are exact; the best and the worst order are not known.
    The denominator is ndeval's, which does not divide at k = 1; others divide by T alone.

    References
    ----------
    Chapelle et al. (2009), doi:10.1145/1645953.1646033; Clarke et al. (2011),
    doi:10.1145/1935826.1935847, for the denominator

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="err_ia(topic)@2", features=topics, threshold=1)
    >>> report.mean.to_dict()
    {'err_ia(topic)@2': 0.5}
    """

    name = "err_ia"
    also_called = ("erria",)
    is_over_ideal = False

    def weigh_ranks(self, convention: Convention, n_ranks: int) -> Floats:
        """Return 1 over each of the first ranks."""
        return Convention(discount="reciprocal").compute_discounts(n_ranks)


@register_metric
class NERRIA(ERRIA):
    r"""Intent-aware expected reciprocal rank, normalised: a topic that was shown counts less.

    .. math:: nERR\text{-}IA@k = \frac{1}{I} \sum_{r \le k}
        \frac{1}{r} \sum_f rel_f(r) (1 - \alpha)^{h_f(r - 1)}

    with rel_f(r) 1 if the item at rank r is relevant and has topic f, h_f(r - 1) the number of such
    items before it, and I the sum of an ideal list of the user's relevant items.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that has the topics: categories or sets.
    alpha : float
        How much a topic that was shown loses, in [0, 1]; 0.5 by default.

    Notes
    -----
    At least 0, no unit; higher is better. Undefined for a user without relevant items that have
    topics. The ideal list is alpha_ndcg's: greedy, so that a score can be a little above 1.
    The mean over ties and chance are exact; the best and the worst order are not known.

    References
    ----------
    Clarke et al. (2011), doi:10.1145/1935826.1935847

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a", "b", "c"}}, {"ann": ["a", "b"]})
    >>> topics = {"item": ["a", "b", "c"], "topic": ["war", "war", "sea"]}
    >>> report = rn.evaluate(lists, metrics="nerr_ia(topic)@2", features=topics, threshold=1)
    >>> report.mean.round(4).to_dict()
    {'nerr_ia(topic)@2': 0.8333}
    """

    name = "nerr_ia"
    also_called = ("nerria",)
    bounded = False
    is_over_ideal = True
