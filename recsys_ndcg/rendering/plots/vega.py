"""Parts of Vega-Lite that the charts share, and what makes charts and SVG of specifications.

Fields and channels have names of their own here. What people called a model or a metric stands in
the data, and in the titles of charts and axes: Vega would read dots and brackets in the name of a
field, and puts that of a channel into an expression, in which a backslash means something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import require_libraries
from recsys_ndcg.files import json_value
from recsys_ndcg.rendering.wording import of_level

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Spec = dict[str, Any]

# Colours that the colour-blind tell apart (Okabe & Ito 2008); dashes and shapes tell them, too.
ACCENT, AGAINST, OTHERS = "#0072B2", "#D55E00", "#8C8C8C"
PALETTE = (ACCENT, AGAINST, "#009E73", "#CC79A7", "#E69F00", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 4], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2])
SOLID, DASHED = DASHES[:2]
LINES = tuple(zip(PALETTE, DASHES, strict=True))
WIDTH, HEIGHT = 460, 280
#: The file of each kind of chart, and the function in it.
_KINDS = {
    "k": ("means", "plot_score_by_cutoff"),
    "users": ("users", "plot_users_against_chance"),
    "tiers": ("means", "plot_intervals_by_tier"),
    "differences": ("users", "plot_difference_per_user"),
    "activity": ("means", "plot_score_by_activity"),
    "scatter": ("users", "plot_a_against_b"),
    "trade-off": ("trade_off", "plot_trade_off"),
}
_HUGE = 1e5  # from here on an axis writes powers of ten
_MARGIN = 0.04  # of the range of an axis, on both sides


def rows(**columns: Iterable[Any]) -> list[Spec]:
    """Return columns as rows of plain values that JSON can hold; what is no number is null.

    A table is such columns: ``rows(**table)``.
    """
    return [
        dict(zip(columns, map(json_value, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def outer(table: pd.DataFrame) -> list[Any]:
    """Return the first row and the last one, which a description tells; of one row that."""
    every = [*table.itertuples()]
    return every[:: max(len(every) - 1, 1)]


def whole(data: Iterable[Spec]) -> list[Spec]:
    """Return the rows that have an interval."""
    return [row for row in data if row["low"] is not None and row["high"] is not None]


def layer(data: Sequence[Spec], mark: str, style: Spec, **channels: Any) -> Spec:
    """Return a layer of marks of one kind, one for each row or one through all."""
    return {"data": {"values": data}, "mark": {"type": mark, **style}, "encoding": channels}


def number(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def name(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", "title": title, **more}


def fixed(value: Any) -> Spec:
    """Return a channel that is the same for all marks: a colour, a size, a place in pixels."""
    return {"value": value}


def amount(
    field: str,
    title: str,
    values: Any,
    *,
    channel: str = "mean",
    margin: float = _MARGIN,
    **ticks: Any,
) -> Spec:
    """Return a channel of numbers whose axis reaches over some values, and need not begin at 0."""
    known = _known(values)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    beyond = margin * (high - low) if high > low else 0.1 * abs(high) or 0.1
    scale = {"domain": [low - beyond, high + beyond], "zero": False, "nice": False}
    return number(field, channel, scale=scale, axis=axis(highest(known), title=title, **ticks))


def told(values: Any, **titles: str) -> list[Spec]:
    """Return lines of a tooltip, by the fields of numbers about as high as some values."""
    form = ".4f" if highest(values) < 1e9 else ".6g"
    return [number(field, title, format=form) for field, title in titles.items()]


def told_mean(values: Any, level: float) -> list[Spec]:
    """Return the lines of a tooltip that tell a mean with its interval."""
    return told(values, mean="mean", low=f"{of_level(level)} from", high="to")


def with_interval(table: pd.DataFrame, level: float) -> str:
    """Return what a chart adds to a mean drawn with its interval, nothing if none has one."""
    known = table[["low", "high"]].notna().all(axis=1).any()
    return f", with its {of_level(level)}" if known else ""


def users(field: str, title: str = "users") -> Spec:
    """Return a line of a tooltip, of how many users there are."""
    return number(field, title, format=",d")


def highest(values: Any) -> float:
    """Return the largest of some numbers, whatever their signs; 0 if there is none."""
    return float(np.abs(_known(values)).max(initial=0.0))


def _known(values: Any) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[np.isfinite(numbers)]


def ends(axis: str, channel: Spec, low: str = "low", high: str = "high") -> dict[str, Spec]:
    """Return the channels of what reaches from one number to another along an axis."""
    return {axis: channel | {"field": low}, f"{axis}2": {"field": high}}


def look(field: str, looks: Mapping[str, Any], **legends: Any) -> Spec:
    """Return a channel in which each name looks its own way, with a legend."""
    scale = {"domain": [*looks], "range": [*looks.values()]}
    return name(field, scale=scale, legend=legend(**legends))


def lines(looks: Mapping[str, tuple[str, Sequence[int]]], **legends: Any) -> dict[str, Spec]:
    """Return the channels that tell lines apart by their field ``line``: colour and dashes."""
    colors = {line: color for line, (color, _) in looks.items()}
    dashes = {line: dash for line, (_, dash) in looks.items()}
    return {"color": look("line", colors, **legends), "strokeDash": look("line", dashes, **legends)}


def axis(largest: float = 1.0, **more: Any) -> Spec:
    """Return an axis, of numbers up to about so high."""
    return {
        "gridColor": "#E6E6E6",
        "domainColor": "#767676",
        "tickColor": "#767676",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": "greedy",
        **({"format": "~e"} if largest >= _HUGE else {}),
        **more,
    }


def legend(**more: Any) -> Spec:
    """Return a legend above the chart."""
    return {
        "orient": "top",
        "direction": "vertical",
        "labelFontSize": 11,
        "labelLimit": WIDTH,
        "symbolSize": 100,
        "symbolStrokeWidth": 2,
        "offset": 6,
        **more,
    }


def titled(title: str, subtitle: str | Sequence[str] = "") -> Spec:
    """Return a title, and what is to be known at first sight under it, in a line or several."""
    beneath = {"subtitle": subtitle, "subtitleFontSize": 11, "subtitleColor": "#595959"}
    return {"text": title, "anchor": "start", "fontSize": 14, **(beneath if subtitle else {})}


# Charts of Vega-Altair, and SVG


def plot(kind: str, *data: Any, **options: Any) -> alt.LayerChart:
    """Return a chart of some kind; its file is imported only now.

    Parameters
    ----------
    kind : {'k', 'users', 'tiers', 'differences', 'activity', 'scatter', 'trade-off'}
        By the score at each cutoff, for instance; of several metrics, that is a ``ConcatChart``.
    data, options
        What the function takes that draws it.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    file, function = _KINDS[kind]
    draw = getattr(import_module(f"{__package__}.{file}"), function)
    chart: alt.LayerChart = draw(*data, **options)
    return chart


