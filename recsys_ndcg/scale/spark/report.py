"""The report of a Spark DataFrame: the users stay on the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recsys_ndcg.report.report import Report
from recsys_ndcg.scale.spark.table import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.scale.partial_report import PartialReport
    from recsys_ndcg.scoring.plan import Plan

#: Spark's median holds each distinct value. Of more users it looks at those alone that its sketch,
#: which is off by one in ten thousand users at most, leaves in question.
_MANY = 1_000_000
_NEAR = "0.4995D, 0.5005D"
_WHERE = "Their scores are in per_user, a Spark DataFrame."


def median_of(per_user: Any, names: list[str], n_users: int) -> Floats:
    """Return the exact median of each metric over so many users, whose scores Spark has."""

    def found(wanted: Iterable[str]) -> Any:
        return per_user.selectExpr(*wanted).collect()[0]

    columns = [quoted(name) for name in names]
    if n_users > _MANY:
        near = found(f"percentile_approx({one}, array({_NEAR}))" for one in columns)
        columns = [_within(*both) for both in zip(columns, near, strict=True)]
    medians = found(f"percentile({one}, 0.5D)" for one in columns)
    return np.array([np.nan if one is None else one for one in medians], dtype=np.float64)


def _within(column: str, bounds: list[float] | None) -> str:
    """Return the SQL of a column whose values end at bounds: those beyond count as the bound."""
    if bounds is None:
        return column
    low, high = (f"{bound!r}D" for bound in bounds)
    return f"if({column} is null, null, greatest(least({column}, {high}), {low}))"


@dataclass(frozen=True, eq=False, repr=False)
class SparkReport(Report):
    """A report whose users stay on the cluster.

    It has the attributes of `Report` that sum up all users. What takes the users themselves
    (`take`, `by`, `leaderboard`, `explain`, `save`) is refused, and says where they are. As a
    context manager it gives the memory of the cluster back in the end.

    Attributes
    ----------
    per_user : pyspark.sql.DataFrame
        user, n_items, n_relevant, then a column per metric: NULL is undefined, and of n_relevant
        that nothing tells what is relevant. It is persisted, in no order, and not collected.
    """

    table: Any = None
    scores_on_cluster: Any = None

    @classmethod
    def of(cls, part: PartialReport, plan: Plan, per_user: Any, table: Any = None) -> Self:
        """Return the report of all users, whose scores are on the cluster."""
        totals = part.totals
        median = partial(median_of, per_user, totals.names, totals.users)
        report = part.report(plan, median, _WHERE)
        return cls(report.audited, table=table, scores_on_cluster=per_user)

    @property
    def per_user(self) -> Any:
        """Scores by user, a Spark DataFrame."""
        return self.scores_on_cluster

    def unpersist(self) -> None:
        """Give the memory back that the scores take on the cluster.

        Whatever is asked of `per_user` afterwards, the first time the median too, is measured anew.
        """
        self.table.unpersist()

    def __enter__(self) -> Self:
        """Return the report."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the memory back."""
        self.unpersist()
