"""One user's list, rank by rank: where a score comes from."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, refuse, shown
from recsys_ndcg.input import index_of
from recsys_ndcg.lists import prepare
from recsys_ndcg.metrics import NDCG, checked_k
from recsys_ndcg.ranking import GradedLists, Ranking, SortedLists
from recsys_ndcg.scoring import facts_for

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Ids, Positions
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.scoring import Audit, Measurement

DEPTH = 10  # ranks of many users' lists


def explained(
    lists: GroupedLists, measurement: Measurement, user: Any, k: int | None
) -> pd.DataFrame:
    """Return one row per rank up to k: the item, its gain, and DCG and ideal DCG so far."""
    checked_k(k)
    (place,) = places_of(lists.users, [user]).tolist()
    own = lists.between(place, place + 1)
    _refuse_what_evaluation_refuses(own, measurement, k)
    own = prepare(own, measurement.convention)
    ranking = _ranked_to(own, measurement, k)
    listed = min(int(ranking.n_items[0]), k or int(ranking.n_items[0]))
    items, estimated, true = own.at_ranks(*ranking.ranks_of_rows, listed)
    ideal = _ideal_gains(ranking, 0, listed, k)
    depth = len(ideal)
    weights = measurement.convention.discounts(depth)
    gain = np.zeros(depth)
    gain[:listed] = ranking.gain[0, :listed]
    dcg, ideal_dcg = np.cumsum(gain * weights), np.cumsum(ideal * weights)
    blank = np.full(depth, np.nan)
    columns = {
        "item": items,
        "estimated": np.full(listed, np.nan) if lists.order_only else estimated,
        "true": true,
    }
    table = {name: _lengthened(values, depth) for name, values in columns.items()}
    return pd.DataFrame(
        {
            **table,
            "relevant": _marked(table["true"], listed, measurement.threshold),
            "gain": gain,
            "discount": weights,
            "discounted_gain": gain * weights,
            "dcg": dcg,
            "ideal_item": index_of(_ideal_items(own, measurement, depth)),
            "ideal_gain": ideal,
            "ideal_dcg": ideal_dcg,
            "ndcg": np.divide(
                np.minimum(dcg, ideal_dcg), ideal_dcg, where=ideal_dcg != 0, out=blank
            ),
        }
    ).set_axis(pd.RangeIndex(1, depth + 1, name="rank"))


def _marked(true: pd.Series[Any], listed: int, threshold: float | None) -> pd.Series[Any]:
    """Return whether the items in the list are relevant; missing where nothing says so."""
    unknown = (np.arange(len(true)) >= listed) | (threshold is None)
    relevant = true.to_numpy(dtype=np.float64) >= (threshold or 0.0)
    return pd.Series(relevant).astype("boolean").mask(unknown)


def _refuse_what_evaluation_refuses(
    own: GroupedLists, measurement: Measurement, k: int | None
) -> None:
    """Refuse a list that has no NDCG, where the report is of metrics that read no gains."""
    asked = replace(measurement, metric=NDCG(k))
    refuse(asked.objection(facts_for(own, [asked]), own))


def _ranked_to(own: GroupedLists, measurement: Measurement, k: int | None) -> Ranking:
    """Return the first k ranks of lists that are prepared."""
    convention, threshold = measurement.convention, measurement.threshold
    in_order = SortedLists(own, convention, depth=k)
    return Ranking(GradedLists(own), in_order, convention, threshold=threshold)


def _ideal_gains(ranking: Ranking, place: int, listed: int, k: int | None) -> Floats:
    """Return the gains of a user's ideal list, at least as many as there are items."""
    if ranking.convention.ideal == "max":
        return np.full(k or max(listed, 1), ranking.top_gain)
    if ranking.convention.ideal == "local" and listed:
        return ranking.ideal_gain[place, :listed]
    labelled = min(int(ranking.n_labelled[place]), ranking.ideal_gain.shape[1])
    ideal: Floats = ranking.ideal_gain[place, : max(listed, labelled)]
    return ideal


def _ideal_items(own: GroupedLists, measurement: Measurement, depth: int) -> Ids:
    """Return the items of a user's ideal list, as far as they are known: of equal gains any."""
    items = np.full(depth, None, dtype=object)
    convention = measurement.convention
    if convention.ideal == "max":
        return items
    true, known = own.true, np.arange(len(own.true)) if own.items is None else own.items
    ids, codes = own.item_ids, own.unlisted.get("item")
    if ids is not None and codes is not None and (convention.ideal == "global" or not len(true)):
        true = np.concatenate([true, own.unlisted_true])
        known = np.concatenate([known, ids[codes]])
    best = np.argsort(-convention.gains(true, measurement.threshold), kind="stable")[:depth]
    items[: len(best)] = known[best].tolist()
    return items


