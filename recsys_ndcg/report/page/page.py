"""The page of a report: what it holds, in which order, and how each part is to be read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.rendering.page.assembling import assembled
from recsys_ndcg.rendering.page.charts import charts
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Code, Fold, Page, Section, Sentences, Table
from recsys_ndcg.rendering.table import audit_cells, cells, rows_line, signature_texts
from recsys_ndcg.rendering.writing import write_whole
from recsys_ndcg.report.page.reproducing import evaluating, versions
from recsys_ndcg.report.page.users import users_of
from recsys_ndcg.report.page.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recsys_ndcg.rendering.page.parts import Part
    from recsys_ndcg.rendering.view import Shown, Signing
    from recsys_ndcg.report.report import Report

_SPREAD = (
    "The bars count users by their score; the outline is what random order of the same lists "
    "would give. The further apart the two are, the more the model knows."
)
_BY_K = "The mean score at each cutoff, with its interval; the dashed line is random order."
_ACTIVITY = "The mean score of users with few ratings and of those with many."
_SCORES = (
    "The mean over users with the half width of its interval; chance is random order of the same "
    "lists, and adjusted how far the score goes from there to their best order."
)
_AUDIT = "What makes these numbers say less than they seem to."
_HOW = "The complete choices behind every number, and what has to be typed for the same ones."


def write(report: Report, path: str | Path | None, command: str | None = None) -> str:
    """Return the page of a report, and write it if a path is given.

    Parameters
    ----------
    report : Report
        Any.
    path : str or Path, optional
        The file.
    command : str, optional
        What was typed to make it, if that was a command line.

    Raises
    ------
    MissingExtraError
        What the extra `report` brings is not installed.
    InvalidInputError
        The file cannot be written.
    """
    page = assembled(page_of(report, command))
    if path is not None:
        write_whole(path, page)
    return page


def page_of(report: Report, command: str | None = None) -> Page:
    """Return what the page of a report holds."""
    names = report.metrics
    sections = [
        Section("scores", "Scores", _SCORES, [shortened_table(report)]),
        *_audited(report),
        *_spread(report),
        *_by_cutoff(report),
        *_by_activity(report),
        users_of(report),
        Section("how", "How this was computed", _HOW, _how(report, command)),
    ]
    return Page(
        title="Ranking evaluation",
        verdict=shortened(verdict(report), names),
        facts=rows_line(report),
        sections=sections,
    )


def shortened_table(report: Shown) -> Table:
    """Return the summary, in which no name is without end."""
    table = cells(report)
    table["metric"] = table["metric"].map(told)
    return Table("The scores, by metric", table.rename(columns=told))


def _audited(report: Report) -> Iterator[Section]:
    audit = audit_cells(report)
    table = Table("What each score is to be read against", audit.rename(columns=told))
    counts = pd.DataFrame(
        [(told(name), f"{count:,}") for name, count in report.counts.items() if count],
        columns=["count", "number"],
    )
    folds = [
        Fold("The whole audit", [table]),
        Fold("The counts", [Table("Users and rows", counts)]),
    ]
    lines = [shortened(line, report.metrics) for line in report.remarks]
    said: list[Part] = [Sentences(lines)] if lines else []
    lead = _AUDIT if lines else "Nothing was found that makes these numbers mislead."
    yield Section("audit", "Before you trust them", lead, [*said, *folds])


def _spread(report: Report) -> Iterator[Section]:
    with suppress(InvalidInputError):  # nobody has a score
        yield Section("spread", "Users against chance", _SPREAD, charts(report.plot("users")))


def _by_cutoff(report: Report) -> Iterator[Section]:
    with suppress(InvalidInputError):  # no metric has a cutoff
        yield Section("cutoff", "Score by cutoff", _BY_K, charts(report.plot("k")))


def _by_activity(report: Report) -> Iterator[Section]:
    from recsys_ndcg.rendering.plots import score_by_activity  # noqa: PLC0415 - rarely needed

    scores = report.scores
    activity, score = scores.counts.activity, scores.per_user[:, 0]
    there = ~np.isnan(activity) & ~np.isnan(score)
    if not there.any() or np.ptp(activity[there]) == 0:
        return
    frame = pd.DataFrame({"model": "this model", "activity": activity, "score": score})
    lower = not scores.measurements[0].metric.greater_is_better
    chart = score_by_activity(frame, report.metrics[0], lower_is_better=lower)
    yield Section("activity", "Few and many ratings", _ACTIVITY, charts(chart))


def _how(report: Report, command: str | None) -> list[Part]:
    typed = evaluating(report.signatures.values()) if command is None else command
    return [Code("The command", shortened(typed, report.metrics)), *signed(report)]


def signed(signing: Signing) -> list[Part]:
    """Return the signatures, and the versions."""
    texts = "\n".join(shortened(one, signing.metrics) for one in signature_texts(signing))
    return [Code("The signatures", texts), Sentences([f"Made with {versions()}."])]
