"""The plots and the HTML page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Positions
from recsys_ndcg.comparison.document import (
    build_comparison_document,
    build_leaderboard_table,
    build_pairs_table,
)
from recsys_ndcg.comparison.metric_comparison import compare_with_model
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.remarks import find_remarks
from recsys_ndcg.comparison.two_models import find_movers
from recsys_ndcg.comparison.verdict import list_wins
from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.input import format_id
from recsys_ndcg.rendering import (
    Charts,
    Choice,
    Document,
    Section,
    ShownTable,
    UserLists,
    format_number,
    format_signed,
    plots,
    shorten,
    show_columns,
)
from recsys_ndcg.report import (
    BUILT_IN_GROUPS,
    build_audit_table,
    build_chance_section,
    build_cutoff_section,
    build_page,
    build_signatures_section,
    build_user_lists,
    build_user_section,
    draw_charts,
    fold_findings,
    plot_activity,
    write_call_arguments,
    write_code,
    write_evaluation,
    write_inputs,
)
from recsys_ndcg.significance import Testing

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison.compared_models import ComparedModels
    from recsys_ndcg.comparison.metric_comparison import MetricComparison
    from recsys_ndcg.findings import Finding

KINDS = ("tiers", "differences", "activity", "scatter", "trade-off")


def plot_metric(data: ComparedModels, kind: str, metric: str, a: str, b: str) -> alt.LayerChart:
    """Plot one metric.

    Parameters
    ----------
    data : ComparedModels
        The models.
    kind : str
        One of `KINDS`, except the trade-off.
    metric : str
        The metric's name.
    a, b : str
        The two models of a plot that shows two.

    Raises
    ------
    InvalidInputError
        No user has a score, or none has a score in both models.
    MissingExtraError
        Vega-Altair is not installed.
    """
    result = data.by_metric[metric]
    options: dict[str, Any] = {"lower_is_better": result.sign < 0}
    level = 1 - data.testing.alpha
    if np.isnan(result.scores).all():
        msg = f"No user has a score in {metric}, so there is nothing to plot."
        raise InvalidInputError(msg)
    if kind == "tiers":
        chance = float(result.means("chance")[0])  # of the first model: lists may differ
        options["baselines"] = _find_baselines(data, metric)
        board = data.leaderboards[metric].reset_index()
        board = board.rename(columns={"ci_low": "low", "ci_high": "high"})
        options["bars_from"], bars = _find_bars(result)
        board[["bar_low", "bar_high"]] = bars.loc[board["model"]].to_numpy()
        return plots.plot_intervals_by_tier(board, metric, chance, level=level, **options)
    if kind == "activity":
        scores = dict(zip(data.models, result.scores.T, strict=True))
        activity = data.first_model.counts.activity
        return plot_activity(scores, activity, metric, result.measurement, level)
    scores_b, scores_a = result.scores_of(b), result.scores_of(a)
    difference = scores_b - scores_a
    if np.isnan(difference).all():
        msg = f"No user has a score in {metric} from both {b!r} and {a!r}."
        raise InvalidInputError(msg)
    if kind == "scatter":
        users = data.users.tolist()
        return plots.plot_a_against_b(scores_b, scores_a, b, a, metric, users=users, **options)
    ends = _find_intervals(result, a).loc[[b]].to_numpy()
    options["interval"] = tuple(ends[0])
    return plots.plot_difference_per_user(difference, b, a, metric, level=level, **options)


def plot_trade_off(
    data: ComparedModels, x: str, y: str | None, parameter: str | None
) -> alt.LayerChart:
    """Plot two metrics against each other.

    Parameters
    ----------
    data : ComparedModels
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
    y = next((one for one in data.metrics if one != x), None) if y is None else y
    if y is None:
        msg = f"A trade-off needs two metrics, and there is only {x}. Compare in another one, too."
        raise InvalidInputError(msg)
    if x == y:
        msg = f"A trade-off needs two metrics, not {x!r} twice. Pass another one: against=."
        raise InvalidInputError(msg)
    results, best = (data.by_metric[x], data.by_metric[y]), []
    table = pd.DataFrame({"model": data.models})
    for axis, result in zip("xy", results, strict=True):
        name, bars = _find_bars(result)
        best.append(name)
        table[[axis, f"{axis}_low", f"{axis}_high"]] = np.column_stack([result.means(), bars])
    if table[["x", "y"]].isna().any(axis=1).all():
        msg = f"No model has a score in both {x} and {y}, so there is nothing to plot."
        raise InvalidInputError(msg)
    chosen = _choose_parameter(data, parameter)
    if chosen is not None:
        values = [data.model_scores[name].parameters.get(chosen) for name in table["model"]]
        table["value"] = pd.Series(values, dtype=object)
    table["front"] = _find_front(*results)
    lower = results[0].sign < 0, results[1].sign < 0
    options: dict[str, Any] = {"lower_is_better": lower, "lines_from": best}
    return plots.plot_trade_off(table, x, y, parameter=chosen, **options)


