"""The mean score of users with few ratings, and of those with many: a line per model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import (
    count,
    first_few,
    label,
    labels,
    number,
    of_level,
    with_interval,
)
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.rendering.plots.vega import Spec

_GROUPS = 6
_FEWEST = 10  # users in a group, where there are so many
_TOLD = 3  # models that the description goes through
_WIDE = 12  # characters of a group; beyond, they would not stand beside each other
_REST = "#CCCCCC"
_NUMBERS = ["mean", "low", "high"]


def plot_score_by_activity(
    frame: pd.DataFrame, metric: str, *, lower_is_better: bool = False, level: float = 0.95
) -> alt.LayerChart:
    """Return the mean of users who are alike in their number of ratings, a line for each model.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, activity (how many ratings the user has) and score, a row per model and
        user. Rows without one of the two numbers are left out; one row is left at least.
    metric : str
        Its name.
    lower_is_better : bool
        Whether the models with the lowest means come first.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset=["activity", "score"])
    mean = known.groupby("model", sort=False)["score"].mean()
    mean = mean.sort_values(ascending=lower_is_better, kind="stable")
    group, groups = _grouped(known["activity"].to_numpy(np.float64), len(mean))
    names = dict(zip(mean.index, labels(mean.index), strict=True))
    table = _table(known.assign(group=group), level).loc[mean.index].reset_index()
    table["model"], table["group"] = table["model"].map(names), table["group"].map(groups)
    name = label(metric)
    title = f"mean {name}{with_interval(table, level)}"
    return vega.chart_of(
        {
            "title": vega.titled(f"{name} by activity of the users"),
            "description": _description(name, table, [*names.values()]),
            "width": vega.WIDTH,
            "height": vega.HEIGHT,
            "layer": _layers(
                table,
                [*names.values()],
                _activity([*groups.values()]),
                vega.amount("mean", table[_NUMBERS], title=title),
                level,
            ),
        }
    )


def _grouped(activity: Floats, models: int) -> tuple[Positions, dict[int, str]]:
    """Return the group of each row, and what the groups are called; equal numbers stay together."""
    most = min(_GROUPS, max(len(activity) // models // _FEWEST, 1))
    ends = np.quantile(activity, np.arange(1, most + 1) / most, method="inverted_cdf")
    group = np.searchsorted(ends, activity)
    spans = pd.Series(activity).groupby(group).agg(["min", "max"])
    return group, {
        place: f"{low:,.6g}" if low == high else f"{low:,.6g}–{high:,.6g}"
        for place, low, high in spans.itertuples(name=None)
    }


def _table(known: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return mean, interval and number of users by model and group."""
    told = known.groupby(["model", "group"], sort=True)["score"].agg(["mean", "std", "size"])
    ends = [
        mean_interval(int(n), mean, deviation * np.sqrt(n - 1), level)
        for mean, deviation, n in told.itertuples(index=False, name=None)
    ]
    told["low"], told["high"] = zip(*ends, strict=True)
    return told.drop(columns="std").reset_index("group")


def _layers(table: pd.DataFrame, models: list[str], x: Spec, y: Spec, level: float) -> list[Spec]:
    """Return lines of all models, and of the first ones points with intervals beside each other."""
    data = vega.rows(**{str(column): table[column] for column in table})
    first = models[: len(vega.PALETTE)]
    own = [row | {"line": row["model"]} for row in data if row["model"] in first]
    rest = count(len(models) - len(first), "other model")
    others = [row | {"line": rest} for row in data if row["model"] not in first]
    lines = [*first, rest] if others else first
    looks = {
        "color": vega.scale(lines, [*vega.PALETTE[: len(first)], _REST]),
        "shape": vega.scale(lines, [*vega.SHAPES[: len(first)], "stroke"]),
    }
    legend = vega.legend(columns=2 if len(lines) > 3 else 1)
    color, shape = (vega.name("line", scale=one, legend=legend) for one in looks.values())
    dashes = vega.scale(lines, [*vega.DASHES[: len(first)], vega.SOLID])
    dash = vega.name("line", scale=dashes, legend=legend)
    beside = {"x": x, "xOffset": vega.name("line", scale={"domain": first}), "color": color}
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    point, thick = {"filled": True, "opacity": 1, "size": 50}, {"strokeWidth": 1.5}
    told = {"shape": shape, "tooltip": _tooltip(table, level)}
    each = {"detail": vega.name("model"), "tooltip": vega.name("model", "model")}
    return [
        vega.layer(others, "line", {"strokeWidth": 1}, x=x, y=y, color=color, **each),
        vega.layer(own, "line", thick, **beside, y=y, strokeDash=dash),
        vega.layer(vega.whole(own), "rule", thick, **beside, **ends),
        vega.layer(own, "point", point, **beside, y=y, **told),
    ]


def _activity(groups: list[str]) -> Spec:
    angle = 0 if max(map(len, groups)) <= _WIDE else -25
    return vega.name(
        "group",
        "ratings of the user, in groups of about equal size",
        scale={"domain": groups, "paddingInner": 0.3},
        axis=vega.axis(labelAngle=angle, labelOverlap=False, grid=False),
    )


def _tooltip(table: pd.DataFrame, level: float) -> list[Spec]:
    return [
        vega.name("model", "model"),
        vega.name("group", "ratings of the user"),
        vega.number("size", "users", format=",d"),
        vega.told("mean", "mean", table[_NUMBERS]),
        vega.told("low", f"{of_level(level)} from", table[_NUMBERS]),
        vega.told("high", "to", table[_NUMBERS]),
    ]


def _description(name: str, table: pd.DataFrame, models: list[str]) -> str:
    """Tell the first and the last group of the first models."""
    told = []
    for model in models:
        some = table[table["model"] == model]
        ends = some.iloc[[0, -1] if len(some) > 1 else [0]]
        means = [
            f"{number(mean)} for users of {group} ratings"
            for group, mean in zip(ends["group"], ends["mean"], strict=True)
        ]
        told.append(f"{model}: {', '.join(means)}")
    first = "; ".join(first_few(told, _TOLD, "and {:,} more models"))
    return f"Mean {name} by activity: {first}."
