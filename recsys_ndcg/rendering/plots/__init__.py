"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recsys_ndcg.rendering.plots.vega import svg as svg

if TYPE_CHECKING:
    import altair as alt

#: The file of each kind of chart, and the function in it.
_KINDS = {
    "k": ("means", "plot_score_by_cutoff"),
    "users": ("users", "plot_users_against_chance"),
    "tiers": ("means", "plot_intervals_by_tier"),
    "differences": ("users", "plot_difference_per_user"),
    "activity": ("means", "plot_score_by_activity"),
    "scatter": ("users", "plot_a_against_b"),
    "trade-off": ("trade_off", "plot_trade_off"),
}


def plot(kind: str, *data: Any, **options: Any) -> alt.LayerChart:
    """Return a chart of some kind; its file is imported only now.

    Parameters
    ----------
    kind : {'k', 'users', 'tiers', 'differences', 'activity', 'scatter', 'trade-off'}
        By the score at each cutoff, for instance; of several metrics, that is a ``ConcatChart``.
    data, options
        What the function takes that draws it.

    Raises
    ------
    MissingExtraError
        Vega-Altair is not installed.
    """
    file, function = _KINDS[kind]
    draw = getattr(import_module(f"{__name__}.{file}"), function)
    chart: alt.LayerChart = draw(*data, **options)
    return chart
