"""The lists of many users beside their ideal ones, worked out together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recsys_ndcg.convention.gains import discounts
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.preparation import prepared
from recsys_ndcg.report.explanation import (
    ideal_gains,
    ideal_items,
    ranked_to,
    refuse_what_evaluation_refuses,
)

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.rendering.page.lists import Ranks
    from recsys_ndcg.scoring.audit import Audit
    from recsys_ndcg.scoring.measurement import Measurement

DEPTH = 10


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
        own, ideal = _found(audit.lists.take(users[order]), measurement, k)
    except InvalidInputError:  # a list has no gains, or a catalogue keeps fewer ranks
        return None
    back = np.argsort(order, kind="stable").tolist()
    weights = discounts(k, measurement.convention)
    return Sides([own[place] for place in back], [ideal[place] for place in back], weights)


def _found(
    lists: GroupedLists, measurement: Measurement, k: int
) -> tuple[list[Ranks], list[Ranks]]:
    """Return both lists of every user; all are sorted at once."""
    refuse_what_evaluation_refuses(lists, measurement, k)
    estimated = not lists.order_only
    lists = prepared(lists, measurement.convention)
    ranking = ranked_to(lists, measurement, k)
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
        ideal = ideal_gains(ranking, user, listed, k)
        own: Ranks = {
            "item": items.tolist(),
            **({"estimated": guess.tolist()} if estimated else {}),
            "true": true.tolist(),
            "gain": ranking.gain[user, :listed].tolist(),
        }
        best = ideal_items(one, measurement, len(ideal)).tolist()
        both.append((own, {"item": best, "gain": ideal.tolist()}))
    return [own for own, _ in both], [ideal for _, ideal in both]
