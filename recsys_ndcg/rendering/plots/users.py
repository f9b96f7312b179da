"""Users: counted by their scores beside chance, by how two models differ, and by both scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import beside, count, first_few, label, labels, number, within
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_QUARTERS = [0.25, 0.75]
_BINS = 25  # bins that a reader sees apart
_DISTINCT = range(8, 42)  # so many steps from the lowest to the highest are a bin each
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_LAST_DIGITS = 1e-9  # of a bin
_NOTHING = 1e-200
_FEW = 5  # users at most in a bin: an axis would write the same number twice
SHORT = 24  # characters of a name that stands beside another
#: Of the first, equal and the second: light and dark in grey, too.
LOOKS = (vega.ACCENT, "#BBBBBB", "#E69F00")
_LEAST = 1e-12  # of the largest difference: less is the last digits of a sum
_DOTS = 2_000  # users whose dots a reader tells apart, and a page has room for
_SIDE = 340
_DIGITS = 6  # of a score in the data: more are not seen
_AREA = 30  # of the dot of one user
_MARGIN = 0.02  # of the range of an axis, so that no dot is cut
_NAMED = 3  # users under one dot who are named
_FAINTEST = 0.25  # of a cell of one user, which is seen by day and by night


@dataclass(frozen=True)
class Bins:
    """Bins beside each other; each has its lower end, the last one its upper end, too.

    Parameters
    ----------
    first, width : float
        Where the lowest begins, and how wide each is.
    n : int
        How many there are.
    """

    first: float
    width: float
    n: int

    @classmethod
    def of(cls, *columns: Floats, around_zero: bool = False) -> Bins:
        """Return bins for the numbers of all columns; those of few steps stand in the middle.

        Parameters
        ----------
        columns : float64 arrays
            Finite, at least one number in all; those of the first may go in steps.
        around_zero : bool
            Whether 0 stands in the middle of a bin.

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
        step = _step(columns[0], low, high)
        width = step or _round_width((high - low) / _BINS)
        origin = low if step and not around_zero else 0.0
        shift = 0.5 if step or around_zero else 0.0  # of which bins stand in the middle
        below = math.floor((low - origin) / width + shift + _LAST_DIGITS)
        above = math.ceil((high - origin) / width + shift - _LAST_DIGITS)
        return cls(origin + (below - shift) * width, width, max(above - below, 1))

    @property
    def edges(self) -> Floats:
        """The ends of all bins: one more than there are."""
        found = self.first + self.width * np.arange(self.n + 1)
        digits = 12 - math.floor(math.log10(max(abs(found[0]), abs(found[-1]))))
        return np.asarray(np.round(found, digits)) + 0.0

    def places(self, values: Floats) -> Positions:
        """Return in which bin each number stands."""
        found = np.floor((values - self.first) / self.width + _LAST_DIGITS).astype(np.int64)
        return np.clip(found, 0, self.n - 1)

    def counts(self, values: Floats) -> Positions:
        """Return how many of the numbers stand in each bin."""
        return np.bincount(self.places(values), minlength=self.n)


