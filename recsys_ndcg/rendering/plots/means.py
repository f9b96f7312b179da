"""Charts of means with intervals: per model, by activity of the users, by time, and by cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.rendering.numbers import format_number, format_range, pluralise
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import list_first, make_label, make_labels
from recsys_ndcg.significance import Moments

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_MAX_MODELS = 60  # in a chart, the best ones
_STEP = 18  # pixels per model
_TOP, _OTHER = "no model is significantly better", "some model is significantly better"
_NUMBERS = ["mean", "low", "high"]
_BAR = ["bar_low", "bar_high"]
_CHANCE = "chance: random order"
_MODELS_DESCRIBED, _METRICS_DESCRIBED = 3, 4
_GROUPS = 6  # of users
_FEWEST = 10  # users in a group, if there are more
_MANY_GROUPS = 15  # in a chart: from here on labels that overlap are left out
_FIRST_TESTED = "first time that is tested"
_WIDE = 12  # characters of a group's label; longer ones are slanted
_TIMES = 8  # ratio of the cutoffs beyond which the axis is logarithmic
_TICKS = 10  # cutoffs that are all labelled
_MANY = 30  # cutoffs beyond which large points would hide the line


def plot_intervals_by_tier(  # noqa: PLR0913 - all but the first two have a default
    frame: pd.DataFrame,
    metric: str,
    chance: float = np.nan,
    *,
    baselines: Mapping[str, float] | None = None,
    bars_from: str = "",
    lower_is_better: bool = False,
    level: float = 0.95,
) -> alt.LayerChart:
    """Draw each model's mean with its interval, the best first, and rules at the baselines.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, mean, low, high and tier (1 is the best); and bar_low and bar_high,
        the interval of the difference from one model, from its mean on. Rows without a mean are
        left out, but not all rows; ends of intervals are NaN if there is none.
    metric : str
        The name of the metric.
    chance : float
        The mean of random order, NaN if there is none.
    baselines : mapping, optional
        The means of baselines, by name.
    bars_from : str
        The model that the bars show the differences from.
    lower_is_better : bool
        Whether the lowest mean is the best.
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset="mean")
    known = known.sort_values("mean", ascending=lower_is_better, kind="stable")
    top = np.where(known["tier"] == 1, _TOP, _OTHER)
    models = known.assign(model=make_labels(known["model"]), top=top)
    against = {"chance": chance, **(baselines or {})}
    named = zip(make_labels(against), against.values(), strict=True)
    rules = {one: float(value) for one, value in named if not np.isnan(value)}
    shown, name = models.head(_MAX_MODELS), make_label(metric)
    title = f"{name}: mean over users{vega.describe_interval(shown, level)}"
    numbers = [*shown[[*_NUMBERS, *_BAR]].to_numpy().ravel(), *rules.values()]
    x = vega.axis_channel("mean", title, numbers)
    cut = f"the best {len(shown)} of {pluralise(len(models), 'model')}"
    notes = [cut] if len(models) > len(shown) else []
    if shown[_BAR].notna().any(axis=None):
        other = make_label(bars_from)
        notes.append(
            f"bar: the difference from {other}, significant if it does not reach the dot of {other}"
        )
    return vega.chart(
        vega.title(f"Models by {name}", notes),
        _describe_models(name, models, rules, level),
        [*_draw_models(shown, x, level), *_draw_rules(rules, x)],
        height=_STEP * max(len(shown), 2),
    )


def _draw_models(shown: pd.DataFrame, x: Spec, level: float) -> list[Spec]:
    data = vega.rows(**shown[["model", *_NUMBERS, *_BAR, "tier", "top"]])
    bars = [row for row in data if None not in (row["bar_low"], row["bar_high"])]
    ticks = vega.axis(labelLimit=240, ticks=False)
    y = vega.name("model", scale={"domain": shown["model"].tolist()}, axis=ticks)
    tops = [one for one in (_TOP, _OTHER) if (shown["top"] == one).any()]
    stroke, fill = (
        vega.mapping("top", {one: vega.ACCENT if one == _TOP else other for one in tops})
        for other in (vega.OTHERS, "white")
    )
    tooltip = [
        vega.name("model", "model"),
        *vega.tooltip_mean(shown[_NUMBERS], level),
        vega.number("tier", "tier"),
    ]
    line, point = {"strokeWidth": 2}, {"opacity": 1, "strokeWidth": 2, "size": 55}
    own = {"y": y, "stroke": stroke}
    wide = {"height": 9, "color": vega.OTHERS, "opacity": 0.4}
    return [
        vega.layer(bars, "bar", wide, y=y, **vega.span("x", x, *_BAR)),
        vega.layer(vega.keep_intervals(data), "rule", line, **own, **vega.span("x", x)),
        vega.layer(data, "point", point, **own, x=x, fill=fill, tooltip=tooltip),
    ]