def _find_front(x: MetricComparison, y: MetricComparison) -> list[bool]:
    """Return whether each model is on the front: no other is ahead of it.

    Another model is ahead if it is significantly better in one metric, and not significantly worse
    in the other.
    """
    wins = list_wins(x) | list_wins(y)
    beaten = {loser for winner, loser in wins if (loser, winner) not in wins}
    return [column not in beaten for column in range(len(x.models))]


def _find_bars(result: MetricComparison) -> tuple[str, pd.DataFrame]:
    """Return the best model, and the interval of each difference from it, from its mean on.

    The difference is significant if the interval does not contain that mean.
    """
    ordered = [result.models[column] for column in result.columns_by_mean]
    best = next(name for name in ordered if name != CHANCE)
    if result.testing.family == "baseline":  # other differences are not tested
        best = result.baseline
    return best, _find_intervals(result, best) + result.means()[result.models.index(best)]


def _find_intervals(result: MetricComparison, other: str) -> pd.DataFrame:
    """Return the interval of each model's difference from another, NaN if the test has none."""
    ends = compare_with_model(result, other)[["difference_low", "difference_high"]]
    return ends if result.intervals_agree else ends * np.nan


def _choose_parameter(data: ComparedModels, wanted: str | None) -> str | None:
    """Return the wanted parameter, by default the one with most values; None if all are equal."""
    parameters = [model.parameters for model in data.model_scores.values()]
    names = list(dict.fromkeys(chain(*parameters)))
    if wanted is not None:
        if wanted not in names:
            fix = suggest(str(wanted), names) if names else "Only models of a search have some."
            msg = f"No model has a parameter {quote(wanted)}. {fix}"
            raise InvalidInputError(msg)
        return wanted
    distinct = {name: len({repr(one[name]) for one in parameters if name in one}) for name in names}
    name = max(distinct, key=distinct.__getitem__, default=None)
    return name if name is not None and distinct[name] > 1 else None


def _find_baselines(data: ComparedModels, metric: str) -> dict[str, float]:
    """Return the means of baselines that need no model, except chance, from the first report."""
    for model in data.model_scores.values():
        if model.report is not None and metric in model.report.metrics:
            table = model.report._data.baselines
            pairs = () if table is None else table[metric].items()
            return {str(name): float(mean) for name, mean in pairs}
    return {}


_MAX_AUDITED_MODELS = 6  # models whose audit is shown
_MAX_AUDITED_ROWS = 1_000_000  # users × models of these audits: measuring so many takes a second
_MAX_METRICS = 10  # with a leaderboard
_MAX_MEANS = 5  # columns of means in a leaderboard
_MAX_PAIRS = 45  # of which each metric has a table
_MOVERS = 10
_MAX_COLUMNS = 8  # best models in the table of users, in addition to the two compared ones
_MAX_HEADING = 20  # characters of a model's name in a heading
_AUDITED = "The audits of single models are folded below."
_MOVERS_LEAD = "The users whose scores differ most between the two models."
_DIFFERENCES = (
    "Each user's score under one model minus the score under the other. It shows what a mean "
    "hides: whether a few users gain much, or many gain a little."
)
_FOLDS = "folds_1 and so on are the results of cross_validate, which cannot be read from a file"
_BY_ACTIVITY = "Mean scores of users with few and with many ratings, by model."
_TRADE_OFF = "Each model by two metrics: a model ahead in one may be behind in the other."


