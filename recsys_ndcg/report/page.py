"""What only a page of a report has room for: charts, users one by one, and what was typed."""

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
from recsys_ndcg.input import written
from recsys_ndcg.rendering import (
    Charts,
    Document,
    Section,
    ShownTable,
    UserLists,
    count,
    number,
    plot,
)
from recsys_ndcg.report.document import signatures_section
from recsys_ndcg.report.explanation import DEPTH, side_by_side
from recsys_ndcg.scoring import Measurement, Scores, Signature, metric_among

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.report.report import Report

MEASURED = 50_000  # users, of whom smaller cutoffs are measured for a page: more take seconds
MOST = 1000  # users on a page
_BY_ACTIVITY = "The mean score of users with few ratings, and of those with many."
_BY_CUTOFF = "The mean score of the first k items, with its interval; the dashed line is chance."
_SPREAD = (
    "The bars count users by their score; the dashed outline is what random order of the same "
    "lists would give. The further apart the two are, the more the order knows."
)
_NO_LISTS = (
    "There are no lists to open: this was read from a file, averaged over folds, or keeps fewer "
    "ranks."
)
_FEW = 5  # up to here, each cutoff is measured for a plot; beyond, round ones
_MOST = 8  # cutoffs that are measured for a plot
_ROUND = [first * 10**zeros for zeros in range(18) for first in (1, 2, 5)]
_REST = (
    f"the {MOST // 2} best and the {MOST // 2} worst, without those for whom every order scores "
    "the same: report.per_user has them all, and so has recsys-ndcg evaluate ... --per-user FILE."
)


def report_page(report: Report, command: str | None = None) -> Document:
    """Return the document of a report with all that a page has room for.

    Parameters
    ----------
    report : Report
        Any.
    command : str, optional
        What was typed to make it, if that was a command line.
    """
    brief, full = report.document(answer=True), report.audited.full_scores
    scores, remarks, _ = brief.sections
    signatures = report.signatures.values()
    rows = [(name, f"{n:,}") for name, n in report.counts.items()]
    cells = pd.DataFrame(rows, columns=["count", "number"])
    counts = Section.folded("The counts", [ShownTable("Users and rows", cells)])
    sections = [
        scores,
        replace(remarks, parts=[*remarks.parts, counts]),
        *spread(full.per_user[:, 0], full.roles["chance"][:, 0], report.metrics[0]),
        *by_cutoff(report),
        *_by_activity(report),
        _users(report),
        signatures_section(signatures, evaluation_code(signatures), command),
    ]
    return replace(brief, sections=sections)


# Charts


def spread(score: Floats, chance: Floats, metric: str, whose: str = "") -> list[Section]:
    """Return the section of the users' scores beside chance; nothing if nobody has one."""
    if np.isnan(score).all():
        return []
    chart = plot("users", pd.DataFrame({"score": score, "chance": chance}), metric)
    lead = f"{_SPREAD} {whose}".rstrip()
    return [Section("spread", "Users against chance", lead, [Charts(chart)])]


def by_cutoff(report: Report, whose: str = "") -> Iterator[Section]:
    """Give the section of the scores by cutoff; nothing if no metric has one, or nobody a score."""
    audited, lead = report.audited, f"{_BY_CUTOFF} {whose}".rstrip()
    if audited.lists is not None and audited.n_users > MEASURED:
        some = np.linspace(0, audited.n_users - 1, MEASURED).astype(np.int64)
        report = replace(report, audited=audited.take(some))
        lead += f" It is of {MEASURED:,} of the users, taken evenly from all."
    with suppress(InvalidInputError):
        chart = plotted(report)
        yield Section("cutoff", "Score by cutoff", lead, [Charts(chart)])


def _by_activity(report: Report) -> Iterator[Section]:
    scores = report.audited.scores
    activity, score = scores.counts.activity, scores.per_user[:, 0]
    there = ~(np.isnan(activity) | np.isnan(score))
    if not there.any() or np.ptp(activity[there]) == 0:
        return
    frame = pd.DataFrame({"model": "the model", "activity": activity, "score": score})
    lower = not scores.measurements[0].metric.greater_is_better
    chart = plot("activity", frame, report.metrics[0], lower_is_better=lower)
    yield Section("activity", "Few and many ratings", _BY_ACTIVITY, [Charts(chart)])


