"""Charts of users: their scores and chance, the difference of two models, and both scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.rendering.numbers import format_number, pluralise
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import list_first, make_label, make_labels

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_QUARTERS = [0.25, 0.75]
_BINS = 25  # in a histogram
_DISTINCT = range(8, 42)  # steps from the lowest to the highest that get a bin each
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_LAST_DIGITS = 1e-9  # of a bin
_NOTHING = 1e-200
_FEW = 5  # users in a bin: the axis would repeat numbers
SHORT = 24  # characters of one of two names
#: Colours of the first, equal and the second, which also differ in grey.
LOOKS = (vega.ACCENT, "#BBBBBB", "#E69F00")
_LEAST = 1e-12  # of the largest difference: smaller ones are rounding errors
_DOTS = 2_000  # users who are drawn as dots
_SIDE = 340
_DIGITS = 6  # of a score in the data
_AREA = 30  # of the dot of one user
_MARGIN = 0.02  # of the range of an axis, so that dots are not cut
_NAMED = 3  # users in a dot's tooltip
_FAINTEST = 0.25  # opacity of a cell with one user, visible in light and dark mode


@dataclass(frozen=True)
class Bins:
    """Adjacent bins of equal width; each includes its lower end, the last one also its upper end.

    Parameters
    ----------
    first, width : float
        The lower end of the first bin, and the width of each.
    n : int
        Number of bins.
    """

    first: float
    width: float
    n: int

    @classmethod
    def of(cls, *columns: Floats, around_zero: bool = False) -> Bins:
        """Return bins for the numbers of all columns, with a bin each for values in few steps.

        Parameters
        ----------
        columns : float64 arrays
            Finite numbers, at least one; the first column may have multiples of a step.
        around_zero : bool
            Whether 0 is the middle of a bin.

        Examples
        --------
        >>> Bins.of(np.array([0.03, 0.97])).edges[:3].tolist()
        [0.0, 0.05, 0.1]
        """
        every = np.concatenate([*columns, [0.0] if around_zero else []])
        low, high = float(every.min()), float(every.max())
        if math.isclose(low, high, rel_tol=_LAST_DIGITS, abs_tol=_NOTHING):
            width = 10 ** math.floor(math.log10(abs(low))) / 10 if abs(low) > _NOTHING else 0.1
            return cls(low - width / 2, width, 1)
        step = _find_step(columns[0], low, high)
        width = step or _round_width((high - low) / _BINS)
        origin = low if step and not around_zero else 0.0
        shift = 0.5 if step or around_zero else 0.0  # to the middle of a bin
        below = math.floor((low - origin) / width + shift + _LAST_DIGITS)
        above = math.ceil((high - origin) / width + shift - _LAST_DIGITS)
        return cls(origin + (below - shift) * width, width, max(above - below, 1))

    @property
    def edges(self) -> Floats:
        """The ends of all bins, one more than bins."""
        found = self.first + self.width * np.arange(self.n + 1)
        digits = 12 - math.floor(math.log10(max(abs(found[0]), abs(found[-1]))))
        return np.asarray(np.round(found, digits)) + 0.0

    def places(self, values: Floats) -> Positions:
        """Return the bin of each number."""
        found = np.floor((values - self.first) / self.width + _LAST_DIGITS).astype(np.int64)
        return np.clip(found, 0, self.n - 1)

    def counts(self, values: Floats) -> Positions:
        """Return the number of values in each bin."""
        return np.bincount(self.places(values), minlength=self.n)


def _round_width(least: float) -> float:
    """Return the next larger round number."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(one for one in _ROUND if one * power >= least * (1 - _LAST_DIGITS))


def _find_step(values: Floats, low: float, high: float) -> float:
    """Return the step of numbers that are its multiples; 0 if there is none or too many or few."""
    distinct = np.unique(np.round((values - low) / (high - low), 9))
    if not 1 < len(distinct) <= _DISTINCT.stop:
        return 0.0
    step = float(np.diff(distinct).min())
    whole = distinct / step
    if round(1 / step) not in _DISTINCT or np.abs(whole - np.round(whole)).max() > 1e-6:
        return 0.0
    return (high - low) / round(1 / step)


def _make_x(bins: Bins, what: str, title: str) -> Spec:
    """Return the channel of the binned number."""
    edges, ticks = bins.edges, {"grid": False, "tickCount": 8}
    return vega.axis_channel("place", title, edges, channel=what, margin=0.0, **ticks)


def _make_y(most: int) -> Spec:
    """Return the channel of the number of users, up to `most`."""
    ticks: Spec = {"values": [*range(most + 1)]} if most <= _FEW else {}
    return vega.number("users", "number of users", axis=vega.axis(format=",d", **ticks))


