"""Source: prepared lists with all choices made, ready to be measured in one order or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.preparation import prepared
from recsys_ndcg.scoring import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.convention import Convention
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.ranked_lists import RankedLists


@dataclass(frozen=True, eq=False)
class Source:
    """What a report was computed from.

    Parameters
    ----------
    lists : RankedLists
        As the convention prepared them.
    metrics : sequence of Metric
        What is measured.
    convention : Convention
        How.
    threshold : float, optional
        From which grade an item is relevant.
    n_rows, n_unlabelled : int
        Rows, and rows without a true value, before unlabelled items were filtered.
    """

    lists: RankedLists
    metrics: Sequence[Metric]
    convention: Convention
    threshold: float | None
    n_rows: int
    n_unlabelled: int

    @classmethod
    def of(
        cls,
        lists: RankedLists,
        metrics: Sequence[Metric],
        convention: Convention,
        threshold: float | None,
    ) -> Source:
        """Prepare lists and keep how many rows there were."""
        ready = prepared(
            lists,
            convention,
            threshold=threshold,
            gains_matter=any(metric.uses_gains for metric in metrics),
        )
        n_unlabelled = int(np.isnan(lists.true).sum())
        return cls(ready, metrics, convention, threshold, len(lists.true), n_unlabelled)

    def measured(self, ties: str | None = None, *, blind: bool = False) -> Measured:
        """Return the scores under the convention's rule for ties, or under another.

        With `blind`, all estimates of a list count as equal: ``expected``, ``worst`` and
        ``best`` are then random order and the two extremes.
        """
        convention = self.convention if ties is None else self.convention.replace(ties=ties)
        return measure(self.lists, self.metrics, convention, threshold=self.threshold, blind=blind)
