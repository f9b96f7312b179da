"""A gate for pipelines: whether a model may replace another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.comparison.verdict import size
from recsys_ndcg.significance.power import power
from recsys_ndcg.visible import visible

if TYPE_CHECKING:
    from recsys_ndcg.comparison.contest import Contest


@dataclass(frozen=True)
class Gate:
    """Whether something may pass, and why.

    Parameters
    ----------
    passed : bool
        The answer; a gate is true where it passed.
    reason : str
        One sentence.
    """

    passed: bool
    reason: str

    def __bool__(self) -> bool:
        """Tell whether it passed."""
        return self.passed

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def not_worse(contest: Contest, model: str, baseline: str, margin: float) -> Gate:
    """Tell whether it is shown that a model is not worse than another by a margin or more.

    Two things let it fail: the model is worse, or the users are too few to show that it is not;
    the reason says which, and in that case how many users would do.
    """
    found, alpha = contest.tested, contest.how.alpha
    pair = contest.named_pairs.index((model, baseline))
    difference, p = float(found.difference[pair]), float(found.p_not_worse[pair])
    users, deviation = int(found.users[pair]), float(found.deviation[pair])
    what = (
        f"{model} against {baseline} in {contest.name}: "
        f"{size(contest.sign * difference)} over {users} users"
    )
    if np.isnan(p):
        return _told(False, f"{what}. Too few users have a score to show anything.")
    if p <= alpha:
        return _told(
            True, f"{what}; it is not worse by {margin:g} or more (p = {p:.2g}, alpha {alpha:g})."
        )
    if difference <= -margin:
        return _told(
            False,
            f"{what}. It is worse by {margin:g} or more: the margin is {margin:g}, and the "
            f"difference is {'significant' if found.p[pair] <= alpha else 'not significant'} "
            f"(p = {float(found.p[pair]):.2g}).",
        )
    return _told(
        False,
        f"{what}. That it is not worse by {margin:g} or more is not shown (p = {p:.2g}, alpha "
        f"{alpha:g}): {_needed(difference + margin, deviation, alpha)}",
    )


def _needed(room: float, deviation: float, alpha: float) -> str:
    """Return how many users would show it, if the difference stays what it is."""
    users = power(room, deviation=deviation, alpha=2 * alpha)  # one of two sides
    return f"too few users to tell. About {users} would do, if the difference stays as it is."


def _told(passed: bool, reason: str) -> Gate:  # noqa: FBT001 - the first field of a gate
    return Gate(passed, visible(reason))
