"""Chart of models by two metrics: their trade-off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.errors import is_number
from recsys_ndcg.rendering.numbers import format_number, pluralise
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.users import SHORT
from recsys_ndcg.rendering.wording import list_first, make_label, make_labels

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec


_STEP = 16  # pixels of height for each name, so that there is room for all
_DESCRIBED = 4  # models in the description
_X, _Y = ["x", "x_low", "x_high"], ["y", "y_low", "y_high"]
_HEIGHT, _TALLEST, _NARROW = 320, 900, 240  # of the drawing without its axes; its width on a phone
_LOW_TO_HIGH = ("#D9901A", "#D0663F", "#B8476F", "#9A4CB4", "#7065E0")  # visible in dark mode too
_WIDE = 50  # ratio of the values beyond which colours are on a log scale
_MISSING = "(not set)"
_LETTER, _LINE, _GAP = 6.5, 12.0, 8.0  # pixels: of a letter, a line, and between dot and name
_MANY = 200  # more names stay at their dots, even if they cover each other
_RINGS = 12  # distances of a name from its dot, if there is no room at the dot
#: Places of a name at its dot: alignment, and distance to the right and down; the best first.
PLACES = [
    ("left", _GAP, -_GAP), ("right", -_GAP, -_GAP), ("left", _GAP, _GAP), ("right", -_GAP, _GAP),
    *(
        (align, dx, sign * (_GAP + (_LINE + 1) * ring))
        for ring in range(1, _RINGS + 1)
        for sign in (-1, 1)
        for align, dx in (("left", _GAP), ("right", -_GAP), ("center", 0.0))
    ),
]  # fmt: skip


def plot_trade_off(  # noqa: PLR0913 - two metrics
    table: pd.DataFrame,
    x_metric: str,
    y_metric: str,
    *,
    lower_is_better: tuple[bool, bool] = (False, False),
    parameter: str | None = None,
    lines_from: tuple[str, str] = ("", ""),
) -> alt.LayerChart:
    """Draw a dot per model with its intervals, and a line through the unbeaten models.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns model, x, x_low, x_high, y, y_low, y_high and, with a parameter, value, which is a
        number, a text or None. Rows without one of the two means are left out, but not all rows;
        the ends are of the interval of the difference from one model, from its mean on, NaN if
        there is none. Optional column front: whether no other model is significantly better in
        one metric without being significantly worse in the other; by default, whether none is
        better by the means.
    x_metric, y_metric : str
        The names of the metrics.
    lower_is_better : pair of bool
        Whether the lowest x, and the lowest y, is the best.
    parameter : str, optional
        The name of the values, by which models are coloured.
    lines_from : pair of str
        The models that the intervals across, and upward, show the differences from.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = table.dropna(subset=["x", "y"]).reset_index(drop=True)
    signs = [-1 if lower else 1 for lower in lower_is_better]
    unbeaten = find_unbeaten(*(known[["x", "y"]].to_numpy(np.float64) * signs).T)
    is_tested = "front" in known
    best = known.pop("front").to_numpy(bool) if is_tested else unbeaten
    models = known.assign(model=make_labels(known["model"], SHORT), best=best)
    groups = _split_by_colour(models, parameter)
    names = make_label(x_metric), make_label(y_metric)
    better = ["lower is better" if lower else "higher is better" for lower in lower_is_better]
    titles = [f"{name} ({which})" for name, which in zip(names, better, strict=True)]
    height = min(max(_HEIGHT, _STEP * len(models)), _TALLEST)
    across = vega.axis_channel("x", titles[0], models[_X])
    upward = vega.axis_channel("y", titles[1], models[_Y])
    ahead = models[best].sort_values("x", ascending=lower_is_better[0], kind="stable")
    are = "are filled and joined by the line" if len(ahead) > 1 else "is filled"
    why = "no other is better in one and as good in the other"
    if is_tested:
        are = "are filled" if len(ahead) > 1 else "is filled"
        why = (
            "no other is significantly better in one metric without being significantly worse in "
            "the other"
        )
    summary = [f"{len(ahead)} of {pluralise(len(models), 'model')} {are}:", why]
    if models[[*_X[1:], *_Y[1:]]].notna().any(axis=None):
        first, second = (make_label(one, SHORT) for one in lines_from)
        other = first if first == second else f"{first} (across) and {second} (upward)"
        summary.append(
            f"lines: intervals of the difference from {other}; a line that does not reach its "
            "value is a significant difference"
        )
    what = " and ".join(titles)
    every: list[Any] = [*ahead.itertuples()]
    texts = [f"{one.model} {format_number(one.x)} and {format_number(one.y)}" for one in every]
    described = "; ".join(list_first(texts, _DESCRIBED, "and {:,} more models"))
    return vega.chart(
        vega.title(f"Trade-off of {names[0]} and {names[1]}", summary),
        f"Trade-off of {what}: {' '.join(summary[:2])}. {described}.",
        [
            _draw_frontier(models[unbeaten], across, upward, lower=lower_is_better[0]),
            *chain(*(_draw_intervals(some, across, upward, one) for some, one in groups)),
            *chain(*(_draw_dots(some, across, upward, one) for some, one in groups)),
            *_draw_names(models, across, upward, height),
        ],
        height=height,
    )


