"""The plots and the HTML page of a comparison."""

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
from recsys_ndcg.input import format_id
from recsys_ndcg.rendering import (
    Charts,
    Document,
    Section,
    ShownTable,
    UserLists,
    format_number,
    format_signed,
    plot,
    shorten,
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


def plot_metric(
    comparison: Comparison, kind: str, metric: str, before: str, after: str
) -> alt.LayerChart:
    """Plot one metric.

    Parameters
    ----------
    comparison : Comparison
        The models.
    kind : str
        One of `KINDS`, except the trade-off.
    metric : str
        The metric's name.
    before, after : str
        The two models of a plot that shows two.

    Raises
    ------
    InvalidInputError
        No user has a score, or none has a score in both models.
    MissingExtraError
        Vega-Altair is not installed.
    """
    result = comparison.by_metric[metric]
    how: dict[str, Any] = {"lower_is_better": result.sign < 0}
    level = 1 - comparison.how.alpha
    if np.isnan(result.scores).all():
        msg = f"No user has a score in {metric}, so there is nothing to plot."
        raise InvalidInputError(msg)
    if kind == "tiers":
        chance = float(result.means("chance")[0])  # lists may differ: the first model's
        how["baselines"] = _baselines(comparison, metric)
        board = _interval_table(comparison, metric)
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
        msg = f"No user has a score in {metric} from both {after!r} and {before!r}."
        raise InvalidInputError(msg)
    if kind == "scatter":
        users = comparison.users.tolist()
        return plot(kind, one, other, after, before, metric, users=users, **how)
    return plot(kind, one - other, after, before, metric, level=level, **how)


def plot_trade_off(
    comparison: Comparison, x: str, y: str | None, parameter: str | None
) -> alt.LayerChart:
    """Plot two metrics against each other.

    Parameters
    ----------
    comparison : Comparison
        The models.
    x, y : str
        The metrics; by default y is the first metric that is not x.
    parameter : str, optional
        The parameter that colours the models, by default the one with most values.

    Raises
    ------
    InvalidInputError
        There is only one metric, no model has the parameter, or no model has both scores.
    MissingExtraError
        Vega-Altair is not installed.
    """
    y = next((one for one in comparison.metrics if one != x), None) if y is None else y
    if y is None:
        msg = f"A trade-off needs two metrics, and there is only {x}. Compare in another one, too."
        raise InvalidInputError(msg)
    if x == y:
        msg = f"A trade-off needs two metrics, not {x!r} twice. Pass another one: against=."
        raise InvalidInputError(msg)
    first, second = (
        _interval_table(comparison, metric)
        .set_index("model")[["mean", "low", "high"]]
        .add_prefix(axis)
        for axis, metric in (("x_", x), ("y_", y))
    )
    table = first.join(second).reset_index().rename(columns={"x_mean": "x", "y_mean": "y"})
    if table[["x", "y"]].isna().any(axis=1).all():
        msg = f"No model has a score in both {x} and {y}, so there is nothing to plot."
        raise InvalidInputError(msg)
    chosen = _choose_parameter(comparison, parameter)
    if chosen is not None:
        values = [comparison.model_scores[name].parameters.get(chosen) for name in table["model"]]
        table["value"] = pd.Series(values, dtype=object)
    lower = comparison.by_metric[x].sign < 0, comparison.by_metric[y].sign < 0
    level = 1 - comparison.how.alpha
    return plot("trade-off", table, x, y, lower_is_better=lower, parameter=chosen, level=level)


def _interval_table(comparison: Comparison, metric: str) -> pd.DataFrame:
    board = comparison.leaderboards[metric].reset_index()
    return board.rename(columns={"ci_low": "low", "ci_high": "high"})


def _choose_parameter(comparison: Comparison, wanted: str | None) -> str | None:
    """Return the wanted parameter, by default the one with most values; None if all are equal."""
    parameters = [one.parameters for one in comparison.model_scores.values()]
    names = list(dict.fromkeys(chain(*parameters)))
    if wanted is not None:
        if wanted not in names:
            fix = suggest(str(wanted), names) if names else "Only models of a search have some."
            msg = f"No model has a parameter {quote(wanted)}. {fix}"
            raise InvalidInputError(msg)
        return wanted
    distinct = {name: len({repr(one[name]) for one in parameters if name in one}) for name in names}
    most = max(distinct, key=distinct.__getitem__, default=None)
    return most if most is not None and distinct[most] > 1 else None


def _baselines(comparison: Comparison, metric: str) -> dict[str, float]:
    """Return the means of baselines that need no model, except chance, from the first report."""
    for one in comparison.model_scores.values():
        if one.report is not None and metric in one.report.metrics:
            others = one.report.baselines.drop("chance")[metric]
            return {str(name): float(mean) for name, mean in others.items()}
    return {}


_AUDITS = 6  # models whose audit is shown,
_ROWS = 1_000_000  # but no more users in all: these take a second
_OTHERS = 4  # metrics in addition to the first
_MOVERS = 10
_COLUMNS = 8  # models in the table of users: the best, and the baseline
_NAMED = 6  # models in the shown call
_SHORT = 20  # characters of a name in a heading
_AUDITED = "The audits of single models are folded below."
_MOVERS_LEAD = "The users whose scores differ most between the two models."
_DIFFERENCES = (
    "Each user's score under one model minus the score under the other. It shows what a mean "
    "hides: whether a few users gain much, or many gain a little."
)
_BY_ACTIVITY = "Mean scores of users with few and with many ratings, by model."
_TRADE_OFF = "Each model by two metrics: a model ahead in one may be behind in the other."


def comparison_page(comparison: Comparison, command: str | None = None) -> Document:
    """Return the document of a comparison's page, with charts, users and their lists.

    Parameters
    ----------
    comparison : Comparison
        The models.
    command : str, optional
        The command line that made it, if one did.
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
    report = comparison.model_scores[best].report
    apart = _make_charts(comparison, "differences", "scatter", a=before, b=after)
    activity = _make_charts(comparison, "activity")
    sections = [
        _leaderboard_section(comparison, board),
        _remarks_section(comparison),
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
        _users_section(comparison, before, after, best),
        *_movers_section(comparison, before, after),
        Section("trade-off", "Trade-off", _TRADE_OFF, _trade_off_charts(comparison)),
        build_signatures_section(
            comparison.signatures.values(), comparison_code(comparison), command
        ),
    ]
    # charts with nothing to show are left out
    return replace(brief, sections=[one for one in sections if one.parts])


# Models


def _leaderboard_section(comparison: Comparison, board: Section) -> Section:
    """Return the leaderboard's section, with charts, pairs and other metrics."""
    first, *others = comparison.metrics
    details = [
        Section.folded(
            f"By {name}", [[comparison.verdict_in(name)], *_leaderboard_parts(comparison, name)]
        )
        for name in others[:_OTHERS]
    ]
    pairs = Section.folded("The pairs", [pairs_table(comparison, first)])
    return replace(board, parts=[*_leaderboard_parts(comparison, first), pairs, *details])


def _leaderboard_parts(comparison: Comparison, metric: str) -> list[ShownTable | Charts]:
    """Return the leaderboard in a metric, by model, and the chart of its intervals."""
    table = leaderboard_table(comparison, metric)
    order = ["model", *(name for name in table.cells if name != "model")]
    table = replace(table, cells=table.cells[order], left=1)
    return [table, *_make_charts(comparison, "tiers", metric=metric)]


def _remarks_section(comparison: Comparison) -> Section:
    """Return the section of remarks, with the audit of each model that has a report."""
    details: list[Section] = []
    most = max(1, min(_AUDITS, _ROWS // len(comparison.users)))
    for model, one in [*comparison.model_scores.items()][:most]:
        if one.report is not None:
            audit = build_audit_table(one.report)
            details.append(Section.folded(f"The audit of {model}", [one.report.remarks, audit]))
    return build_remarks_section(comparison.remarks, details, _AUDITED if details else "")


def _movers_section(comparison: Comparison, before: str, after: str) -> list[Section]:
    """Return the section of users who gain and lose most, if there are any."""
    table = comparison.movers(_MOVERS, a=before, b=after).table
    if table.empty:
        return []
    values = [table.index.tolist(), *(table.iloc[:, place].tolist() for place in (0, 2, 3, 4))]
    forms: list[Callable[[Any], str]] = [
        format_id,
        "{:.0f}".format,
        format_number,
        format_number,
        format_signed,
    ]
    texts = [list(map(form, column)) for form, column in zip(forms, values, strict=True)]
    cells = pd.DataFrame(dict(enumerate(texts)), dtype=object)
    cells = cells.set_axis(["user", "items", before, after, "improvement"], axis=1)
    lead = f"{_MOVERS_LEAD} The improvement is from {before} to {after}."
    caption = "Users who gain and lose most"
    return [Section("movers", "Who gains, who loses", lead, [ShownTable(caption, cells)])]


# Charts


def _make_charts(comparison: Comparison, *kinds: str, **options: str) -> list[Charts]:
    """Return charts for a page, except charts that have no data."""
    charts: list[Charts] = []
    for kind in kinds:
        with suppress(InvalidInputError):
            charts.append(Charts(comparison.plot(kind, **options)))
    return charts


def _trade_off_charts(comparison: Comparison) -> list[Charts]:
    """Return the chart of two metrics, if there are two metrics and three models."""
    first, *others = comparison.metrics
    if not others or len(comparison.models) < 3:
        return []
    # another family says more than another cutoff
    family = first.partition("@")[0]
    other = next((one for one in others if one.partition("@")[0] != family), others[0])
    return _make_charts(comparison, "trade-off", against=other)


# Users


def _users_section(comparison: Comparison, before: str, after: str, best: str) -> Section:
    """Return the section of users; if there are too many, only those with the largest gains.

    Parameters
    ----------
    comparison : Comparison
        The models.
    before, after : str
        The two models whose lists and differences are shown.
    best : str
        The model whose scores sort the users.
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
    columns = [name for name in ranked if name in (*ranked[:_COLUMNS], before, after)]
    minus = f"{shorten(after, _SHORT)} minus {shorten(before, _SHORT)}"
    return build_user_section(
        f"{result.name} of {best}",
        comparison.first,
        places,
        [
            *((name, list(map(format_number, result.scores_of(name)[places]))) for name in columns),
            (minus, [format_signed(one) for one in gain[places].tolist()]),
        ],
        trivial=trivial,
        lists=_lists_of_both(comparison, before, after, places),
        row_content="both models' lists and the best order",
        selection_note=f"the users who gain or lose most from {before} to {after}: "
        "comparison.per_user has all users.",
    )


def _lists_of_both(
    comparison: Comparison, before: str, after: str, places: Positions
) -> UserLists | None:
    """Return both models' lists of some users, if both models have lists."""
    both = []
    for name in (after, before):
        one = comparison.model_scores[name]
        if one.report is None:
            return None
        own = places
        if len(one.report.users) != len(one.users):
            own = one.report.scores.positions_of(one.users)[places]
        side = build_user_lists(one.report.full_audit, own, name)
        if side is None:
            return None
        both.append(side)
    first, second = both
    sides = {after: first.sides[after], before: second.sides[before], **first.sides}
    return UserLists(sides, first.weights)


# How to get the same


def comparison_code(comparison: Comparison) -> str:
    """Return Python code that makes the same comparison."""
    if comparison.made_by is not None:
        return comparison.made_by
    names = [name for name in comparison.models if name != CHANCE]
    first, groups = comparison.first, comparison.groups
    folds = len(first.runs) > 1
    what = "folds" if folds else "predictions"
    given = [f"{name!r}: {what}_{place}" for place, name in enumerate(names[:_NAMED], 1)]
    if len(names) > _NAMED:
        given.append("...")
    chosen = {"baseline": comparison.baseline, **vars(comparison.how), "margin": comparison.margin}
    usual = {"baseline": names[0], **vars(Testing()), "margin": None}
    how = [f"{name}={value!r}" for name, value in chosen.items() if value != usual[name]]
    if groups is not None:  # built-in segments have a name, others a table
        how.append(f"by={groups.name!r}" if groups.name in Report.SEGMENTS else "by=groups")
    models = "{" + ", ".join(given) + "}"
    # folds were measured before they were compared
    measured = (
        [f"metrics={comparison.metrics!r}"] if folds else format_options(first.signatures.values())
    )
    calls = [f"comparison = rn.compare({', '.join([models, one, *how])})" for one in measured]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
