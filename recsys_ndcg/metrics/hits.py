"""Whether and where relevant items stand: hit rate, reciprocal rank, average precision."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import ORDER, Metric
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking


@register_metric
class Hit(Metric):
    r"""Whether a relevant item is among the first k: 1 or 0, the mean is the hit rate.

    .. math:: hit@k = [h \ge 1]

    with h the relevant items at ranks up to k.

    Notes
    -----
    In [0, 1], no unit; between 0 and 1 for one user if a tie at rank k decides.
    Undefined for a user without relevant items.

    References
    ----------
    Deshpande & Karypis (2004), doi:10.1145/963770.963776

    Examples
    --------
    One of the two users has the relevant item first.

    >>> import recsys_ndcg as rn
    >>> pairs = {"ann": [(3.0, 5), (2.0, 1)], "bob": [(3.0, 1), (2.0, 5)]}
    >>> float(rn.evaluate(pairs, metrics=["hit@1"], threshold=4).mean["hit@1"])
    0.5
    """

    name = "hit"
    reads = ORDER
    also_called = ("hitrate", "hr", "success")
    needs_threshold = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the probability that the first relevant item is among the first k."""
        return row_sums(ranking.first_hit[:, : self.k])

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1 for users with a relevant item, else 0."""
        return (ranking.n_relevant > 0).astype(float)


@register_metric
class RR(Hit):
    r"""One over the rank of the first relevant item, more is better.

    .. math:: RR = \frac{1}{\min \{r : rel(r) = 1\}}

    with rel(r) 1 if the item at rank r is relevant; 0 if none is, or none within k. Its
    mean over users is known as MRR.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. Without ``@k``, ``rr`` has no
    cutoff, as in trec_eval.

    References
    ----------
    Voorhees (1999), The TREC-8 question answering track report;
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rn.reciprocal_rank([2, 5, 4], threshold=4)
    0.5
    """

    name = "rr"
    reads = ORDER
    also_called = ("mrr", "reciprocalrank", "reciprank")
    cutoff = "possible"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the expected reciprocal rank of the first relevant item."""
        table = ranking.first_hit[:, : self.k]
        return row_sums(table / np.arange(1, table.shape[1] + 1))


@register_metric
class AP(Metric):
    r"""Average precision: the mean precision at the ranks of the R relevant items.

    .. math:: AP@k = \frac{1}{R} \sum_{r \le k} rel(r) \frac{h(r)}{r}

    with rel(r) 1 if the item at rank r is relevant, h(r) the relevant items at ranks up to r
    and R all relevant items. Its mean over users is known as MAP.

    Notes
    -----
    In [0, 1], no unit. Undefined for a user without relevant items. ``ap_over`` divides by R
    (trec_eval, ranx), by min(R, k) (RePlay, implicit), by k, or by the hits in the top k
    (torchmetrics). The hits depend on the order, so that a better order can score less: at k = 3
    (1, 0, 0, 1) scores 1, and (1, 0, 1, 0) 5/6. So over hits there is no chance level, best or
    worst order, adjusted score or tie range; and if a tie touches the top k, ``ties`` must choose
    one order of it.

    References
    ----------
    McSherry & Najork (2008), doi:10.1007/978-3-540-78646-7_38, for tied estimates

    Examples
    --------
    Relevant at ranks 1 and 3: (1/1 + 2/3) / 2.

    >>> import recsys_ndcg as rn
    >>> round(rn.average_precision_at_k([5, 2, 4], 10, threshold=4), 4)
    0.8333
    """

    name = "ap"
    reads = ORDER | {"ap_over"}
    also_called = ("map", "averageprecision", "meanaverageprecision")
    needs_threshold = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the precisions."""
        table = ranking.relevance_so_far[:, : self.k]
        return row_sums(table / np.arange(1, table.shape[1] + 1))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number that `ap_over` chooses."""
        over, k = ranking.convention.ap_over, self.k
        if over == "hits":
            return row_sums(ranking.relevance[:, :k])
        if over == "k" and k is not None:
            return np.full(len(ranking.n_items), float(k))
        if over == "capped" and k is not None:
            return np.minimum(ranking.n_relevant, k)
        return ranking.n_relevant

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: over k a cutoff, over hits no ties."""
        found = super().list_requirements(convention)
        if convention.ap_over == "k" and self.k is None:
            why = "`ap_over='k'` needs a cutoff: use 'ap@10', for example."
            found.append(Requirement("never", why=why))
        if convention.ap_over == "hits":
            why = (
                "`ap_over='hits'` has no exact mean over the orders of tied items in the top k, "
                "and its best and worst orders are unknown. Choose another ap_over, or "
                "`ties='item_asc'`."
            )
            found.append(Requirement("no ties", why=why))
        return found
