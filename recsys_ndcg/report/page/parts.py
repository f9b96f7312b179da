"""Sections that the pages of reports and of comparisons share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.rendering.page.charts import for_a_page
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Section, Sentences, Table
from recsys_ndcg.rendering.table import audit_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.rendering.page.parts import Part
    from recsys_ndcg.rendering.view import Shown

_AUDIT = "What makes these numbers say less than they seem to."
_NOTHING = "Nothing was found that makes these numbers say less than they seem to."
_SPREAD = (
    "The bars count users by their score; the dashed outline is what random order of the same "
    "lists would give. The further apart the two are, the more the order knows."
)


def audited(remarks: Sequence[str], names: Sequence[str], folds: Sequence[Part]) -> Section:
    """Return the section of what a reader should know before trusting the numbers."""
    lines = [shortened(line, names) for line in remarks]
    said: list[Part] = [Sentences(lines)] if lines else []
    return Section("audit", "Before you trust it", _AUDIT if lines else _NOTHING, [*said, *folds])


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
