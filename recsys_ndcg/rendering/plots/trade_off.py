"""Chart of models by two metrics: their trade-off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.users import SHORT
from recsys_ndcg.rendering.wording import (
    format_number,
    list_first,
    make_label,
    make_labels,
    name_interval,
    pluralise,
)

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec


_NAMED = 20  # models with a name at their dot
_DESCRIBED = 4  # models in the description
_X, _Y = ["x", "x_low", "x_high"], ["y", "y_low", "y_high"]
_HEIGHT, _NARROW = 320, 240  # of the drawing without its axes; on a phone
_LOW_TO_HIGH = ("#D9901A", "#D0663F", "#B8476F", "#9A4CB4", "#7065E0")  # visible in dark mode too
_WIDE = 50  # ratio of the values beyond which colours are on a log scale
_MISSING = "(not set)"
_LETTER, _LINE, _GAP = 7.0, 12.0, 8.0  # pixels: of a letter, a line, and between dot and name
#: Places of a name at its dot: alignment, and distance to the right and down.
SIDES = {
    "above right": ("left", _GAP, -_GAP),
    "above left": ("right", -_GAP, -_GAP),
    "below right": ("left", _GAP, _GAP),
    "below left": ("right", -_GAP, _GAP),
}
Box = tuple[float, float, float, float]  # left, top, right, bottom


def plot_trade_off(  # noqa: PLR0913 - two metrics
    table: pd.DataFrame,
    x_metric: str,
    y_metric: str,
    *,
    lower_is_better: tuple[bool, bool] = (False, False),
    parameter: str | None = None,
    level: float = 0.95,
) -> alt.LayerChart:
    """Draw a dot per model with its intervals, and a line through the unbeaten models.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns model, x, x_low, x_high, y, y_low, y_high and, with a parameter, value, which is a
        number, a text or None. Rows without one of the two means are left out, but not all rows;
        the ends are NaN without an interval. Optional column front: whether no other model is
        significantly better in one metric without being significantly worse in the other; by
        default, whether none is better by the means. Optional column region: the corners of a
        confidence region of both means, as an array (n_corners, 2), or None.
    x_metric, y_metric : str
        The names of the metrics.
    lower_is_better : pair of bool
        Whether the lowest x, and the lowest y, is the best.
    parameter : str, optional
        The name of the values, by which models are coloured.
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = table.dropna(subset=["x", "y"]).reset_index(drop=True)
    signs = [-1 if lower else 1 for lower in lower_is_better]
    unbeaten = find_unbeaten(*(known[["x", "y"]].to_numpy(np.float64) * signs).T)
    is_tested = "front" in known
    best = known["front"].to_numpy(bool) if is_tested else unbeaten
    models = known.assign(model=make_labels(known["model"], SHORT), best=best)
    regions = _select_regions(models)
    models = models.drop(columns=["front", "region"], errors="ignore")
    groups = _split_by_colour(models, parameter)
    names = make_label(x_metric), make_label(y_metric)
    better = ["lower is better" if lower else "higher is better" for lower in lower_is_better]
    titles = [f"{name} ({which})" for name, which in zip(names, better, strict=True)]

    def make_axis(place: int, field: str, columns: list[str]) -> Spec:
        ends = [one[:, place] for one in regions]
        numbers = np.concatenate([models[columns].to_numpy(np.float64).ravel(), *ends])
        return vega.axis_channel(field, titles[place], numbers)

    across, upward = make_axis(0, "x", _X), make_axis(1, "y", _Y)
    ahead = models[best].sort_values("x", ascending=lower_is_better[0], kind="stable")
    are = "are filled and joined by the line" if len(ahead) > 1 else "is filled"
    why = "no other is better in one and as good in the other"
    if is_tested:
        are = "are filled" if len(ahead) > 1 else "is filled"
        why = "no other is significantly better in one and not significantly worse in the other"
    summary = [f"{len(ahead)} of {pluralise(len(models), 'model')} {are}:", why]
    what = " and ".join(titles)
    every: list[Any] = [*ahead.itertuples()]
    texts = [f"{one.model} {format_number(one.x)} and {format_number(one.y)}" for one in every]
    described = "; ".join(list_first(texts, _DESCRIBED, "and {:,} more models"))
    return vega.chart(
        vega.title(f"Trade-off of {names[0]} and {names[1]}", summary),
        f"Trade-off of {what}: {' '.join(summary)}. {described}.",
        [
            *_draw_regions(regions, across, upward),
            _draw_frontier(models[unbeaten], across, upward, lower=lower_is_better[0]),
            *chain(*(_draw_intervals(some, across, upward, one) for some, one in groups)),
            *chain(*(_draw_dots(some, across, upward, one, level) for some, one in groups)),
            *_draw_names(models, across, upward),
        ],
        height=_HEIGHT,
    )


