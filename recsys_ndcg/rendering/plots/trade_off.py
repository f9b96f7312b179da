"""Models by two metrics at once: what is paid in one for the other."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.by_parameter import coloured
from recsys_ndcg.rendering.plots.charts import chart_of
from recsys_ndcg.rendering.plots.frontier import unbeaten
from recsys_ndcg.rendering.plots.outcomes import SHORT
from recsys_ndcg.rendering.plots.placing import SIDES, Layout, sides
from recsys_ndcg.rendering.wording import count, label, labels, number, of_level

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.arrays import Flags
    from recsys_ndcg.rendering.plots.vega import Spec

_NAMED = 20  # models whose names stand beside their dots
_TOLD = 4  # models that the description goes through
_X, _Y = ["x", "x_low", "x_high"], ["y", "y_low", "y_high"]
_HEIGHT, _NARROW = 320, 240  # of the drawing without its axes; on a phone


def trade_off(  # noqa: PLR0913 - two metrics
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
    known = table[table["x"].notna() & table["y"].notna()].reset_index(drop=True)
    x, y = known["x"].to_numpy(np.float64), known["y"].to_numpy(np.float64)
    best = unbeaten(
        *(-one if low else one for one, low in zip((x, y), lower_is_better, strict=True))
    )
    models = known.assign(model=labels(known["model"], SHORT), best=best)
    groups = _by_colour(models, parameter)
    names = label(x_metric), label(y_metric)
    low_x, low_y = lower_is_better
    across, upward = (
        _axis(models[_X], names[0], lower=low_x),
        _axis(models[_Y], names[1], lower=low_y),
    )
    said = _said(best)
    return chart_of(
        {
            "title": vega.titled(f"Trade-off of {names[0]} and {names[1]}", said),
            "description": _description(models, names, lower_is_better, said),
            "width": vega.WIDTH,
            "height": _HEIGHT,
            "layer": [
                _frontier(models[best], across, upward, lower=low_x),
                *chain(*(_intervals(some, across, upward, one) for some, one in groups)),
                *chain(*(_dots(some, across, upward, one, level) for some, one in groups)),
                *_names(models, across, upward),
            ],
        }
    )


def _by_colour(models: pd.DataFrame, parameter: str | None) -> list[tuple[pd.DataFrame, Spec]]:
    """Return the models with the channel that colours them, those without a value apart."""
    if parameter is None:
        return [(models, vega.fixed(vega.ACCENT))]
    values, color = coloured(models["value"].tolist(), parameter)
    models["value"] = pd.Series(values, dtype=object)
    bare = models["value"].isna()  # of which Vega would draw nothing
    groups = [(models[~bare], color), (models[bare], vega.fixed(vega.OTHERS))]
    return [(some, one) for some, one in groups if len(some)]


def _axis(numbers: pd.DataFrame, name: str, *, lower: bool) -> Spec:
    title = f"{name}: mean over users ({_direction(lower=lower)})"
    return vega.amount(str(numbers.columns[0]), numbers, title=title)


def _direction(*, lower: bool) -> str:
    return "lower is better" if lower else "higher is better"


def _said(best: Flags) -> list[str]:
    n = int(best.sum())
    looks = "filled and joined by the line" if n > 1 else "filled"
    which = f"{n} of {count(len(best), 'model')} {'are' if n > 1 else 'is'} {looks}:"
    return [which, "no other is better in one and as good in the other"]


def _frontier(models: pd.DataFrame, x: Spec, y: Spec, *, lower: bool) -> Spec:
    """Return the line on whose one side nobody is."""
    ordered = models.drop_duplicates(["x", "y"]).sort_values("x", kind="stable")
    step = "step-after" if lower else "step-before"
    style = {"interpolate": step, "color": "#767676", "strokeWidth": 1, "strokeDash": vega.DASHED}
    return vega.layer(vega.rows(x=ordered["x"], y=ordered["y"]), "line", style, x=x, y=y)


def _intervals(models: pd.DataFrame, x: Spec, y: Spec, color: Spec) -> list[Spec]:
    layers = []
    for (field, channel), other in zip((("x", x), ("y", y)), (y, x), strict=True):
        data = _data(models.assign(low=models[f"{field}_low"], high=models[f"{field}_high"]))
        ends = {field: channel | {"field": "low"}, f"{field}2": {"field": "high"}}
        across = {"y" if field == "x" else "x": other}
        style = {"strokeWidth": 1.5, "opacity": 0.4}
        layers.append(vega.layer(vega.whole(data), "rule", style, **ends, **across, color=color))
    return layers


def _dots(models: pd.DataFrame, x: Spec, y: Spec, color: Spec, level: float) -> list[Spec]:
    numbers = {"x": models[_X], "y": models[_Y]}
    told = [vega.name("model", "model")]
    told += [vega.name("value", "parameter")] if "value" in models else []
    for field, which in (("x", "horizontal"), ("y", "vertical")):
        interval = f"{which}, {of_level(level)}"
        told += [
            vega.told(field, which, numbers[field]),
            vega.told(f"{field}low", f"{interval} from", numbers[field]),
            vega.told(f"{field}high", f"{interval} to", numbers[field]),
        ]
    style = {"opacity": 1, "strokeWidth": 2, "size": 60}
    return [
        vega.layer(
            _data(models[models["best"] == best]),
            "point",
            style | {"filled": best},
            x=x,
            y=y,
            color=color,
            tooltip=told,
        )
        for best in (False, True)
    ]


def _data(models: pd.DataFrame) -> list[Spec]:
    """Return the rows of models; names of fields have no signs in them."""
    columns = [one for one in models if one != "best"]
    return vega.rows(**{str(one).replace("_", ""): models[one] for one in columns})


def _names(models: pd.DataFrame, x: Spec, y: Spec) -> list[Spec]:
    """Return the names of few models, where they cover nothing: of the unbeaten ones first."""
    some = models.sort_values("best", ascending=False, kind="stable").head(_NAMED)
    layouts = [
        Layout(width, _HEIGHT, [*zip(_pixels(some["x"], x, width), down, strict=True)])
        for down in [[_HEIGHT - one for one in _pixels(some["y"], y, _HEIGHT)]]
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


def _description(
    models: pd.DataFrame,
    names: tuple[str, str],
    lower_is_better: tuple[bool, bool],
    said: list[str],
) -> str:
    """Tell the models that none beats, the best in x first."""
    told = [
        f"{model} {number(x)} and {number(y)}"
        for model, x, y in models[models["best"]]
        .sort_values("x", ascending=lower_is_better[0], kind="stable")[["model", "x", "y"]]
        .itertuples(index=False)
    ]
    what = " and ".join(
        f"{name} ({_direction(lower=lower)})"
        for name, lower in zip(names, lower_is_better, strict=True)
    )
    more = f"; and {count(len(told) - _TOLD, 'more model')}" if len(told) > _TOLD else ""
    return f"Trade-off of {what}: {' '.join(said)}. {'; '.join(told[:_TOLD])}{more}."