def _split_by_colour(
    models: pd.DataFrame, parameter: str | None
) -> list[tuple[pd.DataFrame, Spec]]:
    """Return the models with their colour channel; models without a value are separate."""
    if parameter is None:
        return [(models, {"value": vega.ACCENT})]
    known = models["value"].dropna()
    if not len(known) or not all(is_number(one) and abs(one) < 1e300 for one in known):
        models["value"], color = _colour_by_name(models["value"], parameter)
        return [(models, color)]
    bare = models["value"].isna()  # which Vega would not draw
    color = _colour_by_number(known.astype(np.float64), parameter)
    groups = [(models[~bare], color), (models[bare], {"value": vega.OTHERS})]
    return [(some, one) for some, one in groups if len(some)]


def _draw_frontier(models: pd.DataFrame, x: Spec, y: Spec, *, lower: bool) -> Spec:
    """Return the line through the unbeaten models."""
    ordered = models.drop_duplicates(["x", "y"]).sort_values("x", kind="stable")
    step = "step-after" if lower else "step-before"
    style = {"interpolate": step, "color": "#767676", "strokeWidth": 1, "strokeDash": vega.DASHED}
    return vega.layer(vega.rows(**ordered[["x", "y"]]), "line", style, x=x, y=y)


def _draw_intervals(models: pd.DataFrame, x: Spec, y: Spec, color: Spec) -> list[Spec]:
    layers = []
    for (field, channel), other in zip((("x", x), ("y", y)), (y, x), strict=True):
        data = _data(models.assign(low=models[f"{field}_low"], high=models[f"{field}_high"]))
        places = vega.span(field, channel) | {"y" if field == "x" else "x": other}
        style = {"strokeWidth": 1.5, "opacity": 0.3}
        layers.append(vega.layer(vega.keep_intervals(data), "rule", style, **places, color=color))
    return layers


def _draw_dots(models: pd.DataFrame, x: Spec, y: Spec, color: Spec) -> list[Spec]:
    texts = [vega.name("model", "model")]
    texts += [vega.name("value", "parameter")] if "value" in models else []
    texts += vega.tooltip(models[["x", "y"]], x="horizontal", y="vertical")
    style, own = {"opacity": 1, "strokeWidth": 2, "size": 60}, {"color": color, "tooltip": texts}
    parts = {best: _data(models[models["best"] == best]) for best in (False, True)}
    return [
        vega.layer(data, "point", style | {"filled": best}, x=x, y=y, **own)
        for best, data in parts.items()
    ]


def _data(models: pd.DataFrame) -> list[Spec]:
    return vega.rows(**models.drop(columns="best"))


