"""What the plots of a comparison show: intervals by tier, differences of users, activity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.tables import means
from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.rendering.plots import difference_per_user, intervals_by_tier, score_by_activity

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison.field import Field

KINDS = ("tiers", "differences", "activity")


def plotted(field: Field, kind: str, metric: str, before: str, after: str) -> alt.LayerChart:
    """Return a plot of one kind.

    Parameters
    ----------
    field : Field
        The models.
    kind : str
        One of `KINDS`.
    metric : str
        Its name.
    before, after : str
        The models whose differences are shown.

    Raises
    ------
    InvalidInputError
        There is no such kind, or nobody has a score.
    MissingExtraError
        Vega-Altair is not installed.
    """
    if kind not in KINDS:
        hint = nearest(str(kind), KINDS)
        msg = f"kind must be 'tiers', 'differences' or 'activity', not {shown(kind)}. {hint}"
        raise InvalidInputError(msg)
    contest = field.contests[metric]
    if np.isnan(contest.scores).all():
        msg = f"Nobody has a score in {metric}, so there is nothing to plot."
        raise InvalidInputError(msg)
    lower, level = contest.sign < 0, 1 - field.how.alpha
    if kind == "tiers":
        board = field.leaderboards[metric].reset_index()
        table = board.rename(columns={"ci_low": "low", "ci_high": "high"})
        chance = float(means(contest.chance)[0])  # of lists that differ, that of the first model
        return intervals_by_tier(
            table,
            metric,
            chance,
            baselines=_baselines(field, metric),
            lower_is_better=lower,
            level=level,
        )
    if kind == "activity":
        activity = field.first.counts.activity
        table = pd.DataFrame(
            {
                "model": np.repeat(np.array(field.models, dtype=object), len(activity)),
                "activity": np.tile(activity, len(field.models)),
                "score": contest.scores.T.ravel(),
            }
        )
        return score_by_activity(table, metric, lower_is_better=lower, level=level)
    one, other = (contest.models.index(name) for name in (after, before))
    apart = contest.scores[:, one] - contest.scores[:, other]
    if np.isnan(apart).all():
        msg = f"No user has a score of both {after!r} and {before!r} in {metric}."
        raise InvalidInputError(msg)
    return difference_per_user(apart, after, before, metric, lower_is_better=lower, level=level)


def _baselines(field: Field, metric: str) -> dict[str, float]:
    """Return the means of what needs no model, where a report knows some, chance apart."""
    for one in field.contenders.values():
        if one.report is not None and metric in one.report.metrics:
            others = one.report.baselines.drop("chance")[metric]
            return {str(name): float(mean) for name, mean in others.items()}
    return {}
