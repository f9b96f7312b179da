"""The HTML page of a report: charts, users with their lists, and the code that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.background import SOURCES
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, check_choice
from recsys_ndcg.input import format_id
from recsys_ndcg.metrics import parse_metrics
from recsys_ndcg.rendering import (
    Charts,
    Document,
    Section,
    ShownTable,
    UserLists,
    format_number,
    plots,
    pluralise,
)
from recsys_ndcg.report.document import (
    build_report_document,
    build_signatures_section,
    fold_findings,
)
from recsys_ndcg.report.explanation import DEPTH, build_user_lists
from recsys_ndcg.scoring import Measurement, Scores, Signature, find_metric_name, write_arguments

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.report.data import ReportData

MAX_USERS = 1000  # on a page
# users: for more, the plot by cutoff uses a sample, because measuring takes seconds
_MAX_MEASURED = 50_000
_BY_ACTIVITY = "The mean score of users with few ratings, and of users with many."
_YOURS = "# a file, or a table: put yours here"
_BY_CUTOFF = "The mean score of the first k items, with its interval; the dashed line is chance."
_DISTRIBUTION = (
    "The bars count users by their score; the dashed outline is chance. "
    "The further the bars are to the right of the outline, the better the order."
)
_NO_LISTS = (
    "There are no lists to open. Possible reasons: a report was read from a file, is the mean of "
    "folds, keeps fewer ranks than the page shows or is larger than memory; its lists have no "
    "NDCG; or a model is chance."
)
# for k up to this a plot has every cutoff below k; for a larger k only round ones (1, 2, 5, 10, …)
_EVERY_CUTOFF = 5
_MAX_CUTOFFS = 8  # cutoffs below k that are measured for a plot
_ROUND = [first * 10**zeros for zeros in range(18) for first in (1, 2, 5)]
_SELECTION = (
    "the best and the worst of those who are not trivial, then, if there is room, the others. "
    "report.per_user has all users, and so has recsys-ndcg evaluate ... --per-user FILE."
)


def build_report_page(data: ReportData, command: str | None = None) -> Document:
    """Return the document of a report with everything that a page has room for.

    `command`: the command line that made the page, if there was one.
    """
    document = build_report_document(data, with_verdict=True)
    score_section, remarks, _ = document.sections
    rows = [(name, f"{n:,}") for name, n in data.counts.items()]
    cells = pd.DataFrame(rows, columns=["count", "number"])
    counts = Section.folded("The counts", [ShownTable("Users and rows", cells)])
    sections = [build_cutoff_section(data)]
    if data.metrics_of_users:  # the first of them, as numbers of all lists have no users
        scores, name = data.audit.scores_with_orders, data.metrics_of_users[0]
        column = data.metrics.index(name)
        own, chance = scores.per_user[:, column], scores.roles["chance"][:, column]
        sections = [
            build_chance_section(own, chance, name),
            *sections,
            _build_activity_section(data.scores, column),
            _build_user_section(data, column),
        ]
    every = fold_findings([*data.verdict, *data.remarks])
    remarks = replace(remarks, parts=[*remarks.parts, every, counts])
    how = build_signatures_section(data.audit.signatures, write_evaluation_code(data), command)
    return build_page(document, [score_section, remarks, *sections, how])


def build_page(document: Document, sections: Iterable[Section]) -> Document:
    """Return a document with the sections of its page, without those that have nothing to show."""
    return replace(document, sections=[one for one in sections if one.parts])


# Charts


def draw_charts(*draw: Callable[[], alt.TopLevelMixin]) -> list[Charts]:
    """Return charts for a page, except those that have no data."""
    charts: list[Charts] = []
    for one in draw:
        with suppress(InvalidInputError):
            charts.append(Charts(one()))
    return charts


def build_chance_section(score: Floats, chance: Floats, metric: str, note: str = "") -> Section:
    """Return the section of the distribution of scores and chance, empty without scores.

    `note`: a sentence to add to the lead.
    """
    table, lead = pd.DataFrame({"score": score, "chance": chance}), f"{_DISTRIBUTION} {note}"
    is_known = not np.isnan(score).all()
    charts = [Charts(plots.plot_users_against_chance(table, metric))] if is_known else []
    return Section("spread", "Users against chance", lead.rstrip(), charts)


def build_cutoff_section(data: ReportData, note: str = "") -> Section:
    """Return the section of the scores by cutoff, empty without cutoffs or scores.

    `note`: a sentence to add to the lead.
    """
    audit, lead = data.audit, f"{_BY_CUTOFF} {note}".rstrip()
    if audit.lists is not None and audit.n_users > _MAX_MEASURED:
        sample = np.linspace(0, audit.n_users - 1, _MAX_MEASURED).astype(np.int64)
        data = replace(data, audit=audit.take(sample))
        lead += f" It is of a sample of {_MAX_MEASURED:,} users."
    return Section("cutoff", "Score by cutoff", lead, draw_charts(partial(plot_report, data)))


def _build_activity_section(scores: Scores, column: int) -> Section:
    """Return the section of the scores by activity, empty if users do not differ in it."""
    activity, score = scores.counts.activity, scores.per_user[:, column]
    is_known = ~(np.isnan(activity) | np.isnan(score))
    charts, one = [], scores.measurements[column]
    if is_known.any() and np.ptp(activity[is_known]) > 0:
        chart = plot_activity({"the model": score}, activity, scores.names[column], one, 0.95)
        charts = [Charts(chart)]
    return Section("activity", "Few and many ratings", _BY_ACTIVITY, charts)


def plot_activity(
    scores: Mapping[str, Floats], activity: Floats, name: str, how: Measurement, level: float
) -> alt.LayerChart:
    """Return a chart of each model's scores by the users' activity; `name` is the metric's."""
    parts = [
        pd.DataFrame({"model": model, "activity": activity, "score": one})
        for model, one in scores.items()
    ]
    lower_is_better = not how.metric.greater_is_better
    options = {"lower_is_better": lower_is_better, "bounded": how.is_bounded}
    table = pd.concat(parts, ignore_index=True)
    return plots.plot_score_by_activity(table, name, level=level, **options)