Ranks: TypeAlias = dict[str, Any]  # of a list, by its columns


class Sides(NamedTuple):
    """The lists of some users.

    Parameters
    ----------
    own, ideal : lists of Ranks
        The first ranks of each user.
    weights : float64 array
        The discount of each rank.
    """

    own: list[Ranks]
    ideal: list[Ranks]
    weights: Floats


def side_by_side(audit: Audit, users: Positions, k: int = DEPTH) -> Sides | None:
    """Return what `Report.explain` shows of some users, in their order; None without lists.

    Parameters
    ----------
    audit : Audit
        With the lists, if they are at hand.
    users : int64 array
        The places of the users.
    k : int
        How many ranks.
    """
    if audit.lists is None:
        return None
    gains = (one for one in audit.measurements if one.metric.uses_gains)
    measurement = next(gains, audit.measurements[0])
    order = np.argsort(users, kind="stable")
    try:
        own, ideal = _both_lists(audit.lists.take(users[order]), measurement, k)
    except InvalidInputError:  # a list has no gains, or a catalogue keeps fewer ranks
        return None
    back = np.argsort(order, kind="stable").tolist()
    weights = measurement.convention.discounts(k)
    return Sides([own[place] for place in back], [ideal[place] for place in back], weights)


def _both_lists(
    lists: GroupedLists, measurement: Measurement, k: int
) -> tuple[list[Ranks], list[Ranks]]:
    """Return both lists of every user; all are sorted at once."""
    _refuse_what_evaluation_refuses(lists, measurement, k)
    estimated = not lists.order_only
    lists = prepare(lists, measurement.convention)
    ranking = _ranked_to(lists, measurement, k)
    rows, ranks = ranking.ranks_of_rows
    owner = lists.user_of_row[rows]
    order = np.argsort(owner, kind="stable")
    rows, ranks = rows[order], ranks[order]
    ends = np.searchsorted(owner[order], np.arange(len(lists) + 1)).tolist()
    both = []
    for user, (first, last) in enumerate(itertools.pairwise(ends)):
        one, start = lists.between(user, user + 1), int(lists.offsets[user])
        listed = min(int(ranking.n_items[user]), k)
        items, guess, true = one.at_ranks(rows[first:last] - start, ranks[first:last], listed)
        ideal = _ideal_gains(ranking, user, listed, k)
        own: Ranks = {
            "item": items.tolist(),
            **({"estimated": guess.tolist()} if estimated else {}),
            "true": true.tolist(),
            "gain": ranking.gain[user, :listed].tolist(),
        }
        best = _ideal_items(one, measurement, len(ideal)).tolist()
        both.append((own, {"item": best, "gain": ideal.tolist()}))
    return [own for own, _ in both], [ideal for _, ideal in both]


def places_of(users: Ids, wanted: Iterable[Any]) -> Positions:
    """Return the places of some users, in ascending order; an id of another type is told apart.

    Raises
    ------
    InvalidInputError
        There is no such user, one is given twice, or none is.
    """
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
        msg = f"Give the users as a list of their ids, not {shown(wanted)}."
        raise InvalidInputError(msg)
    place_of = {user: place for place, user in enumerate(users.tolist())}
    asked = wanted.tolist() if hasattr(wanted, "tolist") else list(wanted)
    for user in asked:
        if not isinstance(user, Hashable) or user not in place_of:
            raise InvalidInputError(_unknown(users, user))
    places = sorted({place_of[user] for user in asked})
    if len(places) < len(asked) or not asked:
        msg = "Some users are given twice." if asked else "Name at least one user."
        raise InvalidInputError(msg)
    return np.array(places, dtype=np.int64)


def _unknown(users: Ids, user: Any) -> str:
    ids = users.tolist()
    names = [str(one) for one in ids]
    if str(user) in names:
        own = type(ids[names.index(str(user))]).__name__
        hint = f"There is one whose id is of type {own}, not {type(user).__name__}."
    else:
        hint = f"The users run from {ids[0]!r} to {ids[-1]!r}."
    return f"There is no user {shown(user)} among the {len(ids)} of this report. {hint}"


def _lengthened(values: Ids, depth: int) -> pd.Series[Any]:
    """Return the column with blanks for the ranks past the end of the list."""
    column = pd.Series(index_of(values))
    if len(column) == depth:
        return column
    return (column if column.dtype == np.float64 else column.astype(object)).reindex(range(depth))
