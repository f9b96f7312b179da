"""Charts as a page draws them: as wide as there is room, in the colours of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.rendering.document import Chart, Panels
from recsys_ndcg.rendering.plots import vega

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

#: Colours of charts, and what a page calls them: its style says which they are by day and night.
_COLOURS = {
    vega.ACCENT: "var(--accent)",
    vega.AGAINST: "var(--against)",
    vega.OTHERS: "var(--others)",
    "#009E73": "var(--third)",
    "#CC79A7": "var(--fourth)",
    "#E69F00": "var(--fifth)",
    "#000000": "var(--ink)",
    "#333333": "var(--ink)",
    "#595959": "var(--soft)",
    "#767676": "var(--soft)",
    "#BBBBBB": "var(--others)",
    "#CCCCCC": "var(--others)",
    "#E6E6E6": "var(--line)",
    "white": "var(--paper)",
    "black": "var(--ink)",
}
#: Where people's own words and numbers stand, in which no colour is meant.
_DATA = {"values", "domain", "text", "title", "description", "datasets"}
#: What a page says outside of a chart, or by its width.
_LEFT_OUT = {"$schema", "config", "labelLimit", "description", "width"}


def for_a_page(chart: alt.TopLevelMixin) -> Chart | Panels:
    """Return a chart for a page; of several beside each other, each by itself."""
    spec: Spec = chart.to_dict(validate=False)
    shared = {"datasets": spec["datasets"]} if "datasets" in spec else {}
    if "concat" not in spec:
        return Chart(_for_a_page(spec), vega.described(chart))
    panels = [
        Chart(_for_a_page({**panel, **_used(panel, shared)}), str(panel["description"]))
        for panel in spec["concat"]
    ]
    return Panels(panels)


def _used(panel: Spec, shared: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a panel."""
    names = {one["data"].get("name") for one in panel.get("layer", [])}
    return {
        what: {name: rows for name, rows in data.items() if name in names}
        for what, data in shared.items()
    }


def _for_a_page(spec: Spec) -> Spec:
    shown: Spec = _coloured({name: value for name, value in spec.items() if name != "title"})
    return {**shown, "height": _height(spec), **_title(spec)}


def _height(spec: Spec) -> float:
    """Return the height in pixels, of a chart that has some for each name, too."""
    height = spec["height"]
    if not isinstance(height, dict):
        return float(height)
    names = next(
        one["encoding"]["y"]["scale"]["domain"]
        for one in spec["layer"]
        if one["encoding"].get("y", {}).get("type") == "nominal"
    )
    return float(height["step"]) * max(len(names), 2)


def _title(spec: Spec) -> Spec:
    """Return the title without what the page says itself."""
    title = spec.get("title")
    return {"title": {"text": title["text"]}} if isinstance(title, dict) else {}


def _coloured(part: Any, name: str = "") -> Any:
    if name in _DATA and not (name == "title" and isinstance(part, dict)):
        return part
    if isinstance(part, dict):
        return {key: _coloured(value, key) for key, value in part.items() if key not in _LEFT_OUT}
    if isinstance(part, list):
        return [_coloured(one) for one in part]
    return _COLOURS.get(part, part) if isinstance(part, str) else part