def plot_report(
    data: ReportData, kind: str = "k", metric: str | None = None
) -> alt.LayerChart | alt.ConcatChart:
    """Return a chart of the means by cutoff ("k"), or of the users' scores ("users").

    Raises
    ------
    InvalidInputError
        There is no such kind or metric, or no user has a score.
    MissingExtraError
        Vega-Altair is not installed.
    """
    check_choice("kind", kind, ("k", "users"))
    if kind == "k":
        families = _group_cutoffs_by_metric(data, metric)
        return plots.plot_score_by_cutoff(_measure_cutoffs(data, families))
    scores = data.audit.scores_with_orders
    column = data.find_column_of_users(metric)
    name = scores.names[column]
    _check_scored(scores, [name])
    columns = {"score": scores.per_user[:, column], "chance": scores.roles["chance"][:, column]}
    return plots.plot_users_against_chance(pd.DataFrame(columns), name)


def _measure_cutoffs(data: ReportData, families: dict[str, list[Measurement]]) -> pd.DataFrame:
    """Return mean, interval and chance of each metric at each cutoff.

    A metric with a single cutoff is measured at smaller ones, too, if the report has lists.
    """
    _check_scored(data.scores, [str(one) for family in families.values() for one in family])
    audit, table = data.audit, _summarise_by_cutoff(data)
    if audit.lists is not None:
        single = {name: family for name, family in families.items() if len(family) == 1}
        smaller = {name: _list_smaller_cutoffs(*family) for name, family in single.items()}
        if any(smaller.values()):
            audit = audit.measure_others(tuple(chain(*smaller.values())))
            table = pd.concat([table, _summarise_by_cutoff(replace(data, audit=audit))])
        families = {name: [*family, *smaller.get(name, [])] for name, family in families.items()}
    parts = [table.loc[[*map(str, each)]].assign(metric=name) for name, each in families.items()]
    return pd.concat(parts, ignore_index=True).astype({"k": int})


def _summarise_by_cutoff(data: ReportData) -> pd.DataFrame:
    table = data.summary[["mean", "ci_low", "ci_high", "chance"]]
    table = table.rename(columns={"ci_low": "low", "ci_high": "high"})
    return table.assign(k=np.array([one.metric.k for one in data.audit.measurements]))


def _group_cutoffs_by_metric(data: ReportData, metric: str | None) -> dict[str, list[Measurement]]:
    """Return the measurements with a cutoff, of all metrics or one, by name without cutoff."""
    by_name = {str(one): one for one in data.scores.measurements}
    families: dict[str, list[Measurement]] = {}
    for name, measurement in by_name.items():
        if (k := measurement.metric.k) is not None:
            families.setdefault(name.removesuffix(f"@{k}"), []).append(measurement)
    if metric is None and families:
        return families
    if metric is not None:
        with suppress(InvalidInputError):
            metric = find_metric_name(metric, [*families], "This report")
        if metric not in families:
            metric = find_metric_name(metric, [*by_name], "This report")
            metric = metric.removesuffix(f"@{by_name[metric].metric.k}")
        if metric in families:
            return {metric: families[metric]}
    finding = f"{metric} has no cutoff" if metric else "No metric of this report has a cutoff"
    msg = f"{finding} to be plotted against: evaluate 'ndcg@10', for instance, or plot('users')."
    raise InvalidInputError(msg)