def _round_width(least: float) -> float:
    """Return the next round number."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(one for one in _ROUND if one * power >= least * (1 - _LAST_DIGITS))


def _step(values: Floats, low: float, high: float) -> float:
    """Return the step in which all numbers go, 0 if they go in none, or in too many or too few."""
    distinct = np.unique(np.round((values - low) / (high - low), 9))
    if not 1 < len(distinct) <= _DISTINCT.stop:
        return 0.0
    step = float(np.diff(distinct).min())
    whole = distinct / step
    if round(1 / step) not in _DISTINCT or np.abs(whole - np.round(whole)).max() > 1e-6:
        return 0.0
    return (high - low) / round(1 / step)


def _across(bins: Bins, what: str, title: str) -> Spec:
    """Return the channel of the number by which users are counted."""
    edges, ticks = bins.edges, {"grid": False, "tickCount": 8}
    return vega.amount("place", title, edges, channel=what, margin=0.0, **ticks)


def _upward(most: int) -> Spec:
    """Return the channel of how many users there are, up to so many."""
    ticks: Spec = {"values": [*range(most + 1)]} if most <= _FEW else {}
    return vega.number("users", "number of users", axis=vega.axis(format=",d", **ticks))


def _bars(data: list[Spec], x: Spec, y: Spec, style: Spec, **more: Any) -> Spec:
    """Return bars from low to high, and from base to top."""
    shape = {"stroke": "white", "strokeWidth": 0.5, **style}
    ends = vega.ends("x", x) | vega.ends("y", y, "top", "base")
    return vega.layer(data, "rect", shape, **ends, **more)


#: What reaches over the whole height of a chart.
_OVER_ALL = {"y": vega.fixed(0), "y2": vega.fixed(vega.HEIGHT)}


def settled(differences: Floats) -> Floats:
    """Return differences in which those of the last digits are none."""
    least = _LEAST * vega.highest(differences)
    return np.where(np.abs(differences) <= least, 0.0, differences)


def outcomes(gains: Floats, first: str, second: str) -> dict[str, Flags]:
    """Return for whom each of the two is better, by what is said of how many they are."""
    words = {f"{first} better": gains > 0, "equal": gains == 0, f"{second} better": gains < 0}
    return {
        f"{what}: {count(int(some.sum()))} ({some.mean():.1%})": some
        for what, some in words.items()
    }


def plot_users_against_chance(frame: pd.DataFrame, metric: str) -> alt.LayerChart:
    """Return a histogram of the users' scores, that of chance as an outline, and both means.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns score and chance, a row per user; NaN where there is no such number. At least one
        user has a score.
    metric : str
        Its name.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    scored, name = frame[frame["score"].notna()], label(metric)
    score, chance = (scored[one].dropna().to_numpy(np.float64) for one in ("score", "chance"))
    bins = Bins.of(score, chance)
    spread = {f"their scores, mean {number(float(score.mean()))}": score}
    if len(chance):
        spread[f"chance: random order of their lists, mean {number(float(chance.mean()))}"] = chance
    x = _across(bins, "score", f"{name} of a user")
    y = _upward(max(int(bins.counts(values).max()) for values in spread.values()))
    told = vega.lines(dict(zip(spread, vega.LINES, strict=False)))
    means = vega.rows(place=[values.mean() for values in spread.values()], line=spread)
    return vega.chart(
        vega.titled(f"Users by {name}", count(len(scored))),
        _description(name, score, chance, len(frame) - len(scored)),
        [
            _filled(bins, score, chance, x, y),
            _outlines(bins, spread, x, y, told),
            vega.layer(means, "rule", {"strokeWidth": 2}, x=x, **_OVER_ALL, **told),
        ],
    )


def _filled(bins: Bins, score: Floats, chance: Floats, x: Spec, y: Spec) -> Spec:
    low, high = bins.edges[:-1], bins.edges[1:]
    tops = {"top": bins.counts(score), "chance": bins.counts(chance)}
    tooltip = [
        *vega.told(bins.edges, low="from", high="to"),
        vega.users("top", "users by their score"),
        *([vega.users("chance", "users by chance")] if len(chance) else []),
    ]
    data = vega.rows(low=low, high=high, base=[0] * bins.n, **tops)
    return _bars(data, x, y, {"color": vega.ACCENT, "opacity": 0.35}, tooltip=tooltip)


def _outlines(bins: Bins, spread: dict[str, Floats], x: Spec, y: Spec, told: Spec) -> Spec:
    data: list[Spec] = []
    corners = np.repeat(bins.edges, 2)
    for line, values in spread.items():
        tops = np.repeat([0, *bins.counts(values), 0], 2)[1:-1]
        data += vega.rows(
            place=corners, users=tops, order=range(len(tops)), line=[line] * len(tops)
        )
    order = vega.number("order")
    return vega.layer(data, "line", {"strokeWidth": 1.5}, x=x, y=y, order=order, **told)


def _description(name: str, score: Floats, chance: Floats, left_out: int) -> str:
    said = f"{name} of {count(len(score))}: mean {_spread(score)}; "
    said += f"chance {_spread(chance)}." if len(chance) else "without a chance to compare with."
    return said + (f" {count(left_out)} without a score left out." if left_out else "")


def _spread(values: Floats) -> str:
    low, high = np.quantile(values, _QUARTERS)
    quartiles = f"quartiles {number(low)} and {number(high)}"
    return f"{number(float(values.mean()))}, {quartiles}"


