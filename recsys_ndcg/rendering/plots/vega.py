"""Parts of Vega-Lite specifications that the charts share, and charts and SVG from them.

Fields and channels have fixed names. Users' names of models and metrics are only in the data and in
titles: Vega gives dots and brackets in the names of fields a meaning, and backslashes in channels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import require_libraries
from recsys_ndcg.files import to_json_value
from recsys_ndcg.rendering.numbers import format_level, format_range

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Spec = dict[str, Any]

# Colours for the colour-blind (Okabe & Ito 2008), in addition to dashes and shapes.
ACCENT, AGAINST, OTHERS = "#0072B2", "#D55E00", "#8C8C8C"
PALETTE = (ACCENT, AGAINST, "#009E73", "#CC79A7", "#E69F00", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 4], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2])
SOLID, DASHED = DASHES[:2]
LINES = tuple(zip(PALETTE, DASHES, strict=True))
WIDTH, HEIGHT = 460, 280
#: The type of specifications that JupyterLab 4 knows. It draws those of Vega-Lite 6 as well, whose
#: own type in Vega-Altair 6 makes the file of a notebook invalid.
_NOTEBOOK_TYPE = "application/vnd.vegalite.v5+json"
_HUGE = 1e5  # from here on axes use powers of ten
_MARGIN = 0.04  # of the range of an axis, on both sides


def rows(**columns: Iterable[Any]) -> list[Spec]:
    """Return columns as rows of JSON values; NaN is null.

    For a table: ``rows(**table)``.
    """
    return [
        dict(zip(columns, map(to_json_value, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def first_and_last(table: pd.DataFrame) -> list[Any]:
    """Return the first and the last row for a description, or the only one."""
    every = [*table.itertuples()]
    return every[:: max(len(every) - 1, 1)]


def keep_intervals(data: Iterable[Spec]) -> list[Spec]:
    """Return the rows that have an interval."""
    return [row for row in data if row["low"] is not None and row["high"] is not None]


def layer(data: Sequence[Spec], mark: str, style: Spec, **channels: Any) -> Spec:
    """Return a layer of marks of one kind."""
    return {"data": {"values": data}, "mark": {"type": mark, **style}, "encoding": channels}


def number(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def name(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", "title": title, **more}


def axis_channel(
    field: str,
    title: str,
    values: Any,
    *,
    channel: str = "mean",
    margin: float = _MARGIN,
    **ticks: Any,
) -> Spec:
    """Return a channel of numbers with an axis over the range of values, which may exclude 0."""
    known = _drop_infinite(values)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    beyond = margin * (high - low) if high > low else 0.1 * abs(high) or 0.1
    scale = {"domain": [low - beyond, high + beyond], "zero": False, "nice": False}
    return number(field, channel, scale=scale, axis=axis(max_abs(known), title=title, **ticks))


def tooltip(values: Any, **titles: str) -> list[Spec]:
    """Return lines of a tooltip with numbers, in the precision of some values."""
    form = ".4f" if max_abs(values) < 1e9 else ".6g"
    return [number(field, title, format=form) for field, title in titles.items()]


def tooltip_mean(values: Any, level: float) -> list[Spec]:
    """Return the lines of a tooltip with a mean and its interval."""
    return tooltip(values, mean="mean", low=f"{format_level(level)} % interval from", high="to")


def describe_interval(table: pd.DataFrame, level: float) -> str:
    """Return the words for a mean's interval in a title, empty if no mean has one."""
    known = table[["low", "high"]].notna().all(axis=1).any()
    return f", with its {format_level(level)} % interval" if known else ""


def describe_ends(low: float, high: float, level: float, more: str = "") -> str:
    """Write an interval, and `more` words, in brackets; NaN is no interval.

    Examples
    --------
    >>> describe_ends(0.25, 0.75, 0.95), describe_ends(np.nan, np.nan, 0.95)
    (' (95 % interval 0.2500 to 0.7500)', '')
    """
    interval = f"{format_level(level)} % interval {format_range(low, high, '{} to {}')}"
    inside = "; ".join(filter(None, ["" if np.isnan(low + high) else interval, more]))
    return f" ({inside})" if inside else ""


def tooltip_users(field: str, title: str = "users") -> Spec:
    """Return the line of a tooltip with the number of users."""
    return number(field, title, format=",d")


def max_abs(values: Any) -> float:
    """Return the largest absolute value, 0 if there is none."""
    return float(np.abs(_drop_infinite(values)).max(initial=0.0))


def _drop_infinite(values: Any) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[np.isfinite(numbers)]


