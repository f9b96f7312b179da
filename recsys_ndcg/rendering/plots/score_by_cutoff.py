"""The mean score against the cutoff, with its interval and chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import (
    beside,
    first_few,
    label,
    number,
    of_level,
    with_interval,
    within,
)

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec

_TIMES = 8  # from the lowest cutoff to the highest; beyond, the axis is logarithmic
_TICKS = 10  # cutoffs that are all written at the axis
_MANY = 30  # cutoffs; large points would hide the line
_TOLD = 4  # metrics that the description goes through
_CHANCE = "chance: random order"
_NUMBERS = ["mean", "low", "high", "chance"]


def plot_score_by_cutoff(
    frame: pd.DataFrame, *, level: float = 0.95
) -> alt.LayerChart | alt.ConcatChart:
    """Return a line of the mean at each cutoff, chance dashed; a panel for each metric.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns metric (a name without its cutoff), k, mean, low, high and chance. Rows without a
        mean are left out, and one is left at least; the others are NaN where there is no such
        number.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame[frame["mean"].notna()]
    parts = [part.sort_values("k") for _, part in known.groupby("metric", sort=False)]
    panels = [_panel(part, level) for part in parts]
    if len(panels) == 1:
        title = vega.titled(f"{panels[0]['title']['text']} by cutoff")
        size = {"width": vega.WIDTH, "height": vega.HEIGHT}
        return vega.chart_of(panels[0] | size | {"title": title})
    told = first_few([str(one["description"]) for one in panels], _TOLD, "And {} more metrics.")
    return vega.charts_of(
        {
            "title": vega.titled("Score by cutoff"),
            "description": " ".join(told),
            "concat": [panel | {"width": 200, "height": 170} for panel in panels],
            "columns": 3,
            "resolve": {"scale": {"color": "shared", "strokeDash": "shared"}},
        }
    )


def _panel(part: pd.DataFrame, level: float) -> Spec:
    metric, x = label(part["metric"].iloc[0]), _cutoffs(part["k"].tolist())
    y = vega.amount("score", part[_NUMBERS], title="mean score over users")
    data = vega.rows(k=part["k"], **{name: part[name] for name in _NUMBERS})
    tooltip = [
        vega.number("k", "cutoff k"),
        vega.told("mean", "mean", part[_NUMBERS]),
        vega.told("low", f"{of_level(level)} from", part[_NUMBERS]),
        vega.told("high", "to", part[_NUMBERS]),
        vega.told("chance", "chance", part[_NUMBERS]),
    ]
    return {
        "title": vega.titled(metric),
        "description": _description(metric, part, level),
        "layer": [
            _intervals(vega.whole(data), x, y),
            *_means_and_chance(part, x, y, level),
            _points(data, x, y, tooltip),
        ],
    }


def _cutoffs(ks: list[int]) -> Spec:
    kind = "log" if ks[-1] > _TIMES * ks[0] else "linear"
    zero = {"zero": False} if kind == "linear" else {}  # of which Vega would say that it has none
    scale = {"type": kind, "nice": False, "padding": 12, **zero}
    if len(ks) > _TICKS:
        ks = [k for k in ks if k in (ks[0], ks[-1]) or str(k).rstrip("0") in ("1", "2", "5")]
    ticks = vega.axis(values=ks, format="d", grid=False)
    return vega.number("k", "cutoff k", scale=scale, axis=ticks)


def _intervals(data: list[Spec], x: Spec, y: Spec) -> Spec:
    ends = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    if len(data) == 1:  # over which an area would not be seen
        return vega.layer(data, "rule", {"color": vega.ACCENT}, **ends)
    return vega.layer(data, "area", {"color": vega.ACCENT, "opacity": 0.25}, **ends)


def _means_and_chance(part: pd.DataFrame, x: Spec, y: Spec, level: float) -> list[Spec]:
    mean, known = f"mean over users{with_interval(part, level)}", part[part["chance"].notna()]
    own = vega.rows(k=part["k"], score=part["mean"], line=[mean] * len(part))
    other = vega.rows(k=known["k"], score=known["chance"], line=[_CHANCE] * len(known))
    told = vega.lines([mean, _CHANCE] if other else [mean])
    style = {"strokeWidth": 2}
    lines = [vega.layer([*own, *other], "line", style, x=x, y=y, **told)]
    if len(other) == 1:  # through which a line would not be seen
        lines.append(vega.layer(other, "rule", style, y=y, **told))
    return lines


def _points(data: list[Spec], x: Spec, y: Spec, tooltip: list[Spec]) -> Spec:
    style = {"filled": True, "opacity": 1, "color": vega.ACCENT}
    size = vega.fixed(45 if len(data) <= _MANY else 8)
    mean = y | {"field": "mean"}
    return vega.layer(data, "point", style, x=x, y=mean, size=size, tooltip=tooltip)


def _description(metric: str, part: pd.DataFrame, level: float) -> str:
    """Tell the first cutoff and the last."""
    ends = part.iloc[[0, -1] if len(part) > 1 else [0]]
    told = [
        f"{number(mean)} at k = {k}"
        + beside(within(low, high, level), "" if np.isnan(chance) else f"chance {number(chance)}")
        for k, mean, low, high, chance in zip(
            ends["k"], *(ends[name] for name in _NUMBERS), strict=True
        )
    ]
    return f"The mean of {metric} over users is {' and '.join(told)}."