def plot_difference_per_user(  # noqa: PLR0913 - what is measured, of whom, and how surely
    differences: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    lower_is_better: bool = False,
    level: float = 0.95,
) -> alt.LayerChart:
    """Return a histogram of a's score less b's, whose colours say which is better.

    Parameters
    ----------
    differences : float64 array
        A number per user, NaN where one of the two has no score; at least one user has a number.
    a, b : str
        The names of the models.
    metric : str
        Its name.
    lower_is_better : bool
        Whether a is better where its score is lower.
    level : float
        Of the mean's interval, by Student's t.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = np.asarray(differences, dtype=np.float64)
    known = settled(known[~np.isnan(known)])
    mean = float(known.mean())
    interval = mean_interval(len(known), mean, float(np.linalg.norm(known - mean)), level)
    (first, second), name = labels([a, b], SHORT), label(metric)
    which = outcomes(-known if lower_is_better else known, first, second)
    said = f"{count(len(known))}, mean {number(mean)}{beside(within(*interval, level))}"
    bins = Bins.of(known, around_zero=True)
    x = _across(bins, "difference", f"{name} of a user: {first} less {second}")
    return vega.chart(
        vega.titled(f"{name}, user by user: {first} less {second}", said),
        f"{name} of {first} less that of {second}: {said}. {'; '.join(which)}.",
        [_stacked(bins, known, which, x), *_rules(mean, interval, x)],
    )


def _stacked(bins: Bins, known: Floats, which: dict[str, Flags], x: Spec) -> Spec:
    """Stack who is better in each bin: all three are, in the one around zero."""
    base, data = np.zeros(bins.n, dtype=np.int64), []
    for outcome, some in which.items():
        users = bins.counts(known[some])
        ends = {"low": bins.edges[:-1], "high": bins.edges[1:], "base": base, "top": base + users}
        stacked = vega.rows(**ends, users=users, outcome=[outcome] * bins.n)
        data += [row for row in stacked if row["users"]]
        base = base + users
    tooltip = [
        vega.name("outcome", "of"),
        *vega.told(bins.edges, low="difference from", high="to"),
        vega.users("users"),
    ]
    looks = dict(zip(which, LOOKS, strict=True))
    color = vega.look("outcome", looks, symbolType="square", offset=20)
    return _bars(data, x, _upward(int(base.max())), {}, color=color, tooltip=tooltip)


def _rules(mean: float, interval: tuple[float, float], x: Spec) -> list[Spec]:
    """Return a line at zero, the interval, and a line at the mean that says what it is."""
    low, high = interval
    band = vega.whole(vega.rows(low=[low], high=[high]))
    zero, middle = vega.rows(place=[0.0]), vega.rows(place=[mean], text=["mean"])
    dashed = {"strokeDash": vega.DASHED, "color": "#333333"}
    shade = {"color": "black", "opacity": 0.2, "clip": True}
    line, text = {"color": "black", "strokeWidth": 2}, {"fontSize": 11, "dy": -7}
    return [
        vega.layer(zero, "rule", dashed, x=x, **_OVER_ALL),
        vega.layer(band, "rect", shade, **vega.ends("x", x), **_OVER_ALL),
        vega.layer(middle, "rule", line, x=x, **_OVER_ALL),
        vega.layer(middle, "text", text, x=x, y=vega.fixed(0), text=vega.name("text")),
    ]


def plot_a_against_b(  # noqa: PLR0913 - what is measured, of whom
    scores_a: Floats,
    scores_b: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    users: Iterable[object],
    lower_is_better: bool = False,
) -> alt.LayerChart:
    """Return a dot for each user, a's score upward and b's across, and the line of equal scores.

    More than two thousand users are counted in cells. Who is better on which side of the line,
    and for how many users, is said in words.

    Parameters
    ----------
    scores_a, scores_b : float64 arrays
        A number per user, NaN where there is none; at least one user has both.
    a, b : str
        The names of the models.
    metric : str
        Its name.
    users : iterable
        Their ids, which a dot tells.
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
    (first, second), name = labels([a, b], SHORT), label(metric)
    apart = settled((known["up"] - known["across"]).to_numpy())
    sign = -1 if lower_is_better else 1
    above, equal, below = [*outcomes(sign * apart, first, second)][::sign]
    lower = "; lower is better" if lower_is_better else ""
    bins = Bins.of(known[["up", "across"]].to_numpy().ravel())
    x, y = (
        vega.amount(field, title, bins.edges, channel=field, margin=_MARGIN, tickCount=6)
        for field, title in (("across", f"{name} of {second}"), ("up", f"{name} of {first}"))
    )
    marks = (
        _dots(known.assign(side=np.sign(apart)), x, y, LOOKS[::sign])
        if len(known) <= _DOTS
        else _cells(known, bins, x, y)
    )
    ends = x["scale"]["domain"]
    diagonal = vega.rows(across=ends, up=ends)
    dashed = {"color": "#333333", "strokeDash": vega.DASHED}
    said = [f"above the line: {above}", f"below it: {below}", f"{equal}{lower}"]
    what = f"{name} of {first} against that of {second}"
    means = " against ".join(number(float(known[one].mean())) for one in ("up", "across"))
    alone = len(found) - len(known)
    left_out = f" {count(alone)} without a score of both left out." if alone else ""
    return vega.chart(
        vega.titled(f"{name}, user by user: {first} against {second}", said),
        f"{what}, of {count(len(known))}: mean {means}; {'; '.join(said)}.{left_out}",
        [*marks, vega.layer(diagonal, "line", dashed, x=x, y=y)],
        width=_SIDE,
        height=_SIDE,
    )


