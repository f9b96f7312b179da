"""What only a page of a comparison has room for: charts, users one by one, and what was typed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.common_users import CHANCE
from recsys_ndcg.comparison.document import comparison_document, leaderboard_table, pairs_table
from recsys_ndcg.comparison.movers import movers
from recsys_ndcg.comparison.plotting import plotted, traded_off
from recsys_ndcg.comparison.tables import best_first
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import written
from recsys_ndcg.rendering import (
    Details,
    Section,
    Sentences,
    ShownTable,
    UserLists,
    cut,
    for_a_page,
    number,
    signed,
)
from recsys_ndcg.report import (
    BUILT_IN,
    audit_table,
    both_ends,
    by_cutoff,
    options,
    remarks_section,
    reproduced,
    side_by_side,
    spread,
    user_section,
)
from recsys_ndcg.significance import Testing

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.models import ComparedModels
    from recsys_ndcg.rendering import Document, Part

_AUDITS = 6  # models, of which each audit is shown,
_ROWS = 1_000_000  # but no more users in all: it takes a second for so many
_OTHERS = 4  # metrics beside the first
_MOVERS = 10
_COLUMNS = 8  # models beside each other at most: the best, and the baseline
_NAMED = 6  # models that are named in a call
_SHORT = 20  # characters of a name in a heading
_AUDITED = "What there is to say of single models is folded below."
_MOVERS_LEAD = "The users for whom it makes the most difference which of the two models they get."
_DIFFERENCES = (
    "Each user's score under one model less that under the other. What a mean hides is seen here: "
    "a few who gain much, or many who gain a little."
)
_BY_ACTIVITY = "The mean scores of users with few ratings, and of those with many, by model."
_TRADE_OFF = "Each model by two metrics: who is ahead in one may be behind in the other."


def comparison_page(comparison: Comparison, command: str | None = None) -> Document:
    """Return the document of a comparison with all that a page has room for.

    Parameters
    ----------
    comparison : Comparison
        Any.
    command : str, optional
        What was typed to make it, if that was a command line.
    """
    compared, metric = comparison.compared, comparison.metrics[0]
    kinds = ["leaderboard", *(["segments"] if compared.groups is not None else [])]
    brief = comparison_document(comparison, metric, kinds)
    board, _, *segments, how = brief.sections
    result = compared.deciding
    ordered = [compared.models[place] for place in best_first(result)]
    best = next(name for name in ordered if name != CHANCE)
    before = compared.baseline
    after = next(name for name in ordered if name != before)
    own, report = result.models.index(best), compared.contenders[best].report
    sections = [
        _leaderboard(comparison, board, before, after),
        _audited(comparison),
        *spread(
            result.scores[:, own],
            result.chance[:, own],
            result.name,
            f"These are the scores of {best}.",
        ),
        *_differences(compared, before, after),
        *([] if report is None else by_cutoff(report, f"This is {best}.")),
        *_by_activity(compared, before, after),
        *segments,
        _users(compared, before, after, best),
        *_movers(compared, before, after),
        *_trade_off(compared),
        reproduced(how, comparison_code(compared), command),
    ]
    return replace(brief, sections=sections)


# Models


def _leaderboard(comparison: Comparison, board: Section, before: str, after: str) -> Section:
    """Return the section of the models with charts, the pairs, and the other metrics."""
    first, *others = comparison.metrics
    details = [
        Details(
            f"By {name}",
            [Sentences([comparison.verdict_in(name)]), *_board(comparison, name, before, after)],
        )
        for name in others[:_OTHERS]
    ]
    pairs = Details("The pairs", [pairs_table(comparison, first)])
    return replace(board, parts=[*_board(comparison, first, before, after), pairs, *details])


def _board(comparison: Comparison, metric: str, before: str, after: str) -> list[Part]:
    """Return the models by a metric, each row by its name, and their intervals."""
    table = leaderboard_table(comparison, metric)
    order = ["model", *(name for name in table.cells if name != "model")]
    shown = replace(table, cells=table.cells[order], left=1)
    return [shown, *_drawn(comparison.compared, "tiers", before, after, metric)]


def _audited(comparison: Comparison) -> Section:
    """Return the section of the remarks, with the audit of each model that has one."""
    details: list[Part] = []
    most = max(1, min(_AUDITS, _ROWS // len(comparison.users)))
    for model, one in [*comparison.compared.contenders.items()][:most]:
        if one.report is not None:
            parts: list[Part] = [Sentences(one.report.remarks), audit_table(one.report)]
            details.append(Details(f"The audit of {model}", parts))
    return remarks_section(comparison.remarks, details, _AUDITED if details else "")


def _movers(compared: ComparedModels, before: str, after: str) -> list[Section]:
    """Return the section of those who gain and lose most, nothing if nobody does."""
    both, entered = (before, after), compared.contenders
    table = movers(both, (entered[before], entered[after]), compared.metrics[0], _MOVERS).table
    if table.empty:
        return []
    values = [table.iloc[:, place].tolist() for place in range(5)]
    cells = pd.DataFrame(
        {
            "user": [written(one) for one in table.index.tolist()],
            "items": [f"{one:.0f}" for one in values[0]],
        }
    )
    for name, scores in ((before, values[2]), (after, values[3])):
        cells.insert(len(cells.columns), name, [number(one) for one in scores], True)
    cells.insert(len(cells.columns), "gain", [signed(one) for one in values[4]], True)
    lead = f"{_MOVERS_LEAD} The gain is from {before} to {after}."
    caption = "Users who gain and lose most"
    return [Section("movers", "Who gains, who loses", lead, [ShownTable(caption, cells)])]


# Charts


def _drawn(
    compared: ComparedModels, kind: str, before: str, after: str, metric: str | None = None
) -> list[Part]:
    """Return a plot for a page, of the first metric unless one is named; nothing of nothing."""
    with suppress(InvalidInputError):
        return [for_a_page(plotted(compared, kind, metric or compared.metrics[0], before, after))]
    return []


def _differences(compared: ComparedModels, before: str, after: str) -> list[Section]:
    """Return the section of the users' differences between two models."""
    found = _drawn(compared, "differences", before, after)
    found += _drawn(compared, "scatter", before, after)
    title = f"{after} against {before}, user by user"
    return [Section("differences", title, _DIFFERENCES, found)] if found else []