def _draw_rules(rules: dict[str, float], x: Spec) -> list[Spec]:
    """Return a vertical line for chance and for each baseline."""
    dashes = cycle(vega.DASHES[2:])
    looks = {
        f"{name} {format_number(value)}": (
            (vega.AGAINST, vega.DASHED) if name == "chance" else ("#333333", next(dashes))
        )
        for name, value in rules.items()
    }
    if not looks:
        return []
    data = vega.rows(mean=rules.values(), line=looks)
    return [vega.layer(data, "rule", {"strokeWidth": 1.5}, x=x, **vega.line_channels(looks))]


def _describe_models(name: str, models: pd.DataFrame, rules: dict[str, float], level: float) -> str:
    """Describe the best and the worst model, chance and the baselines."""
    texts = [
        f"{one.model} {format_number(one.mean)}{vega.describe_ends(one.low, one.high, level)}"
        for one in vega.first_and_last(models)
    ]
    top = int((models["top"] == _TOP).sum())
    against = "".join(f"; {one} {format_number(value)}" for one, value in rules.items())
    return (
        f"{pluralise(len(models), 'model')} by {name}, the best first: {' to '.join(texts)}; "
        f"{top} in tier 1{against}."
    )


def plot_score_by_activity(
    frame: pd.DataFrame,
    metric: str,
    *,
    lower_is_better: bool = False,
    bounded: bool = False,
    level: float = 0.95,
) -> alt.LayerChart:
    """Draw the mean of users grouped by their number of ratings, a line per model.

    A single model has intervals. Several have none: whether two models differ depends on the
    differences of each user, and not on whether the intervals of means overlap.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, activity (the user's number of ratings) and score, a row per model and user.
        Rows without one of the two numbers are left out, but not all rows.
    metric : str
        The name of the metric.
    lower_is_better : bool
        Whether the models with the lowest means come first.
    bounded : bool
        Whether every score is in [0, 1].
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset=["activity", "score"])
    mean = known.groupby("model", sort=False)["score"].mean()
    mean = mean.sort_values(ascending=lower_is_better, kind="stable")
    group, groups = _group_users(known["activity"].to_numpy(np.float64), len(mean))
    names = dict(zip(mean.index, make_labels(mean.index), strict=True))
    table = _summarise(known.assign(group=group), level, bounded=bounded).loc[mean.index]
    table = table.reset_index()
    if len(mean) > 1:
        table[["low", "high"]] = np.nan
    table["model"], table["group"] = table["model"].map(names), table["group"].map(groups)
    name, models = make_label(metric), [*names.values()]
    title = "ratings of the user, in groups of about equal size"
    x = _make_group_axis([*groups.values()], title, slant=_WIDE)
    lines = _draw_lines(table, models, x, name, level, what="ratings of the user")
    first = _describe_groups(table, models, "{} for users of {} ratings", ", ")
    title = f"{name} by activity of the users"
    return vega.chart(vega.title(title), f"Mean {name} by activity: {first}.", lines)


def _group_users(activity: Floats, models: int) -> tuple[Positions, dict[int, str]]:
    """Return the group of each row and the names of the groups; equal numbers share a group."""
    most = min(_GROUPS, max(len(activity) // models // _FEWEST, 1))
    ends = np.quantile(activity, np.arange(1, most + 1) / most, method="inverted_cdf")
    group = np.searchsorted(ends, activity)
    spans = pd.Series(activity).groupby(group).agg(["min", "max"])
    return group, {
        place: format_range(low, high, form="{:,.6g}".format)
        for place, low, high in spans.itertuples(name=None)
    }


def _summarise(known: pd.DataFrame, level: float, *, bounded: bool) -> pd.DataFrame:
    """Return the mean, its interval and the number of users by model and group."""
    groups = known.groupby(["model", "group"], sort=True)["score"]
    table, ends = groups.agg(["mean", "size"]), []
    for _, scores in groups:
        column = scores.to_numpy()[:, None]
        moments = Moments.of(None, column, ~np.isnan(column))
        ends.append(np.ravel(moments.find_interval(level, bounded=bounded)))
    table["low"], table["high"] = zip(*ends, strict=True)
    return table.reset_index("group")


def plot_score_by_cut(
    frame: pd.DataFrame, metric: str, *, lower_is_better: bool = False, level: float = 0.95
) -> alt.LayerChart:
    """Draw the mean at each of several cuts in time, a line with intervals per model.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns model, group (the time of the cut, as text), size (the number of users), mean, low
        and high, by time. Rows without a mean are left out, but not all rows.
    metric : str
        The name of the metric.
    lower_is_better : bool
        Whether the models with the lowest means come first.
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    table = frame.dropna(subset="mean")
    best = table.groupby("model", sort=False)["mean"].mean()
    best = best.sort_values(ascending=lower_is_better, kind="stable")
    labels = dict(zip(best.index, make_labels(best.index), strict=True))
    table = table.assign(model=table["model"].map(labels))
    name, models = make_label(metric), [*labels.values()]
    x = _make_group_axis([*frame["group"].unique()], _FIRST_TESTED, slant=0)
    lines = _draw_lines(table, models, x, name, level, what=_FIRST_TESTED)
    first = _describe_groups(table, models, "{} from {}", " and ")
    return vega.chart(vega.title(f"{name} over time"), f"Mean {name} by cut: {first}.", lines)


