"""One user's list, rank by rank: where a score comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention.gains import BY_THRESHOLD, discounts
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.lists.preparation import prepared
from recsys_ndcg.metrics.metric import checked_k
from recsys_ndcg.ranking.graded_lists import GradedLists
from recsys_ndcg.ranking.ranking import Ranking
from recsys_ndcg.ranking.sorted_lists import SortedLists

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring.measurement import Measurement


def explained(
    lists: GroupedLists, measurement: Measurement, user: Any, k: int | None
) -> pd.DataFrame:
    """Return one row per rank up to k: the item, its gain, and DCG and ideal DCG so far."""
    checked_k(k)
    place = _place_of(lists.users, user)
    own = prepared(lists.between(place, place + 1), measurement.convention)
    ranking = _ranked(own, measurement, k)
    listed = min(int(ranking.n_items[0]), k or int(ranking.n_items[0]))
    items, estimated, true = own.at_ranks(*ranking.ranks_of_rows, listed)
    ideal = _ideal(ranking, listed, k)
    depth = len(ideal)
    weights = discounts(depth, measurement.convention)
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
            "gain": gain,
            "discount": weights,
            "discounted_gain": gain * weights,
            "dcg": dcg,
            "ideal_gain": ideal,
            "ideal_dcg": ideal_dcg,
            "ndcg": np.divide(
                np.minimum(dcg, ideal_dcg), ideal_dcg, where=ideal_dcg != 0, out=blank
            ),
        }
    ).set_axis(pd.RangeIndex(1, depth + 1, name="rank"))


def _ranked(own: GroupedLists, measurement: Measurement, k: int | None) -> Ranking:
    convention, threshold = measurement.convention, measurement.threshold
    if convention.gain in BY_THRESHOLD and threshold is None:
        msg = (
            f"gain={convention.gain!r} needs to know which items are relevant: evaluate with "
            "threshold=4.0, for instance."
        )
        raise InvalidInputError(msg)
    in_order = SortedLists(own, convention, depth=k)
    return Ranking(GradedLists(own), in_order, convention, threshold=threshold)


def _ideal(ranking: Ranking, listed: int, k: int | None) -> Floats:
    """Return the gains of the ideal list, at least as many as there are items."""
    if ranking.convention.ideal == "max":
        return np.full(k or max(listed, 1), ranking.top_gain)
    labelled = min(int(ranking.n_labelled[0]), ranking.ideal_gain.shape[1])
    ideal: Floats = ranking.ideal_gain[0, : max(listed, labelled)]
    return ideal


def _place_of(users: Ids, user: Any) -> int:
    """Return the number of a user; an id of another type is told apart."""
    ids = users.tolist()
    if user in ids:
        return int(ids.index(user))
    names = [str(one) for one in ids]
    if str(user) in names:
        own = type(ids[names.index(str(user))]).__name__
        hint = f"There is one whose id is of type {own}, not {type(user).__name__}."
    else:
        hint = f"The users run from {ids[0]!r} to {ids[-1]!r}."
    msg = f"There is no user {shown(user)} among the {len(ids)} of this report. {hint}"
    raise InvalidInputError(msg)


def _lengthened(values: Ids, depth: int) -> pd.Series[Any]:
    """Return the column with blanks for the ranks past the end of the list."""
    column = pd.Series(values)
    if len(column) == depth:
        return column
    return (column if column.dtype == np.float64 else column.astype(object)).reindex(range(depth))
