"""The plans of the plug-in: as everywhere, with estimates equal up to arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.scoring.plan import Plan

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.plan import Cutoffs, Metrics

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
