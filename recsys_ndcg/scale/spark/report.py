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
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.report.audits.tally import Tally

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
        super().__init__(tally, np.full(len(tally.totals.measurements), np.nan), _WHERE)
        self._per_user = per_user

    @lazy
    def median(self) -> Floats:
        """The median of the scores by metric, exact: Spark counts how often each value occurs."""
        medians = [f"percentile({quoted(name)}, 0.5D)" for name in self.totals.names]
        found = self._per_user.selectExpr(*medians).collect()[0]
        return np.array([np.nan if one is None else one for one in found], dtype=np.float64)


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
