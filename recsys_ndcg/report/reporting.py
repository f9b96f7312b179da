"""From lists and a plan to a report, with a warning of what deceives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import warn
from recsys_ndcg.lists import Facts, suspicions
from recsys_ndcg.report.report import Report
from recsys_ndcg.report.tables import TIES_MATTER, intervals
from recsys_ndcg.scoring import Audit, facts_for

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.scoring import Plan, Totals

_SOME = 1000  # users who tell whether random order has to be measured of all
_LOWER_IS_BETTER = (
    "Is a lower estimate better, as with ranks, distances or losses? Then give estimates with a "
    "minus, or ranks as the column 'rank' of RankedLists.from_labels(labels, results) (--results, "
    "--columns rank=...)."
)
_REVERSED = (
    "The first item, or that of rank 1, is taken for the best. Is it the worst? Then give each "
    "list in the opposite order, or ranks of which the highest is best as columns={'estimated': "
    "'rank'}."
)


def build_report(lists: GroupedLists, plan: Plan) -> Report:
    """Settle a plan against lists, measure them, warn of what deceives, and report.

    Raises
    ------
    InvalidInputError
        Something in the plan cannot be computed of them.

    Warns
    -----
    DataWarning
        As `warn_of` does.
    """
    facts = facts_for(lists, plan.measurements)
    plan = plan.settled(facts, lists)
    audit = Audit.of(lists, plan, facts)
    warn_of(audit, facts, plan)
    return Report(audit)


def warn_of(audit: Audit, facts: Facts, plan: Plan) -> None:
    """Warn of what is legal but deceptive.

    Warns
    -----
    DataWarning
        Data that looks like a mistake, a threshold that separates no items, lists that
        are worse than in random order, ties that leave a score open.
    """
    for told in (*suspicions(facts), *plan.doubts(facts)):
        warn(told)
    below = _below_chance(audit)
    if below:
        metric, mean, chance = below
        msg = (
            f"{metric} is {mean:.4f}, but the same lists in random order score {chance:.4f}: "
            f"good items are near the end. {_REVERSED if facts.order_only else _LOWER_IS_BETTER}"
        )
        warn(msg)
    found = _widest_tie_range(audit.totals)
    if found and not facts.constant:
        metric, low, high = found
        tied = audit.totals.counts["tied"]
        msg = (
            f"Tied estimates ({tied} of {audit.n_users} users) leave {metric} "
            f"open between {low:.4f} and {high:.4f}."
        )
        warn(msg)


def _widest_tie_range(totals: Totals) -> tuple[str, float, float] | None:
    """Return the metric that ties leave open furthest, and its range, if it matters.

    It does if it changes the third decimal and is wider than half the interval of the mean.
    One user has no interval: the third decimal decides.
    """
    if totals.counts["tied"] < TIES_MATTER * totals.counts["users"]:
        return None
    low, high = totals.mean_of("lowest"), totals.mean_of("highest")
    ends = intervals(totals)
    half = np.nan_to_num((ends["mean_high"] - ends["mean_low"]).to_numpy() / 2)
    bounded = [one.metric.bounded for one in totals.measurements]
    matters = bounded & (high - low >= TIES_MATTER) & (high - low > half)
    if not matters.any():
        return None
    widest = int(np.where(matters, high - low, 0.0).argmax())
    return totals.names[widest], float(low[widest]), float(high[widest])


def _below_chance(audit: Audit) -> tuple[str, float, float] | None:
    """Return the metric that is most surely far below random order, its mean, and chance.

    Where the lists are at hand, random order is measured for all users only if some are below it.
    """
    if audit.lists is not None and audit.n_users > _SOME:
        some = audit.take(np.linspace(0, audit.n_users - 1, _SOME).astype(np.intp))
        if _furthest_below(some.order_totals, far=0, sure=0) is None:
            return None
    return _furthest_below(audit.order_totals)


def _furthest_below(
    totals: Totals, *, far: float = 0.1, sure: float = 4.0
) -> tuple[str, float, float] | None:
    """Return the metric that is most surely far below random order, its mean, and chance.

    Parameters
    ----------
    totals : Totals
        With the orders of the lists.
    far : float
        The least share of the way from random order to the worst order, all ties being in
        their best order.
    sure : float
        The least distance from random order, in its standard deviations.
    """
    mean, z = totals.mean, totals.z
    chance, worst = totals.mean_of("chance"), totals.mean_of("worst")
    kinds = [one.metric for one in totals.measurements]
    bounded, upward = [one.bounded for one in kinds], [one.greater_is_better for one in kinds]
    best = np.fmax(mean, totals.mean_of("highest"))
    with np.errstate(all="ignore"):
        # no score in [0, 1] varies more than one that is either 0 or 1
        most = np.sqrt(np.where(bounded, chance * (1 - chance), np.nan) / totals.n_scored)
        z = np.where(np.isnan(z), (mean - chance) / most, z)
        below = upward & (chance - best > far * (chance - worst)) & (z <= -sure)
    if not below.any():
        return None
    lowest = int(np.where(below, z, 0.0).argmin())
    return totals.names[lowest], float(mean[lowest]), float(chance[lowest])
