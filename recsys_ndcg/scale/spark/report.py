"""The report of a Spark DataFrame: the users stay on the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recsys_ndcg.lazy import lazy
from recsys_ndcg.report.audits.summed import SummedAudit
from recsys_ndcg.report.report import Report
from recsys_ndcg.scale.spark.table import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.report.audits.tally import Tally

#: Spark's median holds each distinct value. Of more users it looks at those alone that its sketch,
#: which is off by one in ten thousand users at most, leaves in question.
_MANY = 1_000_000
_NEAR = "0.4995D, 0.5005D"
_WHERE = "Their scores are in per_user, a Spark DataFrame."


class SparkAudit(SummedAudit):
    """What stands beside scores that are on the cluster.

    Parameters
    ----------
    tally : Tally
        Of all users.
    per_user : DataFrame
        Of Spark: the scores.
    """

    def __init__(self, tally: Tally, per_user: Any) -> None:
        super().__init__(tally, None, _WHERE)
        self._per_user = per_user

    @lazy
    def median(self) -> Floats:
        """The median of the scores by metric, exact."""
        columns = [quoted(name) for name in self.totals.names]
        if self.n_users > _MANY:
            near = self._found(f"percentile_approx({one}, array({_NEAR}))" for one in columns)
            columns = [_within(*both) for both in zip(columns, near, strict=True)]
        found = self._found(f"percentile({one}, 0.5D)" for one in columns)
        return np.array([np.nan if one is None else one for one in found], dtype=np.float64)

    def _found(self, wanted: Iterable[str]) -> Any:
        """Return the row of some SQL about all users."""
        return self._per_user.selectExpr(*wanted).collect()[0]


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

    @property
    def per_user(self) -> Any:
        """Scores by user, a Spark DataFrame."""
        return self.audited._per_user  # type: ignore[attr-defined] # noqa: SLF001

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