def _dots(known: pd.DataFrame, x: Spec, y: Spec, looks: Sequence[str]) -> list[Spec]:
    """Return a layer for each side of the line; users at the same place are a larger dot."""
    places = known.assign(**known[["up", "across"]].map(_short))
    dots = places.groupby(["side", "up", "across"])["user"]
    told = dots.agg(users="size", who=_who).reset_index()
    told = told.sort_values("users", ascending=False, kind="stable")
    most = int(told["users"].max())
    size = vega.fixed(_AREA)
    if most > 1:
        scale = {"type": "linear", "domain": [1, most], "range": [_AREA, 20 * _AREA]}
        values = sorted({1, (most + 1) // 2, most})
        size = _counted("users at one place", scale, values=values)
    tooltip = [
        vega.name("who", "of"),
        *vega.told(known[["up", "across"]], up="vertical", across="horizontal"),
    ]
    layers = []
    for side, color in zip((1, 0, -1), looks, strict=True):
        some = told[told["side"] == side]
        data = vega.rows(**some[["up", "across", "users", "who"]])
        style = {"filled": True, "opacity": 0.55, "color": color}
        layers.append(vega.layer(data, "point", style, x=x, y=y, size=size, tooltip=tooltip))
    return layers


def _short(score: float) -> float:
    return float(f"{score:.{_DIGITS}g}")


def _who(users: pd.Series[Any]) -> str:
    """Return the first users at one place, by name."""
    return ", ".join(first_few([label(one, SHORT) for one in users], _NAMED, "and {:,} others"))


def _cells(known: pd.DataFrame, bins: Bins, x: Spec, y: Spec) -> list[Spec]:
    """Return the users counted in squares, whose strength goes by powers of their number."""
    up, across = (bins.places(known[one].to_numpy()) for one in ("up", "across"))
    place, users = np.unique(up * bins.n + across, return_counts=True)
    (row, column), edges = np.divmod(place, bins.n), bins.edges
    sides = {"left": edges[column], "right": edges[column + 1]}
    sides |= {"bottom": edges[row], "top": edges[row + 1]}
    data = vega.rows(**sides, users=users)
    ends = vega.ends("x", x, "left", "right") | vega.ends("y", y, "bottom", "top")
    low_to_high = {"bottom": "vertical from", "top": "vertical to"}
    low_to_high |= {"left": "horizontal from", "right": "horizontal to"}
    tooltip = [vega.users("users"), *vega.told(edges, **low_to_high)]
    most = int(users.max())
    scale = {"type": "log", "domain": [1, max(most, 2)], "range": [_FAINTEST, 1.0]}
    powers = [10**power for power in range(len(str(most)))]
    look = {"symbolType": "square", "symbolFillColor": vega.ACCENT, "symbolStrokeWidth": 0}
    opacity = _counted("users in a cell", scale, values=powers, **look)
    style = {"color": vega.ACCENT}
    return [vega.layer(data, "rect", style, **ends, opacity=opacity, tooltip=tooltip)]


def _counted(title: str, scale: Spec, **legends: Any) -> Spec:
    """Return the channel of how many users there are."""
    told = vega.legend(title=title, direction="horizontal", format=",d", **legends)
    return vega.number("users", "users", scale=scale, legend=told)