def plotted(
    report: Report, kind: str = "k", metric: str | None = None
) -> alt.LayerChart | alt.ConcatChart:
    """Return a plot of one kind, of one metric or of those that a plot of that kind can show.

    Parameters
    ----------
    report : Report
        Any.
    kind : {'k', 'users'}
        Of the means by cutoff, or of the users' scores.
    metric : str, optional
        As somebody typed it.

    Raises
    ------
    InvalidInputError
        There is no such kind or metric, or nobody has a score.
    MissingExtraError
        Vega-Altair is not installed.
    """
    check_choice("kind", kind, ("k", "users"))
    if kind == "k":
        return plot(kind, _means_by_cutoff(report, _families(report, metric)))
    scores = report.audited.full_scores
    name = scores.names[0] if metric is None else metric_among(metric, scores.names, "This report")
    _check_scored(report, [name])
    place = scores.names.index(name)
    columns = {"score": scores.per_user[:, place], "chance": scores.roles["chance"][:, place]}
    return plot(kind, pd.DataFrame(columns), name)


def _means_by_cutoff(report: Report, families: dict[str, list[Measurement]]) -> pd.DataFrame:
    """Return mean, interval and chance of each family at each cutoff.

    One that has a single cutoff is measured at smaller ones, too, where the lists are at hand.
    """
    _check_scored(report, [str(one) for some in families.values() for one in some])
    audited, told = report.audited, _told(report)
    if audited.lists is not None:
        fewer = {name: _smaller(some[0]) for name, some in families.items() if len(some) == 1}
        if any(fewer.values()):
            more = replace(report, audited=audited.measured_by(tuple(chain(*fewer.values()))))
            told = pd.concat([told, _told(more)])
        families = {name: [*some, *fewer.get(name, [])] for name, some in families.items()}
    parts = [told.loc[[*map(str, some)]].assign(metric=name) for name, some in families.items()]
    return pd.concat(parts, ignore_index=True).astype({"k": int})


def _told(report: Report) -> pd.DataFrame:
    table = report.summary[["mean", "ci_low", "ci_high", "chance"]]
    ks: list[Any] = [one.metric.k for one in report.audited.measurements]
    table = table.assign(k=ks).set_axis(report.audited.totals.names)
    return table.rename(columns={"ci_low": "low", "ci_high": "high"})


def _families(report: Report, metric: str | None) -> dict[str, list[Measurement]]:
    """Return the measurements with a cutoff by their name without it: all, or those of a metric."""
    named = {str(one): one for one in report.scores.measurements}
    families: dict[str, list[Measurement]] = {}
    for name, one in named.items():
        if one.metric.k is not None:
            families.setdefault(name.removesuffix(f"@{one.metric.k}"), []).append(one)
    if metric is None and families:
        return families
    if metric is not None:
        with suppress(InvalidInputError):
            metric = metric_among(metric, [*families], "This report")
        if metric not in families:
            metric = metric_among(metric, [*named], "This report")
            metric = metric.removesuffix(f"@{named[metric].metric.k}")
        if metric in families:
            return {metric: families[metric]}
    what = f"{metric} has no cutoff" if metric else "No metric of this report has a cutoff"
    msg = f"{what} to be plotted against: evaluate 'ndcg@10', for instance, or plot('users')."
    raise InvalidInputError(msg)


