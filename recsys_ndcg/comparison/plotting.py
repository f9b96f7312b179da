"""What the plots of a comparison show: intervals by tier, differences of users, activity."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.rendering import plot

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison.comparison import Comparison

KINDS = ("tiers", "differences", "activity", "scatter", "trade-off")


def plotted(
    comparison: Comparison, kind: str, metric: str, before: str, after: str
) -> alt.LayerChart:
    """Return a plot of one metric.

    Parameters
    ----------
    comparison : Comparison
        The models.
    kind : str
        One of `KINDS` but the trade-off.
    metric : str
        Its name.
    before, after : str
        The models that are shown beside each other, if two are.

    Raises
    ------
    InvalidInputError
        Nobody has a score, or none in both models.
    MissingExtraError
        Vega-Altair is not installed.
    """
    result, level = comparison.by_metric[metric], 1 - comparison.how.alpha
    lower = result.sign < 0
    if np.isnan(result.scores).all():
        msg = f"Nobody has a score in {metric}, so there is nothing to plot."
        raise InvalidInputError(msg)
    if kind == "tiers":
        return plot(
            "tiers",
            _with_ends(comparison, metric),
            metric,
            float(result.means("chance")[0]),  # of lists that differ, that of the first model
            baselines=_baselines(comparison, metric),
            lower_is_better=lower,
            level=level,
        )
    if kind == "activity":
        activity, models = comparison.first.counts.activity, comparison.models
        table = pd.DataFrame(
            {
                "model": np.repeat(np.array(models, dtype=object), len(activity)),
                "activity": np.tile(activity, len(models)),
                "score": result.scores.T.ravel(),
            }
        )
        return plot("activity", table, metric, lower_is_better=lower, level=level)
    one, other = result.scores_of(after), result.scores_of(before)
    if np.isnan(one - other).all():
        msg = f"No user has a score of both {after!r} and {before!r} in {metric}."
        raise InvalidInputError(msg)
    if kind == "scatter":
        users = comparison.users.tolist()
        return plot(
            "scatter", one, other, after, before, metric, users=users, lower_is_better=lower
        )
    return plot(kind, one - other, after, before, metric, lower_is_better=lower, level=level)


def traded_off(
    comparison: Comparison, x: str, y: str | None, parameter: str | None
) -> alt.LayerChart:
    """Return a plot of two metrics.

    Parameters
    ----------
    comparison : Comparison
        The models.
    x, y : str
        The metrics; another one than the first if only that is named.
    parameter : str, optional
        By which models are coloured; by default the one that most differs between them.

    Raises
    ------
    InvalidInputError
        There is but one metric, no model has such a parameter, or none a score in both metrics.
    MissingExtraError
        Vega-Altair is not installed.
    """
    y = next((one for one in comparison.metrics if one != x), None) if y is None else y
    if y is None:
        msg = f"A trade-off is between two metrics: compare in another one, too, than {x}."
        raise InvalidInputError(msg)
    if x == y:
        msg = f"A trade-off is between two metrics, not {x!r} and itself. Name another: against=."
        raise InvalidInputError(msg)
    first, second = (
        _with_ends(comparison, metric).set_index("model")[["mean", "low", "high"]].add_prefix(axis)
        for axis, metric in (("x_", x), ("y_", y))
    )
    table = first.join(second).reset_index().rename(columns={"x_mean": "x", "y_mean": "y"})
    if table[["x", "y"]].isna().any(axis=1).all():
        msg = f"No model has a score in both {x} and {y}, so there is nothing to plot."
        raise InvalidInputError(msg)
    chosen = _parameter(comparison, parameter)
    if chosen is not None:
        values = [comparison.contenders[name].parameters.get(chosen) for name in table["model"]]
        table["value"] = pd.Series(values, dtype=object)
    lower = comparison.by_metric[x].sign < 0, comparison.by_metric[y].sign < 0
    level = 1 - comparison.how.alpha
    return plot("trade-off", table, x, y, lower_is_better=lower, parameter=chosen, level=level)


def _with_ends(comparison: Comparison, metric: str) -> pd.DataFrame:
    board = comparison.leaderboards[metric].reset_index()
    return board.rename(columns={"ci_low": "low", "ci_high": "high"})


def _parameter(comparison: Comparison, wanted: str | None) -> str | None:
    """Return the parameter that is asked for, or the one of most values, None if none differs."""
    told = [one.parameters for one in comparison.contenders.values()]
    names = list(dict.fromkeys(chain(*told)))
    if wanted is not None:
        if wanted not in names:
            hint = nearest(str(wanted), names) if names else "A search gives its models theirs."
            msg = f"No model has a parameter {shown(wanted)}. {hint}"
            raise InvalidInputError(msg)
        return wanted
    distinct = {name: len({repr(one[name]) for one in told if name in one}) for name in names}
    most = max(distinct, key=distinct.__getitem__, default=None)
    return most if most is not None and distinct[most] > 1 else None


def _baselines(comparison: Comparison, metric: str) -> dict[str, float]:
    """Return the means of what needs no model, if a report knows some, chance apart."""
    for one in comparison.contenders.values():
        if one.report is not None and metric in one.report.metrics:
            others = one.report.baselines.drop("chance")[metric]
            return {str(name): float(mean) for name, mean in others.items()}
    return {}
