"""How the scores of single users are spread, beside those of random order of the same lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.plots.counted_users import Bins, across, bars, over_all, upward
from recsys_ndcg.rendering.wording import count, label, number

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.rendering.plots.vega import Spec

_QUARTERS = [0.25, 0.75]


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
    x, told = across(bins, "score", title=f"{name} of a user"), vega.lines([*spread])
    y = upward(max(int(bins.counts(values).max()) for values in spread.values()))
    means = vega.rows(place=[values.mean() for values in spread.values()], line=spread)
    return vega.chart_of(
        {
            "title": vega.titled(f"Users by {name}", count(len(scored))),
            "description": _description(name, score, chance, len(frame) - len(scored)),
            "width": vega.WIDTH,
            "height": vega.HEIGHT,
            "layer": [
                _bars(bins, score, chance, x, y),
                _outlines(bins, spread, x, y, told),
                over_all("rule", means, {"strokeWidth": 2}, x=x, **told),
            ],
        }
    )


def _bars(bins: Bins, score: Floats, chance: Floats, x: Spec, y: Spec) -> Spec:
    low, high = bins.edges[:-1], bins.edges[1:]
    tops = {"top": bins.counts(score), "chance": bins.counts(chance)}
    tooltip = [
        vega.told("low", "from", bins.edges),
        vega.told("high", "to", bins.edges),
        vega.number("top", "users by their score", format=",d"),
        *([vega.number("chance", "users by chance", format=",d")] if len(chance) else []),
    ]
    data = vega.rows(low=low, high=high, base=[0] * bins.n, **tops)
    return bars(data, x, y, {"color": vega.ACCENT, "opacity": 0.35}, tooltip=tooltip)


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