def _draw_lines(  # noqa: PLR0913 - the data and the texts
    table: pd.DataFrame, models: list[str], x: Spec, metric: str, level: float, *, what: str
) -> list[Spec]:
    """Return a line per model; the first models have points with intervals side by side."""
    title = f"mean {metric}{vega.describe_interval(table, level)}"
    y = vega.axis_channel("mean", title, table[_NUMBERS])
    data = vega.rows(**table, place=range(len(table)))
    order = vega.number("place")  # Vega-Lite 5 would sort the groups as text
    first = models[: len(vega.LINES)]
    own = [row | {"line": row["model"]} for row in data if row["model"] in first]
    rest = pluralise(len(models) - len(first), "other model")
    others = [row | {"line": rest} for row in data if row["model"] not in first]
    looks = dict(zip(first, vega.LINES, strict=False))
    shapes = dict(zip(first, vega.SHAPES, strict=False))
    if others:
        looks[rest], shapes[rest] = ("#CCCCCC", vega.SOLID), "stroke"
    columns = 2 if len(looks) > 3 else 1
    color, dash = vega.line_channels(looks, columns=columns).values()
    shape = vega.mapping("line", shapes, columns=columns)
    offset = vega.name("line", scale={"domain": first})
    side_by_side = {"x": x, "xOffset": offset, "color": color}
    point, thick = {"filled": True, "opacity": 1, "size": 50}, {"strokeWidth": 1.5}
    tooltip = [
        vega.name("model", "model"),
        vega.name("group", what),
        vega.tooltip_users("size"),
        *vega.tooltip_mean(table[_NUMBERS], level),
    ]
    each = {"detail": vega.name("model"), "tooltip": vega.name("model", "model")}
    return [
        vega.layer(others, "line", {"strokeWidth": 1}, x=x, y=y, color=color, order=order, **each),
        vega.layer(own, "line", thick, **side_by_side, y=y, strokeDash=dash, order=order),
        vega.layer(vega.keep_intervals(own), "rule", thick, **side_by_side, **vega.span("y", y)),
        vega.layer(own, "point", point, **side_by_side, y=y, shape=shape, tooltip=tooltip),
    ]


def _make_group_axis(groups: list[str], title: str, *, slant: int) -> Spec:
    """Return the axis of groups; labels of more than `slant` characters are slanted."""
    angle = 0 if max(map(len, groups)) <= slant else -25
    overlap = "greedy" if len(groups) > _MANY_GROUPS else False
    return vega.name(
        "group",
        title,
        scale={"domain": groups, "paddingInner": 0.3},
        axis=vega.axis(labelAngle=angle, labelOverlap=overlap, grid=False),
    )


def _describe_groups(table: pd.DataFrame, models: list[str], form: str, join: str) -> str:
    """Describe the first and the last group of the first models."""
    texts = []
    for model in models:
        ends = vega.first_and_last(table[table["model"] == model])
        means = [form.format(format_number(one.mean), one.group) for one in ends]
        texts.append(f"{model}: {join.join(means)}")
    return "; ".join(list_first(texts, _MODELS_DESCRIBED, "and {:,} more models"))


