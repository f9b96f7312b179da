"""Attention-weighted rank fairness: whether groups get attention in proportion to their size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.calibration import compute_js
from recsys_ndcg.metrics.item_groups import ByColumn, sum_by_group
from recsys_ndcg.metrics.metric import ORDER, weigh_by_patience
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import ItemTotals


@register_metric
@dataclass(frozen=True)
class AWRF(ByColumn):
    r"""How near the attention that groups of items get is to their share of the catalogue.

    .. math:: awrf@k = 1 - \Delta(\epsilon, p), \quad
        \epsilon_g \propto \sum_u \sum_{r \le k} \gamma^{r-1} [i_{ur} \in g], \quad
        p_g \propto |g \cap I|

    with g a category of a column of the features, I the catalogue, and \Delta the Jensen-Shannon
    divergence in bits, or half the sum of the absolute differences.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the groups.
    difference : {'js', 'absolute'}
        The Jensen-Shannon divergence, or half the sum of the absolute differences.

    Notes
    -----
    In [0, 1], no unit; higher is better, 1 is in proportion. Of all lists together: attention is
    added up over users before groups are compared. The patience \gamma is 0.5
    (`Convention.patience`). Items without a category are left out of both shares. Undefined if no
    recommended item has a category. Under ties it is computed from the expected attention, which
    is exact.

    References
    ----------
    Sapiezynski et al. (2019), doi:10.1145/3308560.3317595;
    Raj & Ekstrand (2022), doi:10.1145/3477495.3532018, with the Jensen-Shannon divergence

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> options = {"features": {"item": [*"abcd"], "maker": [*"xyyx"]}, "catalogue": [*"abcd"]}
    >>> names = ["awrf(maker)@2", "awrf(maker,difference=absolute)@2"]
    >>> rn.evaluate(lists, metrics=names, **options).mean.round(4).tolist()
    [0.9793, 0.8333]
    """

    name = "awrf"
    needs = frozenset({"items", "catalogue", "features"})
    reads = ORDER | {"patience", "missing_feature"}
    option = "difference", ("js", "absolute")
    reads_catalogue = True

    difference: str = "js"

    def weigh_ranks(self, n_ranks: int, convention: Convention) -> Floats:
        """Return the attention that each rank gets."""
        return weigh_by_patience(n_ranks, convention, patience=0.5)

    def value(self, totals: ItemTotals, convention: Convention) -> float:  # noqa: ARG002
        """Return 1 minus the difference of the two distributions."""
        attention = sum_by_group(totals, totals.shown)
        sizes = sum_by_group(totals, totals.by_item["catalogue"])
        if not attention.sum() or not sizes.sum():
            return np.nan
        attention, sizes = attention / attention.sum(), sizes / sizes.sum()
        if self.difference == "absolute":
            return 1 - float(np.abs(attention - sizes).sum()) / 2
        bits = float(compute_js(attention[None], sizes[None])[0] / np.log(2))
        return 1 - min(max(bits, 0.0), 1.0)
