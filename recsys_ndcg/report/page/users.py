"""The users of a report, one by one: those at both ends where they are too many for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import written
from recsys_ndcg.rendering.page.lists import packed, sides_in_order
from recsys_ndcg.rendering.page.names import told
from recsys_ndcg.rendering.page.parts import Section, Table, Users
from recsys_ndcg.rendering.plots.wording import count
from recsys_ndcg.rendering.table import number
from recsys_ndcg.report.page.side_by_side import DEPTH, side_by_side

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats, Ids, Positions
    from recsys_ndcg.report.page.view import Audited
    from recsys_ndcg.scoring.scores import ListCounts

MOST = 1000  # users on a page

NO_LISTS = (
    "There are no lists to open: this was read from a file, averaged over folds, or keeps fewer "
    "ranks."
)


def users_of(report: Audited) -> Section:
    """Return the section of the users."""
    scores = report.audited.full_scores
    ids, counts = scores.users, scores.counts
    sign = 1 if scores.measurements[0].metric.greater_is_better else -1
    score, z = scores.per_user[:, 0], scores.z[:, 0]
    places = both_ends(sign * score, sign * z, scores.trivial[:, 0], counts.n_items)
    columns = {
        "chance": scores.roles["chance"][places, 0],
        "adjusted": scores.adjusted[places, 0],
        "z": z[places],
    }
    first, *others = report.metrics
    cells = pd.DataFrame(
        {
            **named(ids, counts, places),
            told(first): numbers(score[places]),
            **{
                name: numbers(values)
                for name, values in columns.items()
                if not np.isnan(values).all()
            },
        }
    )
    for place, name in enumerate(others, 1):
        cells.insert(
            len(cells.columns),
            told(name),
            numbers(scores.per_user[places, place]),
            allow_duplicates=True,
        )
    lists = side_by_side(report.audited, places)
    shown = None
    if lists is not None:
        sides = {"the model's list": lists.own, "the best order": lists.ideal}
        shown = packed([*sides], lists.weights.tolist(), sides_in_order(sides))
    opens = f"the first {DEPTH} ranks beside the best order" if shown else None
    lead = leading(opens, _rest(len(ids), len(places)))
    table = Table(f"Users by {told(first)}, the best first{last(scores.trivial[places, 0])}", cells)
    return Section("users", "User by user", lead, [Users(table, shown)])


def last(trivial: Flags) -> str:
    """Return who stands at the end, if anybody is trivial."""
    n_last = int(trivial.sum())
    return f"; last {count(n_last)} for whom every order scores the same" if n_last else ""


def _rest(n_users: int, n_shown: int) -> str:
    if n_shown == n_users:
        return ""
    half = n_shown // 2
    return (
        f"Of {n_users:,} users these are the {half} best and the {half} worst, without those for "
        "whom every order scores the same: report.per_user has them all, and so has "
        "recsys-ndcg evaluate ... --per-user FILE."
    )


def both_ends(score: Floats, then: Floats, trivial: Flags, n_items: Positions) -> Positions:
    """Return the places of the users, the best first; of too many, the best and the worst.

    Those for whom every order scores the same show nothing: they are last, and of too many left
    out.
    """
    n_users = len(score)
    some = np.arange(n_users)
    if n_users > MOST:
        told_apart = np.flatnonzero(~np.isnan(score) & ~trivial)
        if len(told_apart) >= MOST:
            some = _outer(score, told_apart)
    # of equal ones the longer list first: it is harder to order
    some = some[np.lexsort((-n_items[some], -then[some], -score[some], trivial[some]))]
    return some if len(some) <= MOST else np.concatenate([some[: MOST // 2], some[-MOST // 2 :]])


def _outer(score: Floats, some: Positions) -> Positions:
    """Return those that may be among the best or the worst: all others need no sorting."""
    half = MOST // 2
    low, high = np.partition(score[some], [half - 1, len(some) - half])[[half - 1, -half]]
    found: Positions = some[(score[some] <= low) | (score[some] >= high)]
    return found


def named(users: Ids, counts: ListCounts, places: Positions) -> dict[str, list[str]]:
    """Return who the users are, and what there is in their lists."""
    relevant = counts.n_relevant[places]
    told_of = not np.isnan(relevant).any()
    known = {"relevant": [f"{one:.0f}" for one in relevant.tolist()]} if told_of else {}
    return {
        "user": [told(written(one)) for one in users[places].tolist()],
        "items": [str(one) for one in counts.n_items[places].tolist()],
        **known,
    }


def numbers(values: Floats) -> list[str]:
    """Return numbers as text."""
    return [number(value) for value in values.tolist()]


def leading(opens: str | None, rest: str) -> str:
    """Return how the users are read: what one sees of each, and where the others are."""
    found = f"Open a user to see {opens}." if opens else NO_LISTS
    return f"Sort by a heading, or search for an id. {found} {rest}".rstrip()