def build_comparison_page(
    data: ComparedModels,
    command: str | None = None,
    more: Sequence[Section] = (),
    costs: pd.DataFrame | None = None,
) -> Document:
    """Return the document of a comparison's page, with charts, users and their lists.

    Parameters
    ----------
    data : ComparedModels
        The models.
    command : str, optional
        The command line that made the page, if there was one.
    more : sequence of Section
        Further sections, after the leaderboard.
    costs : pandas.DataFrame, optional
        By model, what it cost to train and to measure it, as text.
    """
    of_users = data.metrics_of_users
    order = [*dict.fromkeys([*of_users[:1], *data.metrics])]  # users' charts are of the first
    if order != data.metrics:
        models = {name: one.select_metrics(order) for name, one in data.model_scores.items()}
        data = replace(data, model_scores=models)
    kinds = ["leaderboard", *(["segments"] if data.segment_of_user is not None else [])]
    remarks = find_remarks(data)
    document = build_comparison_document(data, remarks, data.metrics[0], kinds)
    board, limits, *segments, _ = document.sections
    sections = [
        _build_leaderboard_section(data, board),
        *(more if of_users else ()),
        _add_details(limits, data, remarks),
        *(_build_sections_of_users(data, segments) if of_users else ()),
        Section("trade-off", "Trade-off", _TRADE_OFF, _draw_trade_off(data)),
        Section("models", "Models", *_describe_training(data, costs)),
        build_signatures_section(data.signatures, write_comparison_code(data), command),
    ]
    return build_page(document, sections)


def _build_sections_of_users(data: ComparedModels, segments: list[Section]) -> list[Section]:
    """Return the sections that need scores of users in the first metric."""
    result = data.first_metric_comparison
    ordered = [data.models[column] for column in result.columns_by_mean]
    best, *others = [name for name in ordered if name != CHANCE]
    a = data.baseline
    b = next(name for name in ordered if name != a)
    # the two best models, if they are compared
    pair = (others[0], best) if others and result.testing.family != "baseline" else (a, b)
    report = data.model_scores[best].report
    differences, scatter, activity = (
        partial(plot_metric, data, kind, result.name, a, b)
        for kind in ("differences", "scatter", "activity")
    )
    title = f"{b} against {a}, user by user"
    return [
        build_chance_section(
            result.scores_of(best),
            result.chance[:, result.models.index(best)],
            result.name,
            f"These are the scores of {best}.",
        ),
        Section("differences", title, _DIFFERENCES, draw_charts(differences, scatter)),
        *([] if report is None else [build_cutoff_section(report._data, f"This is {best}.")]),
        Section("activity", "Few and many ratings", _BY_ACTIVITY, draw_charts(activity)),
        *segments,
        _build_users_section(data, *pair),
        *_build_movers_section(data, a, b),
    ]


# Models


def _build_leaderboard_section(data: ComparedModels, board: Section) -> Section:
    """Return the leaderboard's section, with charts, pairs and other metrics."""
    names = data.metrics
    shown, n_pairs = names[:_MAX_METRICS], len(data.first_metric_comparison.pairs)
    options = []
    for name in shown:
        parts: list[Any] = [] if name == names[0] else [[str(data.list_verdicts(name)[0])]]
        parts += _build_leaderboard_parts(data, name)
        if name == names[0] or n_pairs <= _MAX_PAIRS:
            pairs = [build_pairs_table(data, name)]
            parts.append(Section.folded("The pairs of models", pairs))
        options.append(Section.folded(name, parts))
    lead = board.lead
    if len(names) > len(shown):
        lead += (
            f" Of {len(names)} metrics, the first {len(shown)} have a leaderboard here; "
            "data.leaderboards has all."
        )
    if len(names) > _MAX_MEANS:  # for which a leaderboard has no room
        options.append(Section.folded("All metrics", [_build_means_table(data)]))
    return replace(board, lead=lead, parts=[Choice.folded("Metric", options)])


def _build_leaderboard_parts(data: ComparedModels, metric: str) -> list[ShownTable | Charts]:
    """Return the leaderboard in a metric, by model, and the chart of its intervals."""
    table = build_leaderboard_table(data, metric)
    cells = table.cells[["model", *(name for name in table.cells if name != "model")]]
    outcome = ["won", "tied", "lost"]
    if {*outcome} <= {*cells}:  # one column is easier to read, and leaves room for others
        texts = ["/".join(row) for row in cells[outcome].to_numpy().tolist()]
        texts = ["-" if text == "-/-/-" else text for text in texts]
        baseline = shorten(data.baseline, _MAX_HEADING)
        cells.insert([*cells].index("won"), f"won/tied/lost against {baseline}", texts)
        cells = cells.drop(columns=outcome)
    n_others = len(data.metrics) - 1
    if n_others >= _MAX_MEANS:
        cells = cells[[*cells][:-n_others]]
    note = table.note.partition("; users won")[0]  # which the heading says
    table = replace(table, cells=cells, n_left_aligned=1, note=note)
    return [table, *draw_charts(partial(plot_metric, data, "tiers", metric, "", ""))]


