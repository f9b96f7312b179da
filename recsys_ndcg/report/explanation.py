"""How a user's DCG and NDCG are computed, rank by rank."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions, divide
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import make_index
from recsys_ndcg.lists import GroupedLists, prepare_lists
from recsys_ndcg.metrics import NDCG, check_k
from recsys_ndcg.ranking import GradedLists, Ranking, SortedLists
from recsys_ndcg.rendering import UserLists
from recsys_ndcg.report.label_weights import get_lists
from recsys_ndcg.scoring import Audit, Measurement, Plan

DEPTH = 10  # ranks shown when there are many users


def explain_user(audit: Audit, user: Any, k: int | None) -> pd.DataFrame:
    """Return a row per rank up to k: the item, its gain, and DCG and ideal DCG up to it."""
    lists, measurement = get_lists(audit), _choose_measurement(audit)
    check_k(k)
    (position,) = audit.scores.positions_of([user]).tolist()
    ((ranked, best),) = _rank_users(lists.take(slice(position, position + 1)), measurement, k)
    n_listed, depth = len(ranked["gain"]), len(best["gain"])
    weights = measurement.convention.compute_discounts(depth)
    gain = np.zeros(depth)
    gain[:n_listed] = ranked["gain"]
    dcg, ideal_dcg = np.cumsum(gain * weights), np.cumsum(best["gain"] * weights)
    ranked.setdefault("estimated", np.full(n_listed, np.nan))
    table = {name: _extend(ranked[name], depth) for name in ("item", "estimated", "true")}
    threshold = measurement.threshold
    is_missing = (np.arange(depth) >= n_listed) | (threshold is None)
    relevant = table["true"].astype(np.float64) >= (threshold or 0.0)
    return pd.DataFrame(
        {
            **table,
            "relevant": relevant.astype("boolean").mask(is_missing),
            "gain": gain,
            "discount": weights,
            "discounted_gain": gain * weights,
            "dcg": dcg,
            "ideal_item": make_index(best["item"]),
            "ideal_gain": best["gain"],
            "ideal_dcg": ideal_dcg,
            "ndcg": divide(np.minimum(dcg, ideal_dcg), ideal_dcg),
        }
    ).set_axis(pd.RangeIndex(1, depth + 1, name="rank"))


def _choose_measurement(audit: Audit) -> Measurement:
    """Return the first measurement whose metric uses gains, or else the first."""
    measurements = audit.measurements
    return next((one for one in measurements if one.metric.uses_gains), measurements[0])


def _get_ideal_gains(ranking: Ranking, user: int, n_listed: int, k: int | None) -> Floats:
    """Return the gains of a user's ideal list, which is at least as long as the user's list."""
    if ranking.convention.ideal == "max":
        return np.full(k or max(n_listed, 1), ranking.top_gain)
    if ranking.convention.ideal == "local" and n_listed:
        return ranking.ideal_gain[user, :n_listed]
    n_labelled = min(int(ranking.n_labelled[user]), ranking.ideal_gain.shape[1])
    return ranking.ideal_gain[user, : max(n_listed, n_labelled)]


def _get_ideal_items(user_lists: GroupedLists, measurement: Measurement, depth: int) -> Ids:
    """Return the items of a user's ideal list, None if unknown."""
    items = np.full(depth, None, dtype=object)
    convention = measurement.convention
    if convention.ideal == "max":
        return items
    true, weights = user_lists.true, user_lists.weights
    item_ids = np.arange(len(true)) if user_lists.items is None else user_lists.items
    ids, codes = user_lists.item_ids, user_lists.unlisted.get("item")
    if ids is not None and codes is not None and (convention.ideal == "global" or not len(true)):
        true = np.concatenate([true, user_lists.unlisted["true"]])
        item_ids = np.concatenate([item_ids, ids[codes]])
        if weights is not None and user_lists.unlisted_weights is not None:
            weights = np.concatenate([weights, user_lists.unlisted_weights])
    gain = convention.compute_gains(true, measurement.threshold)
    best = np.argsort(-gain if weights is None else -gain * weights, kind="stable")[:depth]
    items[: len(best)] = item_ids[best].tolist()
    return items


def build_user_lists(
    audit: Audit, users: Positions, heading: str = "the model's list", k: int = DEPTH
) -> UserLists | None:
    """Return the lists and the ideal lists of some users, or None if there are no lists.

    Parameters
    ----------
    audit : Audit
        The scores with their lists.
    users : int64 array
        The positions of the users.
    heading : str
        The heading of the users' lists.
    k : int
        The number of ranks.
    """
    if audit.lists is None:
        return None
    measurement = _choose_measurement(audit)
    order = np.argsort(users, kind="stable")
    try:
        list_pairs = [*_rank_users(audit.lists.take(users[order]), measurement, k)]
    except InvalidInputError:  # the lists have no NDCG, or a catalogue has fewer ranks
        return None
    plain = [
        [{name: column.tolist() for name, column in side.items()} for side in list_pairs[index]]
        for index in np.argsort(order, kind="stable")
    ]
    ranked, ideal = zip(*plain, strict=True)
    sides = {heading: ranked, "the best order": ideal}
    return UserLists(sides, measurement.convention.compute_discounts(k).tolist())


def _rank_users(
    lists: GroupedLists, measurement: Measurement, k: int | None
) -> Iterator[tuple[dict[str, Ids], dict[str, Ids]]]:
    """Yield each user's list and ideal list, by rank.

    Raises
    ------
    InvalidInputError
        NDCG cannot be computed for these lists: a report of metrics without gains may have such
        lists.
    """
    plan = Plan((replace(measurement, metric=NDCG(k)),))
    plan.check(plan.facts_of(lists), lists)
    has_estimates, convention = not lists.order_only, measurement.convention
    lists = prepare_lists(lists, convention)
    in_order = SortedLists(lists, convention, depth=k)
    ranking = Ranking(GradedLists(lists), in_order, convention, threshold=measurement.threshold)
    rows, ranks = ranking.ranks_of_rows
    owner = lists.user_of_row[rows]
    order = np.argsort(owner, kind="stable")
    rows, ranks = rows[order], ranks[order]
    ends = np.searchsorted(owner[order], np.arange(len(lists) + 1)).tolist()
    for user, (first, last) in enumerate(itertools.pairwise(ends)):
        user_lists, n_items = lists.take(slice(user, user + 1)), int(ranking.n_items[user])
        n_listed = min(n_items, k or n_items)
        at_ranks = rows[first:last] - int(lists.offsets[user]), ranks[first:last], n_listed
        items, estimated, true = user_lists.pool.get_items_at(user_lists, *at_ranks)
        ranked = {
            "item": items,
            **({"estimated": estimated} if has_estimates else {}),
            "true": true,
            "gain": ranking.gain[user, :n_listed],
        }
        gain = _get_ideal_gains(ranking, user, n_listed, k)
        ideal = {"item": _get_ideal_items(user_lists, measurement, len(gain)), "gain": gain}
        yield ranked, ideal


def _extend(values: Ids, depth: int) -> pd.Series[Any]:
    """Return the column with missing values for the ranks past the end of the list."""
    column = pd.Series(make_index(values))
    if len(column) == depth:
        return column
    return (column if column.dtype == np.float64 else column.astype(object)).reindex(range(depth))
