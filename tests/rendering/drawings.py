"""The content of a chart: its layers with their data, and the drawing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from recsys_ndcg.rendering.plots import to_svg

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Layer:
    """Marks of one kind, the channels that place them, and their rows."""

    mark: dict[str, Any]
    encoding: dict[str, Any]
    rows: list[dict[str, Any]]


def layers(chart: alt.LayerChart | alt.ConcatChart) -> list[Layer]:
    """Return the layers of a chart, of all its panels."""
    spec = json.loads(chart.to_json(validate=False))  # `drawn` validates charts
    found = []
    for one in (layer for panel in spec.get("concat", [spec]) for layer in panel["layer"]):
        data = one["data"]
        rows = data["values"] if "values" in data else spec["datasets"][data["name"]]
        found.append(Layer(one["mark"], one["encoding"], rows))
    return found


def marked(chart: alt.LayerChart | alt.ConcatChart, *marks: str) -> list[Layer]:
    """Return the layers of some marks that are not empty."""
    return [one for one in layers(chart) if one.mark["type"] in marks and one.rows]


def shown_numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(one) for one in re.findall(r"-?\d+\.\d+", text)]


def described(chart: alt.LayerChart | alt.ConcatChart) -> str:
    """Return the description of a chart."""
    return str(chart.description)


def drawn(chart: alt.LayerChart | alt.ConcatChart) -> ET.Element:
    """Draw a chart, and check that no number is NaN and screen readers get the description."""
    pytest.importorskip("vl_convert")
    text = to_svg(chart)
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert (root.get("role"), root.get("aria-label")) == ("img", described(chart))
    for one in root.iter():
        for name, value in one.attrib.items():
            if not name.startswith("aria"):
                assert not re.search(r"\b(NaN|undefined|null|Infinity)\b", value), value
    return root


def texts(chart: alt.LayerChart | alt.ConcatChart) -> list[str]:
    """Return the texts in the drawing of a chart."""
    return [one.text or "" for one in drawn(chart).iter() if one.tag.endswith(("text", "tspan"))]
