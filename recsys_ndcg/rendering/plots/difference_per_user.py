"""By how much two models differ, user by user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.counted_users import (
    LOOKS,
    SHORT,
    Bins,
    across,
    bars,
    outcomes,
    over_all,
    settled,
    upward,
)
from recsys_ndcg.rendering.wording import beside, count, label, labels, number, within
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.arrays import Flags, Floats
    from recsys_ndcg.rendering.plots.vega import Spec


def plot_difference_per_user(  # noqa: PLR0913 - what is measured, of whom, and how surely
    differences: Floats,
    a: str,
    b: str,
    metric: str,
    *,
    lower_is_better: bool = False,
    interval: tuple[float, float] | None = None,
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
    interval : pair of float, optional
        Of the mean; by default Student's t.
    level : float
        Of the interval.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    known = np.asarray(differences, dtype=np.float64)
    known = known[~np.isnan(known)]
    known = settled(known)
    mean = float(known.mean())
    if interval is None:
        interval = mean_interval(len(known), mean, float(np.linalg.norm(known - mean)), level)
    (first, second), name = labels([a, b], SHORT), label(metric)
    which = outcomes(-known if lower_is_better else known, first, second)
    said = f"{count(len(known))}, mean {number(mean)}{beside(within(*interval, level))}"
    bins = Bins.of(known, around_zero=True)
    x = across(bins, "difference", title=f"{name} of a user: {first} less {second}")
    return vega.chart_of(
        {
            "title": vega.titled(f"{name}, user by user: {first} less {second}", said),
            "description": f"{name} of {first} less that of {second}: {said}. {'; '.join(which)}.",
            "width": vega.WIDTH,
            "height": vega.HEIGHT,
            "layer": [_bars(bins, known, which, x), *_rules(mean, interval, x)],
        }
    )


def _bars(bins: Bins, known: Floats, which: dict[str, Flags], x: Spec) -> Spec:
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
        vega.number("users", "users", format=",d"),
    ]
    looks = vega.scale([*which], LOOKS)
    color = vega.name("outcome", scale=looks, legend=vega.legend(symbolType="square", offset=20))
    return bars(data, x, upward(int(base.max())), {}, color=color, tooltip=tooltip)


def _rules(mean: float, interval: tuple[float, float], x: Spec) -> list[Spec]:
    """Return a line at zero, the interval, and a line at the mean that says what it is."""
    low, high = interval
    band = vega.whole(vega.rows(low=[low], high=[high]))
    ends = {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    middle = vega.rows(place=[mean], text=["mean"])
    dashed = {"strokeDash": vega.DASHED, "color": "#333333"}
    text = {"fontSize": 11, "dy": -7}
    return [
        over_all("rule", vega.rows(place=[0.0]), dashed, x=x),
        over_all("rect", band, {"color": "black", "opacity": 0.2, "clip": True}, **ends),
        over_all("rule", middle, {"color": "black", "strokeWidth": 2}, x=x),
        vega.layer(middle, "text", text, x=x, y=vega.fixed(0), text=vega.name("text")),
    ]
