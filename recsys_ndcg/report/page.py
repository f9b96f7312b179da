"""What only a page of a report has room for: charts, users one by one, and what was typed."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.errors import InvalidInputError, visible
from recsys_ndcg.input import written
from recsys_ndcg.rendering import (
    Code,
    Details,
    Document,
    Section,
    Sentences,
    ShownTable,
    UserLists,
    count,
    for_a_page,
    number,
    plot,
)
from recsys_ndcg.report.explanation import DEPTH, side_by_side
from recsys_ndcg.report.plotting import plotted
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring import Scores, Signature

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
    scores, remarks, how = brief.sections
    sections = [
        scores,
        replace(remarks, parts=[*remarks.parts, _counts(report)]),
        *spread(full.per_user[:, 0], full.roles["chance"][:, 0], report.metrics[0]),
        *by_cutoff(report),
        *_by_activity(report),
        _users(report),
        reproduced(how, evaluation_code(report.signatures.values()), command),
    ]
    return replace(brief, sections=sections)


def _counts(report: Report) -> Details:
    counts = [(name, f"{n:,}") for name, n in report.counts.items()]
    cells = pd.DataFrame(counts, columns=["count", "number"])
    return Details("The counts", [ShownTable("Users and rows", cells)])


# Charts


def spread(score: Floats, chance: Floats, metric: str, whose: str = "") -> list[Section]:
    """Return the section of the users' scores beside chance; nothing if nobody has one."""
    if np.isnan(score).all():
        return []
    chart = plot("users", pd.DataFrame({"score": score, "chance": chance}), metric)
    lead = f"{_SPREAD} {whose}".rstrip()
    return [Section("spread", "Users against chance", lead, [for_a_page(chart)])]


def by_cutoff(report: Report, whose: str = "") -> Iterator[Section]:
    """Give the section of the scores by cutoff; nothing if no metric has one, or nobody a score."""
    audited, said = report.audited, [_BY_CUTOFF, whose]
    if audited.lists is not None and audited.n_users > MEASURED:
        audited = audited.take(np.linspace(0, audited.n_users - 1, MEASURED).astype(np.int64))
        said.append(f"It is of {MEASURED:,} of the users, taken evenly from all.")
    with suppress(InvalidInputError):
        chart = plotted(audited, "k", None, str)
        yield Section(
            "cutoff", "Score by cutoff", " ".join(filter(None, said)), [for_a_page(chart)]
        )


def _by_activity(report: Report) -> Iterator[Section]:
    scores = report.audited.scores
    activity, score = scores.counts.activity, scores.per_user[:, 0]
    there = ~(np.isnan(activity) | np.isnan(score))
    if not there.any() or np.ptp(activity[there]) == 0:
        return
    frame = pd.DataFrame({"model": "the model", "activity": activity, "score": score})
    lower = not scores.measurements[0].metric.greater_is_better
    chart = plot("activity", frame, report.metrics[0], lower_is_better=lower)
    yield Section("activity", "Few and many ratings", _BY_ACTIVITY, [for_a_page(chart)])


# Users


def _users(report: Report) -> Section:
    """Return the section of the users."""
    scores = report.audited.full_scores
    score, z, trivial = scores.per_user[:, 0], scores.z[:, 0], scores.trivial[:, 0]
    sign = 1 if scores.measurements[0].metric.greater_is_better else -1
    places = both_ends(sign * score, sign * z, trivial, scores.counts.n_items)
    beside = {"chance": scores.roles["chance"][:, 0], "adjusted": scores.adjusted[:, 0], "z": z}
    columns = [
        (report.metrics[0], score),
        *((name, own) for name, own in beside.items() if not np.isnan(own[places]).all()),
        *zip(report.metrics[1:], scores.per_user.T[1:], strict=True),
    ]
    return user_section(
        report.metrics[0],
        scores,
        places,
        [(name, [number(one) for one in own[places].tolist()]) for name, own in columns],
        trivial=trivial[places],
        lists=side_by_side(report.audited, places),
        opened=f"the first {DEPTH} ranks beside the best order",
        rest=_rest(len(score), len(places)),
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
        Where all others are.
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
    lead = f"Sort by a heading, or search for an id. {opens} {rest}".rstrip()
    caption = f"Users by {whose}, the best first{last}"
    table = ShownTable(caption, cells, is_sortable=True, lists=lists)
    return Section("users", "User by user", lead, [table])


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
        some = told_apart if len(told_apart) >= MOST else some
    # of equal ones the longer list first: it is harder to order
    some = some[np.lexsort((-n_items[some], -then[some], -score[some], trivial[some]))]
    return some if len(some) <= MOST else np.concatenate([some[: MOST // 2], some[-MOST // 2 :]])


# How to get the same


def reproduced(how: Section, typed: str, command: str | None = None) -> Section:
    """Return the section of the signatures with what was typed, and the versions.

    Parameters
    ----------
    how : Section
        With the signatures.
    typed : str
        The lines of Python.
    command : str, optional
        The command line, if the page was made by one.
    """
    asked = [] if command is None else [Code("The command", [visible(command)])]
    python = Code("The same in Python", [visible(line) for line in typed.splitlines()])
    made = Sentences([f"Made with {_versions()}."])
    return replace(how, parts=[*asked, python, *how.parts, made])


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


def _versions() -> str:
    known = {
        "recsys_ndcg": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "pandas": pd.__version__,
        "SciPy": version("scipy"),
    }
    return ", ".join(f"{name} {number}" for name, number in known.items())
