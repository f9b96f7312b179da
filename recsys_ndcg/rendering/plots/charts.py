"""The door to Vega-Altair: specifications of Vega-Lite become its charts, and those SVG."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec


def chart_of(spec: Spec) -> alt.LayerChart:
    """Return layers as a chart.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    with needing("altair", job="A plot", extra="report"):
        import altair as alt  # noqa: PLC0415 - an extra

    # not alt.LayerChart.from_dict, which tries every class that a part could be of: half a second
    layers = [
        alt.Chart(
            one["data"],
            mark=one["mark"],
            encoding=alt.FacetedEncoding(**one["encoding"]),
        )
        for one in spec["layer"]
    ]
    return alt.LayerChart(layer=layers, **{name: spec[name] for name in spec if name != "layer"})


def charts_of(spec: Spec) -> alt.ConcatChart:
    """Return charts beside each other as one.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    with needing("altair", job="A plot", extra="report"):
        import altair as alt  # noqa: PLC0415 - an extra

    panels = [chart_of(one) for one in spec["concat"]]
    return alt.ConcatChart(concat=panels, **{name: spec[name] for name in spec if name != "concat"})


def described(chart: alt.TopLevelMixin) -> str:
    """Return the text alternative of a chart: what it shows, with the numbers."""
    return str(chart.description)  # type: ignore[attr-defined] # which all charts of this room have


def svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as SVG that says to a screen reader what it shows; made without a network.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed, or vl-convert, which draws.
    """
    drawn = StringIO()
    with needing("altair", "vl_convert", job="A plot as SVG", extra="report"):
        chart.save(drawn, format="svg")
    # a drawing that nobody reads to the end, so that what is told stands at its top
    told = f'<svg role="img" aria-label="{escape(described(chart))}" '
    return drawn.getvalue().replace("<svg ", told, 1)
