"""What accumulators must have in common to be merged, and batches to be added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.convention.notation import written
from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from recsys_ndcg.lists.facts import Grades
    from recsys_ndcg.scoring.plan import Plan


def differences(mine: Plan, theirs: Plan) -> dict[str, tuple[str, str]]:
    """Return in which settings two plans differ, that were asked for and are not settled yet.

    Examples
    --------
    >>> from recsys_ndcg.scoring import Plan
    >>> differences(Plan.of("rr", threshold=3), Plan.of("rr", threshold=4))
    {'threshold': ('3.0', '4.0')}
    """
    found = {
        "metrics": (_metrics(mine), _metrics(theirs)),
        "threshold": (str(mine.threshold), str(theirs.threshold)),
    }
    found = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    if "metrics" in found:
        return found
    for one, other in zip(mine.measurements, theirs.measurements, strict=True):
        if one.metric != other.metric:
            found["metrics"] = (f"{one}", f"another metric that is called {other}")
        for name in Convention.names():
            pair = getattr(one.convention, name), getattr(other.convention, name)
            if pair[0] != pair[1]:
                own, others = map(written, pair)
                found[name] = (own, others if own != others else f"another {others}")
    return found


def check_alike(found: dict[str, tuple[str, str]]) -> None:
    """Refuse settings that differ.

    Raises
    ------
    InvalidInputError
        They are named.
    """
    if found:
        told = "; ".join(f"{name} is {mine} and {theirs}" for name, (mine, theirs) in found.items())
        msg = f"Accumulators of different settings cannot be merged: {told}. Make them alike."
        raise InvalidInputError(msg)


def settled(asked: Plan, so_far: Plan | None, grades: Grades) -> Plan:
    """Return a plan with the threshold that the grades of a batch leave it.

    Parameters
    ----------
    asked : Plan
        As it was asked for.
    so_far : Plan, optional
        As earlier batches were measured; None before the first.
    grades : Grades
        Of the batch.

    Raises
    ------
    InvalidInputError
        It needs a threshold, and there is none; or 1 was taken, and now there are other grades.
    """
    if so_far is None:
        return asked.with_threshold(grades)
    if asked.threshold is None and so_far.threshold is not None and not grades.zero_one:
        other = grades.lowest if grades.lowest not in (0, 1) else grades.highest
        there = f" such as {shown(other)}" if other not in (0, 1) else ""
        raise InvalidInputError(contradicting("so far", f"this batch has others{there}", asked))
    return so_far


def contradicting(known: str, other: str, asked: Plan) -> str:
    """Return why 1 cannot be the threshold any more, and what to do."""
    named = ", or name metrics that do not need it, such as metrics='ndcg@10'"
    return (
        f"No true value {known} was other than 0 or 1, so that 1 was relevant, but {other}. Say "
        "from which on an item is relevant: Accumulator(..., threshold=4.0), for instance"
        f"{named if asked.by_default else ''}."
    )


def _metrics(plan: Plan) -> str:
    """Return the names of the metrics; by default, they hang on the grades."""
    default = plan.by_default and plan.threshold is None
    return "what is measured by default" if default else ", ".join(plan.names)