def _make_bars(data: list[Spec], x: Spec, y: Spec, style: Spec, **more: Any) -> Spec:
    """Return bars from low to high and from base to top."""
    shape = {"stroke": "white", "strokeWidth": 0.5, **style}
    ends = vega.span("x", x) | vega.span("y", y, "top", "base")
    return vega.layer(data, "rect", shape, **ends, **more)


#: The channels of a mark over the whole height of a chart.
_FULL_HEIGHT = {"y": {"value": 0}, "y2": {"value": vega.HEIGHT}}


def drop_rounding(differences: Floats) -> Floats:
    """Set differences that are only rounding errors to 0."""
    least = _LEAST * vega.max_abs(differences)
    return np.where(np.abs(differences) <= least, 0.0, differences)


def split_by_outcome(gains: Floats, first: str, second: str) -> dict[str, Flags]:
    """Return the users for whom each of two models is better, by a label with their number."""
    words = {f"{first} better": gains > 0, "equal": gains == 0, f"{second} better": gains < 0}
    return {
        f"{outcome}: {pluralise(int(some.sum()))} ({some.mean():.1%})": some
        for outcome, some in words.items()
    }


def plot_users_against_chance(frame: pd.DataFrame, metric: str) -> alt.LayerChart:
    """Draw histograms of the users' scores and of chance as an outline, with both means.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns score and chance, a row per user, NaN if undefined. At least one user has a score.
    metric : str
        The name of the metric.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    scored, name = frame[frame["score"].notna()], make_label(metric)
    score, chance = (scored[one].dropna().to_numpy(np.float64) for one in ("score", "chance"))
    bins = Bins.of(score, chance)
    spread = {f"their scores, mean {format_number(float(score.mean()))}": score}
    if len(chance):
        mean = format_number(float(chance.mean()))
        spread[f"chance: random order of their lists, mean {mean}"] = chance
    x = _make_x(bins, "score", f"{name} of a user")
    y = _make_y(max(int(bins.counts(values).max()) for values in spread.values()))
    looks = vega.line_channels(dict(zip(spread, vega.LINES, strict=False)))
    means = vega.rows(place=[values.mean() for values in spread.values()], line=spread)
    return vega.chart(
        vega.title(f"Users by {name}", pluralise(len(scored))),
        _describe_users(name, score, chance, len(frame) - len(scored)),
        [
            _draw_bars(bins, score, chance, x, y),
            _draw_outlines(bins, spread, x, y, looks),
            vega.layer(means, "rule", {"strokeWidth": 2}, x=x, **_FULL_HEIGHT, **looks),
        ],
    )


def _draw_bars(bins: Bins, score: Floats, chance: Floats, x: Spec, y: Spec) -> Spec:
    low, high = bins.edges[:-1], bins.edges[1:]
    tops = {"top": bins.counts(score), "chance": bins.counts(chance)}
    tooltip = [
        *vega.tooltip(bins.edges, low="from", high="to"),
        vega.tooltip_users("top", "users by their score"),
        *([vega.tooltip_users("chance", "users by chance")] if len(chance) else []),
    ]
    data = vega.rows(low=low, high=high, base=[0] * bins.n, **tops)
    return _make_bars(data, x, y, {"color": vega.ACCENT, "opacity": 0.35}, tooltip=tooltip)


def _draw_outlines(bins: Bins, spread: dict[str, Floats], x: Spec, y: Spec, looks: Spec) -> Spec:
    data: list[Spec] = []
    ends = np.repeat(bins.edges, 2)
    for line, values in spread.items():
        tops = np.repeat([0, *bins.counts(values), 0], 2)[1:-1]
        data += vega.rows(place=ends, users=tops, order=range(len(tops)), line=[line] * len(tops))
    order = vega.number("order")
    return vega.layer(data, "line", {"strokeWidth": 1.5}, x=x, y=y, order=order, **looks)


def _describe_users(name: str, score: Floats, chance: Floats, left_out: int) -> str:
    own = f"{name} of {pluralise(len(score))}: mean {_describe_spread(score)}"
    against = f"chance {_describe_spread(chance)}" if len(chance) else "no chance to compare with"
    rest = f" {pluralise(left_out)} without a score left out." if left_out else ""
    return f"{own}; {against}.{rest}"


def _describe_spread(values: Floats) -> str:
    low, high = np.quantile(values, _QUARTERS)
    quartiles = f"quartiles {format_number(low)} and {format_number(high)}"
    return f"{format_number(float(values.mean()))}, {quartiles}"


def plot_difference_per_user(  # noqa: PLR0913 - the data, the names and the options
    differences: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    interval: tuple[float, float] = (np.nan, np.nan),
    lower_is_better: bool = False,
    level: float = 0.95,
) -> alt.LayerChart:
    """Draw a histogram of the difference of two models, coloured by the better model.

    Parameters
    ----------
    differences : float64 array
        A difference per user, NaN if a score is undefined; at least one is defined.
    a, b : str
        The names of the models.
    metric : str
        The name of the metric.
    interval : pair of float
        The ends of the mean's interval, NaN if there is none.
    lower_is_better : bool
        Whether lower scores are better.
    level : float
        The level of the interval.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = np.asarray(differences, dtype=np.float64)
    known = drop_rounding(known[~np.isnan(known)])
    mean = float(known.mean())
    (first, second), name = make_labels([a, b], SHORT), make_label(metric)
    which = split_by_outcome(-known if lower_is_better else known, first, second)
    ends = vega.describe_ends(*interval, level)
    summary = f"{pluralise(len(known))}, mean {format_number(mean)}{ends}"
    bins = Bins.of(known, around_zero=True)
    x = _make_x(bins, "difference", f"{name} of a user: {first} minus {second}")
    return vega.chart(
        vega.title(f"{name}, user by user: {first} minus {second}", summary),
        f"{name} of {first} minus {second}: {summary}. {'; '.join(which)}.",
        [_draw_stacks(bins, known, which, x), *_draw_mean(mean, interval, x)],
    )


