"""The scores of one model against those of another: a dot for each user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.histograms import LOOKS, SHORT, Bins, outcomes, settled
from recsys_ndcg.rendering.wording import count, first_few, label, labels, number

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.rendering.plots.vega import Spec

_MOST = 2_000  # users whose dots a reader tells apart, and a page has room for
_SIDE = 340
_DIGITS = 6  # of a score in the data: more are not seen
_AREA = 30  # of the dot of one user
_MARGIN = 0.02  # of the range of an axis, so that no dot is cut
_NAMED = 3  # users under one dot who are named
_FAINTEST = 0.25  # of a cell of one user, which is seen by day and by night


def plot_a_against_b(  # noqa: PLR0913 - what is measured, of whom
    scores_a: Floats,
    scores_b: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    users: Iterable[object] | None = None,
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
    users : iterable, optional
        Their ids, which a dot tells.
    lower_is_better : bool
        Whether the model with the lower score is better.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    found = pd.DataFrame({"up": scores_a, "across": scores_b}, dtype=np.float64)
    if users is not None:
        found["user"] = pd.Series([*users], dtype=object)
    known = found.dropna(subset=["up", "across"])
    (first, second), name = labels([a, b], SHORT), label(metric)
    apart = settled((known["up"] - known["across"]).to_numpy())
    which = [*outcomes(-apart if lower_is_better else apart, first, second)]
    above, equal, below = which[::-1] if lower_is_better else which
    lower = "; lower is better" if lower_is_better else ""
    bins = Bins.of(known[["up", "across"]].to_numpy().ravel())
    x, y = (
        vega.amount(field, title, bins.edges, channel=field, margin=_MARGIN, tickCount=6)
        for field, title in (("across", f"{name} of {second}"), ("up", f"{name} of {first}"))
    )
    marks = (
        _dots(known.assign(side=np.sign(apart)), x, y, LOOKS[::-1] if lower_is_better else LOOKS)
        if len(known) <= _MOST
        else _cells(known, bins, x, y)
    )
    said = [f"above the line: {above}", f"below it: {below}", f"{equal}{lower}"]
    what = f"{name} of {first} against that of {second}"
    means = " against ".join(number(float(known[one].mean())) for one in ("up", "across"))
    alone = len(found) - len(known)
    left_out = f" {count(alone)} without a score of both left out." if alone else ""
    return vega.chart(
        vega.titled(f"{name}, user by user: {first} against {second}", said),
        f"{what}, of {count(len(known))}: mean {means}; {'; '.join(said)}.{left_out}",
        [*marks, _diagonal(x, y)],
        width=_SIDE,
        height=_SIDE,
    )


def _dots(known: pd.DataFrame, x: Spec, y: Spec, looks: Sequence[str]) -> list[Spec]:
    """Return a layer for each side of the line; users at the same place are a larger dot."""
    places = known.assign(**{one: known[one].map(_short) for one in ("up", "across")})
    dots = places.groupby(["side", "up", "across"], sort=True)
    told = dots.size().rename("users").to_frame()
    told["who"] = dots["user"].agg(_who) if "user" in known else told["users"].map(count)
    told = told.sort_values("users", ascending=False, kind="stable").reset_index()
    most = int(told["users"].max())
    size = {"size": _size(most)} if most > 1 else {"size": vega.fixed(_AREA)}
    tooltip = [
        vega.name("who", "of"),
        vega.told("up", "vertical", known[["up", "across"]]),
        vega.told("across", "horizontal", known[["up", "across"]]),
    ]
    layers = []
    for side, color in zip((1, 0, -1), looks, strict=True):
        some = told[told["side"] == side]
        data = vega.rows(**{one: some[one] for one in ("up", "across", "users", "who")})
        style = {"filled": True, "opacity": 0.55, "color": color}
        layers.append(vega.layer(data, "point", style, x=x, y=y, **size, tooltip=tooltip))
    return layers


def _short(score: float) -> float:
    return float(f"{score:.{_DIGITS}g}")


def _who(users: pd.Series[Any]) -> str:
    """Return the first users at one place, by name."""
    return ", ".join(first_few([label(one, SHORT) for one in users], _NAMED, "and {:,} others"))


def _size(most: int) -> Spec:
    """Return the channel of how many users a dot stands for."""
    scale = {"type": "linear", "domain": [1, most], "range": [_AREA, 20 * _AREA]}
    values = sorted({1, (most + 1) // 2, most})
    told = vega.legend(title="users at one place", direction="horizontal", values=values)
    return vega.number("users", "users", scale=scale, legend=told | {"format": ",d"})


def _cells(known: pd.DataFrame, bins: Bins, x: Spec, y: Spec) -> list[Spec]:
    """Return the users counted in squares, whose strength goes by powers of their number."""
    up, across = (bins.places(known[one].to_numpy()) for one in ("up", "across"))
    users = np.bincount(up * bins.n + across, minlength=bins.n**2)
    place = np.flatnonzero(users)
    (row, column), edges = np.divmod(place, bins.n), bins.edges
    data = vega.rows(
        left=edges[column],
        right=edges[column + 1],
        bottom=edges[row],
        top=edges[row + 1],
        users=users[place],
    )
    ends = vega.ends("x", x, "left", "right") | vega.ends("y", y, "bottom", "top")
    tooltip = [
        vega.users("users"),
        vega.told("bottom", "vertical from", edges),
        vega.told("top", "vertical to", edges),
        vega.told("left", "horizontal from", edges),
        vega.told("right", "horizontal to", edges),
    ]
    opacity = _counted(int(users.max()))
    style = {"color": vega.ACCENT}
    return [vega.layer(data, "rect", style, **ends, opacity=opacity, tooltip=tooltip)]


def _counted(most: int) -> Spec:
    """Return the channel of how many users there are in a cell, from one on."""
    scale = {"type": "log", "domain": [1, max(most, 2)], "range": [_FAINTEST, 1.0]}
    powers = [10**power for power in range(len(str(most)))]
    told = vega.legend(title="users in a cell", direction="horizontal", format=",d", values=powers)
    look = {"symbolType": "square", "symbolFillColor": vega.ACCENT, "symbolStrokeWidth": 0}
    return vega.number("users", "users", scale=scale, legend=told | look)


def _diagonal(x: Spec, y: Spec) -> Spec:
    """Return the line on which both score the same."""
    ends = x["scale"]["domain"]
    data = vega.rows(across=ends, up=ends)
    return vega.layer(data, "line", {"color": "#333333", "strokeDash": vega.DASHED}, x=x, y=y)
