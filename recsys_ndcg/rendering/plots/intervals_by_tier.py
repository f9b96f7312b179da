"""Models by their mean with its interval, those that nothing tells from the best in colour."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import (
    beside,
    count,
    label,
    labels,
    number,
    with_interval,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt
    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec

_MOST = 60  # models in a chart, the best ones
_STEP = 18  # pixels for each
_TOP, _OTHER = "top tier: not told apart from the best", "other tiers"
_NUMBERS = ["mean", "low", "high"]


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
    known = frame[frame["mean"].notna()]
    known = known.sort_values("mean", ascending=lower_is_better, kind="stable")
    models = known.assign(
        model=labels(known["model"]),
        top=np.where(known["tier"] == known["tier"].min(), _TOP, _OTHER),
    )
    against = {"chance": chance, **(baselines or {})}
    named = zip(labels(against), against.values(), strict=True)
    rules = {one: float(value) for one, value in named if not np.isnan(value)}
    shown, name = models.head(_MOST), label(metric)
    title = f"{name}: mean over users{with_interval(shown, level)}"
    numbers = [*shown[_NUMBERS].to_numpy().ravel(), *rules.values()]
    x = vega.amount("mean", title, numbers)
    cut = f"the best {len(shown)} of {count(len(models), 'model')}"
    return vega.chart(
        vega.titled(f"Models by {name}", cut if len(models) > len(shown) else ""),
        _description(name, models, rules, level),
        [*_models(shown, x, level), *_rules(rules, x)],
        height=_STEP * max(len(shown), 2),
    )


def _models(shown: pd.DataFrame, x: Spec, level: float) -> list[Spec]:
    data = vega.rows(**{name: shown[name] for name in ("model", *_NUMBERS, "tier", "top")})
    order, ticks = shown["model"].tolist(), vega.axis(labelLimit=240, ticks=False)
    y = vega.name("model", scale={"domain": order}, axis=ticks)
    stroke = _look(shown, {_TOP: vega.ACCENT, _OTHER: vega.OTHERS})
    fill = _look(shown, {_TOP: vega.ACCENT, _OTHER: "white"})
    ends = vega.ends("x", x)
    tooltip = [
        vega.name("model", "model"),
        *vega.told_mean(shown[_NUMBERS], level),
        vega.number("tier", "tier"),
    ]
    point = {"opacity": 1, "strokeWidth": 2, "size": 55}
    looks = {"stroke": stroke, "fill": fill}
    return [
        vega.layer(vega.whole(data), "rule", {"strokeWidth": 2}, y=y, **ends, stroke=stroke),
        vega.layer(data, "point", point, y=y, x=x, **looks, tooltip=tooltip),
    ]


def _look(shown: pd.DataFrame, colors: dict[str, str]) -> Spec:
    found = {name: color for name, color in colors.items() if (shown["top"] == name).any()}
    return vega.look("top", found)


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


def _description(name: str, models: pd.DataFrame, rules: dict[str, float], level: float) -> str:
    """Tell the best model, the worst, and what they stand against."""
    ends = models.iloc[[0, -1] if len(models) > 1 else [0]]
    told = [
        f"{model} {number(mean)}{beside(within(low, high, level))}"
        for model, mean, low, high in zip(
            ends["model"], *(ends[one] for one in _NUMBERS), strict=True
        )
    ]
    top = int((models["top"] == _TOP).sum())
    against = "".join(f"; {one} {number(value)}" for one, value in rules.items())
    return (
        f"{count(len(models), 'model')} by {name}, the best first: {' to '.join(told)}; "
        f"{top} in the top tier{against}."
    )
