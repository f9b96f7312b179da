"""alpha-DCG and alpha-nDCG: gains of topics that fade with each repetition."""

from __future__ import annotations

from recsys_ndcg.metrics.of_topics import TOPICS, Repeating
from recsys_ndcg.metrics.registry import register_metric


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
