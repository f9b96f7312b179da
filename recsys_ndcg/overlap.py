"""How much two systems' lists have in common, user by user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.adapters import read_results
from recsys_ndcg.adapters.labels import Results, check_same_ids
from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.ranked_lists import RankedLists

if TYPE_CHECKING:
    from collections.abc import Mapping


def jaccard_at_k(
    lists_a: Any,
    lists_b: Any,
    k: int | None,
    *,
    columns: Mapping[str, str] | None = None,
) -> pd.Series[float]:
    r"""Return the share of items that two systems' first k have in common, per user.

    .. math:: J@k = \frac{|A_k \cap B_k|}{|A_k \cup B_k|}

    with A_k and B_k the first k items of the user's two lists.

    Parameters
    ----------
    lists_a, lists_b : tables, rows, Surprise predictions or RankedLists
        Columns user, item and rank or estimated. Equal estimates count in order of item id.
    k : int, optional
        How many of the first items count; None for all.
    columns : mapping, optional
        Our column names to those of both tables.

    Returns
    -------
    pandas.Series
        By user, in [0, 1]; a user who has only one of the lists scores 0.

    References
    ----------
    Jaccard (1901), Bull. Soc. Vaud. Sci. Nat. 37

    Examples
    --------
    >>> a = [("ann", "x", 3, 0), ("ann", "y", 2, 0)]
    >>> b = [("ann", "x", 3, 0), ("ann", "z", 2, 0)]
    >>> jaccard_at_k(a, b, 2).round(4).to_dict()
    {'ann': 0.3333}
    """
    ranks = _ranks_in_both(lists_a, lists_b, k, columns)
    both = ranks.notna().all(axis=1)
    user = ranks.index.get_level_values("user")
    return (both.groupby(user).sum() / both.groupby(user).size()).rename(_named("jaccard", k))


def rbo(
    lists_a: Any,
    lists_b: Any,
    p: float = 0.9,
    *,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
) -> pd.Series[float]:
    r"""Return the rank-biased overlap of two systems' lists, extrapolated, per user.

    .. math:: RBO = \frac{1-p}{p} \left(\sum_{d=1}^{l} \frac{X_d}{d} p^d
        + \sum_{d=s+1}^{l} \frac{X_s (d-s)}{s d} p^d\right)
        + \left(\frac{X_l - X_s}{l} + \frac{X_s}{s}\right) p^l

    with X_d the number of items that both lists have at ranks up to d, and s and l the lengths
    of the shorter and the longer list.

    Parameters
    ----------
    lists_a, lists_b, columns
        As in `jaccard_at_k`.
    p : float
        Persistence, above 0 and below 1: how deep the comparison looks.
    k : int, optional
        How many of the first items count; None for all.

    Returns
    -------
    pandas.Series
        By user, in [0, 1]; a user who has only one of the lists scores 0.

    References
    ----------
    Webber, Moffat & Zobel (2010), doi:10.1145/1852102.1852106, equation 32

    Examples
    --------
    >>> a = [("ann", "x", 3, 0), ("ann", "y", 2, 0)]
    >>> rbo(a, a).to_dict()
    {'ann': 1.0}
    """
    if not is_number(p) or not 0 < p < 1:
        msg = f"p must be above 0 and below 1, not {shown(p)}; 0.9 is usual."
        raise InvalidInputError(msg)
    ranks = _ranks_in_both(lists_a, lists_b, k, columns)
    user, users = pd.factorize(ranks.index.get_level_values("user"), sort=True)
    lengths = ranks.groupby(level="user").count().to_numpy()
    shorter, longer = lengths.min(axis=1)[:, None], lengths.max(axis=1)[:, None]
    shared = ranks.max(axis=1)[ranks.notna().all(axis=1)].to_numpy(dtype=np.int64)
    depth = np.arange(1, int(longer.max()) + 1)
    counts = np.zeros((len(users), len(depth)))
    np.add.at(counts, (user[ranks.notna().all(axis=1)], shared - 1), 1)
    common = np.cumsum(counts, axis=1)
    at_shorter = np.take_along_axis(common, np.maximum(shorter, 1) - 1, axis=1)
    at_longer = np.take_along_axis(common, longer - 1, axis=1)
    share = np.divide(at_shorter, shorter, where=shorter > 0, out=np.zeros_like(at_shorter))
    agreement = common / depth + np.where(depth > shorter, share * (depth - shorter) / depth, 0)
    seen = (np.where(depth <= longer, agreement, 0) * p**depth).sum(axis=1) * (1 - p) / p
    rest = ((at_longer - at_shorter) / longer + share) * p**longer
    values = np.where(shorter[:, 0] > 0, (seen + rest[:, 0]).clip(max=1.0), 0.0)
    return pd.Series(values, index=pd.Index(users, name="user"), name=_named("rbo", k))


def _named(name: str, k: int | None) -> str:
    return name if k is None else f"{name}@{k}"


def _ranks_in_both(
    lists_a: Any,
    lists_b: Any,
    k: int | None,
    columns: Mapping[str, str] | None,
) -> pd.DataFrame:
    """Return the rank of each (user, item) in either list, NaN where it is not in the first k."""
    METRICS["precision"](k)  # refuses a k that is not one
    first, second = _results(lists_a, columns), _results(lists_b, columns)
    check_same_ids(first, second, ("the first lists", "the second lists"))
    a, b = _ranks(first, k), _ranks(second, k)
    return pd.concat({"a": a, "b": b}, axis=1)


def _ranks(results: Results, k: int | None) -> pd.Series[float]:
    frame = pd.DataFrame({"user": results.user, "item": results.item, "score": results.estimated})
    repeated = frame.duplicated(["user", "item"])
    if repeated.any():
        first = frame[repeated].iloc[0]
        user, item = first["user"], first["item"]
        msg = f"User {user!r} has item {item!r} twice. Remove the repeats."
        raise InvalidInputError(msg)
    frame = frame.sort_values(["score", "item"], ascending=[False, True])
    frame["rank"] = frame.groupby("user").cumcount() + 1
    kept = frame if k is None else frame[frame["rank"] <= k]
    return kept.set_index(["user", "item"])["rank"]


def _results(lists: Any, columns: Mapping[str, str] | None) -> Results:
    if not isinstance(lists, RankedLists):
        return read_results(lists, columns)
    items = lists.items
    if items is None:
        msg = "The lists have no item ids, so nothing can be shared."
        raise InvalidInputError(msg)
    return Results(np.repeat(lists.users, lists.n_items), items, lists.estimated)