def _smaller(one: Measurement) -> list[Measurement]:
    """Return a measurement at smaller, round cutoffs."""
    k = one.metric.k or 1
    ks = range(1, k) if k <= _FEW else [n for n in _ROUND if n < k]
    ks = ks[:: -(-len(ks) // _MOST)] if len(ks) > _MOST else ks
    # what is undefined there was not asked for, and is left out
    rule = "skip" if one.convention.undefined == "raise" else one.convention.undefined
    one = one.under(undefined=rule)
    return [replace(one, metric=replace(one.metric, k=n), short_below=n) for n in ks]


def _check_scored(report: Report, names: list[str]) -> None:
    """Refuse to plot what no user has."""
    scored = dict(zip(report.scores.names, report.scores.n_scored, strict=True))
    if not any(scored[name] for name in names):
        msg = f"Nobody has a score in {', '.join(names)}: there is nothing to plot."
        raise InvalidInputError(msg)


# Users


def _users(report: Report) -> Section:
    """Return the section of the users."""
    scores = report.audited.full_scores
    score, z, trivial = scores.per_user[:, 0], scores.z[:, 0], scores.trivial[:, 0]
    sign = 1 if scores.measurements[0].metric.greater_is_better else -1
    places = both_ends(sign * score, sign * z, trivial, scores.counts.n_items)
    audit = report.per_user_audit(report.metrics[0]).iloc[places]
    columns = [
        (report.metrics[0], audit["score"]),
        *((name, audit[name]) for name in ("chance", "adjusted", "z") if audit[name].notna().any()),
        *zip(report.metrics[1:], scores.per_user[places].T[1:], strict=True),
    ]
    return user_section(
        report.metrics[0],
        scores,
        places,
        [(name, [*map(number, own)]) for name, own in columns],
        trivial=trivial[places],
        lists=side_by_side(report.audited, places),
        opened=f"the first {DEPTH} ranks beside the best order",
        rest=_REST,
    )


def user_section(  # noqa: PLR0913 - all that stands in it
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
    """Return the section of the users, a row each.

    Parameters
    ----------
    whose : str
        By what they are in order.
    scores : Scores
        Of all users, with what there is to count in their lists.
    places : int64 array
        Where those who are shown stand in them, in order.
    columns : iterable of pairs
        Headings, of which two may be the same, with a text for each user.
    trivial : bool array
        For whom every order scores the same: those stand last.
    lists : UserLists, optional
        Their lists, if they are at hand.
    opened : str
        What one sees of a user who is opened, if so.
    rest : str
        Which these are where they are not all, and where all are.
    """
    n_items, n_relevant = scores.counts.n_items[places], scores.counts.n_relevant[places]
    who = {
        "user": [written(one) for one in scores.users[places].tolist()],
        "items": [str(one) for one in n_items.tolist()],
    }
    if not np.isnan(n_relevant).any():
        who["relevant"] = [f"{one:.0f}" for one in n_relevant.tolist()]
    cells = pd.DataFrame(who, dtype=object)  # a string type refuses half a character
    for name, texts in columns:
        cells.insert(len(cells.columns), name, texts, allow_duplicates=True)
    n_last = int(trivial.sum())
    last = f"; last {count(n_last)} for whom every order scores the same" if n_last else ""
    opens = _NO_LISTS if lists is None else f"Open a user to see {opened}."
    lead = f"Sort by a heading, or search for an id. {opens}"
    if len(places) < len(scores.users):
        lead += f" Of {len(scores.users):,} users these are {rest}"
    caption = f"Users by {whose}, the best first{last}"
    table = ShownTable(caption, cells, is_sortable=True, lists=lists)
    return Section("users", "User by user", lead, [table])


def both_ends(score: Floats, then: Floats, trivial: Flags, n_items: Positions) -> Positions:
    """Return the places of the users, the best first; of too many, the best and the worst.

    Those for whom every order scores the same show nothing: they are last, and of too many left
    out.
    """
    n_users = len(score)
    some = np.arange(n_users)
    if n_users > MOST:
        told_apart = np.flatnonzero(~np.isnan(score) & ~trivial)
        some = told_apart if len(told_apart) >= MOST else some
    # of equal ones the longer list first: it is harder to order
    some = some[np.lexsort((-n_items[some], -then[some], -score[some], trivial[some]))]
    return some if len(some) <= MOST else np.concatenate([some[: MOST // 2], some[-MOST // 2 :]])


# How to get the same


def options(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments of each call that measures these metrics: one where that will do.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear, metrics="ndcg@5")
    >>> options(report.signatures.values())
    ["metrics=['ndcg@5'], convention=rn.Convention(gain='linear')"]
    """
    alike: dict[str, list[str]] = {}
    for one in signatures:
        alike.setdefault(one.typed, []).append(one.metric)
    calls = []
    for how, names in alike.items():
        # or names without a cutoff would take the usual one
        uncut = "" if all("@" in name for name in names) else ", k=None"
        calls.append(f"metrics={names!r}{uncut}{how}")
    return calls


def evaluation_code(signatures: Iterable[Signature]) -> str:
    """Return the lines of Python that measure the same of the same data."""
    calls = [f"report = rn.evaluate(data, {one})" for one in options(signatures)]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
