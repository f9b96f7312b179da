"""What findings about trends claim, checked against the scores by cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from recsys_ndcg.results import Trends
from tests.findings.claims import check_claims, claim


def check_trends(trends: Trends, metric: str) -> list[str]:
    """Check each finding in a metric, and return their kinds."""
    return check_claims(trends._find(metric), trends)


def _is_clear(
    trends: Trends, metric: str, model: str, p: float, alpha: float, **others: Any
) -> bool:
    """Return whether a slope is significant, after its numbers are checked."""
    slopes: Any = trends.slopes.loc[metric]
    means: Any = trends.table.loc[metric].xs(model, level="model")
    line = np.polyfit(means.index, means["mean"], 1, w=np.sqrt(means["users"]))
    assert np.isclose(line[0], others["slope"])
    names = ["slope_low", "slope_high", "slope_p_corrected"]
    assert slopes.loc[model, names].tolist() == [others["slope_low"], others["slope_high"], p]
    assert others["correction"] == ("Holm" if len(slopes) > 1 else None)
    return p <= alpha == trends.comparison._data.testing.alpha


@claim("rising_score")
def _(trends: Trends, slope: float, **others: Any) -> bool:
    return slope > 0 and _is_clear(trends, slope=slope, **others)


@claim("falling_score")
def _(trends: Trends, slope: float, **others: Any) -> bool:
    return slope < 0 and _is_clear(trends, slope=slope, **others)


@claim("no_clear_trend")
def _(trends: Trends, **others: Any) -> bool:
    return not _is_clear(trends, **others)


def _list_clear(trends: Trends, metric: str, side: int) -> list[str]:
    """Return the models that are better (1) or worse (-1) at the last cut."""
    slopes: Any = trends.slopes.loc[metric]
    clear = slopes[slopes["change_p_corrected"] <= trends.comparison._data.testing.alpha]
    gains = clear["change"] * (-1 if metric == "rmse" else 1)
    return gains.index[gains * side > 0].tolist()


def _list_ends(trends: Trends, metric: str, models: list[str]) -> list[list[float]]:
    table: Any = trends.table.loc[metric]["mean"]
    return [[table[cut, model] for model in models] for cut in (1, len(trends.cuts))]


@claim("worse_at_last_cut")
def _(trends: Trends, metric: str, models: list[str], **ends: list[float]) -> bool:
    assert [ends["first"], ends["last"]] == _list_ends(trends, metric, models)
    return models == _list_clear(trends, metric, -1)


@claim("better_at_last_cut")
def _(trends: Trends, metric: str, models: list[str], **ends: list[float]) -> bool:
    assert [ends["first"], ends["last"]] == _list_ends(trends, metric, models)
    return models == _list_clear(trends, metric, 1)


@claim("no_clear_change")
def _(trends: Trends, metric: str) -> bool:
    return not any(_list_clear(trends, metric, side) for side in (-1, 1))


@claim("changing_chance")
def _(trends: Trends, metric: str, models: list[str], first: float, last: float) -> bool:
    chance: Any = trends.table.loc[metric]["chance"]
    changes: Any = trends.slopes.loc[metric]["change"]
    assert abs(last - first) > 0.01
    assert [chance.loc[1].iloc[0], chance.loc[len(trends.cuts)].iloc[0]] == [first, last]
    return models == [name for name in changes.index if changes[name] * (last - first) > 0]
