"""Means with their intervals: of each model, by activity of the users, and by cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import beside, count, first_few, label, labels, number, within
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_MOST = 60  # models in a chart, the best ones
_STEP = 18  # pixels for each
_TOP, _OTHER = "top tier: not told apart from the best", "other tiers"
_NUMBERS = ["mean", "low", "high"]
_CHANCE = "chance: random order"
_MODELS_TOLD, _METRICS_TOLD = 3, 4  # that a description goes through
_GROUPS = 6  # of users
_FEWEST = 10  # users in a group, where there are so many
_WIDE = 12  # characters of a group; beyond, they would not stand beside each other
_TIMES = 8  # from the lowest cutoff to the highest; beyond, the axis is logarithmic
_TICKS = 10  # cutoffs that are all written at the axis
_MANY = 30  # cutoffs; large points would hide the line


def plot_intervals_by_tier(  # noqa: PLR0913 - all but the first two have a default
    frame: pd.DataFrame,
    metric: str,
    chance: float = np.nan,
    *,
    baselines: Mapping[str, float] | None = None,
    lower_is_better: bool = False,
    level: float = 0.95,
) -> alt.LayerChart:
    """Return a point with its interval for each model, the best first; rules at the baselines.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, mean, low, high and tier, of which the lowest is the best. Rows without a
        mean are left out, and one is left at least; low and high are NaN where there is no
        interval.
    metric : str
        Its name.
    chance : float
        The mean of random order, NaN if there is none.
    baselines : mapping, optional
        The means of what needs no model, by name.
    lower_is_better : bool
        Whether the lowest mean is the best.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset="mean")
    known = known.sort_values("mean", ascending=lower_is_better, kind="stable")
    top = np.where(known["tier"] == known["tier"].min(), _TOP, _OTHER)
    models = known.assign(model=labels(known["model"]), top=top)
    against = {"chance": chance, **(baselines or {})}
    named = zip(labels(against), against.values(), strict=True)
    rules = {one: float(value) for one, value in named if not np.isnan(value)}
    shown, name = models.head(_MOST), label(metric)
    title = f"{name}: mean over users{vega.with_interval(shown, level)}"
    numbers = [*shown[_NUMBERS].to_numpy().ravel(), *rules.values()]
    x = vega.amount("mean", title, numbers)
    cut = f"the best {len(shown)} of {count(len(models), 'model')}"
    return vega.chart(
        vega.titled(f"Models by {name}", cut if len(models) > len(shown) else ""),
        _models_told(name, models, rules, level),
        [*_models(shown, x, level), *_rules(rules, x)],
        height=_STEP * max(len(shown), 2),
    )


def _models(shown: pd.DataFrame, x: Spec, level: float) -> list[Spec]:
    data = vega.rows(**shown[["model", *_NUMBERS, "tier", "top"]])
    ticks = vega.axis(labelLimit=240, ticks=False)
    y = vega.name("model", scale={"domain": shown["model"].tolist()}, axis=ticks)
    tops = [one for one in (_TOP, _OTHER) if (shown["top"] == one).any()]
    stroke, fill = (
        vega.look("top", {one: vega.ACCENT if one == _TOP else other for one in tops})
        for other in (vega.OTHERS, "white")
    )
    tooltip = [
        vega.name("model", "model"),
        *vega.told_mean(shown[_NUMBERS], level),
        vega.number("tier", "tier"),
    ]
    line, point = {"strokeWidth": 2}, {"opacity": 1, "strokeWidth": 2, "size": 55}
    own = {"y": y, "stroke": stroke}
    return [
        vega.layer(vega.whole(data), "rule", line, **own, **vega.ends("x", x)),
        vega.layer(data, "point", point, **own, x=x, fill=fill, tooltip=tooltip),
    ]


def _rules(rules: dict[str, float], x: Spec) -> list[Spec]:
    """Return a line over the whole height for chance, and for each baseline."""
    dashes = cycle(vega.DASHES[2:])
    looks = {
        f"{name} {number(value)}": (
            (vega.AGAINST, vega.DASHED) if name == "chance" else ("#333333", next(dashes))
        )
        for name, value in rules.items()
    }
    if not looks:
        return []
    data = vega.rows(mean=rules.values(), line=looks)
    return [vega.layer(data, "rule", {"strokeWidth": 1.5}, x=x, **vega.lines(looks))]


def _models_told(name: str, models: pd.DataFrame, rules: dict[str, float], level: float) -> str:
    """Tell the best model, the worst, and what they stand against."""
    told = [
        f"{one.model} {number(one.mean)}{beside(within(one.low, one.high, level))}"
        for one in vega.outer(models)
    ]
    top = int((models["top"] == _TOP).sum())
    against = "".join(f"; {one} {number(value)}" for one, value in rules.items())
    return (
        f"{count(len(models), 'model')} by {name}, the best first: {' to '.join(told)}; "
        f"{top} in the top tier{against}."
    )


