"""Models by two metrics at once: what is paid in one for the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.users import SHORT
from recsys_ndcg.rendering.wording import count, first_few, label, labels, number, of_level

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec


_NAMED = 20  # models whose names stand beside their dots
_TOLD = 4  # models that the description goes through
_X, _Y = ["x", "x_low", "x_high"], ["y", "y_low", "y_high"]
_HEIGHT, _NARROW = 320, 240  # of the drawing without its axes; on a phone
_LOW_TO_HIGH = ("#D9901A", "#D0663F", "#B8476F", "#9A4CB4", "#7065E0")  # seen by night, too
_WIDE = 50  # times the lowest is the highest: colours go by powers
_MISSING = "(not set)"
_LETTER, _LINE, _GAP = 7.0, 12.0, 8.0  # pixels: of a letter, a line, and between dot and name
#: How a name stands to its dot: its alignment, and how far right and down of it.
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
    """Return a dot for each model with its intervals; a line joins those that none beats in both.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns model, x, x_low, x_high, y, y_low, y_high and, with a parameter, value, which is a
        number, a text or None. Rows without one of the two means are left out, and one is left at
        least; the ends are NaN where there is no interval.
    x_metric, y_metric : str
        Their names.
    lower_is_better : pair of bool
        Whether the lowest x, and the lowest y, is the best.
    parameter : str, optional
        What the values are of, by which models are coloured.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = table.dropna(subset=["x", "y"]).reset_index(drop=True)
    signs = [-1 if lower else 1 for lower in lower_is_better]
    best = unbeaten(*(known[["x", "y"]].to_numpy(np.float64) * signs).T)
    models = known.assign(model=labels(known["model"], SHORT), best=best)
    groups = _by_colour(models, parameter)
    names = label(x_metric), label(y_metric)
    better = ["lower is better" if lower else "higher is better" for lower in lower_is_better]
    across, upward = (
        vega.amount(field, f"{name}: mean over users ({which})", models[numbers])
        for field, name, which, numbers in zip("xy", names, better, (_X, _Y), strict=True)
    )
    ahead = models[best].sort_values("x", ascending=lower_is_better[0], kind="stable")
    are = "are filled and joined by the line" if len(ahead) > 1 else "is filled"
    said = [
        f"{len(ahead)} of {count(len(models), 'model')} {are}:",
        "no other is better in one and as good in the other",
    ]
    what = " and ".join(f"{name} ({which})" for name, which in zip(names, better, strict=True))
    every: list[Any] = [*ahead.itertuples()]
    told = [f"{one.model} {number(one.x)} and {number(one.y)}" for one in every]
    models_told = "; ".join(first_few(told, _TOLD, "and {:,} more models"))
    return vega.chart(
        vega.titled(f"Trade-off of {names[0]} and {names[1]}", said),
        f"Trade-off of {what}: {' '.join(said)}. {models_told}.",
        [
            _frontier(models[best], across, upward, lower=lower_is_better[0]),
            *chain(*(_intervals(some, across, upward, one) for some, one in groups)),
            *chain(*(_dots(some, across, upward, one, level) for some, one in groups)),
            *_names(models, across, upward),
        ],
        height=_HEIGHT,
    )


def _by_colour(models: pd.DataFrame, parameter: str | None) -> list[tuple[pd.DataFrame, Spec]]:
    """Return the models with the channel that colours them, those without a value apart."""
    if parameter is None:
        return [(models, vega.fixed(vega.ACCENT))]
    known = models["value"].dropna()
    if not len(known) or not all(map(_is_number, known)):
        models["value"], color = _by_name(models["value"], parameter)
        return [(models, color)]
    bare = models["value"].isna()  # of which Vega would draw nothing
    color = _by_number(known.astype(np.float64), parameter)
    groups = [(models[~bare], color), (models[bare], vega.fixed(vega.OTHERS))]
    return [(some, one) for some, one in groups if len(some)]


def _frontier(models: pd.DataFrame, x: Spec, y: Spec, *, lower: bool) -> Spec:
    """Return the line on whose one side nobody is."""
    ordered = models.drop_duplicates(["x", "y"]).sort_values("x", kind="stable")
    step = "step-after" if lower else "step-before"
    style = {"interpolate": step, "color": "#767676", "strokeWidth": 1, "strokeDash": vega.DASHED}
    return vega.layer(vega.rows(**ordered[["x", "y"]]), "line", style, x=x, y=y)


def _intervals(models: pd.DataFrame, x: Spec, y: Spec, color: Spec) -> list[Spec]:
    layers = []
    for (field, channel), other in zip((("x", x), ("y", y)), (y, x), strict=True):
        data = _data(models.assign(low=models[f"{field}_low"], high=models[f"{field}_high"]))
        places = vega.ends(field, channel) | {"y" if field == "x" else "x": other}
        style = {"strokeWidth": 1.5, "opacity": 0.4}
        layers.append(vega.layer(vega.whole(data), "rule", style, **places, color=color))
    return layers


def _dots(models: pd.DataFrame, x: Spec, y: Spec, color: Spec, level: float) -> list[Spec]:
    told = [vega.name("model", "model")]
    told += [vega.name("value", "parameter")] if "value" in models else []
    for numbers, which in ((_X, "horizontal"), (_Y, "vertical")):
        interval = f"{which}, {of_level(level)}"
        lines = which, f"{interval} from", f"{interval} to"
        told += vega.told(models[numbers], **dict(zip(numbers, lines, strict=True)))
    style, own = {"opacity": 1, "strokeWidth": 2, "size": 60}, {"color": color, "tooltip": told}
    parts = {best: _data(models[models["best"] == best]) for best in (False, True)}
    return [
        vega.layer(data, "point", style | {"filled": best}, x=x, y=y, **own)
        for best, data in parts.items()
    ]


