"""Precision, recall, and what is made of them: F1, R-precision, rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class Precision(Linear):
    r"""The share of the first k items that are relevant, more is better.

    .. math:: P@k = \frac{h}{k}, \quad h = \sum_{r \le k} rel(r)

    with rel(r) 1 if the item at rank r is relevant.

    Notes
    -----
    In [0, 1], no unit. A list of n < k items is still divided by k, or by n under
    ``short_list="n"``; without k it is divided by n. An empty list then has one place, and scores
    0. Under ``recommend_from`` only items estimated at least that high, after rounding to
    ``tie_tolerance``, count as hits and as places: undefined for a user without any.
    trec_eval, ranx and recommenders divide by k; CatBoost and LensKit by n.

    References
    ----------
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.precision_at_k([5, 2, 4], 10, threshold=4)
    0.2
    >>> round(rn.precision_at_k([5, 2, 4], 10, threshold=4, short_list="n"), 4)
    0.6667
    """

    name = "precision"
    also_called: ClassVar[tuple[str, ...]] = ("p", "prec", "setp")
    reads = ORDER | {"recommend_from"}
    takes_weights = True
    needs_threshold = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return 1 for each rank with a recommended item, else 0."""
        if ranking.convention.recommend_from is None:
            return super().weights(ranking)
        ranks = np.arange(1, ranking.width(self.k) + 1)
        return np.asarray(ranks <= ranking.n_recommended[:, None], dtype=np.float64)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of places."""
        convention, k = ranking.convention, self.k
        if convention.recommend_from is not None:
            places = ranking.n_recommended
            return np.asarray(places if k is None else np.minimum(places, k), dtype=np.float64)
        if k is not None and convention.short_list != "n":
            return np.full(len(ranking.n_items), float(k))
        return np.maximum(ranking.count_shown(k), 1).astype(np.float64)


@register_metric
class Recall(Precision):
    r"""The share of the relevant items that are among the first k, more is better.

    .. math:: R@k = \frac{h}{R}

    with h the relevant items at ranks up to k and R all relevant items of the user.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. Under
    ``recall_over="capped"`` the denominator is min(k, R), as in LensKit, so that 1 can be
    reached by users with more than k relevant items. `recommend_from` works as in precision.

    References
    ----------
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.recall_at_k([5, 2, 4], 2, threshold=4)
    0.5
    """

    name = "recall"
    also_called: ClassVar[tuple[str, ...]] = ("r", "rec", "setr", "setrecall")
    reads = Precision.reads | {"recall_over"}
    weighs_denominator = True

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of relevant items, or the sum of their weights."""
        return ranking.sum_relevance(self.k if ranking.convention.recall_over == "capped" else None)


@register_metric
class F1(Linear):
    r"""The harmonic mean of precision and recall, more is better.

    .. math:: F_1@k = \frac{2h}{p + q}

    with h the hits among the first k, and p and q the denominators of precision and recall.

    Notes
    -----
    In [0, 1], no unit. Undefined only if both denominators are 0.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7

    Examples
    --------
    One hit in two places, two relevant items: 2 / (2 + 2).

    >>> import recsys_ndcg as rn
    >>> frame = {"user": [1] * 3, "item": [1, 2, 3], "estimated": [3, 2, 1], "true": [5, 2, 4]}
    >>> float(rn.evaluate(frame, metrics=["f1@2"], threshold=4).mean["f1@2"])
    0.5
    """

    name = "f1"
    also_called = ("f", "fscore", "f1score", "fmeasure", "setf")
    reads = Recall.reads
    needs_threshold = True

    def weights(self, ranking: Ranking) -> Floats:
        """Return twice the weights of precision."""
        return 2 * Precision(self.k).weights(ranking)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the sum of both denominators."""
        return Precision(self.k).denominator(ranking) + Recall(self.k).denominator(ranking)


@register_metric
class RPrecision(Recall):
    r"""Precision at R, the number of the user's relevant items; more is better.

    .. math:: \frac{1}{R} \sum_{r \le R} rel(r)

    with rel(r) 1 if the item at rank r is relevant and R all relevant items of the user.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. It has no cutoff.

    References
    ----------
    Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, 8.4

    Examples
    --------
    Two relevant items, one of them among the first two.

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3, 5), (2, 1), (1, 4)]}
    >>> float(rn.evaluate(pairs, metrics=["rprecision"], threshold=4).mean["rprecision"])
    0.5
    """

    name = "rprecision"
    also_called = ("rprec",)
    reads = ORDER
    cutoff = "none"

    def weights(self, ranking: Ranking) -> Floats:
        """Return 1 for each of the first R ranks."""
        ranks = np.arange(1, ranking.width(None) + 1)
        return np.asarray(ranks <= ranking.n_relevant[:, None], dtype=np.float64)


@register_metric
@dataclass(frozen=True)
class RBP(Linear):
    r"""Rank-biased precision: the rate of relevant items for a reader with patience p.

    .. math:: RBP(p)@k = (1 - p) \sum_{r \le k} rel(r) p^{r-1}

    with rel(r) 1 if the item at rank r is relevant and p the chance of reading on.

    Parameters
    ----------
    k : int, optional
        The number of ranks.
    p : float, default 0.8
        Persistence, above 0 and below 1. Written in the name: ``rbp(p=0.95)@10``.

    Notes
    -----
    In [0, 1), higher is better, no unit. Never undefined.
    In no preset: each library has a persistence of its own.

    References
    ----------
    Moffat & Zobel (2008), doi:10.1145/1416950.1416952

    Examples
    --------
    Relevant at ranks 1 and 3: 0.5 (1 + 0.25).

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3, 5), (2, 1), (1, 4)]}
    >>> rn.evaluate(pairs, metrics=["rbp(p=0.5)@10"], threshold=4)["rbp(p=0.5)@10"]
    0.625
    """

    name = "rbp"
    reads = ORDER
    takes_weights = True
    needs_threshold = True

    p: float = 0.8

    def __post_init__(self) -> None:
        """Raise if the persistence is not a probability."""
        super().__post_init__()
        if not is_number(self.p) or not 0 < self.p < 1:
            msg = f"rbp: p must be above 0 and below 1, not {quote(self.p)}; 0.8 is usual."
            raise InvalidInputError(msg)

    def weights(self, ranking: Ranking) -> Floats:
        """Return the probability to read each rank and stop there."""
        ranks = np.arange(ranking.width(self.k), dtype=np.float64)
        return np.asarray((1 - self.p) * np.power(self.p, ranks))