def plot_score_by_cutoff(
    frame: pd.DataFrame, *, level: float = 0.95
) -> alt.LayerChart | alt.ConcatChart:
    """Draw the mean by cutoff, with chance dashed, in a panel per metric.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns metric (a name without its cutoff), k, mean, low, high and chance. Rows without a
        mean are left out, but not all rows; the other columns may be NaN.
    level : float
        Level of the intervals.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = frame.dropna(subset="mean")
    parts = [part.sort_values("k") for _, part in known.groupby("metric", sort=False)]
    if len(parts) == 1:
        return _make_panel(parts[0], level, " by cutoff", vega.WIDTH, vega.HEIGHT)
    panels = [_make_panel(part, level, "", 200, 170) for part in parts]
    texts = [str(panel.description) for panel in panels]
    described = " ".join(list_first(texts, _METRICS_DESCRIBED, "And {} more metrics."))
    return vega.concat_charts(panels, vega.title("Score by cutoff"), described)


def _make_panel(
    part: pd.DataFrame, level: float, what: str, width: float, height: float
) -> alt.LayerChart:
    metric, x = make_label(part["metric"].iloc[0]), _make_cutoff_axis(part["k"].tolist())
    numbers = part[[*_NUMBERS, "chance"]]
    y = vega.axis_channel("score", "mean score over users", numbers)
    data = vega.rows(**part[["k", *numbers]])
    tooltip = [
        vega.number("k", "cutoff k"),
        *vega.tooltip_mean(numbers, level),
        *vega.tooltip(numbers, chance="chance"),
    ]
    point = {"filled": True, "opacity": 1, "color": vega.ACCENT}
    size = {"value": 45 if len(data) <= _MANY else 8}
    own = {"x": x, "y": y | {"field": "mean"}}
    layers = [
        _draw_intervals(vega.keep_intervals(data), x, y),
        *_draw_lines_with_chance(part, x, y, level),
        vega.layer(data, "point", point, **own, size=size, tooltip=tooltip),
    ]
    text, title = _describe_cutoffs(metric, part, level), vega.title(f"{metric}{what}")
    return vega.chart(title, text, layers, width=width, height=height)


def _make_cutoff_axis(ks: list[int]) -> Spec:
    kind = "log" if ks[-1] > _TIMES * ks[0] else "linear"
    zero = {"zero": False} if kind == "linear" else {}  # Vega would warn that a log scale has none
    scale = {"type": kind, "nice": False, "padding": 12, **zero}
    if len(ks) > _TICKS:
        ks = [k for k in ks if k in (ks[0], ks[-1]) or str(k).rstrip("0") in ("1", "2", "5")]
    ticks = vega.axis(values=ks, format="d", grid=False)
    return vega.number("k", "cutoff k", scale=scale, axis=ticks)


def _draw_intervals(data: list[Spec], x: Spec, y: Spec) -> Spec:
    ends = {"x": x, **vega.span("y", y)}
    if len(data) == 1:  # an area of one point is invisible
        return vega.layer(data, "rule", {"color": vega.ACCENT}, **ends)
    return vega.layer(data, "area", {"color": vega.ACCENT, "opacity": 0.25}, **ends)


def _draw_lines_with_chance(part: pd.DataFrame, x: Spec, y: Spec, level: float) -> list[Spec]:
    mean = f"mean over users{vega.describe_interval(part, level)}"
    known = part.dropna(subset="chance")
    own = vega.rows(k=part["k"], score=part["mean"], line=[mean] * len(part))
    other = vega.rows(k=known["k"], score=known["chance"], line=[_CHANCE] * len(known))
    lines = [mean, _CHANCE] if other else [mean]
    looks = vega.line_channels(dict(zip(lines, vega.LINES, strict=False)))
    style = {"strokeWidth": 2}
    layers = [vega.layer([*own, *other], "line", style, x=x, y=y, **looks)]
    if len(other) == 1:  # a line through one point is invisible
        layers.append(vega.layer(other, "rule", style, y=y, **looks))
    return layers


def _describe_cutoffs(metric: str, part: pd.DataFrame, level: float) -> str:
    """Describe the first and the last cutoff."""
    texts = []
    for one in vega.first_and_last(part):
        chance = "" if np.isnan(one.chance) else f"chance {format_number(one.chance)}"
        ends = vega.describe_ends(one.low, one.high, level, chance)
        texts.append(f"{format_number(one.mean)} at k = {one.k}{ends}")
    return f"The mean of {metric} over users is {' and '.join(texts)}."
