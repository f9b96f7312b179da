"""Tally: what is left of a report when users are summed up; those of parts add up to the whole."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.report.audits.audit import FROM_LISTS, share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.metrics.metric import Metric
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
    """

    facts: Facts
    totals: Totals
    levels: LevelTotals
    ties: TieRange
    labels: Means

    def __or__(self, other: Tally) -> Tally:
        """Return that of the users of both."""
        return Tally(
            self.facts | other.facts,
            *(
                getattr(self, one.name) + getattr(other, one.name)
                for one in fields(self)
                if one.name != "facts"
            ),
        )

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
    told = obeys([one.metric for one in totals.measurements])
    of_ties: list[Floats] = [ties.low.mean, ties.high.mean, share(ties.moved, totals.n_scored)]
    judged, zero, top = np.split(labels.mean, 3)
    others = [zero, top] if totals.unlabelled else [totals.mean, totals.mean]
    columns = [*(np.where(told, one, np.nan) for one in of_ties), judged, *others]
    return pd.DataFrame(dict(zip(FROM_LISTS, columns, strict=True)), index=totals.names)


def obeys(metrics: Iterable[Metric]) -> list[bool]:
    """Tell which metrics break ties as they are told, and have an order known to be best."""
    return [one.own_ties is None and one.best_first for one in metrics]