def plot_score_by_activity(
    frame: pd.DataFrame, metric: str, *, lower_is_better: bool = False, level: float = 0.95
) -> alt.LayerChart:
    """Return the mean of users who are alike in their number of ratings, a line for each model.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, activity (how many ratings the user has) and score, a row per model and
        user. Rows without one of the two numbers are left out; one row is left at least.
    metric : str
        Its name.
    lower_is_better : bool
        Whether the models with the lowest means come first.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset=["activity", "score"])
    mean = known.groupby("model", sort=False)["score"].mean()
    mean = mean.sort_values(ascending=lower_is_better, kind="stable")
    group, groups = _grouped(known["activity"].to_numpy(np.float64), len(mean))
    names = dict(zip(mean.index, labels(mean.index), strict=True))
    table = _table(known.assign(group=group), level).loc[mean.index].reset_index()
    table["model"], table["group"] = table["model"].map(names), table["group"].map(groups)
    name = label(metric)
    title = f"mean {name}{vega.with_interval(table, level)}"
    x, y = _activity([*groups.values()]), vega.amount("mean", title, table[_NUMBERS])
    lines = _lines_by_model(table, [*names.values()], x, y, level)
    description = _activity_told(name, table, [*names.values()])
    return vega.chart(vega.titled(f"{name} by activity of the users"), description, lines)


def _grouped(activity: Floats, models: int) -> tuple[Positions, dict[int, str]]:
    """Return the group of each row, and what the groups are called; equal numbers stay together."""
    most = min(_GROUPS, max(len(activity) // models // _FEWEST, 1))
    ends = np.quantile(activity, np.arange(1, most + 1) / most, method="inverted_cdf")
    group = np.searchsorted(ends, activity)
    spans = pd.Series(activity).groupby(group).agg(["min", "max"])
    return group, {
        place: f"{low:,.6g}" if low == high else f"{low:,.6g}–{high:,.6g}"
        for place, low, high in spans.itertuples(name=None)
    }


def _table(known: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return mean, interval and number of users by model and group."""
    told = known.groupby(["model", "group"], sort=True)["score"].agg(["mean", "std", "size"])
    ends = [
        mean_interval(int(n), mean, deviation * np.sqrt(n - 1), level)
        for mean, deviation, n in told.itertuples(index=False, name=None)
    ]
    told["low"], told["high"] = zip(*ends, strict=True)
    return told.drop(columns="std").reset_index("group")


def _lines_by_model(
    table: pd.DataFrame, models: list[str], x: Spec, y: Spec, level: float
) -> list[Spec]:
    """Return lines of all models, and of the first ones points with intervals beside each other."""
    data = vega.rows(**table)
    first = models[: len(vega.LINES)]
    own = [row | {"line": row["model"]} for row in data if row["model"] in first]
    rest = count(len(models) - len(first), "other model")
    others = [row | {"line": rest} for row in data if row["model"] not in first]
    looks = dict(zip(first, vega.LINES, strict=False))
    shapes = dict(zip(first, vega.SHAPES, strict=False))
    if others:
        looks[rest], shapes[rest] = ("#CCCCCC", vega.SOLID), "stroke"
    columns = 2 if len(looks) > 3 else 1
    color, dash = vega.lines(looks, columns=columns).values()
    shape = vega.look("line", shapes, columns=columns)
    side_by_side = {"x": x, "xOffset": vega.name("line", scale={"domain": first}), "color": color}
    point, thick = {"filled": True, "opacity": 1, "size": 50}, {"strokeWidth": 1.5}
    told = [
        vega.name("model", "model"),
        vega.name("group", "ratings of the user"),
        vega.users("size"),
        *vega.told_mean(table[_NUMBERS], level),
    ]
    each = {"detail": vega.name("model"), "tooltip": vega.name("model", "model")}
    return [
        vega.layer(others, "line", {"strokeWidth": 1}, x=x, y=y, color=color, **each),
        vega.layer(own, "line", thick, **side_by_side, y=y, strokeDash=dash),
        vega.layer(vega.whole(own), "rule", thick, **side_by_side, **vega.ends("y", y)),
        vega.layer(own, "point", point, **side_by_side, y=y, shape=shape, tooltip=told),
    ]


def _activity(groups: list[str]) -> Spec:
    angle = 0 if max(map(len, groups)) <= _WIDE else -25
    return vega.name(
        "group",
        "ratings of the user, in groups of about equal size",
        scale={"domain": groups, "paddingInner": 0.3},
        axis=vega.axis(labelAngle=angle, labelOverlap=False, grid=False),
    )


