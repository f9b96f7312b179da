"""Sections that the pages of reports and of comparisons share."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.rendering.page.charts import for_a_page
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Section, Sentences, Table
from recsys_ndcg.rendering.table import audit_cells
from recsys_ndcg.report.plotting import plotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.rendering.page.parts import Part
    from recsys_ndcg.rendering.view import Shown
    from recsys_ndcg.report.page.view import Audited

MEASURED = 50_000  # users, of whom smaller cutoffs are measured for a page: more take seconds

_BY_CUTOFF = "The mean score of the first k items, with its interval; the dashed line is chance."
_AUDIT = "What makes these numbers say less than they seem to."
_NOTHING = "Nothing was found that makes these numbers say less than they seem to."
_SPREAD = (
    "The bars count users by their score; the dashed outline is what random order of the same "
    "lists would give. The further apart the two are, the more the order knows."
)


def audited(
    remarks: Sequence[str], names: Sequence[str], folds: Sequence[Part], more: str = ""
) -> Section:
    """Return the section of what a reader should know; `more` says where more of it is."""
    lines = [shortened(line, names) for line in remarks]
    said: list[Part] = [Sentences(lines)] if lines else []
    lead = f"{_AUDIT if lines else _NOTHING} {more}".rstrip()
    return Section("audit", "Before you trust it", lead, [*said, *folds])


def audit_table(report: Shown) -> Table:
    """Return the audit, a column per metric."""
    cells = audit_cells(report)
    return Table("What each score is to be read against", cells.rename(columns=told))


def spread(score: Floats, chance: Floats, metric: str, whose: str = "") -> list[Section]:
    """Return the section of the users' scores beside chance; nothing if nobody has one."""
    from recsys_ndcg.rendering.plots import users_against_chance  # noqa: PLC0415 - rarely needed

    if np.isnan(score).all():
        return []
    chart = users_against_chance(pd.DataFrame({"score": score, "chance": chance}), metric)
    lead = f"{_SPREAD} {whose}".rstrip()
    return [Section("spread", "Users against chance", lead, [for_a_page(chart)])]


def by_cutoff(report: Audited, whose: str = "") -> Iterator[Section]:
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
