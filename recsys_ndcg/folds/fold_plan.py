"""What is measured of every fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recsys_ndcg.catalogue import placing
from recsys_ndcg.folds.fitting import FoldJob
from recsys_ndcg.folds.measures import ACCURACY
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.scoring import Plan, checked_convention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recsys_ndcg.convention import Convention
    from recsys_ndcg.folds.fitting import Measure
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Cutoffs, Measurement, Metrics


#: Sums over neighbours that are equal come out as 4.0 and 3.9999999999999996.
TIE_TOLERANCE = 1e-9


def tolerant_plan(
    metrics: Metrics,
    k: Cutoffs = None,
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> Plan:
    """Return what is asked for, with at least this tolerance for ties.

    Examples
    --------
    >>> tolerant_plan("ndcg@10").measurements[0].convention.tie_tolerance
    1e-09
    """
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention)
    return plan.each(_tolerant)


def _tolerant(one: Measurement) -> Measurement:
    step = one.convention.tie_tolerance
    fine = not isinstance(step, str) and step < TIE_TOLERANCE
    return one.under(tie_tolerance=TIE_TOLERANCE) if fine else one


@dataclass(frozen=True)
class FoldPlan:
    """What is measured of every fold.

    Parameters
    ----------
    measures : sequence of Measure
        In the order they were asked for.
    rated, catalogue : Plan, optional
        What ranks the users' test ratings, with their errors beside, and what ranks all items.
    train : bool
        Whether measures are taken of the trainset, too.
    per_user : bool
        Whether the scores of every user are kept: numerator, denominator and more of each.
    """

    measures: Sequence[Measure]
    rated: Plan | None
    catalogue: Plan | None
    train: bool = False
    per_user: bool = True

    @classmethod
    def of(
        cls,
        known: Sequence[Measure],
        threshold: float | None,
        convention: Convention | str | None,
        *,
        train: bool,
        per_user: bool = True,
    ) -> FoldPlan:
        """Give the conventions of measures the plug-in's tolerance."""
        checked_convention(convention)
        rated, catalogue = (
            tolerant_plan(metrics, threshold=threshold, convention=convention) if metrics else None
            for metrics in (_ranking(known, "rated"), _ranking(known, "catalogue"))
        )
        if rated is not None and rated.measurements[0].convention.impossible != "last":
            rated = rated.with_metrics(_errors(known))
        if catalogue is not None:
            placing(catalogue)  # refuses metrics that would rank differently
        return cls(known, rated, catalogue, train, per_user)

    @property
    def catalogue_names(self) -> list[str]:
        """The names of the measures that rank all items."""
        return [one.name for one in self.measures if one.metric and one.protocol == "catalogue"]

    @property
    def job(self) -> FoldJob:
        """What is left to a worker: all but the ranking."""
        functions = [one for one in self.measures if one.function is not None]
        return FoldJob(functions, self.train, self.rated is not None)

    def each(self, change: Callable[[Plan], Plan]) -> FoldPlan:
        """Return the same with what a function makes of each plan that there is."""
        rated, catalogue = (
            None if plan is None else change(plan) for plan in (self.rated, self.catalogue)
        )
        return replace(self, rated=rated, catalogue=catalogue)

    def names(self, protocol: str) -> dict[str, str]:
        """Return what the measures of a protocol are called, by the names of their metrics."""
        return {
            str(one.metric): one.name
            for one in self.measures
            if one.metric and one.protocol == protocol
        }


def _ranking(measures: Sequence[Measure], protocol: str) -> list[Metric]:
    return [one.metric for one in measures if one.metric and one.protocol == protocol]


def _errors(measures: Sequence[Measure]) -> list[Metric]:
    """Return the metrics that have an error of Surprise's user by user."""
    wanted = [one.name for one in measures if one == ACCURACY.get(one.name)]
    return [METRICS[name]() for name in wanted if name in METRICS]
