"""Forest plot of two models: their difference in each data set, and the mean over data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.rendering.numbers import format_number
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import list_first, make_label, make_labels

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_STEP = 24  # pixels per data set
_WIDTH = 300  # of a panel
_DESCRIBED = 6  # data sets in words
_MEAN = "mean over data sets"
_NUMBERS = ["mean", "low", "high"]
_CLEAR, _UNCLEAR = "significant in this data set", "not significant"


def plot_forest(
    table: pd.DataFrame,
    pair: Mapping[str, Any],
    metric: str,
    *,
    lower_is_better: bool = False,
    level: float = 0.95,
) -> alt.ConcatChart:
    """Draw the differences of two models by data set; standardised, with their mean.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per data set: the columns of `MetaAnalysis.differences`, and tested_low and
        tested_high, the interval of the data set's own corrected test, NaN if it has none.
    pair : mapping
        The models' row of `MetaAnalysis.pairs`.
    metric : str
        The name of the metric.
    lower_is_better : bool
        Whether the model with the lower score is better.
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    a, b = make_labels([pair["a"], pair["b"]])
    name = make_label(metric)
    state = np.where(table["better"].isna(), _UNCLEAR, _CLEAR)
    shown = table.assign(dataset=make_labels(table["dataset"]), state=state)
    ends = {"tested_low": "low", "tested_high": "high"}
    plain = shown.rename(columns={"difference": "mean", **ends})
    scaled = shown.rename(columns={"d_z": "mean", "d_z_low": "low", "d_z_high": "high"})
    side = "left" if lower_is_better else "right"
    mean = [pair[f"mean_d_z{end}"] for end in ("", "_low", "_high")]
    combined = pd.DataFrame([mean], columns=_NUMBERS).dropna()
    panels = [
        _make_panel(
            plain, combined[:0], f"{a} minus {b}", f"difference in {name}", level, " (corrected)"
        ),
        _make_panel(scaled, combined, f"{a} minus {b}, standardised", f"d_z in {name}", level),
    ]
    note = f"{a} is better to the {side} of 0."
    for panel in panels:
        panel.description = f"{panel.description} {note}"
    text = " ".join(str(panel.description) for panel in panels)
    return vega.concat_charts(panels, vega.title(f"{a} and {b} by data set"), text)


def _make_panel(  # noqa: PLR0913, PLR0917 - the data and the texts
    table: pd.DataFrame, combined: pd.DataFrame, what: str, axis: str, level: float, which: str = ""
) -> alt.LayerChart:
    """Return the chart of one measure of the difference; `combined` is its mean, or empty.

    `which`: which interval of the measure is drawn.
    """
    combined = combined.assign(dataset=_MEAN)
    every = pd.concat([table[["dataset", *_NUMBERS]], combined]) if len(combined) else table
    numbers = [0.0, *every[_NUMBERS].to_numpy(np.float64).ravel()]
    interval = vega.describe_interval(table, level)
    x = vega.axis_channel("mean", f"{axis}{interval}{which if interval else ''}", numbers)
    datasets = every["dataset"].tolist()
    y = vega.name("dataset", scale={"domain": datasets}, axis=vega.axis(labelLimit=200))
    zero = {"strokeWidth": 1, "color": "#767676", "strokeDash": vega.DASHED}
    layers = [
        vega.layer([{"mean": 0.0}], "rule", zero, x=x),
        *_draw_datasets(table, x, y, level),
        *_draw_mean(combined, x, y, level),
    ]
    height = _STEP * max(len(datasets), 2)
    known = pd.concat([combined, table]) if len(combined) else table
    text = f"{what}: {axis} by data set: {_describe(known, level)}."
    return vega.chart(vega.title(what), text, layers, width=_WIDTH, height=height)


def _draw_datasets(table: pd.DataFrame, x: Spec, y: Spec, level: float) -> list[Spec]:
    data = vega.rows(**table[["dataset", "users", *_NUMBERS, "state"]])
    states = [one for one in (_CLEAR, _UNCLEAR) if (table["state"] == one).any()]
    fill = vega.mapping("state", {one: vega.ACCENT if one == _CLEAR else "white" for one in states})
    tooltip = [
        vega.name("dataset", "data set"),
        vega.tooltip_users("users"),
        *vega.tooltip_mean(table[_NUMBERS], level),
        vega.name("state", "test"),
    ]
    line = {"strokeWidth": 2, "color": vega.ACCENT}
    point = {"opacity": 1, "strokeWidth": 2, "size": 55, "stroke": vega.ACCENT, "shape": "square"}
    known = [row for row in data if row["mean"] is not None]
    return [
        vega.layer(vega.keep_intervals(data), "rule", line, y=y, **vega.span("x", x)),
        vega.layer(known, "point", point, x=x, y=y, fill=fill, tooltip=tooltip),
    ]


def _draw_mean(combined: pd.DataFrame, x: Spec, y: Spec, level: float) -> list[Spec]:
    """Return the mean with its interval, if there is one."""
    if combined.empty:
        return []
    data = vega.rows(**combined)
    style = {"strokeWidth": 3, "color": vega.AGAINST}
    point = {"opacity": 1, "filled": True, "size": 120, "color": vega.AGAINST, "shape": "diamond"}
    tooltip = vega.tooltip_mean(combined[_NUMBERS], level)
    return [
        vega.layer(data, "rule", style, y=y, **vega.span("x", x)),
        vega.layer(data, "point", point, x=x, y=y, tooltip=tooltip),
    ]


def _describe(known: pd.DataFrame, level: float) -> str:
    """Describe the mean, and the first data sets."""
    rows: list[Any] = [*known.itertuples()]
    texts = [
        f"{one.dataset} {format_number(one.mean)}{vega.describe_ends(one.low, one.high, level)}"
        for one in rows
    ]
    return "; ".join(list_first(texts, _DESCRIBED, "and {} more"))