def _by_activity(compared: ComparedModels, before: str, after: str) -> list[Section]:
    """Return the section of users with few and with many ratings."""
    found = _drawn(compared, "activity", before, after)
    return [Section("activity", "Few and many ratings", _BY_ACTIVITY, found)] if found else []


def _trade_off(compared: ComparedModels) -> list[Section]:
    """Return the section of two metrics against each other, where there are so many."""
    first, *others = compared.metrics
    if not others or len(compared.models) < 3:
        return []
    # another family says more than another cutoff
    family = first.partition("@")[0]
    other = next((one for one in others if one.partition("@")[0] != family), others[0])
    with suppress(InvalidInputError):
        chart = for_a_page(traded_off(compared, first, other, None))
        return [Section("trade-off", "Trade-off", _TRADE_OFF, [chart])]
    return []


# Users


def _users(compared: ComparedModels, before: str, after: str, best: str) -> Section:
    """Return the section of the users: those whom it moves most, where they are too many.

    Parameters
    ----------
    compared : ComparedModels
        The models.
    before, after : str
        The two whose lists stand side by side, and whose difference is shown.
    best : str
        By whose scores the users are in order.
    """
    result, counts = compared.deciding, compared.first.counts
    one, other = (result.models.index(name) for name in (before, after))
    gain = result.scores[:, other] - result.scores[:, one]
    gained, then = result.sign * gain, result.sign * result.scores[:, other]
    places = both_ends(gained, then, gain == 0, counts.n_items)
    column = result.models.index(best)
    trivial = result.best[places, column] <= result.chance[places, column]
    own, items = result.sign * result.scores[places, column], counts.n_items[places]
    # a long list is harder to order
    order = np.lexsort((-items, -own, trivial))
    places, trivial = places[order], trivial[order]
    ranked = [result.models[place] for place in best_first(result)]
    shown = [name for name in ranked if name in (*ranked[:_COLUMNS], before, after)]
    columns = [(name, result.scores[places, result.models.index(name)]) for name in shown]
    less = f"{cut(after, _SHORT)} less {cut(before, _SHORT)}"
    return user_section(
        f"{result.name} of {best}",
        compared.first,
        places,
        [
            *((name, [number(one) for one in scores.tolist()]) for name, scores in columns),
            (less, [signed(one) for one in gain[places].tolist()]),
        ],
        trivial=trivial,
        lists=_lists(compared, before, after, places),
        opened="both models' lists and the best order",
        rest=_rest(len(gain), len(places), before, after),
    )


def _rest(n_users: int, n_shown: int, before: str, after: str) -> str:
    if n_shown == n_users:
        return ""
    return (
        f"Of {n_users:,} users these are those who gain or lose most from {before} to "
        f"{after}: comparison.per_user has them all."
    )


def _lists(
    compared: ComparedModels, before: str, after: str, places: Positions
) -> UserLists | None:
    """Return both models' lists of some users, if both have some."""
    found = {name: _sides(compared, name, places) for name in (after, before)}
    both = {name: one for name, one in found.items() if one is not None}
    if len(both) < len(found):
        return None
    own = {name: one.sides[name] for name, one in both.items()}
    first = both[after]
    return UserLists({**own, **first.sides}, first.weights)


def _sides(compared: ComparedModels, name: str, places: Positions) -> UserLists | None:
    contender = compared.contenders[name]
    try:
        report = contender.report_for(name)
    except InvalidInputError:
        return None
    if len(report.users) != len(contender.users):
        order = np.argsort(places, kind="stable")
        own = np.empty_like(places)
        own[order] = report.scores.places_of(contender.users[places])
        places = own
    return side_by_side(report.audited, places, name)


# How to get the same


def comparison_code(compared: ComparedModels) -> str:
    """Return the lines of Python that compare the same models of the same data."""
    if compared.made_by is not None:
        return compared.made_by
    names = [name for name in compared.models if name != "chance"]
    folds = len(compared.first.runs) > 1
    what = "folds" if folds else "predictions"
    given = [f"{name!r}: {what}_{place}" for place, name in enumerate(names[:_NAMED], 1)]
    more = ["..."] if len(names) > _NAMED else []
    tested, usual = vars(compared.how), vars(Testing())
    how = [f"{name}={value!r}" for name, value in tested.items() if value != usual.get(name)]
    more_how = [
        *([f"baseline={compared.baseline!r}"] if compared.baseline != names[0] else []),
        *how,
    ]
    if compared.margin is not None:
        more_how.append(f"margin={compared.margin!r}")
    if compared.groups is not None:
        name = compared.groups.name  # built-in segments have one, others a table
        more_how.append(f"by={name!r}" if name in BUILT_IN else "by=groups")
    models = "{" + ", ".join([*given, *more]) + "}"
    # folds were measured before they were compared
    measured = [f"metrics={compared.metrics!r}"] if folds else options(compared.first.signatures)
    calls = [f"comparison = rn.compare({', '.join([models, one, *more_how])})" for one in measured]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
