"""Rarefaction: the coverage of some users, so that coverage of few and of many can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, check_integer
from recsys_ndcg.metrics import Coverage, Metric, find_universe
from recsys_ndcg.ranking import Exposures
from recsys_ndcg.scoring import find_metric_name

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Audit


def rarefy(exposures: Exposures, counted: Floats, sizes: Sequence[int]) -> Floats:
    r"""Return the expected number of items that are shown to m users, drawn from all.

    .. math:: \sum_i 1 - E_m \prod_{u} (1 - p_{ui})

    over the draws of m of the U users; if p is 0 or 1, the mean product is
    C(U - x_i, m) / C(U, m), with x_i the number of lists that hold item i.

    Parameters
    ----------
    exposures : Exposures
        The lists of the U users who count.
    counted : float64 array, shape (n_items,)
        Which items count, 0 or 1.
    sizes : sequence of int
        The numbers of users, m, from 1 to U.

    References
    ----------
    Hurlbert (1971), doi:10.2307/1934145

    Examples
    --------
    >>> items = np.array(["a", "b"])
    >>> lists = Exposures(items, np.array([0, 1, 3]), np.array([0, 0, 1]), np.ones(3))
    >>> rarefy(lists, np.ones(2), [1, 2])
    array([1.5, 2. ])
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - scipy takes longer than pandas

    n_users, n_items = exposures.n_users, len(exposures.item_ids)
    is_sure = exposures.share == 1
    has_ties = np.zeros(n_items, dtype=bool)
    has_ties[exposures.item[~is_sure]] = True
    counts = np.bincount(exposures.item[is_sure & ~has_ties[exposures.item]], minlength=n_items)
    shown = counts[(counts > 0) & (counted > 0)]
    distinct, often = np.unique(shown, return_counts=True)  # items of equal counts are alike
    tied = np.flatnonzero(has_ties & (counted > 0))
    order = np.argsort(exposures.item, kind="stable")
    starts = np.searchsorted(exposures.item[order], [tied, tied + 1])
    misses = [1 - exposures.share[order[first:last]] for first, last in starts.T]
    totals = [
        (hypergeom.sf(0, n_users, distinct, m) * often).sum()  # 1 - C(U - x, m) / C(U, m)
        + sum(_find_share_of_tied(one, m, n_users) for one in misses)
        for m in sizes
    ]
    return np.array(totals)


def compute_rarefaction(
    audit: Audit, metric: str | Metric | None, users: int | Iterable[int] | None
) -> pd.Series[float]:
    """Return the coverage of fewer users, as `Report.rarefaction` describes it."""
    found = [one for one in audit.measurements if isinstance(one.metric, Coverage)]
    names = [str(one) for one in audit.measurements]
    if metric is None and not found:
        msg = f"This report has no coverage; it has {', '.join(names)}. Measure 'coverage@10', too."
        raise InvalidInputError(msg)
    name = str(found[0]) if metric is None else find_metric_name(metric, names, "This report")
    column = names.index(name)
    one = audit.measurements[column]
    if not isinstance(one.metric, Coverage):
        msg = f"{name} has no rarefaction; coverage has. Name one, such as 'coverage@10'."
        raise InvalidInputError(msg)
    scores = audit.scores  # raises if only totals are known
    exposures = scores.exposures[column]
    assert exposures is not None, "coverage collects exposures"  # noqa: S101
    kept = exposures.take(~scores.left_out[:, column] & (exposures.n_shown > 0))
    n_users = kept.n_users
    if users is None:
        sizes = np.unique(np.linspace(1, n_users, 20).astype(int)).tolist() if n_users else []
    else:
        sizes = list(users) if isinstance(users, Iterable) else [users]
        for size in sizes:
            check_integer("users", size, 1, n_users)
    totals = kept.sum()
    counted, n_items = find_universe(totals, one.convention)
    values = [one.metric.scale(count, n_items) for count in rarefy(kept, counted, sizes)]
    return pd.Series(values, index=pd.Index(sizes, name="users"), name=name)


def _find_share_of_tied(misses: Floats, m: int, n_users: int) -> float:
    """Return 1 - the mean, over draws of m users, of the product of 1 - p of the drawn ones.

    `misses` has 1 - p of the users who may have the item; it is 1 for all others. The mean product
    of j of them follows from the mean products of j - 1, user by user.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415

    n = len(misses)
    means = np.zeros(n + 1)
    means[0] = 1.0
    for count, miss in enumerate(misses.tolist(), start=1):
        j = np.arange(1, count + 1)
        means[1 : count + 1] = (
            j / count * miss * means[:count] + (1 - j / count) * means[1 : count + 1]
        )
    drawn = np.arange(1, min(m, n) + 1)
    return float((hypergeom.pmf(drawn, n_users, n, m) * (1 - means[drawn])).sum())
