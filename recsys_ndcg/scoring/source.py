"""Source: prepared lists with all choices made, ready to be measured in one order or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.lists.preparation import prepared
from recsys_ndcg.scoring.measuring import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists
    from recsys_ndcg.metrics import Metric


@dataclass(frozen=True, eq=False)
class Source:
    """What a report was computed from.

    Parameters
    ----------
    given : RankedLists
        As they came in.
    lists : RankedLists
        As the convention prepared them.
    metrics : sequence of Metric
        What is measured.
    convention : Convention
        How.
    threshold : float, optional
        From which grade an item is relevant.
    """

    given: RankedLists
    lists: RankedLists
    metrics: Sequence[Metric]
    convention: Convention
    threshold: float | None

    @classmethod
    def of(
        cls,
        lists: RankedLists,
        metrics: Sequence[Metric],
        convention: Convention,
        threshold: float | None,
    ) -> Source:
        """Prepare lists."""
        ready = prepared(
            lists,
            convention,
            threshold=threshold,
            gains_matter=any(metric.uses_gains for metric in metrics),
        )
        return cls(lists, ready, metrics, convention, threshold)

    @property
    def n_rows(self) -> int:
        """How many rows there are, before unlabelled items are filtered."""
        return int(self.given.n_items.sum())

    @property
    def n_unlabelled(self) -> int:
        """How many of these rows have no true value."""
        return self.given.n_unlabelled

    @property
    def top_grade(self) -> float:
        """The top of the scale: `max_grade`, or the highest grade there is or is relevant."""
        if self.convention.max_grade is not None:
            return self.convention.max_grade
        known = np.concatenate([self.given.true, self.given.unlisted_true])
        highest = float(np.nanmax(known))
        return highest if self.threshold is None else max(highest, self.threshold)

    def with_unlabelled_as(self, grade: float | None) -> Source:
        """Return the source as it were if the unlabelled items had this grade, or gain 0.

        Raises
        ------
        InvalidInputError
            The grade has no usable gain.
        """
        lists = self.given if grade is None else self.given.labelled_as(grade)
        undefined = "skip" if self.convention.undefined == "raise" else self.convention.undefined
        convention = self.convention.replace(unlabelled="zero", undefined=undefined)
        return Source.of(lists, self.metrics, convention, self.threshold)

    def measured(
        self, ties: str | None = None, *, blind: bool = False, tie_range: bool = True
    ) -> Measured:
        """Return the scores under the convention's rule for ties, or under another.

        With `blind`, all estimates of a list count as equal: ``expected``, ``worst`` and
        ``best`` are then random order and the two extremes. Without `tie_range` these extremes,
        which cost more, are not worked out.
        """
        convention = self.convention if ties is None else self.convention.replace(ties=ties)
        return measure(
            self.lists,
            self.metrics,
            convention,
            threshold=self.threshold,
            blind=blind,
            tie_range=tie_range,
        )
