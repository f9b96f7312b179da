"""The HTML page of a report: charts, users with their lists, and the code that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, check_choice
from recsys_ndcg.input import format_id
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
from recsys_ndcg.scoring import Measurement, Scores, Signature, find_metric_name

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.report.report import Report

MAX_USERS = 1000  # on a page
_MAX_MEASURED = 50_000  # users, for whom a page measures smaller cutoffs: more take seconds
_BY_ACTIVITY = "The mean score of users with few ratings, and of users with many."
_BY_CUTOFF = "The mean score of the first k items, with its interval; the dashed line is chance."
_DISTRIBUTION = (
    "The bars count users by their score; the dashed outline is random order of the same lists. "
    "The further apart the two are, the better the order."
)
_NO_LISTS = (
    "There are no lists to open: the report was read from a file, is the mean of folds, or has "
    "fewer ranks."
)
_EVERY_CUTOFF = 5  # up to here a plot has every cutoff; beyond, only round ones
_MAX_CUTOFFS = 8  # that are measured for a plot
_ROUND = [first * 10**zeros for zeros in range(18) for first in (1, 2, 5)]
_REST = (
    f"the {MAX_USERS // 2} best and the {MAX_USERS // 2} worst, without trivial users. "
    "report.per_user has all users, and so has recsys-ndcg evaluate ... --per-user FILE."
)


def build_report_page(report: Report, command: str | None = None) -> Document:
    """Return the document of a report with everything that a page has room for.

    `command`: the command line that made the page, if there was one.
    """
    brief, full = report.document(answer=True), report.audited.scores_with_orders
    scores, remarks, _ = brief.sections
    signatures = report.signatures.values()
    rows = [(name, f"{n:,}") for name, n in report.counts.items()]
    cells = pd.DataFrame(rows, columns=["count", "number"])
    counts = Section.folded("The counts", [ShownTable("Users and rows", cells)])
    sections = [
        scores,
        replace(remarks, parts=[*remarks.parts, counts]),
        *build_chance_section(full.per_user[:, 0], full.roles["chance"][:, 0], report.metrics[0]),
        *build_cutoff_section(report),
        *_build_activity_section(report),
        _build_user_section(report),
        build_signatures_section(signatures, write_evaluation_code(signatures), command),
    ]
    return replace(brief, sections=sections)


# Charts


def build_chance_section(
    score: Floats, chance: Floats, metric: str, whose: str = ""
) -> list[Section]:
    """Return the section of the distribution of scores and chance, or nothing without scores."""
    if np.isnan(score).all():
        return []
    chart = plot("users", pd.DataFrame({"score": score, "chance": chance}), metric)
    lead = f"{_DISTRIBUTION} {whose}".rstrip()
    return [Section("spread", "Users against chance", lead, [Charts(chart)])]


def build_cutoff_section(report: Report, whose: str = "") -> Iterator[Section]:
    """Yield the section of the scores by cutoff, or nothing without cutoffs or scores."""
    audited, lead = report.audited, f"{_BY_CUTOFF} {whose}".rstrip()
    if audited.lists is not None and audited.n_users > _MAX_MEASURED:
        some = np.linspace(0, audited.n_users - 1, _MAX_MEASURED).astype(np.int64)
        report = replace(report, audited=audited.take(some))
        lead += f" It is of a sample of {_MAX_MEASURED:,} users."
    with suppress(InvalidInputError):
        chart = plot_report(report)
        yield Section("cutoff", "Score by cutoff", lead, [Charts(chart)])


def _build_activity_section(report: Report) -> Iterator[Section]:
    scores = report.audited.scores
    activity, score = scores.counts.activity, scores.per_user[:, 0]
    there = ~(np.isnan(activity) | np.isnan(score))
    if not there.any() or np.ptp(activity[there]) == 0:
        return
    frame = pd.DataFrame({"model": "the model", "activity": activity, "score": score})
    lower = not scores.measurements[0].metric.greater_is_better
    chart = plot("activity", frame, report.metrics[0], lower_is_better=lower)
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
        return plot(kind, _measure_cutoffs(report, _group_by_cutoff(report, metric)))
    scores = report.audited.scores_with_orders
    name = (
        scores.names[0] if metric is None else find_metric_name(metric, scores.names, "This report")
    )
    _check_scored(report, [name])
    place = scores.names.index(name)
    columns = {"score": scores.per_user[:, place], "chance": scores.roles["chance"][:, place]}
    return plot(kind, pd.DataFrame(columns), name)


def _measure_cutoffs(report: Report, families: dict[str, list[Measurement]]) -> pd.DataFrame:
    """Return mean, interval and chance of each metric at each cutoff.

    A metric with a single cutoff is measured at smaller ones, too, if the report has lists.
    """
    _check_scored(report, [str(one) for some in families.values() for one in some])
    audited, table = report.audited, _summarise_by_cutoff(report)
    if audited.lists is not None:
        fewer = {name: _reduce_k(some[0]) for name, some in families.items() if len(some) == 1}
        if any(fewer.values()):
            more = replace(report, audited=audited.measure_again(tuple(chain(*fewer.values()))))
            table = pd.concat([table, _summarise_by_cutoff(more)])
        families = {name: [*some, *fewer.get(name, [])] for name, some in families.items()}
    parts = [table.loc[[*map(str, some)]].assign(metric=name) for name, some in families.items()]
    return pd.concat(parts, ignore_index=True).astype({"k": int})


def _summarise_by_cutoff(report: Report) -> pd.DataFrame:
    table = report.summary[["mean", "ci_low", "ci_high", "chance"]]
    ks: list[Any] = [one.metric.k for one in report.audited.measurements]
    table = table.assign(k=ks).set_axis(report.audited.totals.names)
    return table.rename(columns={"ci_low": "low", "ci_high": "high"})


def _group_by_cutoff(report: Report, metric: str | None) -> dict[str, list[Measurement]]:
    """Return the measurements with a cutoff, of all metrics or one, by their names without it."""
    named = {str(one): one for one in report.scores.measurements}
    families: dict[str, list[Measurement]] = {}
    for name, one in named.items():
        if one.metric.k is not None:
            families.setdefault(name.removesuffix(f"@{one.metric.k}"), []).append(one)
    if metric is None and families:
        return families
    if metric is not None:
        with suppress(InvalidInputError):
            metric = find_metric_name(metric, [*families], "This report")
        if metric not in families:
            metric = find_metric_name(metric, [*named], "This report")
            metric = metric.removesuffix(f"@{named[metric].metric.k}")
        if metric in families:
            return {metric: families[metric]}
    what = f"{metric} has no cutoff" if metric else "No metric of this report has a cutoff"
    msg = f"{what} to be plotted against: evaluate 'ndcg@10', for instance, or plot('users')."
    raise InvalidInputError(msg)


def _reduce_k(one: Measurement) -> list[Measurement]:
    """Return the measurement at smaller, round cutoffs."""
    k = one.metric.k or 1
    ks = range(1, k) if k <= _EVERY_CUTOFF else [n for n in _ROUND if n < k]
    ks = ks[:: -(-len(ks) // _MAX_CUTOFFS)] if len(ks) > _MAX_CUTOFFS else ks
    # these cutoffs were not requested, so undefined scores are no error
    rule = "skip" if one.convention.undefined == "raise" else one.convention.undefined
    one = one.with_choices(undefined=rule)
    return [replace(one, metric=replace(one.metric, k=n), short_below=n) for n in ks]


def _check_scored(report: Report, names: list[str]) -> None:
    """Raise if no user has a score in any of these metrics."""
    scored = dict(zip(report.scores.names, report.scores.n_scored, strict=True))
    if not any(scored[name] for name in names):
        msg = f"No user has a score in {', '.join(names)}: there is nothing to plot."
        raise InvalidInputError(msg)


# Users


def _build_user_section(report: Report) -> Section:
    """Return the section of the users, in the order of the first metric."""
    scores = report.audited.scores_with_orders
    score, z, trivial = scores.per_user[:, 0], scores.z[:, 0], scores.trivial[:, 0]
    sign = 1 if scores.measurements[0].metric.greater_is_better else -1
    places = select_users(sign * score, sign * z, trivial, scores.counts.n_items)
    audit = report.per_user_audit(report.metrics[0]).iloc[places]
    columns = [
        (report.metrics[0], audit["score"]),
        *((name, audit[name]) for name in ("chance", "adjusted", "z") if audit[name].notna().any()),
        *zip(report.metrics[1:], scores.per_user[places].T[1:], strict=True),
    ]
    return build_user_section(
        report.metrics[0],
        scores,
        places,
        [(name, [*map(format_number, own)]) for name, own in columns],
        trivial=trivial[places],
        lists=build_user_lists(report.audited, places),
        opened=f"the first {DEPTH} ranks next to the best order",
        rest=_REST,
    )


def build_user_section(  # noqa: PLR0913 - the contents of the section
    whose: str,
    scores: Scores,
    places: Positions,
    columns: Iterable[tuple[str, list[str]]],
    *,
    trivial: Flags,
    lists: UserLists | None,
    opened: str,
    rest: str,
) -> Section:
    """Return the section of the users, a row per user.

    Parameters
    ----------
    whose : str
        What the users are ordered by.
    scores : Scores
        The scores of all users, with the counts of their lists.
    places : int64 array
        The places of the users who are shown, in order.
    columns : iterable of pairs
        Headings, which may be equal, each with a text for each user.
    trivial : bool array
        Whether every order of the user's list has the same score; these users come last.
    lists : UserLists, optional
        The users' lists, if there are any.
    opened : str
        What an opened row shows.
    rest : str
        Which users are shown if not all are, and where to find the others.
    """
    n_items, n_relevant = scores.counts.n_items[places], scores.counts.n_relevant[places]
    who = {
        "user": [format_id(one) for one in scores.users[places].tolist()],
        "items": [str(one) for one in n_items.tolist()],
    }
    if not np.isnan(n_relevant).any():
        who["relevant"] = [f"{one:.0f}" for one in n_relevant.tolist()]
    cells = pd.DataFrame(who, dtype=object)  # pandas' string type rejects lone surrogates
    for name, texts in columns:
        cells.insert(len(cells.columns), name, texts, allow_duplicates=True)
    n_last = int(trivial.sum())
    last = f"; last, {pluralise(n_last)} whose score does not depend on the order" if n_last else ""
    opens = _NO_LISTS if lists is None else f"Open a user to see {opened}."
    lead = f"Sort by a heading, or search for an id. {opens}"
    if len(places) < len(scores.users):
        lead += f" Of {len(scores.users):,} users these are {rest}"
    caption = f"Users by {whose}, the best first{last}"
    table = ShownTable(caption, cells, is_sortable=True, lists=lists)
    return Section("users", "User by user", lead, [table])


def select_users(score: Floats, then: Floats, trivial: Flags, n_items: Positions) -> Positions:
    """Return the places of the best and the worst users, at most `MAX_USERS`, the best first.

    Trivial users come last, and are left out if there are too many users.
    """
    n_users = len(score)
    some = np.arange(n_users)
    if n_users > MAX_USERS:
        informative = np.flatnonzero(~np.isnan(score) & ~trivial)
        some = informative if len(informative) >= MAX_USERS else some
    # among equal users the longer list comes first: it is harder to order
    some = some[np.lexsort((-n_items[some], -then[some], -score[some], trivial[some]))]
    half = MAX_USERS // 2
    return some if len(some) <= MAX_USERS else np.concatenate([some[:half], some[-half:]])


# Code


def format_options(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments of the calls that measure these metrics, one per convention.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear, metrics="ndcg@5")
    >>> format_options(report.signatures.values())
    ["metrics=['ndcg@5'], convention=rn.Convention(gain='linear')"]
    """
    alike: dict[str, list[str]] = {}
    for one in signatures:
        alike.setdefault(one.as_arguments, []).append(one.metric)
    calls = []
    for how, names in alike.items():
        # otherwise names without a cutoff would get the default one
        uncut = "" if all("@" in name for name in names) else ", k=None"
        calls.append(f"metrics={names!r}{uncut}{how}")
    return calls


def write_evaluation_code(signatures: Iterable[Signature]) -> str:
    """Return the Python code that gives the same report of the same data."""
    calls = [f"report = rn.evaluate(data, {one})" for one in format_options(signatures)]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
