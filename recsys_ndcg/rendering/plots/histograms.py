"""Users counted by a number: their scores beside chance, and how two models differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import beside, count, label, labels, number, within
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec

_QUARTERS = [0.25, 0.75]
_MOST = 25  # bins that a reader sees apart
_DISTINCT = range(8, 42)  # so many steps from the lowest to the highest are a bin each
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_LAST_DIGITS = 1e-9  # of a bin
_NOTHING = 1e-200
_FEW = 5  # users at most in a bin: an axis would write the same number twice
SHORT = 24  # characters of a name that stands beside another
#: Of the first, equal and the second: light and dark in grey, too.
LOOKS = (vega.ACCENT, "#BBBBBB", "#E69F00")
_LEAST = 1e-12  # of the largest difference: less is the last digits of a sum


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
        low = min(float(one.min()) for one in columns if len(one))
        high = max(float(one.max()) for one in columns if len(one))
        if around_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if math.isclose(low, high, rel_tol=_LAST_DIGITS, abs_tol=_NOTHING):
            width = 10 ** math.floor(math.log10(abs(low))) / 10 if abs(low) > _NOTHING else 0.1
            return cls(low - width / 2, width, 1)
        step = _step(columns[0], low, high)
        width = step or _round_width((high - low) / _MOST)
        middle = around_zero or bool(step)
        origin = low if step and not around_zero else 0.0
        shift = 0.5 if middle else 0.0
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
    scale = {"domainMin": 0, "domainMax": most} if most <= _FEW else {}
    return vega.number(
        "users", "number of users", scale=scale, axis=vega.axis(format=",d", **ticks)
    )


def _bars(data: list[Spec], x: Spec, y: Spec, style: Spec, **more: Any) -> Spec:
    """Return bars from low to high, and from base to top."""
    shape = {"stroke": "white", "strokeWidth": 0.5, **style}
    ends = vega.ends("x", x) | vega.ends("y", y, "top", "base")
    return vega.layer(data, "rect", shape, **ends, **more)


def _over_all(mark: str, data: list[Spec], style: Spec, **channels: Any) -> Spec:
    """Return rules or areas over the whole height of a chart."""
    height = {"y": vega.fixed(0), "y2": vega.fixed(vega.HEIGHT)}
    return vega.layer(data, mark, style, **height, **channels)


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
    words = ("their scores, mean", "chance: random order of their lists, mean")
    spread = {
        f"{what} {number(float(values.mean()))}": values
        for what, values in zip(words, (score, chance), strict=True)
        if len(values)
    }
    x = _across(bins, "score", f"{name} of a user")
    told = vega.lines(dict(zip(spread, vega.LINES, strict=False)))
    y = _upward(max(int(bins.counts(values).max()) for values in spread.values()))
    means = vega.rows(place=[values.mean() for values in spread.values()], line=spread)
    return vega.chart(
        vega.titled(f"Users by {name}", count(len(scored))),
        _description(name, score, chance, len(frame) - len(scored)),
        [
            _filled(bins, score, chance, x, y),
            _outlines(bins, spread, x, y, told),
            _over_all("rule", means, {"strokeWidth": 2}, x=x, **told),
        ],
    )


def _filled(bins: Bins, score: Floats, chance: Floats, x: Spec, y: Spec) -> Spec:
    low, high = bins.edges[:-1], bins.edges[1:]
    tops = {"top": bins.counts(score), "chance": bins.counts(chance)}
    tooltip = [
        vega.told("low", "from", bins.edges),
        vega.told("high", "to", bins.edges),
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
        vega.told("low", "difference from", bins.edges),
        vega.told("high", "to", bins.edges),
        vega.users("users"),
    ]
    looks = dict(zip(which, LOOKS, strict=True))
    color = vega.look("outcome", looks, symbolType="square", offset=20)
    return _bars(data, x, _upward(int(base.max())), {}, color=color, tooltip=tooltip)


def _rules(mean: float, interval: tuple[float, float], x: Spec) -> list[Spec]:
    """Return a line at zero, the interval, and a line at the mean that says what it is."""
    low, high = interval
    band = vega.whole(vega.rows(low=[low], high=[high]))
    middle = vega.rows(place=[mean], text=["mean"])
    dashed = {"strokeDash": vega.DASHED, "color": "#333333"}
    shade = {"color": "black", "opacity": 0.2, "clip": True}
    text = {"fontSize": 11, "dy": -7}
    return [
        _over_all("rule", vega.rows(place=[0.0]), dashed, x=x),
        _over_all("rect", band, shade, **vega.ends("x", x)),
        _over_all("rule", middle, {"color": "black", "strokeWidth": 2}, x=x),
        vega.layer(middle, "text", text, x=x, y=vega.fixed(0), text=vega.name("text")),
    ]
