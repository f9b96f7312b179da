"""nERR-IA: intent-aware expected reciprocal rank, over that of an ideal list."""

from __future__ import annotations

from recsys_ndcg.metrics.err_ia import ERRIA
from recsys_ndcg.metrics.registry import register_metric


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
    topics. The ideal list is that of alpha_ndcg: greedy, so that a score can be a little above 1.
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