def _split_by_colour(
    models: pd.DataFrame, parameter: str | None
) -> list[tuple[pd.DataFrame, Spec]]:
    """Return the models with their colour channel; models without a value are separate."""
    if parameter is None:
        return [(models, vega.constant(vega.ACCENT))]
    known = models["value"].dropna()
    if not len(known) or not all(map(_is_number, known)):
        models["value"], color = _colour_by_name(models["value"], parameter)
        return [(models, color)]
    bare = models["value"].isna()  # which Vega would not draw
    color = _colour_by_number(known.astype(np.float64), parameter)
    groups = [(models[~bare], color), (models[bare], vega.constant(vega.OTHERS))]
    return [(some, one) for some, one in groups if len(some)]


def _draw_frontier(models: pd.DataFrame, x: Spec, y: Spec, *, lower: bool) -> Spec:
    """Return the line through the unbeaten models."""
    ordered = models.drop_duplicates(["x", "y"]).sort_values("x", kind="stable")
    step = "step-after" if lower else "step-before"
    style = {"interpolate": step, "color": "#767676", "strokeWidth": 1, "strokeDash": vega.DASHED}
    return vega.layer(vega.rows(**ordered[["x", "y"]]), "line", style, x=x, y=y)


def _select_regions(models: pd.DataFrame) -> list[Floats]:
    """Return the corners of the confidence regions, if there are few models."""
    if "region" not in models or len(models) > _NAMED:
        return []
    return [one for one in models["region"] if one is not None]


def _draw_regions(regions: Sequence[Floats], x: Spec, y: Spec) -> list[Spec]:
    """Return the outlines of the confidence regions."""
    style = {
        "interpolate": "linear-closed", "fill": vega.ACCENT, "fillOpacity": 0.08,
        "stroke": vega.ACCENT, "strokeOpacity": 0.25, "strokeWidth": 1,
    }  # fmt: skip
    return [
        vega.layer(
            vega.rows(x=one[:, 0], y=one[:, 1], corner=np.arange(len(one))), "line", style,
            x=x, y=y, order=vega.number("corner"),
        )
        for one in regions
    ]  # fmt: skip


def _draw_intervals(models: pd.DataFrame, x: Spec, y: Spec, color: Spec) -> list[Spec]:
    layers = []
    for (field, channel), other in zip((("x", x), ("y", y)), (y, x), strict=True):
        data = _data(models.assign(low=models[f"{field}_low"], high=models[f"{field}_high"]))
        places = vega.span(field, channel) | {"y" if field == "x" else "x": other}
        style = {"strokeWidth": 1.5, "opacity": 0.4}
        layers.append(vega.layer(vega.keep_intervals(data), "rule", style, **places, color=color))
    return layers


def _draw_dots(models: pd.DataFrame, x: Spec, y: Spec, color: Spec, level: float) -> list[Spec]:
    texts = [vega.name("model", "model")]
    texts += [vega.name("value", "parameter")] if "value" in models else []
    for numbers, which in ((_X, "horizontal"), (_Y, "vertical")):
        interval = f"{which}, {name_interval(level)}"
        lines = which, f"{interval} from", f"{interval} to"
        texts += vega.tooltip(models[numbers], **dict(zip(numbers, lines, strict=True)))
    style, own = {"opacity": 1, "strokeWidth": 2, "size": 60}, {"color": color, "tooltip": texts}
    parts = {best: _data(models[models["best"] == best]) for best in (False, True)}
    return [
        vega.layer(data, "point", style | {"filled": best}, x=x, y=y, **own)
        for best, data in parts.items()
    ]


def _data(models: pd.DataFrame) -> list[Spec]:
    return vega.rows(**models.drop(columns="best"))


def _draw_names(models: pd.DataFrame, x: Spec, y: Spec) -> list[Spec]:
    """Return the names of some models where there is room, unbeaten ones first."""
    some = models.sort_values("best", ascending=False, kind="stable").head(_NAMED)
    down = [_HEIGHT - one for one in _to_pixels(some["y"], y, _HEIGHT)]
    layouts = [
        Layout(width, _HEIGHT, [*zip(_to_pixels(some["x"], x, width), down, strict=True)])
        for width in (vega.WIDTH, _NARROW)
    ]
    found = place_names([*some["model"]], layouts)
    layers = []
    for side, (align, dx, dy) in SIDES.items():
        data = _data(some[[one == side for one in found]])
        style = {"align": align, "dx": dx, "dy": dy, "baseline": "middle", "fontSize": 11}
        layers.append(vega.layer(data, "text", style, x=x, y=y, text=vega.name("model")))
    return layers


