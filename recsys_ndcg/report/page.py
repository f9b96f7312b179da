"""The HTML page of a report: charts, users with their lists, and the code that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
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
    plot,
    pluralise,
)
from recsys_ndcg.report.document import build_signatures_section
from recsys_ndcg.report.explanation import DEPTH, build_user_lists
from recsys_ndcg.scoring import (
    Measurement,
    Scores,
    Signature,
    find_metric_name,
    write_arguments,
)

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.report.report import Report

MAX_USERS = 1000  # on a page
_YOURS = "# a file, or a table: put yours here"
# users: for more, the plot by cutoff uses a sample, because measuring takes seconds
_MAX_MEASURED = 50_000
_BY_ACTIVITY = "The mean score of users with few ratings, and of users with many."
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


def build_report_page(report: Report, command: str | None = None) -> Document:
    """Return the document of a report with everything that a page has room for.

    `command`: the command line that made the page, if there was one.
    """
    document, scores = report._document(with_verdict=True), report._data.audit.scores_with_orders
    score_section, remarks, _ = document.sections
    signatures = report.signatures
    rows = [(name, f"{n:,}") for name, n in report.counts.items()]
    cells = pd.DataFrame(rows, columns=["count", "number"])
    counts = Section.folded("The counts", [ShownTable("Users and rows", cells)])
    of_users: list[Section] = []
    if report._data.metrics_of_users:  # the first of them, as numbers of all lists have no users
        column = report.metrics.index(report._data.metrics_of_users[0])
        own, chance = scores.per_user[:, column], scores.roles["chance"][:, column]
        of_users = [
            *build_chance_section(own, chance, report.metrics[column]),
            *build_cutoff_section(report),
            *_build_activity_section(report, column),
            _build_user_section(report, column),
        ]
    sections = [
        score_section,
        replace(remarks, parts=[*remarks.parts, counts]),
        *(of_users or build_cutoff_section(report)),
        build_signatures_section(signatures, write_evaluation_code(report), command),
    ]
    return replace(document, sections=sections)


# Charts


def build_chance_section(
    score: Floats, chance: Floats, metric: str, note: str = ""
) -> list[Section]:
    """Return the section of the distribution of scores and chance, or nothing without scores.

    `note`: a sentence to add to the lead.
    """
    if np.isnan(score).all():
        return []
    chart = plot("users", pd.DataFrame({"score": score, "chance": chance}), metric)
    lead = f"{_DISTRIBUTION} {note}".rstrip()
    return [Section("spread", "Users against chance", lead, [Charts(chart)])]


def build_cutoff_section(report: Report, note: str = "") -> Iterator[Section]:
    """Yield the section of the scores by cutoff, or nothing without cutoffs or scores.

    `note`: a sentence to add to the lead.
    """
    audit, lead = report._data.audit, f"{_BY_CUTOFF} {note}".rstrip()
    if audit.lists is not None and audit.n_users > _MAX_MEASURED:
        sample = np.linspace(0, audit.n_users - 1, _MAX_MEASURED).astype(np.int64)
        report = replace(report, _data=replace(report._data, audit=audit.take(sample)))
        lead += f" It is of a sample of {_MAX_MEASURED:,} users."
    with suppress(InvalidInputError):
        chart = plot_report(report)
        yield Section("cutoff", "Score by cutoff", lead, [Charts(chart)])


def _build_activity_section(report: Report, column: int) -> Iterator[Section]:
    scores = report._data.audit.scores
    activity, score = scores.counts.activity, scores.per_user[:, column]
    is_known = ~(np.isnan(activity) | np.isnan(score))
    if not is_known.any() or np.ptp(activity[is_known]) == 0:
        return
    frame = pd.DataFrame({"model": "the model", "activity": activity, "score": score})
    one = scores.measurements[column]
    options = {"lower_is_better": not one.metric.greater_is_better, "bounded": one.is_bounded}
    chart = plot("activity", frame, report.metrics[column], **options)
    yield Section("activity", "Few and many ratings", _BY_ACTIVITY, [Charts(chart)])


def plot_report(
    report: Report, kind: str = "k", metric: str | None = None
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
        return plot(kind, _measure_cutoffs(report, _group_cutoffs_by_metric(report, metric)))
    scores = report._data.audit.scores_with_orders
    column = report._data.find_column_of_users(metric)
    name = scores.names[column]
    _check_scored(report, [name])
    columns = {"score": scores.per_user[:, column], "chance": scores.roles["chance"][:, column]}
    return plot(kind, pd.DataFrame(columns), name)


def _measure_cutoffs(report: Report, families: dict[str, list[Measurement]]) -> pd.DataFrame:
    """Return mean, interval and chance of each metric at each cutoff.

    A metric with a single cutoff is measured at smaller ones, too, if the report has lists.
    """
    _check_scored(report, [str(one) for family in families.values() for one in family])
    audit, table = report._data.audit, _summarise_by_cutoff(report)
    if audit.lists is not None:
        single = {name: family[0] for name, family in families.items() if len(family) == 1}
        smaller = {name: _list_smaller_cutoffs(measurement) for name, measurement in single.items()}
        if any(smaller.values()):
            audit = audit.measure_others(tuple(chain(*smaller.values())))
            more = replace(report, _data=replace(report._data, audit=audit))
            table = pd.concat([table, _summarise_by_cutoff(more)])
        families = {name: [*family, *smaller.get(name, [])] for name, family in families.items()}
    parts = [table.loc[[*map(str, each)]].assign(metric=name) for name, each in families.items()]
    return pd.concat(parts, ignore_index=True).astype({"k": int})


def _summarise_by_cutoff(report: Report) -> pd.DataFrame:
    table = report.summary[["mean", "ci_low", "ci_high", "chance"]]
    ks: list[Any] = [one.metric.k for one in report._data.audit.measurements]
    table = table.assign(k=ks).set_axis(report._data.audit.totals.names)
    return table.rename(columns={"ci_low": "low", "ci_high": "high"})


def _group_cutoffs_by_metric(report: Report, metric: str | None) -> dict[str, list[Measurement]]:
    """Return the measurements with a cutoff, of all metrics or one, by name without cutoff."""
    by_name = {str(one): one for one in report._data.scores.measurements}
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


def _check_scored(report: Report, names: list[str]) -> None:
    """Raise if no user has a score in any of these metrics."""
    scored = dict(zip(report._data.scores.names, report._data.scores.n_scored, strict=True))
    if not any(scored[name] for name in names):
        msg = f"No user has a score in {', '.join(names)}: there is nothing to plot."
        raise InvalidInputError(msg)


# Users


def _build_user_section(report: Report, column: int) -> Section:
    """Return the section of the users, by z in a metric, or by score if it has no z."""
    scores, name = report._data.audit.scores_with_orders, report.metrics[column]
    score, z = scores.per_user[:, column], scores.z[:, column]
    trivial = scores.trivial[:, column]
    sign = 1 if scores.measurements[column].metric.greater_is_better else -1
    has_z = bool(np.isfinite(z).any())
    key, n_items = sign * (z if has_z else score), scores.counts.n_items
    positions = _select_users(key, sign * score, trivial, n_items)
    audit = report.per_user_audit(name).iloc[positions]
    others = [one for one in report._data.metrics_of_users if one != name]
    columns = [
        (name, audit["score"]),
        *((one, audit[one]) for one in ("chance", "adjusted", "z") if audit[one].notna().any()),
        *((one, scores.per_user[positions, report.metrics.index(one)]) for one in others),
    ]
    return build_user_section(
        f"{f'z in {name}' if has_z else name}, the best first",
        scores,
        positions,
        [(heading, [*map(format_number, values)]) for heading, values in columns],
        trivial=trivial[positions],
        lists=build_user_lists(report._data.audit, positions),
        row_content=f"the first {DEPTH} ranks next to the best order",
        selection_note=_SELECTION,
        sorted_column=("z" if has_z else name) if sign > 0 else None,
    )


def build_user_section(  # noqa: PLR0913 - the contents of the section
    sorted_by: str,
    scores: Scores,
    positions: Positions,
    columns: Iterable[tuple[str, list[str]]],
    *,
    trivial: Flags,
    lists: UserLists | None,
    row_content: str,
    selection_note: str,
    sorted_column: str | None = None,
) -> Section:
    """Return the section of the users, a row per user.

    Parameters
    ----------
    sorted_by : str
        What the users are sorted by.
    scores : Scores
        The scores of all users, with the counts of their lists.
    positions : int64 array
        The positions of the shown users, in order.
    columns : iterable of pairs
        Headings, which may be equal, each with a text for each user.
    trivial : bool array
        Whether every order of the user's list has the same score; these users come last.
    lists : UserLists, optional
        The users' lists, if there are any.
    row_content : str
        What a row shows when it is opened.
    selection_note : str
        Which users are shown if not all are, and where to find the others.
    sorted_column : str, optional
        The heading of the column in whose order the users are, the highest first, if there is one.
    """
    n_items, n_relevant = scores.counts.n_items[positions], scores.counts.n_relevant[positions]
    first_columns = {
        "user": [format_id(one) for one in scores.users[positions].tolist()],
        "items": [str(one) for one in n_items.tolist()],
    }
    if not np.isnan(n_relevant).any():
        first_columns["relevant"] = [f"{one:.0f}" for one in n_relevant.tolist()]
    cells = pd.DataFrame(first_columns, dtype=object)  # pandas' string type rejects lone surrogates
    for name, texts in columns:
        cells.insert(len(cells.columns), name, texts, allow_duplicates=True)
    n_trivial = int(trivial.sum())
    last = f"; last, {pluralise(n_trivial)} whose score does not depend on the order"
    hint = _NO_LISTS if lists is None else f"Open a user to see {row_content}."
    lead = f"Sort by a heading, or search for an id. {hint}"
    if len(positions) < len(scores.users):
        lead += f" Of {len(scores.users):,} users, {len(positions):,} are shown: {selection_note}"
    caption = f"Users by {sorted_by}{last if n_trivial else ''}"
    place = None if sorted_column is None else [*cells].index(sorted_column)
    table = ShownTable(caption, cells, is_sortable=True, sorted_by=place, lists=lists)
    return Section("users", "User by user", lead, [table])


def _select_users(
    key: Floats, tie_breaker: Floats, trivial: Flags, n_items: Positions
) -> Positions:
    """Return the positions of the best and the worst users, at most `MAX_USERS`, the best first.

    Trivial users come last, if there is room for them.
    """
    # among equal users the longer list comes first: it is harder to order
    users = np.lexsort((-n_items, -tie_breaker, -key, trivial))
    n_informative, half = int(np.sum(~np.isnan(key) & ~trivial)), MAX_USERS // 2
    if n_informative <= MAX_USERS:
        return users[:MAX_USERS]
    return np.concatenate([users[:half], users[n_informative - half : n_informative]])


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


def write_evaluation_code(report: Report) -> str:
    """Return Python code that gives the same numbers: one call per convention."""
    inputs, signatures = report._data.inputs, report.signatures.values()
    if "report" in inputs:
        return "\n".join(["import recsys_ndcg as rn", "", f"report = {inputs['report']}"])
    columns = f"columns={inputs['columns']}, " if "columns" in inputs else ""
    calls = [
        f"report{f'_{n}' if n > 1 else ''} = rn.evaluate(data, {columns}{options})"
        for n, options in enumerate(write_call_arguments(signatures), 1)
    ]
    lines = write_inputs(["data"], inputs, signatures)
    return "\n".join(["import recsys_ndcg as rn", "", *lines, *calls])


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