def _list_smaller_cutoffs(measurement: Measurement) -> list[Measurement]:
    """Return the same measurement at each smaller cutoff, or for a large k at round ones."""
    k = measurement.metric.k or 1
    ks = range(1, k) if k <= _EVERY_CUTOFF else [n for n in _ROUND if n < k]
    ks = ks[:: -(-len(ks) // _MAX_CUTOFFS)] if len(ks) > _MAX_CUTOFFS else ks
    # these cutoffs were not requested, so undefined scores are no error
    if measurement.convention.undefined == "raise":
        measurement = measurement.with_choices(undefined="skip")
    metric = measurement.metric
    return [replace(measurement, metric=replace(metric, k=n), short_below=n) for n in ks]


def _check_scored(scores: Scores, names: list[str]) -> None:
    """Raise if no user has a score in any of these metrics."""
    scored = dict(zip(scores.names, scores.n_scored, strict=True))
    if not any(scored[name] for name in names):
        msg = f"No user has a score in {', '.join(names)}: there is nothing to plot."
        raise InvalidInputError(msg)


# Users


def _build_user_section(data: ReportData, column: int) -> Section:
    """Return the section of the users, by z in a metric, or by score if it has no z."""
    scores, name = data.audit.scores_with_orders, data.metrics[column]
    score, z = scores.per_user[:, column], scores.z[:, column]
    sign = 1 if scores.measurements[column].metric.greater_is_better else -1
    has_z, audit = bool(np.isfinite(z).any()), data.audit_users(column)
    known = [one for one in ("chance", "adjusted", "z") if audit[one].notna().any()]
    others = [one for one in data.metrics_of_users if one != name]
    return build_user_section(
        scores,
        f"{f'z in {name}' if has_z else name}, the best first",
        key=sign * (z if has_z else score),
        tie_breaker=sign * score,
        trivial=scores.trivial[:, column],
        keep_worst=True,
        columns=[
            (name, score, format_number),
            *((one, audit[one].to_numpy(), format_number) for one in known),
            *((one, scores.per_user[:, data.metrics.index(one)], format_number) for one in others),
        ],
        build_lists=partial(build_user_lists, data.audit),
        row_content=f"the first {DEPTH} ranks next to the best order",
        selection_note=_SELECTION,
        sorted_column=("z" if has_z else name) if sign > 0 else None,
    )


def build_user_section(  # noqa: PLR0913 - the contents of the section
    scores: Scores,
    sorted_by: str,
    *,
    key: Floats,
    tie_breaker: Floats,
    trivial: Flags,
    keep_worst: bool = False,
    columns: Iterable[tuple[str, Floats, Callable[[float], str]]],
    build_lists: Callable[[Positions], UserLists | None],
    row_content: str,
    selection_note: str,
    sorted_column: str | None = None,
) -> Section:
    """Return the section of the users, a row per user, at most `MAX_USERS`.

    Parameters
    ----------
    scores : Scores
        The scores of all users, with the counts of their lists.
    sorted_by : str
        What the users are sorted by.
    key, tie_breaker : float64 arrays
        The number that sorts the users, the highest first, and the one that sorts equal users.
    trivial : bool array
        Whether every order of the user's list has the same score; these users come last, if there
        is room for them.
    keep_worst : bool
        Whether half of the users are those with the lowest key, if not all are shown.
    columns : iterable of tuples
        Headings, which may be equal, each with a number for each user and its format.
    build_lists : callable
        Returns the lists of the users at some positions, if there are any.
    row_content : str
        What a row shows when it is opened.
    selection_note : str
        Which users are shown if not all are, and where to find the others.
    sorted_column : str, optional
        The heading of the column in whose order the users are, the highest first, if there is one.
    """
    n_items = scores.counts.n_items
    # among equal users the longer list comes first: it is harder to order
    users = np.lexsort((-n_items, -tie_breaker, -key, trivial))
    n_informative, half = int(np.sum(~np.isnan(key) & ~trivial)), MAX_USERS // 2
    if keep_worst and n_informative > MAX_USERS:
        users = np.delete(users[:n_informative], np.s_[half:-half])
    users = users[:MAX_USERS]
    n_relevant, lists = scores.counts.n_relevant, build_lists(users)
    counts: list[Any] = [("user", scores.users, format_id), ("items", n_items, str)]
    if not np.isnan(n_relevant[users]).any():
        counts.append(("relevant", n_relevant, "{:.0f}".format))
    shown = [*counts, *columns]
    texts = [[*map(form, values[users].tolist())] for _, values, form in shown]
    # pandas' string type rejects lone surrogates
    cells = pd.DataFrame(zip(*texts, strict=True), columns=[one[0] for one in shown], dtype=object)
    n_trivial = int(trivial[users].sum())
    last = f"; last, {pluralise(n_trivial)} whose score does not depend on the order"
    hint = _NO_LISTS if lists is None else f"Open a user to see {row_content}."
    lead = f"Sort by a heading, or search for an id. {hint}"
    if len(users) < len(scores.users):
        lead += f" Of {len(scores.users):,} users, {len(users):,} are shown: {selection_note}"
    caption = f"Users by {sorted_by}{last if n_trivial else ''}"
    place = None if sorted_column is None else [*cells].index(sorted_column)
    table = ShownTable(caption, cells, is_sortable=True, sorted_by=place, lists=lists)
    return Section("users", "User by user", lead, [table])


# Code


def write_call_arguments(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments of the calls that measure these metrics, one per convention.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear, metrics="ndcg@5")
    >>> write_call_arguments(report.signatures.values())
    ["metrics=['ndcg@5'], convention=rn.Convention(gain='linear')"]
    """
    by_options: dict[str, list[Signature]] = {}
    for signature in signatures:
        by_options.setdefault(write_arguments(signature), []).append(signature)
    calls = []
    for options, group in by_options.items():
        names = [one.metric for one in group]
        given = "".join(f", {name}={name}" for name in _list_sources(group))
        # without k=None, names without a cutoff would get the default one
        k_argument = "" if all("@" in name for name in names) else ", k=None"
        calls.append(f"metrics={names!r}{k_argument}{options}{given}")
    return calls


def _list_sources(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments that some metric needs besides the lists, such as ``"train"``."""
    needed: set[str] = set()
    for one in signatures:
        with suppress(RecsysNdcgError):  # a metric or a choice of the user's own is not known
            (metric,) = parse_metrics(one.metric)
            needed |= metric.find_sources(one.convention)
    return sorted(needed & SOURCES.keys())


def write_evaluation_code(data: ReportData) -> str:
    """Return Python code that gives the same numbers: one call per convention."""
    inputs, signatures = data.inputs, data.audit.signatures.values()
    if "report" in inputs:
        return write_code("report", [inputs["report"]])
    calls = [write_evaluation("data", inputs, one) for one in write_call_arguments(signatures)]
    return write_code("report", calls, write_inputs(["data"], inputs, signatures))


def write_evaluation(data: str, inputs: Mapping[str, str], arguments: str) -> str:
    """Return the call that evaluates some data, or that loads the saved report."""
    columns = f"columns={inputs['columns']}, " if "columns" in inputs else ""
    return inputs.get("report", f"rn.evaluate({data}, {columns}{arguments})")


def write_code(name: str, calls: Iterable[str], before: Iterable[str] = ()) -> str:
    """Return lines of Python, and a variable for each call; further ones have a number.

    Examples
    --------
    >>> print(write_code("report", ["rn.evaluate(data)", "rn.evaluate(data, k=5)"], ["data = 1"]))
    import recsys_ndcg as rn
    <BLANKLINE>
    data = 1
    report = rn.evaluate(data)
    report_2 = rn.evaluate(data, k=5)
    """
    results = [f"{name}{f'_{n}' if n > 1 else ''} = {one}" for n, one in enumerate(calls, 1)]
    return "\n".join(["import recsys_ndcg as rn", "", *before, *results])


def write_inputs(
    names: Iterable[str], inputs: Mapping[str, str], signatures: Iterable[Signature] = ()
) -> list[str]:
    """Return a line of Python for each input; of what was in memory, the file is not known.

    `signatures`: of the metrics, which may need further inputs.

    Examples
    --------
    >>> write_inputs(["data", "train"], {"train": "'train.csv'"})
    ["data = 'predictions.csv'  # a file, or a table: put yours here", "train = 'train.csv'"]
    """
    lines = []
    for name in dict.fromkeys([*names, *_list_sources(signatures)]):
        guess = f"'{'predictions' if name == 'data' else name}.csv'  {_YOURS}"
        lines.append(f"{name} = {inputs.get(name, guess)}")
    return lines