def _draw_stacks(bins: Bins, known: Floats, which: dict[str, Flags], x: Spec) -> Spec:
    """Stack the outcomes in each bin; the bin around zero has all three."""
    base, data = np.zeros(bins.n, dtype=np.int64), []
    for outcome, some in which.items():
        users = bins.counts(known[some])
        ends = {"low": bins.edges[:-1], "high": bins.edges[1:], "base": base, "top": base + users}
        stacked = vega.rows(**ends, users=users, outcome=[outcome] * bins.n)
        data += [row for row in stacked if row["users"]]
        base = base + users
    tooltip = [
        vega.name("outcome", "of"),
        *vega.tooltip(bins.edges, low="difference from", high="to"),
        vega.tooltip_users("users"),
    ]
    looks = dict(zip(which, LOOKS, strict=True))
    color = vega.mapping("outcome", looks, symbolType="square", offset=20)
    return _make_bars(data, x, _make_y(int(base.max())), {}, color=color, tooltip=tooltip)


def _draw_mean(mean: float, interval: tuple[float, float], x: Spec) -> list[Spec]:
    """Return a line at zero, the interval, and a labelled line at the mean."""
    low, high = interval
    band = vega.keep_intervals(vega.rows(low=[low], high=[high]))
    zero, middle = vega.rows(place=[0.0]), vega.rows(place=[mean], text=["mean"])
    dashed = {"strokeDash": vega.DASHED, "color": "#333333"}
    shade = {"color": "black", "opacity": 0.2, "clip": True}
    line, text = {"color": "black", "strokeWidth": 2}, {"fontSize": 11, "dy": -7}
    return [
        vega.layer(zero, "rule", dashed, x=x, **_FULL_HEIGHT),
        vega.layer(band, "rect", shade, **vega.span("x", x), **_FULL_HEIGHT),
        vega.layer(middle, "rule", line, x=x, **_FULL_HEIGHT),
        vega.layer(middle, "text", text, x=x, y={"value": 0}, text=vega.name("text")),
    ]