def _to_pixels(values: pd.Series[float], channel: Spec, size: int) -> list[float]:
    low, high = channel["scale"]["domain"]
    return [size * (one - low) / (high - low) for one in values]


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e300 and math.isfinite(value)


def _colour_by_number(known: pd.Series[float], parameter: str) -> Spec:
    low, high = known.min(), known.max()
    wide = low > 0 and high / low >= _WIDE
    ends = [low, high] if low < high else [low, low + (abs(low) or 1.0)]
    scale = {"type": "log" if wide else "linear", "domain": ends, "range": _LOW_TO_HIGH}
    exact = {"values": sorted(set(known))} if known.nunique() <= 6 else {"tickCount": 5}
    form = ".6~g" if vega.max_abs(known) < 1e5 else "~e"
    look = {"symbolOpacity": 1, "direction": "horizontal", "gradientLength": 200, "format": form}
    legend = vega.legend(title=make_label(parameter), **look, **exact)
    return vega.number("value", scale=scale, legend=legend)


def _colour_by_name(values: pd.Series[Any], parameter: str) -> tuple[list[str], Spec]:
    """Colour the most frequent values; others are grey."""
    bare = values.isna()
    texts = [None if absent else str(one) for one, absent in zip(values, bare, strict=True)]
    distinct = dict.fromkeys(one for one in texts if one is not None)
    often = sorted(distinct, key=texts.count, reverse=True)[: len(vega.PALETTE)]
    first = [one for one in distinct if one in often]
    shown = dict(zip(first, make_labels(first), strict=True))
    rest = pluralise(len(distinct) - len(first), "other value")
    found = [_MISSING if one is None else shown.get(one, rest) for one in texts]
    grey = [one for one in (rest, _MISSING) if one in {*found} - {*shown.values()}]
    looks = dict(zip(shown.values(), vega.PALETTE, strict=False)) | dict.fromkeys(grey, vega.OTHERS)
    title, columns = make_label(parameter), 2 if len(shown) > 3 else 1
    return found, vega.mapping("value", looks, title=title, symbolOpacity=1, columns=columns)


def find_unbeaten(x: Floats, y: Floats) -> Flags:
    """Return which points are Pareto-optimal: none is as good in both numbers and better in one.

    Parameters
    ----------
    x, y : float64 arrays
        Higher is better.

    Examples
    --------
    >>> find_unbeaten(np.array([1.0, 2.0, 1.5]), np.array([2.0, 1.0, 0.5])).tolist()
    [True, True, False]
    """
    beaten = [
        ((x >= own_x) & (y >= own_y) & ((x > own_x) | (y > own_y))).any()
        for own_x, own_y in zip(x, y, strict=True)
    ]
    return ~np.array(beaten)


class Layout(NamedTuple):
    """Places of dots in a drawing, in pixels to the right and down."""

    width: float
    height: float
    dots: Sequence[tuple[float, float]]


def place_names(names: Sequence[str], layouts: Sequence[Layout]) -> list[str]:
    """Choose a side of its dot for each name, empty if there is no room.

    Parameters
    ----------
    names : sequence of str
        The names, which choose in this order.
    layouts : sequence of Layout
        The same dots in a wide and a narrow drawing: a name needs room in each.

    Examples
    --------
    >>> place_names(["a", "b"], [Layout(100, 100, [(50, 50), (45, 50)])])
    ['above right', 'above left']
    """
    taken = [[(x - 5, y - 5, x + 5, y + 5) for x, y in layout.dots] for layout in layouts]
    found = [""] * len(names)
    for place, name in enumerate(names):
        for side in SIDES:
            boxes = [_make_box(name, layout.dots[place], side) for layout in layouts]
            if all(map(_is_free, boxes, layouts, taken)):
                found[place] = side
                for box, others in zip(boxes, taken, strict=True):
                    others.append(box)
                break
    return found


def _make_box(name: str, dot: tuple[float, float], side: str) -> Box:
    align, dx, dy = SIDES[side]
    width, (x, y) = len(name) * _LETTER, dot
    left = x + dx if align == "left" else x + dx - width
    return left, y + dy - _LINE / 2, left + width, y + dy + _LINE / 2


def _is_free(box: Box, layout: Layout, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    inside = left >= 0 and top >= 0 and right <= layout.width and bottom <= layout.height
    return inside and not any(
        left < other_right and other_left < right and top < other_bottom and other_top < bottom
        for other_left, other_top, other_right, other_bottom in taken
    )