def _activity_told(name: str, table: pd.DataFrame, models: list[str]) -> str:
    """Tell the first and the last group of the first models."""
    told = []
    for model in models:
        ends = vega.outer(table[table["model"] == model])
        means = [f"{number(one.mean)} for users of {one.group} ratings" for one in ends]
        told.append(f"{model}: {', '.join(means)}")
    first = "; ".join(first_few(told, _MODELS_TOLD, "and {:,} more models"))
    return f"Mean {name} by activity: {first}."


def plot_score_by_cutoff(
    frame: pd.DataFrame, *, level: float = 0.95
) -> alt.LayerChart | alt.ConcatChart:
    """Return a line of the mean at each cutoff, chance dashed; a panel for each metric.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns metric (a name without its cutoff), k, mean, low, high and chance. Rows without a
        mean are left out, and one is left at least; the others are NaN where there is no such
        number.
    level : float
        Of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset="mean")
    parts = [part.sort_values("k") for _, part in known.groupby("metric", sort=False)]
    if len(parts) == 1:
        return _panel(parts[0], level, " by cutoff", vega.WIDTH, vega.HEIGHT)
    panels = [_panel(part, level, "", 200, 170) for part in parts]
    told = first_few(
        [str(one.description) for one in panels], _METRICS_TOLD, "And {} more metrics."
    )
    return vega.beside(panels, vega.titled("Score by cutoff"), " ".join(told))


def _panel(
    part: pd.DataFrame, level: float, what: str, width: float, height: float
) -> alt.LayerChart:
    metric, x = label(part["metric"].iloc[0]), _cutoffs(part["k"].tolist())
    numbers = part[[*_NUMBERS, "chance"]]
    y = vega.amount("score", "mean score over users", numbers)
    data = vega.rows(**part[["k", *numbers]])
    tooltip = [
        vega.number("k", "cutoff k"),
        *vega.told_mean(numbers, level),
        *vega.told(numbers, chance="chance"),
    ]
    point = {"filled": True, "opacity": 1, "color": vega.ACCENT}
    size = vega.fixed(45 if len(data) <= _MANY else 8)
    own = {"x": x, "y": y | {"field": "mean"}}
    layers = [
        _intervals(vega.whole(data), x, y),
        *_means_and_chance(part, x, y, level),
        vega.layer(data, "point", point, **own, size=size, tooltip=tooltip),
    ]
    said, title = _cutoffs_told(metric, part, level), vega.titled(f"{metric}{what}")
    return vega.chart(title, said, layers, width=width, height=height)


def _cutoffs(ks: list[int]) -> Spec:
    kind = "log" if ks[-1] > _TIMES * ks[0] else "linear"
    zero = {"zero": False} if kind == "linear" else {}  # of which Vega would say that it has none
    scale = {"type": kind, "nice": False, "padding": 12, **zero}
    if len(ks) > _TICKS:
        ks = [k for k in ks if k in (ks[0], ks[-1]) or str(k).rstrip("0") in ("1", "2", "5")]
    ticks = vega.axis(values=ks, format="d", grid=False)
    return vega.number("k", "cutoff k", scale=scale, axis=ticks)


def _intervals(data: list[Spec], x: Spec, y: Spec) -> Spec:
    ends = {"x": x, **vega.ends("y", y)}
    if len(data) == 1:  # over which an area would not be seen
        return vega.layer(data, "rule", {"color": vega.ACCENT}, **ends)
    return vega.layer(data, "area", {"color": vega.ACCENT, "opacity": 0.25}, **ends)


def _means_and_chance(part: pd.DataFrame, x: Spec, y: Spec, level: float) -> list[Spec]:
    mean, known = f"mean over users{vega.with_interval(part, level)}", part[part["chance"].notna()]
    own = vega.rows(k=part["k"], score=part["mean"], line=[mean] * len(part))
    other = vega.rows(k=known["k"], score=known["chance"], line=[_CHANCE] * len(known))
    lines = [mean, _CHANCE] if other else [mean]
    told = vega.lines(dict(zip(lines, vega.LINES, strict=False)))
    style = {"strokeWidth": 2}
    layers = [vega.layer([*own, *other], "line", style, x=x, y=y, **told)]
    if len(other) == 1:  # through which a line would not be seen
        layers.append(vega.layer(other, "rule", style, y=y, **told))
    return layers


def _cutoffs_told(metric: str, part: pd.DataFrame, level: float) -> str:
    """Tell the first cutoff and the last."""
    told = []
    for one in vega.outer(part):
        chance = "" if np.isnan(one.chance) else f"chance {number(one.chance)}"
        interval = within(one.low, one.high, level)
        told.append(f"{number(one.mean)} at k = {one.k}{beside(interval, chance)}")
    return f"The mean of {metric} over users is {' and '.join(told)}."