def _draw_names(models: pd.DataFrame, x: Spec, y: Spec, height: float) -> list[Spec]:
    """Return the name of each model at its dot, with a line to the dot if it is further away."""
    ordered = models.sort_values("best", ascending=False, kind="stable")  # unbeaten ones first
    down = [height - one for one in _to_pixels(ordered["y"], y, height)]
    layouts = [
        Layout(width, height, [*zip(_to_pixels(ordered["x"], x, width), down, strict=True)])
        for width in (vega.WIDTH, _NARROW)
    ]
    align, dx, dy = zip(*place_names([*ordered["model"]], layouts), strict=True)
    names = ordered.assign(align=align, dx=dx, dy=dy)
    style = {one: {"expr": f"datum.{one}"} for one in ("align", "dx", "dy")}
    text = {"baseline": "middle", "fontSize": 11, **style}
    line = {"strokeWidth": 0.75, "color": "#767676", "x2Offset": style["dx"]}
    line["y2Offset"] = {"expr": f"datum.dy + (datum.dy < 0 ? {_LINE / 2} : {-_LINE / 2})"}
    ends = {"x": x, "x2": {"field": "x"}, "y": y, "y2": {"field": "y"}}
    far = names[names["dy"].abs() > _GAP]
    return [
        vega.layer(_data(far), "rule", line, **ends),
        vega.layer(_data(names), "text", text, x=x, y=y, text=vega.name("model")),
    ]


def _to_pixels(values: pd.Series[float], channel: Spec, size: float) -> list[float]:
    low, high = channel["scale"]["domain"]
    return [size * (one - low) / (high - low) for one in values]


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
    counts = Counter(map(str, values.dropna()))
    often = dict(counts.most_common(len(vega.PALETTE)))
    first = [text for text in counts if text in often]
    shown = dict(zip(first, make_labels(first), strict=True))
    rest = pluralise(len(counts) - len(first), "other value")
    known = [shown.get(str(value), rest) for value in values]
    found = np.where(values.isna(), _MISSING, known).tolist()
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


def place_names(names: Sequence[str], layouts: Sequence[Layout]) -> list[tuple[str, float, float]]:
    """Choose one of `PLACES` for each name: the first that is free, or the least covered one.

    Parameters
    ----------
    names : sequence of str
        The names, which choose in this order.
    layouts : sequence of Layout
        The same dots in a wide and a narrow drawing: a name needs room in each.

    Examples
    --------
    >>> place_names(["a", "b"], [Layout(100, 100, [(50, 50), (45, 50)])])
    [('left', 8.0, -8.0), ('right', -8.0, -8.0)]
    """
    n_dots = len(names)
    places = PLACES if n_dots <= _MANY else PLACES[:4]  # trying all of them would take seconds
    taken = [np.zeros((2 * n_dots, 4)) for _ in layouts]  # left, top, right, bottom
    for others, layout in zip(taken, layouts, strict=True):
        others[:n_dots] = np.tile(layout.dots, 2) + np.array([-5, -5, 5, 5])
    found = []
    for n_placed, name in enumerate(names, start=n_dots):
        boxes = [_find_boxes(name, layout.dots[n_placed - n_dots], places) for layout in layouts]
        covered = sum(
            _measure_covered(own, others[:n_placed], layout)
            for own, others, layout in zip(boxes, taken, layouts, strict=True)
        )
        best = int(np.argmin(covered))
        found.append(places[best])
        for others, own in zip(taken, boxes, strict=True):
            others[n_placed] = own[best]
    return found


def _find_boxes(
    name: str, dot: tuple[float, float], places: Sequence[tuple[str, float, float]]
) -> Floats:
    """Return the box of a name at each place."""
    width, (x, y) = len(name) * _LETTER, dot
    before = {"left": 0.0, "center": width / 2, "right": width}
    left, middle = np.array([(x + dx - before[align], y + dy) for align, dx, dy in places]).T
    return np.stack([left, middle - _LINE / 2, left + width, middle + _LINE / 2], axis=1)


def _measure_covered(boxes: Floats, others: Floats, layout: Layout) -> Floats:
    """Return how many pixels of each box others cover, or are outside of the drawing."""
    low = np.maximum(boxes[:, None, :2], others[:, :2])
    high = np.minimum(boxes[:, None, 2:], others[:, 2:])
    covered = np.prod(np.clip(high - low, 0, None), axis=2).sum(axis=1)
    outside = np.clip(-boxes[:, :2], 0, None) + np.clip(
        boxes[:, 2:] - [layout.width, layout.height], 0, None
    )
    return np.asarray(covered + _LINE * outside.sum(axis=1))
