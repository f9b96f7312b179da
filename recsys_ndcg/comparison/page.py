"""The plots of a comparison, and what only a page has room for: users, and what was typed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Positions
from recsys_ndcg.comparison.document import comparison_document, leaderboard_table, pairs_table
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.input import written
from recsys_ndcg.rendering import (
    Charts,
    Document,
    Section,
    ShownTable,
    UserLists,
    cut,
    number,
    plot,
    signed,
)
from recsys_ndcg.report import (
    Report,
    build_audit_table,
    build_chance_section,
    build_cutoff_section,
    build_remarks_section,
    build_signatures_section,
    build_user_lists,
    build_user_section,
    format_options,
    select_users,
)
from recsys_ndcg.significance import Testing

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison.comparison import Comparison

KINDS = ("tiers", "differences", "activity", "scatter", "trade-off")


def plotted(
    comparison: Comparison, kind: str, metric: str, before: str, after: str
) -> alt.LayerChart:
    """Return a plot of one metric.

    Parameters
    ----------
    comparison : Comparison
        The models.
    kind : str
        One of `KINDS` but the trade-off.
    metric : str
        Its name.
    before, after : str
        The models that are shown beside each other, if two are.

    Raises
    ------
    InvalidInputError
        Nobody has a score, or none in both models.
    MissingExtraError
        Vega-Altair is not installed.
    """
    result = comparison.by_metric[metric]
    how: dict[str, Any] = {"lower_is_better": result.sign < 0}
    level = 1 - comparison.how.alpha
    if np.isnan(result.scores).all():
        msg = f"Nobody has a score in {metric}, so there is nothing to plot."
        raise InvalidInputError(msg)
    if kind == "tiers":
        chance = float(result.means("chance")[0])  # of lists that differ, that of the first model
        how["baselines"] = _baselines(comparison, metric)
        board = _with_ends(comparison, metric)
        return plot(kind, board, metric, chance, level=level, **how)
    if kind == "activity":
        activity = comparison.first.counts.activity
        parts = [
            pd.DataFrame({"model": model, "activity": activity, "score": result.scores_of(model)})
            for model in comparison.models
        ]
        return plot(kind, pd.concat(parts, ignore_index=True), metric, level=level, **how)
    one, other = result.scores_of(after), result.scores_of(before)
    if np.isnan(one - other).all():
        msg = f"No user has a score of both {after!r} and {before!r} in {metric}."
        raise InvalidInputError(msg)
    if kind == "scatter":
        users = comparison.users.tolist()
        return plot(kind, one, other, after, before, metric, users=users, **how)
    return plot(kind, one - other, after, before, metric, level=level, **how)


def traded_off(
    comparison: Comparison, x: str, y: str | None, parameter: str | None
) -> alt.LayerChart:
    """Return a plot of two metrics.

    Parameters
    ----------
    comparison : Comparison
        The models.
    x, y : str
        The metrics; another one than the first if only that is named.
    parameter : str, optional
        By which models are coloured; by default the one that most differs between them.

    Raises
    ------
    InvalidInputError
        There is but one metric, no model has such a parameter, or none a score in both metrics.
    MissingExtraError
        Vega-Altair is not installed.
    """
    y = next((one for one in comparison.metrics if one != x), None) if y is None else y
    if y is None:
        msg = f"A trade-off is between two metrics: compare in another one, too, than {x}."
        raise InvalidInputError(msg)
    if x == y:
        msg = f"A trade-off is between two metrics, not {x!r} and itself. Name another: against=."
        raise InvalidInputError(msg)
    first, second = (
        _with_ends(comparison, metric).set_index("model")[["mean", "low", "high"]].add_prefix(axis)
        for axis, metric in (("x_", x), ("y_", y))
    )
    table = first.join(second).reset_index().rename(columns={"x_mean": "x", "y_mean": "y"})
    if table[["x", "y"]].isna().any(axis=1).all():
        msg = f"No model has a score in both {x} and {y}, so there is nothing to plot."
        raise InvalidInputError(msg)
    chosen = _parameter(comparison, parameter)
    if chosen is not None:
        values = [comparison.contenders[name].parameters.get(chosen) for name in table["model"]]
        table["value"] = pd.Series(values, dtype=object)
    lower = comparison.by_metric[x].sign < 0, comparison.by_metric[y].sign < 0
    level = 1 - comparison.how.alpha
    return plot("trade-off", table, x, y, lower_is_better=lower, parameter=chosen, level=level)


def _with_ends(comparison: Comparison, metric: str) -> pd.DataFrame:
    board = comparison.leaderboards[metric].reset_index()
    return board.rename(columns={"ci_low": "low", "ci_high": "high"})


def _parameter(comparison: Comparison, wanted: str | None) -> str | None:
    """Return the parameter that is asked for, or the one of most values, None if none differs."""
    told = [one.parameters for one in comparison.contenders.values()]
    names = list(dict.fromkeys(chain(*told)))
    if wanted is not None:
        if wanted not in names:
            hint = suggest(str(wanted), names) if names else "A search gives its models theirs."
            msg = f"No model has a parameter {quote(wanted)}. {hint}"
            raise InvalidInputError(msg)
        return wanted
    distinct = {name: len({repr(one[name]) for one in told if name in one}) for name in names}
    most = max(distinct, key=distinct.__getitem__, default=None)
    return most if most is not None and distinct[most] > 1 else None


def _baselines(comparison: Comparison, metric: str) -> dict[str, float]:
    """Return the means of what needs no model, if a report knows some, chance apart."""
    for one in comparison.contenders.values():
        if one.report is not None and metric in one.report.metrics:
            others = one.report.baselines.drop("chance")[metric]
            return {str(name): float(mean) for name, mean in others.items()}
    return {}


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
    metric = comparison.metrics[0]
    kinds = ["leaderboard", *(["segments"] if comparison.groups is not None else [])]
    brief = comparison_document(comparison, metric, kinds)
    board, _, *segments, _ = brief.sections
    result = comparison.deciding
    ordered = [comparison.models[place] for place in result.best_first]
    best = next(name for name in ordered if name != CHANCE)
    before = comparison.baseline
    after = next(name for name in ordered if name != before)
    report = comparison.contenders[best].report
    apart = _drawn(comparison, "differences", "scatter", a=before, b=after)
    activity = _drawn(comparison, "activity")
    sections = [
        _leaderboard(comparison, board),
        _audited(comparison),
        *build_chance_section(
            result.scores_of(best),
            result.chance[:, result.models.index(best)],
            result.name,
            f"These are the scores of {best}.",
        ),
        Section("differences", f"{after} against {before}, user by user", _DIFFERENCES, apart),
        *([] if report is None else build_cutoff_section(report, f"This is {best}.")),
        Section("activity", "Few and many ratings", _BY_ACTIVITY, activity),
        *segments,
        _users(comparison, before, after, best),
        *_movers(comparison, before, after),
        Section("trade-off", "Trade-off", _TRADE_OFF, _trade_off(comparison)),
        build_signatures_section(
            comparison.signatures.values(), comparison_code(comparison), command
        ),
    ]
    # charts with nothing to show are left out
    return replace(brief, sections=[one for one in sections if one.parts])


# Models


def _leaderboard(comparison: Comparison, board: Section) -> Section:
    """Return the section of the models with charts, the pairs, and the other metrics."""
    first, *others = comparison.metrics
    details = [
        Section.folded(f"By {name}", [[comparison.verdict_in(name)], *_board(comparison, name)])
        for name in others[:_OTHERS]
    ]
    pairs = Section.folded("The pairs", [pairs_table(comparison, first)])
    return replace(board, parts=[*_board(comparison, first), pairs, *details])


def _board(comparison: Comparison, metric: str) -> list[ShownTable | Charts]:
    """Return the models by a metric, each row by its name, and their intervals."""
    table = leaderboard_table(comparison, metric)
    order = ["model", *(name for name in table.cells if name != "model")]
    table = replace(table, cells=table.cells[order], left=1)
    return [table, *_drawn(comparison, "tiers", metric=metric)]


def _audited(comparison: Comparison) -> Section:
    """Return the section of the remarks, with the audit of each model that has one."""
    details: list[Section] = []
    most = max(1, min(_AUDITS, _ROWS // len(comparison.users)))
    for model, one in [*comparison.contenders.items()][:most]:
        if one.report is not None:
            audit = build_audit_table(one.report)
            details.append(Section.folded(f"The audit of {model}", [one.report.remarks, audit]))
    return build_remarks_section(comparison.remarks, details, _AUDITED if details else "")


def _movers(comparison: Comparison, before: str, after: str) -> list[Section]:
    """Return the section of those who gain and lose most, nothing if nobody does."""
    table = comparison.movers(_MOVERS, a=before, b=after).table
    if table.empty:
        return []
    values = [table.index.tolist(), *(table.iloc[:, place].tolist() for place in (0, 2, 3, 4))]
    forms: list[Callable[[Any], str]] = [written, "{:.0f}".format, number, number, signed]
    texts = [list(map(form, column)) for form, column in zip(forms, values, strict=True)]
    cells = pd.DataFrame(dict(enumerate(texts)), dtype=object)
    cells = cells.set_axis(["user", "items", before, after, "gain"], axis=1)
    lead = f"{_MOVERS_LEAD} The gain is from {before} to {after}."
    caption = "Users who gain and lose most"
    return [Section("movers", "Who gains, who loses", lead, [ShownTable(caption, cells)])]


# Charts


def _drawn(comparison: Comparison, *kinds: str, **options: str) -> list[Charts]:
    """Return plots for a page, those that have something to show."""
    charts: list[Charts] = []
    for kind in kinds:
        with suppress(InvalidInputError):
            charts.append(Charts(comparison.plot(kind, **options)))
    return charts


def _trade_off(comparison: Comparison) -> list[Charts]:
    """Return the plot of two metrics against each other, if there are so many."""
    first, *others = comparison.metrics
    if not others or len(comparison.models) < 3:
        return []
    # another family says more than another cutoff
    family = first.partition("@")[0]
    other = next((one for one in others if one.partition("@")[0] != family), others[0])
    return _drawn(comparison, "trade-off", against=other)


# Users


def _users(comparison: Comparison, before: str, after: str, best: str) -> Section:
    """Return the section of the users: those whom it moves most, where they are too many.

    Parameters
    ----------
    comparison : Comparison
        The models.
    before, after : str
        The two whose lists stand side by side, and whose difference is shown.
    best : str
        By whose scores the users are in order.
    """
    result, counts = comparison.deciding, comparison.first.counts
    gain = result.scores_of(after) - result.scores_of(before)
    gained, then = result.sign * gain, result.sign * result.scores_of(after)
    places = select_users(gained, then, gain == 0, counts.n_items)
    column = result.models.index(best)
    trivial = result.best[places, column] <= result.chance[places, column]
    own, items = result.sign * result.scores[places, column], counts.n_items[places]
    # a long list is harder to order
    order = np.lexsort((-items, -own, trivial))
    places, trivial = places[order], trivial[order]
    ranked = [result.models[place] for place in result.best_first]
    beside = [name for name in ranked if name in (*ranked[:_COLUMNS], before, after)]
    less = f"{cut(after, _SHORT)} less {cut(before, _SHORT)}"
    return build_user_section(
        f"{result.name} of {best}",
        comparison.first,
        places,
        [
            *((name, list(map(number, result.scores_of(name)[places]))) for name in beside),
            (less, [signed(one) for one in gain[places].tolist()]),
        ],
        trivial=trivial,
        lists=_lists(comparison, before, after, places),
        opened="both models' lists and the best order",
        rest=f"those who gain or lose most from {before} to {after}: "
        "comparison.per_user has them all.",
    )


def _lists(comparison: Comparison, before: str, after: str, places: Positions) -> UserLists | None:
    """Return both models' lists of some users, if both have some."""
    both = []
    for name in (after, before):
        one = comparison.contenders[name]
        if one.report is None:
            return None
        own = places
        if len(one.report.users) != len(one.users):
            own = one.report.scores.places_of(one.users)[places]
        side = build_user_lists(one.report.audited, own, name)
        if side is None:
            return None
        both.append(side)
    first, second = both
    sides = {after: first.sides[after], before: second.sides[before], **first.sides}
    return UserLists(sides, first.weights)


# How to get the same


def comparison_code(comparison: Comparison) -> str:
    """Return the lines of Python that compare the same models of the same data."""
    if comparison.made_by is not None:
        return comparison.made_by
    names = [name for name in comparison.models if name != CHANCE]
    first, groups = comparison.first, comparison.groups
    folds = len(first.runs) > 1
    what = "folds" if folds else "predictions"
    given = [f"{name!r}: {what}_{place}" for place, name in enumerate(names[:_NAMED], 1)]
    if len(names) > _NAMED:
        given.append("...")
    asked = {"baseline": comparison.baseline, **vars(comparison.how), "margin": comparison.margin}
    usual = {"baseline": names[0], **vars(Testing()), "margin": None}
    how = [f"{name}={value!r}" for name, value in asked.items() if value != usual[name]]
    if groups is not None:  # built-in segments have a name, others a table
        how.append(f"by={groups.name!r}" if groups.name in Report.SEGMENTS else "by=groups")
    models = "{" + ", ".join(given) + "}"
    # folds were measured before they were compared
    measured = (
        [f"metrics={comparison.metrics!r}"] if folds else format_options(first.signatures.values())
    )
    calls = [f"comparison = rn.compare({', '.join([models, one, *how])})" for one in measured]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
