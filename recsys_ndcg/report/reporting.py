"""From lists and a plan to a report, with a warning of what deceives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import warn
from recsys_ndcg.lists.suspicions import suspicions
from recsys_ndcg.report.audits.measured import MeasuredAudit
from recsys_ndcg.report.report import Report
from recsys_ndcg.scoring.measuring import facts_for

if TYPE_CHECKING:
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.audits.audit import Audit
    from recsys_ndcg.scoring.plan import Plan

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


def reported(lists: GroupedLists, plan: Plan) -> Report:
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
    audit = MeasuredAudit.of(lists, facts, plan)
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
    below = audit.below_chance()
    if below:
        metric, mean, chance = below
        msg = (
            f"{metric} is {mean:.4f}, but the same lists in random order score {chance:.4f}: "
            f"good items are near the end. {_REVERSED if facts.order_only else _LOWER_IS_BETTER}"
        )
        warn(msg)
    found = audit.widest_tie_range()
    if found and not facts.constant:
        metric, low, high = found
        msg = (
            f"Tied estimates ({audit.n_tied} of {audit.n_users} users) leave {metric} "
            f"open between {low:.4f} and {high:.4f}."
        )
        warn(msg)