def _build_means_table(data: ComparedModels) -> ShownTable:
    """Return the means of all models in all metrics; the metrics are rows if they are more."""
    table = build_leaderboard_table(data, data.metrics[0])
    names = ["model", "mean", *table.cells.columns[1 - len(data.metrics) :]]
    cells = table.cells[names].set_axis(["model", *data.metrics], axis=1)
    if len(cells) < len(data.metrics):
        turned = cells.set_index("model").T.rename_axis("metric")
        cells = turned.rename_axis(None, axis=1).reset_index()
    return ShownTable("Means in all metrics", cells)


def _add_details(section: Section, data: ComparedModels, remarks: Sequence[Finding]) -> Section:
    """Return the section of remarks with the audits of models with reports, and all findings."""
    audits: list[Section] = []
    n_audits = max(1, min(_MAX_AUDITED_MODELS, _MAX_AUDITED_ROWS // len(data.users)))
    for model, scores in [*data.model_scores.items()][:n_audits]:
        if scores.report is not None:
            parts: list[Any] = [scores.report.remarks, build_audit_table(scores.report._data)]
            audits.append(Section.folded(f"The audit of {model}", parts))
    every = fold_findings(chain(*data.judgements.values(), remarks))
    lead = f"{section.lead} {_AUDITED if audits else ''}".rstrip()
    return replace(section, lead=lead, parts=[*section.parts, *audits, every])


def _build_movers_section(data: ComparedModels, a: str, b: str) -> list[Section]:
    """Return the section of users who gain and lose most, if there are any."""
    pair = {name: data.model_scores[name] for name in (a, b)}
    table = find_movers(pair, data.metrics[0], _MOVERS).table
    if table.empty:
        return []
    cells = show_columns(table[["items", a, b, "improvement"]], plain=[a, b])
    users = pd.Series([*map(format_id, table.index)], dtype=object)  # may have lone surrogates
    cells.insert(0, "user", users, allow_duplicates=True)
    lead = f"{_MOVERS_LEAD} The improvement is from {a} to {b}."
    caption = "Users who gain and lose most"
    return [Section("movers", "Who gains, who loses", lead, [ShownTable(caption, cells)])]


def _describe_training(
    data: ComparedModels, costs: pd.DataFrame | None
) -> tuple[str, list[ShownTable]]:
    """Return a sentence on the models' parameters, seconds and memory, and their table, if any."""
    models = {name: one for name, one in data.model_scores.items() if name != CHANCE}
    cells = pd.DataFrame({"model": [*models]}, dtype=object)
    texts = [
        ", ".join(f"{name}={value!r}" for name, value in one.parameters.items())
        for one in models.values()
    ]
    if any(texts):
        cells["parameters"] = [text or "-" for text in texts]
    lead = "The parameters of each model."
    if costs is not None:
        cells = cells.join(costs, on="model").fillna("-")
        lead = "Parameters, the seconds of all folds together, and the highest use of memory."
    numeric = [] if costs is None else [*costs]
    table = ShownTable("Parameters and costs of the models", cells, numeric=numeric)
    return lead, [table] if len(cells.columns) > 1 else []


def _draw_trade_off(data: ComparedModels) -> list[Charts]:
    """Return the chart of two metrics, if there are two metrics and three models."""
    first, *others = data.metrics
    if not others or len(data.models) < 3:
        return []
    by_metric, family = data.by_metric, first.partition("@")[0]
    beyond = [one for one in others if by_metric[one].metric.needs]
    choices = [
        # accuracy against what it may cost: novelty, coverage, diversity
        *(one for one in beyond if not by_metric[one].metric.needs_threshold),
        # what the two verdicts are about
        *(one for one in others if by_metric[one].ranked != by_metric[first].ranked),
        # another metric shows more than the same metric at another cutoff
        *(one for one in others if one.partition("@")[0] != family),
        *others,
    ]
    return draw_charts(partial(plot_trade_off, data, first, choices[0], None))


# Users


def _build_users_section(data: ComparedModels, a: str, b: str) -> Section:
    """Return the section of users, the greatest difference between two models first.

    Parameters
    ----------
    data : ComparedModels
        The models.
    a, b : str
        The two models whose lists and differences are shown; b is the better one.
    """
    result = data.first_metric_comparison
    score, column = result.scores_of(b), result.models.index(b)
    difference = score - result.scores_of(a)
    ranked = [result.models[column] for column in result.columns_by_mean]
    columns = [name for name in ranked if name in (*ranked[:_MAX_COLUMNS], a, b)]
    difference_heading = f"{shorten(b, _MAX_HEADING)} minus {shorten(a, _MAX_HEADING)}"
    return build_user_section(
        data.first_model,
        f"the difference between {b} and {a} in {result.name}, the greatest first",
        key=np.abs(difference),
        tie_breaker=result.sign * score,
        # the worst order is not kept: a list is trivial if its best order is no better than chance
        trivial=result.sign * (result.best - result.chance)[:, column] <= 0,
        columns=[
            *((name, result.scores_of(name), format_number) for name in columns),
            (difference_heading, difference, format_signed),
        ],
        build_lists=partial(_build_list_pairs, data, a, b),
        row_content="both models' lists and the best order",
        selection_note=f"the greatest differences between {b} and {a}. comparison.per_user has all "
        "users.",
    )


def _build_list_pairs(data: ComparedModels, a: str, b: str, users: Positions) -> UserLists | None:
    """Return both models' lists of some users, if both models have lists."""
    lists_of_models = []
    for name in (b, a):
        report = data.model_scores[name].report
        if report is None:
            return None
        positions = report._data.scores.positions_of(data.users)[users]
        lists_of_models.append(build_user_lists(report._data.audit, positions, name))
    first, second = lists_of_models
    if first is None or second is None:
        return None
    sides = {b: first.sides[b], a: second.sides[a], **first.sides}
    return UserLists(sides, first.weights)


# The Python code


def write_comparison_code(data: ComparedModels) -> str:
    """Return Python code that gives the same numbers: one call per convention."""
    if data.code is not None:
        return data.code
    first, inputs = data.first_model, dict(data.inputs)
    models = {name: one for name, one in data.model_scores.items() if name != CHANCE}
    files = {name: one.report._data.inputs if one.report else {} for name, one in models.items()}
    columns = {one.get("columns", "") for one in files.values() if "report" not in one}
    signatures: Any = first.signatures.values()
    calls, options = write_call_arguments(signatures), ""
    has_folds = len(first.run_means) > 1
    if has_folds:  # they were measured before they were compared
        calls, signatures = [f"metrics={data.metrics!r}"], ()
    elif any("report" in one for one in files.values()) or len(columns) > 1:
        options, signatures = calls[0], signatures if columns else ()
        calls = [f"metrics={data.metrics!r}"]
    elif columns != {""}:
        calls = [f"columns={columns.pop()}, {one}" for one in calls]
    arguments, needed = _write_test_arguments(data)
    lines = []
    for n, (name, one) in enumerate(files.items(), 1):
        inputs = {**one, **inputs}
        source = one.get("data", f"{'folds' if has_folds else 'predictions'}_{n}")
        if not (one.keys() & {"data", "report"} or has_folds):
            needed.append(source)
        if options:  # models are read in different ways
            source = write_evaluation(source, one, options)
        lines.append(f"    {name!r}: {one.get('report', source)},")
    comment = [f"# {_FOLDS}"] if has_folds else []
    before = [*comment, *write_inputs(needed, inputs, signatures), "models = {", *lines, "}"]
    calls = [f"rn.compare({', '.join(['models', one, *arguments])})" for one in calls]
    return write_code("comparison", calls, before)


def _write_test_arguments(data: ComparedModels) -> tuple[list[str], list[str]]:
    """Return the arguments of tests and segments, and the names of the inputs that they need."""
    options = {"baseline": data.baseline, "margin": data.margin, **vars(data.testing)}
    first = next(name for name in data.models if name != CHANCE)
    defaults = {"baseline": first, "margin": None, **vars(Testing())}
    arguments = [f"{name}={value!r}" for name, value in options.items() if value != defaults[name]]
    if data.segment_of_user is None:
        return arguments, []
    name = data.segment_of_user.name  # built-in segments have a name, others a table
    by = repr(name) if name in BUILT_IN_GROUPS else data.inputs.get("by", "segments")
    needed = ["segments"] if by == "segments" else []
    needs_train = name in {"cold", "training_ratings"}
    if needs_train or (name == "activity" and "train" in data.inputs):
        arguments, needed = [*arguments, "train=train"], ["train"]
    return [*arguments, f"by={by}"], needed