def chart(
    title: Spec,
    description: str,
    layers: Sequence[Spec],
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> alt.LayerChart:
    """Return layers as a chart.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    with require_libraries("altair", job="A plot", extra="report"):
        import altair as alt  # noqa: PLC0415 - an extra

    # not alt.LayerChart.from_dict, which tries every class that a part could be of: half a second
    made = [
        alt.Chart(one["data"], mark=one["mark"], encoding=alt.FacetedEncoding(**one["encoding"]))
        for one in layers
    ]
    return alt.LayerChart(
        layer=made, title=title, description=description, width=width, height=height
    )


def beside(panels: Sequence[alt.LayerChart], title: Spec, description: str) -> alt.ConcatChart:
    """Return charts beside each other, whose lines have one legend."""
    import altair as alt  # noqa: PLC0415 - an extra, which the panels are made of

    shared = {"scale": {"color": "shared", "strokeDash": "shared"}}
    return alt.ConcatChart(
        concat=[*panels], title=title, description=description, columns=3, resolve=shared
    )


def svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as SVG that says to a screen reader what it shows; made without a network.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed, or vl-convert, which draws.
    """
    drawn = StringIO()
    with require_libraries("altair", "vl_convert", job="A plot as SVG", extra="report"):
        chart.save(drawn, format="svg")
    # a drawing that nobody reads to the end, so that what is told stands at its top
    said = escape(chart.description)  # type: ignore[attr-defined] # which all charts here have
    return drawn.getvalue().replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1)
