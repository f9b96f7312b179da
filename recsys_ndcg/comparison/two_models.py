"""Two models: the overlap of their lists, and the users who gain or lose most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import compute_offsets, concat_ranges
from recsys_ndcg.comparison.model_scores import ModelScores, require_report
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, as_float, check_level
from recsys_ndcg.input import Rows, check_id_types, make_index, read_rows
from recsys_ndcg.lists import GroupedLists, RankedLists, group_rows
from recsys_ndcg.metrics import check_k
from recsys_ndcg.scoring import nearly_equal, rank

#: The columns of each list in `Movers.explain`.
_LIST_COLUMNS = ["item", "estimated", "true", "gain"]


def jaccard_at_k(
    lists_a: Any, lists_b: Any, k: int | None, *, columns: Mapping[str, str] | None = None
) -> pd.Series[float]:
    r"""Return the share of items that two systems' first k have in common, per user.

    .. math:: J@k = \frac{|A_k \cap B_k|}{|A_k \cup B_k|}

    with A_k and B_k the first k items of the user's two lists.

    Parameters
    ----------
    lists_a, lists_b : tables, rows, lists per user, Surprise predictions or RankedLists
        Columns user, item and rank or estimated, or {user: [item, ...]}: any results that
        `RankedLists.from_labels` accepts. Equal estimates count in order of item id.
    k : int, optional
        How many of the first items count; None for all.
    columns : mapping, optional
        Map required columns to the columns of both tables.

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
    return _compute_jaccard(_read_ranks(lists_a, lists_b, k, columns)).rename(
        _format_name("jaccard", k)
    )


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
        Persistence, above 0 and below 1: the higher it is, the more weight deep ranks have.
    k : int, optional
        How many of the first items count; None for all.

    Returns
    -------
    pandas.Series
        By user, in [0, 1]; a user who has only one of the lists scores 0.

    Raises
    ------
    InvalidInputError
        p is not between 0 and 1, or the lists cannot be read.

    References
    ----------
    Webber, Moffat & Zobel (2010), doi:10.1145/1852102.1852106, equation 32

    Examples
    --------
    >>> a = [("ann", "x", 3, 0), ("ann", "y", 2, 0)]
    >>> rbo(a, a).to_dict()
    {'ann': 1.0}
    """
    return _compute_rbo(_read_ranks(lists_a, lists_b, k, columns), p).rename(_format_name("rbo", k))


def compute_overlaps(
    lists: Mapping[str, GroupedLists], k: int | None, p: float = 0.9
) -> pd.DataFrame:
    """Return the overlap of each pair of models' lists, user by user.

    Parameters
    ----------
    lists : mapping
        Each model's lists, with items.
    k : int, optional
        How many of the first items count; None for all.
    p : float
        Persistence, for rank-biased overlap.

    Returns
    -------
    pandas.DataFrame
        Indexed by user; for each pair a and b, jaccard and rbo.

    Raises
    ------
    InvalidInputError
        The lists have no items or keep fewer than k ranks, or p is not between 0 and 1.
    """
    check_k(k)
    ranks = {name: _find_ranks(_to_lists(one, None), k) for name, one in lists.items()}
    tables = {}
    for a, b in combinations(ranks, 2):
        pair = pd.concat({"a": ranks[a], "b": ranks[b]}, axis=1)
        overlaps = {"jaccard": _compute_jaccard(pair), "rbo": _compute_rbo(pair, p)}
        tables[a, b] = pd.DataFrame(overlaps)
    return pd.concat(tables, axis=1, names=["a", "b", "overlap"])


def _compute_jaccard(ranks: pd.DataFrame) -> pd.Series[float]:
    is_common = ranks.notna().all(axis=1)
    return is_common.astype(float).groupby(level="user").mean()


def _compute_rbo(ranks: pd.DataFrame, p: float) -> pd.Series[float]:
    check_level("p", p, such_as=0.9)
    p = as_float(p)
    by_user = ranks.groupby(level="user")
    lengths = by_user.count()
    shorter, longer = lengths.min(axis=1).to_numpy(), lengths.max(axis=1).to_numpy()
    # in the formula of `rbo`, n_common is X_d, at_shorter is X_s, and at_longer is X_l

    # depth, n_new, n_common, depth_past_shorter, agreement: flat arrays, with an entry per user and
    # depth, up to the length of the user's longer list
    start = compute_offsets(longer)
    first, depth = start[:-1], concat_ranges(np.ones_like(longer), longer)
    is_common = ranks.notna().all(axis=1).to_numpy()
    shared_depth = ranks.max(axis=1).to_numpy()[is_common].astype(np.int64)
    user = by_user.ngroup().to_numpy()[is_common]
    n_new = np.bincount(first[user] + shared_depth - 1, minlength=start[-1])
    total = np.cumsum(n_new)
    n_common = total - np.repeat((total - n_new)[first], longer)
    at_shorter, at_longer = n_common[first + np.maximum(shorter, 1) - 1], n_common[start[1:] - 1]
    share = at_shorter / np.maximum(shorter, 1)
    depth_past_shorter = np.maximum(depth - np.repeat(shorter, longer), 0)
    agreement = (n_common + np.repeat(share, longer) * depth_past_shorter) / depth
    powers = p ** np.arange(longer.max(initial=0) + 1)
    weighted = np.add.reduceat(agreement * powers[depth], first) * (1 - p) / p
    rest = ((at_longer - at_shorter) / longer + share) * powers[longer]
    return pd.Series((weighted + rest).clip(max=1.0), index=lengths.index)


def _format_name(name: str, k: int | None) -> str:
    return name if k is None else f"{name}@{k}"


def _read_ranks(
    lists_a: Any, lists_b: Any, k: int | None, columns: Mapping[str, str] | None
) -> pd.DataFrame:
    """Return the rank of each (user, item) in both lists, NaN if it is not in the first k."""
    check_k(k)
    first, second = _to_lists(lists_a, columns), _to_lists(lists_b, columns)
    names = ("the first lists", "the second lists")
    check_id_types(first.users, second.users, "user", names, warns=True)
    items = np.asarray(first.item_ids), np.asarray(second.item_ids)
    check_id_types(*items, "item", names, warns=True)
    return pd.concat({"a": _find_ranks(first, k), "b": _find_ranks(second, k)}, axis=1)


def _find_ranks(lists: GroupedLists, k: int | None) -> pd.Series[float]:
    convention, threshold = lists.pool.ranked_under or (Convention(ties="item_asc"), None)
    rows, ranks = rank(lists, convention, k, threshold=threshold).ranks_of_rows
    users, items, ranks = lists.pool.list_items(lists, rows, ranks, k)
    ids = [make_index(users), make_index(items)]
    return pd.Series(ranks + 1, pd.MultiIndex.from_arrays(ids, names=["user", "item"]))


def _to_lists(lists: Any, columns: Mapping[str, str] | None) -> GroupedLists:
    """Return lists without grades, which the overlap does not need, so that none is invalid.

    Catalogues are returned as they are.
    """
    lists = lists._data if isinstance(lists, RankedLists) else lists
    if not isinstance(lists, GroupedLists):
        read = read_rows(lists, columns, table="results").columns
        user, item, estimated = (read[name] for name in ("user", "item", "estimated"))
    elif lists.pool.is_catalogue:
        return lists
    elif lists.items is None:
        msg = "The lists have no item ids, so they have no overlap. Pass rows with items."
        raise InvalidInputError(msg)
    else:
        user, item, estimated = np.repeat(lists.users, lists.n_items), lists.items, lists.estimated
    unlabelled = np.full(len(estimated), np.nan)
    return group_rows(Rows.from_arrays(user, item, estimated, unlabelled), "raise")


@dataclass(frozen=True, eq=False, repr=False)
class Movers:
    """The users who gain and lose most from one model to another.

    Parameters
    ----------
    table : pandas.DataFrame
        Indexed by user: items, relevant, the scores of both models, and the improvement (positive
        if the second is better); users who gain most come first, users who lose most last.
    model_scores : mapping of str to ModelScores
        The two models, with their lists if they were kept.
    """

    table: pd.DataFrame
    model_scores: Mapping[str, ModelScores]

    def explain(self, user: Any, k: int | None = 10) -> pd.DataFrame:
        """Return a user's two lists side by side.

        Parameters
        ----------
        user
            A user id as in `table`, or of any other user of the comparison.
        k : int, optional
            The last rank; None for all.

        Returns
        -------
        pandas.DataFrame
            A row per rank; for each model, item, estimated, true and gain.

        Raises
        ------
        InvalidInputError
            The user is unknown, or a model has no lists (it was read from a file, or is averaged).
        """
        sides = {
            name: require_report(one, name).explain(user, k)[_LIST_COLUMNS]
            for name, one in self.model_scores.items()
        }
        return pd.concat(sides, axis=1)

    def __repr__(self) -> str:
        """Return the table."""
        return repr(self.table)

    def _repr_html_(self) -> str:
        return str(self.table.to_html())


def find_movers(models: Mapping[str, ModelScores], metric: str, n: int) -> Movers:
    """Return up to n users who gain most from the first of two models to the second, and lose."""
    (a, scores_a), (b, scores_b) = models.items()
    column = scores_a.names.index(metric)
    sign = 1 if scores_a.measurements[column].metric.greater_is_better else -1
    own_a, own_b = scores_a.per_user[:, column], scores_b.per_user[:, column]
    improvement = np.where(nearly_equal(own_a, own_b), 0.0, sign * (own_b - own_a))
    order = np.argsort(-improvement, kind="stable")
    order = order[~np.isnan(improvement[order])]
    gaining = [user for user in order[:n].tolist() if improvement[user] > 0]
    losing = [user for user in order[-n:].tolist() if improvement[user] < 0]
    chosen = np.array([*gaining, *losing], dtype=np.int64)
    table = scores_a.table().iloc[chosen, :2].set_axis(["items", "relevant"], axis="columns")
    table[a], table[b], table["improvement"] = own_a[chosen], own_b[chosen], improvement[chosen]
    return Movers(table, models)
