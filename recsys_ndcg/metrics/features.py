"""OfColumn: a metric that reads a column of the features, and what it checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from recsys_ndcg.background import Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.metric import Metric
from recsys_ndcg.metrics.requirements import Requirement


@dataclass(frozen=True)
class OfColumn(Metric):
    """A metric that reads a column of the features: by default categories or sets.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    """

    #: The kinds of columns that it can read.
    kinds: ClassVar[tuple[str, ...]] = ("category", "set")

    column: str = ""  # type: ignore[misc] # a field here, a class attribute in Metric

    def get_feature(self, lists: GroupedLists) -> Feature:
        """Return the column."""
        return lists.get_background().get_feature(self.column)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: the column, with entries of the recommended items."""
        own = [Requirement("column", self.kinds), Requirement("entries", "rows")]
        return [*super().list_requirements(convention), *own]
