"""What only a page of a report has room for: charts, users one by one, and what was typed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.input.ids import written
from recsys_ndcg.rendering.document import Code, Details, Section, Sentences, ShownTable, UserTable
from recsys_ndcg.rendering.page.charts import for_a_page
from recsys_ndcg.rendering.page.lists import packed, sides_in_order
from recsys_ndcg.rendering.plots import score_by_activity, users_against_chance
from recsys_ndcg.rendering.wording import count, number
from recsys_ndcg.report.document import report_document
from recsys_ndcg.report.explanation import DEPTH, side_by_side
from recsys_ndcg.report.plotting import plotted
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recsys_ndcg.arrays import Flags, Floats, Ids, Positions
    from recsys_ndcg.rendering.document import Document
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring.scores import ListCounts
    from recsys_ndcg.scoring.signatures import Signature

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
    brief, full = report_document(report, answer=True), report.audited.full_scores
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
    chart = users_against_chance(pd.DataFrame({"score": score, "chance": chance}), metric)
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
    chart = score_by_activity(frame, report.metrics[0], lower_is_better=lower)
    yield Section("activity", "Few and many ratings", _BY_ACTIVITY, [for_a_page(chart)])


# Users


def _users(report: Report) -> Section:
    """Return the section of the users."""
    scores = report.audited.full_scores
    ids, counts = scores.users, scores.counts
    sign = 1 if scores.measurements[0].metric.greater_is_better else -1
    score, z = scores.per_user[:, 0], scores.z[:, 0]
    places = both_ends(sign * score, sign * z, scores.trivial[:, 0], counts.n_items)
    columns = {
        "chance": scores.roles["chance"][places, 0],
        "adjusted": scores.adjusted[places, 0],
        "z": z[places],
    }
    first, *others = report.metrics
    cells = pd.DataFrame(
        {
            **named(ids, counts, places),
            first: numbers(score[places]),
            **{
                name: numbers(values)
                for name, values in columns.items()
                if not np.isnan(values).all()
            },
        }
    )
    for place, name in enumerate(others, 1):
        cells.insert(
            len(cells.columns),
            name,
            numbers(scores.per_user[places, place]),
            allow_duplicates=True,
        )
    lists = side_by_side(report.audited, places)
    shown = None
    if lists is not None:
        sides = {"the model's list": lists.own, "the best order": lists.ideal}
        shown = packed([*sides], lists.weights.tolist(), sides_in_order(sides))
    opens = f"the first {DEPTH} ranks beside the best order" if shown else None
    lead = leading(opens, _rest(len(ids), len(places)))
    table = ShownTable(f"Users by {first}, the best first{last(scores.trivial[places, 0])}", cells)
    return Section("users", "User by user", lead, [UserTable(table, shown)])


def last(trivial: Flags) -> str:
    """Return who stands at the end, if anybody is trivial."""
    n_last = int(trivial.sum())
    return f"; last {count(n_last)} for whom every order scores the same" if n_last else ""


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
        if len(told_apart) >= MOST:
            some = _outer(score, told_apart)
    # of equal ones the longer list first: it is harder to order
    some = some[np.lexsort((-n_items[some], -then[some], -score[some], trivial[some]))]
    return some if len(some) <= MOST else np.concatenate([some[: MOST // 2], some[-MOST // 2 :]])


def _outer(score: Floats, some: Positions) -> Positions:
    """Return those that may be among the best or the worst: all others need no sorting."""
    half = MOST // 2
    low, high = np.partition(score[some], [half - 1, len(some) - half])[[half - 1, -half]]
    found: Positions = some[(score[some] <= low) | (score[some] >= high)]
    return found


def named(users: Ids, counts: ListCounts, places: Positions) -> dict[str, list[str]]:
    """Return who the users are, and what there is in their lists."""
    relevant = counts.n_relevant[places]
    told_of = not np.isnan(relevant).any()
    known = {"relevant": [f"{one:.0f}" for one in relevant.tolist()]} if told_of else {}
    return {
        "user": [written(one) for one in users[places].tolist()],
        "items": [str(one) for one in counts.n_items[places].tolist()],
        **known,
    }


def numbers(values: Floats) -> list[str]:
    """Return numbers as text."""
    return [number(value) for value in values.tolist()]


def leading(opens: str | None, rest: str) -> str:
    """Return how the users are read: what one sees of each, and where the others are."""
    found = f"Open a user to see {opens}." if opens else _NO_LISTS
    return f"Sort by a heading, or search for an id. {found} {rest}".rstrip()


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


def _versions() -> str:
    known = {
        "recsys_ndcg": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "pandas": pd.__version__,
        "SciPy": version("scipy"),
    }
    return ", ".join(f"{name} {number}" for name, number in known.items())


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
        alike.setdefault(how_typed(one), []).append(one.metric)
    return [f"metrics={names!r}{_uncut(names)}{how}" for how, names in alike.items()]


def _uncut(names: list[str]) -> str:
    """Return what keeps names without a cutoff from taking the usual one."""
    return "" if all("@" in name for name in names) else ", k=None"


def how_typed(signature: Signature) -> str:
    """Return the threshold and the choices that are not the usual ones."""
    threshold = signature.fields["threshold"]
    told = "" if threshold is None else f", threshold={threshold!r}"
    changed = _changed(signature)
    choices = ", ".join(f"{name}={value}" for name, value in changed.items())
    return f"{told}, convention=rn.Convention({choices})" if changed else told


def _changed(signature: Signature) -> dict[str, str]:
    usual, texts = Convention.default_texts(), Convention.texts_of(signature.text)[1]
    try:
        values: dict[str, Any] = vars(signature.convention)
    except InvalidInputError:  # a function of somebody's own
        values = {name: value for name, value in signature.fields.items() if name in usual}
    return {
        name: _written(values[name])
        for name, text in usual.items()
        if name in texts and texts[name] != text
    }


def _written(value: Any) -> str:
    if isinstance(value, str) and value.startswith("callable("):
        name = value.removeprefix("callable(").rpartition("#")[0]
        return name if name.isidentifier() else "..."
    return repr(dict(value) if isinstance(value, Mapping) else value)


def evaluation_code(signatures: Iterable[Signature]) -> str:
    """Return the lines of Python that measure the same of the same data."""
    calls = [f"report = rn.evaluate(data, {one})" for one in options(signatures)]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
