"""A gate for pipelines: whether a model may replace another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.comparison.verdict import people
from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.wording import p_value, size
from recsys_ndcg.significance.sample_size import power

if TYPE_CHECKING:
    from recsys_ndcg.comparison.metric_comparison import Contest


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


def check_margin(margin: Any) -> float:
    """Return a margin.

    Raises
    ------
    InvalidInputError
        It is no number above 0.
    """
    if not is_number(margin) or margin <= 0:
        msg = (
            f"margin must be a number above 0, such as 0.005, not {shown(margin)}: up to which a "
            "model may be worse."
        )
        raise InvalidInputError(msg)
    return float(margin)


def not_worse(contest: Contest, model: str, baseline: str, margin: float) -> Gate:
    """Tell whether it is shown that a model is not worse than another by a margin or more.

    Two things let it fail: the model is worse, or the users are too few to show that it is not;
    the reason says which, and in that case how many users would do.
    """
    found, alpha = contest.tested, contest.how.alpha
    pair = contest.named_pairs.index((model, baseline))
    difference, p = float(found.difference[pair]), float(found.p_not_worse[pair])
    users, deviation = int(found.users[pair]), float(found.deviation[pair])
    apart = contest.sign * difference
    plus = "+" if apart > 0 else ""
    where = f"{model} against {baseline} in {contest.name}"
    what = f"{where}: {plus}{size(apart)} over {people(users)}"
    if np.isnan(p):
        return Gate(passed=False, reason=visible(f"{what}. Too few users have a score in both."))
    if p <= alpha:
        shown = f"{p_value(p)}, alpha {alpha:g}"
        said = f"{what}; it is not worse by {margin:g} or more ({shown})."
        return Gate(passed=True, reason=visible(said))
    if difference <= -margin:
        sure = "significant" if found.p[pair] <= alpha else "not significant"
        said = (
            f"{what}. It is worse by the margin of {margin:g} or more, and the difference is "
            f"{sure} ({p_value(float(found.p[pair]))})."
        )
    else:  # one-sided, so at twice the level of two sides
        level = min(2 * alpha, 0.99)
        needed = power(difference + margin, deviation=deviation, alpha=level)
        shown = f"{p_value(p)}, alpha {alpha:g}"
        said = (
            f"{what}. That it is not worse by {margin:g} or more is not shown ({shown}): too few "
            f"users to tell. If the difference stays as it is, about {needed} would do."
        )
    return Gate(passed=False, reason=visible(said))
