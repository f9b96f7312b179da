"""The users of a comparison, a column per model, and two models' lists side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.tables import best_first
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.rendering.page.lists import packed, sides_in_order
from recsys_ndcg.rendering.page.names import told
from recsys_ndcg.rendering.page.parts import Section, Table, Users
from recsys_ndcg.rendering.table import signed
from recsys_ndcg.report.explanation import places_of
from recsys_ndcg.report.page.side_by_side import Sides, side_by_side
from recsys_ndcg.report.page.users import both_ends, last, leading, named, numbers

if TYPE_CHECKING:
    from typing import Any

    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.comparison.models import Field

_MODELS = 8  # columns at most: the best, and the baseline


def users_of(field: Field, before: str, after: str, best: str) -> Section:
    """Return the section of the users: those whom it moves most, where they are too many.

    Parameters
    ----------
    field : Field
        The models.
    before, after : str
        The two whose lists stand side by side, and whose difference is shown.
    best : str
        By whose scores the users are in order.
    """
    contest, counts = field.deciding, field.first.counts
    one, other = (contest.models.index(name) for name in (before, after))
    gain = contest.scores[:, other] - contest.scores[:, one]
    gained, then = contest.sign * gain, contest.sign * contest.scores[:, other]
    places = both_ends(gained, then, gain == 0, counts.n_items)
    column = contest.models.index(best)
    trivial = contest.best[places, column] <= contest.chance[places, column]
    own, items = contest.sign * contest.scores[places, column], counts.n_items[places]
    # a long list is harder to order
    order = np.lexsort((-items, -own, trivial))
    places, trivial = places[order], trivial[order]
    ranked = [contest.models[place] for place in best_first(contest)]
    shown = [name for name in ranked if name in (*ranked[:_MODELS], before, after)]
    columns = {name: contest.scores[places, contest.models.index(name)] for name in shown}
    cells = pd.DataFrame(named(field.first.users, counts, places))
    for name, scores in columns.items():
        cells.insert(len(cells.columns), told(name), numbers(scores), allow_duplicates=True)
    heading = f"{told(after, 20)} less {told(before, 20)}"
    cells[heading] = [signed(value) for value in gain[places].tolist()]
    lists = _lists(field, before, after, places)
    opens = "both models' lists and the best order" if lists else None
    lead = leading(opens, _rest(len(gain), len(places), before, after))
    caption = f"Users by {told(contest.name)} of {told(best)}, the best first{last(trivial)}"
    return Section("users", "User by user", lead, [Users(Table(caption, cells), lists)])


def _rest(n_users: int, n_shown: int, before: str, after: str) -> str:
    if n_shown == n_users:
        return ""
    return (
        f"Of {n_users:,} users these are those who gain or lose most from {told(before)} to "
        f"{told(after)}: comparison.per_user has them all."
    )


def _lists(field: Field, before: str, after: str, places: Positions) -> dict[str, Any] | None:
    """Return both models' lists of some users, if both have some."""
    sides = {name: _of(field, name, places) for name in (after, before)}
    found = {name: side for name, side in sides.items() if side is not None}
    if len(found) < len(sides):
        return None
    first = next(iter(found.values()))
    ideal = {"the best order": first.ideal}
    lists = sides_in_order({name: side.own for name, side in found.items()} | ideal)
    return packed([*found, *ideal], first.weights.tolist(), lists)


def _of(field: Field, name: str, places: Positions) -> Sides | None:
    contender = field.contenders[name]
    try:
        report = contender.report_for(name)
    except InvalidInputError:
        return None
    if len(report.users) != len(contender.users):
        order = np.argsort(places, kind="stable")
        own = np.empty_like(places)
        own[order] = places_of(report.users, contender.users[places])
        places = own
    return side_by_side(report.audited, places)
