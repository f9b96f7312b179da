"""The page of a report: what it holds, in which order, and how each part is to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.rendering.page.assembling import written
from recsys_ndcg.rendering.page.charts import for_a_page
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Fold, Page, Section, Table
from recsys_ndcg.rendering.table import cells, rows_line
from recsys_ndcg.report.page.parts import audit_table, audited, by_cutoff, spread
from recsys_ndcg.report.page.reproducing import evaluating
from recsys_ndcg.report.page.signing import signing
from recsys_ndcg.report.page.users import users_of
from recsys_ndcg.report.page.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recsys_ndcg.report.page.view import Audited

_SCORES = (
    "The mean over users with the half width of its interval; chance is random order of the same "
    "lists, and adjusted is how far the score goes from there to their best order."
)
_BY_ACTIVITY = "The mean score of users with few ratings, and of those with many."


def write(report: Audited, path: str | Path | None, command: str | None = None) -> str:
    """Return the page of a report, and write it if a path is given.

    Parameters
    ----------
    report : Audited
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
    return written(page_of(report, command), path)


def page_of(report: Audited, command: str | None = None) -> Page:
    """Return what the page of a report holds."""
    names, scores = report.metrics, report.audited.full_scores
    sections = [
        Section("scores", "Scores", _SCORES, [_scores(report)]),
        audited(report.remarks, names, _folds(report)),
        *spread(scores.per_user[:, 0], scores.roles["chance"][:, 0], names[0]),
        *by_cutoff(report),
        *_by_activity(report),
        users_of(report),
        signing(report, names, evaluating(report.signatures.values()), command),
    ]
    return Page(
        title="Ranking evaluation",
        verdict=shortened(verdict(report), names),
        facts=rows_line(report),
        sections=sections,
    )


def _scores(report: Audited) -> Table:
    table = cells(report)
    table["metric"] = table["metric"].map(told)
    return Table("The scores, by metric", table.rename(columns=told))


def _folds(report: Audited) -> list[Fold]:
    counts = pd.DataFrame(
        [(told(name), f"{count:,}") for name, count in report.counts.items()],
        columns=["count", "number"],
    )
    return [
        Fold("The whole audit", [audit_table(report)]),
        Fold("The counts", [Table("Users and rows", counts)]),
    ]


def _by_activity(report: Audited) -> Iterator[Section]:
    from recsys_ndcg.rendering.plots import score_by_activity  # noqa: PLC0415 - rarely needed

    scores = report.audited.scores
    activity, score = scores.counts.activity, scores.per_user[:, 0]
    there = ~(np.isnan(activity) | np.isnan(score))
    if not there.any() or np.ptp(activity[there]) == 0:
        return
    frame = pd.DataFrame({"model": "the model", "activity": activity, "score": score})
    lower = not scores.measurements[0].metric.greater_is_better
    chart = score_by_activity(frame, report.metrics[0], lower_is_better=lower)
    yield Section("activity", "Few and many ratings", _BY_ACTIVITY, [for_a_page(chart)])