def plot_a_against_b(  # noqa: PLR0913 - the data and the names
    scores_a: Floats,
    scores_b: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    users: Iterable[object],
    lower_is_better: bool = False,
) -> alt.LayerChart:
    """Draw a dot per user, a's score upward and b's across, and the line of equal scores.

    More than two thousand users are counted in cells. The title says which model is better on which
    side of the line, and for how many users.

    Parameters
    ----------
    scores_a, scores_b : float64 arrays
        A score per user, NaN if undefined; at least one user has both.
    a, b : str
        The names of the models.
    metric : str
        The name of the metric.
    users : iterable
        Their ids, for tooltips.
    lower_is_better : bool
        Whether the model with the lower score is better.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    found = pd.DataFrame({"up": scores_a, "across": scores_b}, dtype=np.float64)
    found["user"] = pd.Series([*users], dtype=object)
    known = found.dropna(subset=["up", "across"])
    (first, second), name = make_labels([a, b], SHORT), make_label(metric)
    apart = drop_rounding((known["up"] - known["across"]).to_numpy())
    sign = -1 if lower_is_better else 1
    above, equal, below = [*split_by_outcome(sign * apart, first, second)][::sign]
    lower = "; lower is better" if lower_is_better else ""
    bins = Bins.of(known[["up", "across"]].to_numpy().ravel())
    x, y = (
        vega.axis_channel(field, title, bins.edges, channel=field, margin=_MARGIN, tickCount=6)
        for field, title in (("across", f"{name} of {second}"), ("up", f"{name} of {first}"))
    )
    marks = (
        _draw_dots(known.assign(side=np.sign(apart)), x, y, LOOKS[::sign])
        if len(known) <= _DOTS
        else _draw_cells(known, bins, x, y)
    )
    ends = x["scale"]["domain"]
    diagonal = vega.rows(across=ends, up=ends)
    dashed = {"color": "#333333", "strokeDash": vega.DASHED}
    summary = [f"above the line: {above}", f"below it: {below}", f"{equal}{lower}"]
    what = f"{name} of {first} against {second}"
    means = " against ".join(format_number(float(known[one].mean())) for one in ("up", "across"))
    dropped = len(found) - len(known)
    left_out = f" {pluralise(dropped)} without a score of both left out." if dropped else ""
    return vega.chart(
        vega.title(f"{name}, user by user: {first} against {second}", summary),
        f"{what}, of {pluralise(len(known))}: mean {means}; {'; '.join(summary)}.{left_out}",
        [*marks, vega.layer(diagonal, "line", dashed, x=x, y=y)],
        width=_SIDE,
        height=_SIDE,
    )


def _draw_dots(known: pd.DataFrame, x: Spec, y: Spec, looks: Sequence[str]) -> list[Spec]:
    """Return a layer per side of the line; users at the same place are a larger dot."""
    places = known.assign(**known[["up", "across"]].map(lambda one: float(f"{one:.{_DIGITS}g}")))
    groups = places.groupby(["side", "up", "across"])["user"]
    dots = groups.agg(users="size", who=_list_users).reset_index()
    dots = dots.sort_values("users", ascending=False, kind="stable")
    most = int(dots["users"].max())
    size = {"value": _AREA}
    if most > 1:
        scale = {"type": "linear", "domain": [1, most], "range": [_AREA, 20 * _AREA]}
        values = sorted({1, (most + 1) // 2, most})
        size = _count_channel("users at one place", scale, values=values)
    tooltip = [
        vega.name("who", "of"),
        *vega.tooltip(known[["up", "across"]], up="vertical", across="horizontal"),
    ]
    layers = []
    for side, color in zip((1, 0, -1), looks, strict=True):
        some = dots[dots["side"] == side]
        data = vega.rows(**some[["up", "across", "users", "who"]])
        style = {"filled": True, "opacity": 0.55, "color": color}
        layers.append(vega.layer(data, "point", style, x=x, y=y, size=size, tooltip=tooltip))
    return layers


def _list_users(users: pd.Series[Any]) -> str:
    """List the first users at one place."""
    names = [make_label(user, SHORT) for user in users]
    return ", ".join(list_first(names, _NAMED, "and {:,} others"))


def _draw_cells(known: pd.DataFrame, bins: Bins, x: Spec, y: Spec) -> list[Spec]:
    """Return squares with the number of users, whose opacity is on a log scale."""
    up, across = (bins.places(known[one].to_numpy()) for one in ("up", "across"))
    place, users = np.unique(up * bins.n + across, return_counts=True)
    (row, column), edges = np.divmod(place, bins.n), bins.edges
    sides = {"left": edges[column], "right": edges[column + 1]}
    sides |= {"bottom": edges[row], "top": edges[row + 1]}
    data = vega.rows(**sides, users=users)
    ends = vega.span("x", x, "left", "right") | vega.span("y", y, "bottom", "top")
    low_to_high = {"bottom": "vertical from", "top": "vertical to"}
    low_to_high |= {"left": "horizontal from", "right": "horizontal to"}
    tooltip = [vega.tooltip_users("users"), *vega.tooltip(edges, **low_to_high)]
    most = int(users.max())
    scale = {"type": "log", "domain": [1, max(most, 2)], "range": [_FAINTEST, 1.0]}
    powers = [10**power for power in range(len(str(most)))]
    look = {"symbolType": "square", "symbolFillColor": vega.ACCENT, "symbolStrokeWidth": 0}
    opacity = _count_channel("users in a cell", scale, values=powers, **look)
    style = {"color": vega.ACCENT}
    return [vega.layer(data, "rect", style, **ends, opacity=opacity, tooltip=tooltip)]


def _count_channel(title: str, scale: Spec, **legends: Any) -> Spec:
    """Return the channel of the number of users."""
    legend = vega.legend(title=title, direction="horizontal", format=",d", **legends)
    return vega.number("users", "users", scale=scale, legend=legend)
