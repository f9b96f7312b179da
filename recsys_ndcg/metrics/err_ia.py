"""ERR-IA and nERR-IA: intent-aware expected reciprocal rank, over the most, or an ideal list."""

from __future__ import annotations

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.of_topics import TOPICS, Repeating
from recsys_ndcg.metrics.registry import register_metric


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
    reads = TOPICS
    is_over_ideal = False

    def weigh_ranks(self, convention: Convention, n_ranks: int) -> Floats:  # noqa: ARG002
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
