"""What the charts that count users by a number share: bars on bins, and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.rendering.plots import vega

if TYPE_CHECKING:
    from recsys_ndcg.rendering.plots.bins import Bins
    from recsys_ndcg.rendering.plots.vega import Spec

_FEW = 5  # users at most in a bin: an axis would write the same number twice


def across(bins: Bins, what: str, *, title: str) -> Spec:
    """Return the channel of the number by which users are counted."""
    ends = bins.edges[[0, -1]].tolist()
    scale = {"domain": ends, "nice": False, "zero": False}
    ticks = vega.axis(vega.highest(ends), title=title, grid=False, tickCount=8)
    return vega.number("place", what, scale=scale, axis=ticks)


def upward(most: int) -> Spec:
    """Return the channel of how many users there are, up to so many."""
    ticks: Spec = {"values": [*range(most + 1)]} if most <= _FEW else {}
    scale = {"domainMin": 0, "domainMax": most} if most <= _FEW else {}
    return vega.number(
        "users", "number of users", scale=scale, axis=vega.axis(format=",d", **ticks)
    )


def bars(data: list[Spec], x: Spec, y: Spec, style: Spec, **more: Any) -> Spec:
    """Return bars from low to high, and from base to top."""
    ends = {"x": x | {"field": "low"}, "x2": {"field": "high"}, "y2": {"field": "base"}}
    shape = {"stroke": "white", "strokeWidth": 0.5, **style}
    return vega.layer(data, "rect", shape, **ends, y=y | {"field": "top"}, **more)


def over_all(mark: str, data: list[Spec], style: Spec, **channels: Any) -> Spec:
    """Return rules or areas over the whole height of a chart."""
    height = {"y": vega.fixed(0), "y2": vega.fixed(vega.HEIGHT)}
    return vega.layer(data, mark, style, **height, **channels)
