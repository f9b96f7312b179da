"""Tally: what is left of a report when users are summed up; those of parts add up to the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.report.audits.audit import FROM_LISTS, share

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.report.audits.levels import LevelTotals
    from recsys_ndcg.report.audits.tie_range import TieRange
    from recsys_ndcg.scoring.totals import Means, Totals


@dataclass(frozen=True, eq=False)
class Tally:
    """What is left of scores, of other orders and of other labels when users are summed up.

    Parameters
    ----------
    facts : Facts
        What is known of the lists.
    totals : Totals
        Of the scores.
    levels : LevelTotals
        Of other orders of the same lists.
    ties : TieRange
        The scores with all ties in their extreme orders.
    labels : Means
        By metric, how much is labelled; then the scores if unlabelled items were irrelevant; then
        if they were of the top grade.
    highest : float
        The highest grade that was known of when they were measured; NaN if none was.
    """

    facts: Facts
    totals: Totals
    levels: LevelTotals
    ties: TieRange
    labels: Means
    highest: float = math.nan

    def __or__(self, other: Tally) -> Tally:
        """Return that of the users of both."""
        highest = float(np.fmax(self.highest, other.highest))
        mine, theirs = self.up_to(highest), other.up_to(highest)
        return Tally(
            mine.facts + theirs.facts,
            mine.totals + theirs.totals,
            mine.levels + theirs.levels,
            mine.ties + theirs.ties,
            mine.labels + theirs.labels,
            highest,
        )

    def up_to(self, highest: float) -> Tally:
        """Return the same where there are grades up to another one, at least as high.

        What unlabelled items would score if they were of the top grade was measured for a lower
        one: that number is not known any more, unless a convention or the threshold says it.
        """
        if highest == self.highest or math.isnan(highest) or not self.facts.unlabelled:
            return replace(self, highest=highest)
        settled = [
            one.convention.max_grade is not None
            or (one.threshold is not None and self.highest <= highest <= one.threshold)
            for one in self.totals.measurements
        ]
        known, top = np.split(self.labels.total, [2 * len(settled)])
        total = np.concatenate([known, np.where(settled, top, np.nan)])
        return replace(self, labels=replace(self.labels, total=total), highest=highest)

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns of the audit that take a look at the lists."""
        return from_lists(self.totals, self.ties, self.labels)


def from_lists(totals: Totals, ties: TieRange, labels: Means) -> pd.DataFrame:
    """Return the columns `FROM_LISTS`, a row per metric.

    Parameters
    ----------
    totals, ties, labels
        As in `Tally`.
    """
    known = [one.has_tie_range for one in totals.measurements]
    of_ties: list[Floats] = [ties.low.mean, ties.high.mean, share(ties.moved, totals.n_scored)]
    judged, zero, top = np.split(labels.mean, 3)
    others = [zero, top] if totals.unlabelled else [totals.mean, totals.mean]
    columns = [*(np.where(known, one, np.nan) for one in of_ties), judged, *others]
    return pd.DataFrame(dict(zip(FROM_LISTS, columns, strict=True)), index=totals.names)