def _data(models: pd.DataFrame) -> list[Spec]:
    return vega.rows(**models.drop(columns="best"))


def _names(models: pd.DataFrame, x: Spec, y: Spec) -> list[Spec]:
    """Return the names of few models, where they cover nothing: of the unbeaten ones first."""
    some = models.sort_values("best", ascending=False, kind="stable").head(_NAMED)
    down = [_HEIGHT - one for one in _pixels(some["y"], y, _HEIGHT)]
    layouts = [
        Layout(width, _HEIGHT, [*zip(_pixels(some["x"], x, width), down, strict=True)])
        for width in (vega.WIDTH, _NARROW)
    ]
    found = sides([*some["model"]], layouts)
    layers = []
    for side, (align, dx, dy) in SIDES.items():
        data = _data(some[[one == side for one in found]])
        style = {"align": align, "dx": dx, "dy": dy, "baseline": "middle", "fontSize": 11}
        layers.append(vega.layer(data, "text", style, x=x, y=y, text=vega.name("model")))
    return layers


def _pixels(values: pd.Series[float], channel: Spec, size: int) -> list[float]:
    low, high = channel["scale"]["domain"]
    return [size * (one - low) / (high - low) for one in values]


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e300 and math.isfinite(value)


def _by_number(known: pd.Series[float], parameter: str) -> Spec:
    low, high = known.min(), known.max()
    wide = low > 0 and high / low >= _WIDE
    ends = [low, high] if low < high else [low, low + (abs(low) or 1.0)]
    scale = {"type": "log" if wide else "linear", "domain": ends, "range": _LOW_TO_HIGH}
    exact = {"values": sorted(set(known))} if known.nunique() <= 6 else {"tickCount": 5}
    form = ".6~g" if vega.highest(known) < 1e5 else "~e"
    look = {"symbolOpacity": 1, "direction": "horizontal", "gradientLength": 200, "format": form}
    legend = vega.legend(title=label(parameter), **look, **exact)
    return vega.number("value", scale=scale, legend=legend)


def _by_name(values: pd.Series[Any], parameter: str) -> tuple[list[str], Spec]:
    """Colour the values that most models have, the rest are grey."""
    bare = values.isna()
    texts = [None if absent else str(one) for one, absent in zip(values, bare, strict=True)]
    distinct = dict.fromkeys(one for one in texts if one is not None)
    often = sorted(distinct, key=texts.count, reverse=True)[: len(vega.PALETTE)]
    first = [one for one in distinct if one in often]
    shown = dict(zip(first, labels(first), strict=True))
    rest = count(len(distinct) - len(first), "other value")
    found = [_MISSING if one is None else shown.get(one, rest) for one in texts]
    grey = [one for one in (rest, _MISSING) if one in {*found} - {*shown.values()}]
    looks = dict(zip(shown.values(), vega.PALETTE, strict=False)) | dict.fromkeys(grey, vega.OTHERS)
    title, columns = label(parameter), 2 if len(shown) > 3 else 1
    return found, vega.look("value", looks, title=title, symbolOpacity=1, columns=columns)


def unbeaten(x: Floats, y: Floats) -> Flags:
    """Return which points are Pareto-optimal: none is as good in both numbers and better in one.

    Parameters
    ----------
    x, y : float64 arrays
        More is better.

    Examples
    --------
    >>> unbeaten(np.array([1.0, 2.0, 1.5]), np.array([2.0, 1.0, 0.5])).tolist()
    [True, True, False]
    """
    beaten = [
        ((x >= own_x) & (y >= own_y) & ((x > own_x) | (y > own_y))).any()
        for own_x, own_y in zip(x, y, strict=True)
    ]
    return ~np.array(beaten)


class Layout(NamedTuple):
    """Dots in a drawing of some size, right and down in pixels."""

    width: float
    height: float
    dots: Sequence[tuple[float, float]]


def sides(names: Sequence[str], layouts: Sequence[Layout]) -> list[str]:
    """Return at which side of its dot each name has room, nothing where it has none.

    Parameters
    ----------
    names : sequence of str
        Those that come first choose first.
    layouts : sequence of Layout
        The same dots in a wide drawing, and in a narrow one: a name needs room in each.

    Examples
    --------
    >>> sides(["a", "b"], [Layout(100, 100, [(50, 50), (45, 50)])])
    ['above right', 'above left']
    """
    taken = [[(x - 5, y - 5, x + 5, y + 5) for x, y in layout.dots] for layout in layouts]
    found = [""] * len(names)
    for place, name in enumerate(names):
        for side in SIDES:
            boxes = [_box(name, layout.dots[place], side) for layout in layouts]
            if all(map(_free, boxes, layouts, taken)):
                found[place] = side
                for box, others in zip(boxes, taken, strict=True):
                    others.append(box)
                break
    return found


def _box(name: str, dot: tuple[float, float], side: str) -> Box:
    align, dx, dy = SIDES[side]
    width, (x, y) = len(name) * _LETTER, dot
    left = x + dx if align == "left" else x + dx - width
    return left, y + dy - _LINE / 2, left + width, y + dy + _LINE / 2


def _free(box: Box, layout: Layout, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    inside = left >= 0 and top >= 0 and right <= layout.width and bottom <= layout.height
    return inside and not any(
        left < other_right and other_left < right and top < other_bottom and other_top < bottom
        for other_left, other_top, other_right, other_bottom in taken
    )