def span(axis: str, channel: Spec, low: str = "low", high: str = "high") -> dict[str, Spec]:
    """Return the channels of a mark from one number to another along an axis."""
    return {axis: channel | {"field": low}, f"{axis}2": {"field": high}}


def mapping(field: str, looks: Mapping[str, Any], **legends: Any) -> Spec:
    """Return a channel that maps names to colours, dashes or shapes, with a legend."""
    scale = {"domain": [*looks], "range": [*looks.values()]}
    return name(field, scale=scale, legend=legend(**legends))


def line_channels(looks: Mapping[str, tuple[str, list[int]]], **legends: Any) -> dict[str, Spec]:
    """Return the colour and the dashes of lines, by their field ``line``."""
    colors = {line: color for line, (color, _) in looks.items()}
    dashes = {line: dash for line, (_, dash) in looks.items()}
    return {
        "color": mapping("line", colors, **legends),
        "strokeDash": mapping("line", dashes, **legends),
    }


def axis(largest: float = 1.0, **more: Any) -> Spec:
    """Return an axis for numbers up to a largest one."""
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


def title(title: str, subtitle: str | Sequence[str] = "") -> Spec:
    """Return a title with a subtitle."""
    beneath = {"subtitle": subtitle, "subtitleFontSize": 11, "subtitleColor": "#595959"}
    return {"text": title, "anchor": "start", "fontSize": 14, **(beneath if subtitle else {})}


# Charts of Vega-Altair, and SVG


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

    # alt.LayerChart.from_dict would try every class for each part, for half a second
    drawn = [
        alt.Chart(one["data"], mark=one["mark"], encoding=alt.FacetedEncoding(**one["encoding"]))
        for one in layers
    ]
    layered: alt.LayerChart = _add_picture_to("LayerChart")(
        layer=drawn, title=title, description=description, width=width, height=height
    )
    return layered


def concat_charts(
    panels: Sequence[alt.LayerChart], title: Spec, description: str
) -> alt.ConcatChart:
    """Return charts side by side with a common legend."""
    shared = {"scale": {"color": "shared", "strokeDash": "shared"}}
    joined: alt.ConcatChart = _add_picture_to("ConcatChart")(
        concat=[*panels], title=title, description=description, columns=3, resolve=shared
    )
    return joined


class PicturedChart:
    """A chart that gives a notebook a picture, for where no script can draw it: on a forge.

    Vega-Altair's default form is a web page that loads scripts from a network, which a notebook
    prefers to any picture. Here it is the specification of the chart, which JupyterLab draws
    without a network. Another form that the user chose (`altair.renderers`) is kept.
    """

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        import altair as alt  # noqa: PLC0415 - an extra, which the chart is made of

        draw = super()._repr_mimebundle_  # type: ignore[misc] # of the chart
        form = draw(*args, **kwds)
        try:
            with alt.renderers.enable("png"):
                picture = draw(*args, **kwds) if form else None
        except (ImportError, ValueError):  # vl-convert is not installed
            return form
        if not picture:  # the chart is shown in a browser, or is invalid
            return form
        form, details = form if isinstance(form, tuple) else (form, {})
        if alt.renderers.active == "default":
            form = {_NOTEBOOK_TYPE: self.to_dict()}  # type: ignore[attr-defined] # of the chart
        description = self.description  # type: ignore[attr-defined] # which all charts here have
        image, size = picture
        size["image/png"]["alt"] = description
        return {**image, **form, "text/plain": description}, {**size, **details}


@cache
def _add_picture_to(name: str) -> Any:
    """Return the class of Vega-Altair's charts with that name, with a picture."""
    import altair as alt  # noqa: PLC0415 - an extra

    return type(name, (PicturedChart, getattr(alt, name)), {})


def __getattr__(name: str) -> Any:
    """Return the class of a chart, which pickle looks up by its name."""
    if name in {"LayerChart", "ConcatChart"}:
        return _add_picture_to(name)
    raise AttributeError(name)


def to_svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as SVG with its description for screen readers; needs no network.

    Raises
    ------
    MissingExtraError
        Vega-Altair or vl-convert is not installed.
    """
    drawn = StringIO()
    with require_libraries("altair", "vl_convert", job="A plot as SVG", extra="report"):
        chart.save(drawn, format="svg")
    # at the top, as a screen reader may not read the drawing to its end
    text = escape(chart.description)  # type: ignore[attr-defined] # which all charts here have
    return drawn.getvalue().replace("<svg ", f'<svg role="img" aria-label="{text}" ', 1)
