"""The tables of a comparison as text, and what is said beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.table import number, probability, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.rendering.compared.view import Compared

LEADERBOARD, PAIRS, SEGMENTS = "leaderboard", "pairs", "segments"


def head(comparison: Compared) -> str:
    """Return how many models and users there are, and how they were tested."""
    models, users = len(comparison.models), len(comparison.users)
    people = "user" if users == 1 else "users"
    return f"{models} models, {users} {people}, {comparison.tested_by}"


class Table(NamedTuple):
    """One table of a comparison.

    Parameters
    ----------
    kind : str
        Leaderboard, pairs or segments.
    cells : pandas.DataFrame
        Of text; the first two columns are names.
    note : str
        What it is about, and what is counted in it.
    bold : sequence of int
        The rows that stand out.
    """

    kind: str
    cells: pd.DataFrame
    note: str
    bold: Sequence[int] = ()


def table(comparison: Compared, metric: str, kind: str = LEADERBOARD) -> Table:
    """Return a table of a comparison in one metric."""
    if kind == PAIRS:
        return Table(kind, _pairs(comparison, metric), _pairs_note(comparison, metric))
    if kind == SEGMENTS:
        return Table(kind, _segments(comparison, metric), _segments_note(comparison, metric))
    note = visible(f"{metric}; won, tied, lost: users, against {comparison.baseline}")
    return Table(kind, _board(comparison, metric), note, _top_tier(comparison, metric))


def _board(comparison: Compared, metric: str) -> pd.DataFrame:
    """Return a leaderboard, the means of the other metrics behind it."""
    tables = comparison.leaderboards
    table = tables[metric]
    told = {
        "tier": [str(one) for one in table["tier"]],
        "model": [visible(one) for one in table.index],
        "mean": _numbers(table["mean"]),
        f"±{level(comparison)}": _numbers((table["ci_high"] - table["ci_low"]) / 2),
        "pooled": _numbers(table["pooled"]),
        "chance": _numbers(table["chance"]),
        "adjusted": _numbers(table["adjusted"]),
        **{name: _counts(table[name]) for name in ("won", "tied", "lost")},
        "rank": [
            str(low) if low == high else f"{low}–{high}"
            for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
        ],
    }
    for name in ("chance", "adjusted"):
        if table[name].isna().all():
            del told[name]
    if (table["users"] != table["users"].iloc[0]).any():
        told["users"] = _counts(table["users"])
    if table["spread"].notna().any():
        told["spread"] = _numbers(table["spread"])
    for name in comparison.metrics:
        if name != metric:
            heading = visible(name)
            heading = f"mean {heading}" if heading in told else heading
            told[heading] = _numbers(tables[name].loc[table.index, "mean"])
    return pd.DataFrame(told)


def _top_tier(comparison: Compared, metric: str) -> list[int]:
    """Return the rows of the models that none is significantly better than."""
    return np.flatnonzero(comparison.leaderboards[metric]["tier"] == 1).tolist()


def _pairs(comparison: Compared, metric: str) -> pd.DataFrame:
    """Return a row for each pair of models."""
    table = _of(comparison.pairwise, metric)
    told = {
        "a": [visible(one) for one in table["a"]],
        "b": [visible(one) for one in table["b"]],
        f"difference [{level(comparison)}]": [
            interval(*ends)
            for ends in zip(table["difference"], table["ci_low"], table["ci_high"], strict=True)
        ],
        "d_z": [number(one) for one in table["effect"]],
        "wins/ties/losses": [
            f"{won}/{tied}/{lost}"
            for won, tied, lost in zip(table["wins"], table["ties"], table["losses"], strict=True)
        ],
        "p": [probability(one) for one in table["p"]],
        "corrected p": [probability(one) for one in table["p_corrected"]],
    }
    for name, heading in (
        ("p_a_not_worse", "p: a not worse"),
        ("p_b_not_worse", "p: b not worse"),
        ("p_equivalent", "p: equivalent"),
    ):
        if name in table:
            told[heading] = [probability(one) for one in table[name]]
    if (table["users"] != table["users"].iloc[0]).any():
        told["users"] = _counts(table["users"])
    return pd.DataFrame(told)


def _pairs_note(comparison: Compared, metric: str) -> str:
    """Return which difference is meant, and whether the intervals hold together."""
    table = _of(comparison.pairwise, metric)
    told = f"{metric} of a less that of b; wins: users for whom a is better"
    if len(table) == 1:
        return visible(told)
    if (table["interval"] == "own").any():
        kind = f"each interval is its pair's own, so that all {len(table)} hold together less often"
    else:
        kind = f"the intervals of all {len(table)} pairs hold together"
    return visible(f"{told}; {kind}")


def _segments(comparison: Compared, metric: str) -> pd.DataFrame:
    """Return a row for each segment and model."""
    table = comparison.segments.loc[[metric]]
    marks = _against(comparison, table).map({True: "*", False: ""})
    differences = zip(
        table["difference"], table["difference_low"], table["difference_high"], marks, strict=True
    )
    return pd.DataFrame(
        {
            "segment": [visible(str(one)) for one in table.index.get_level_values("segment")],
            "model": [visible(one) for one in table.index.get_level_values("model")],
            "users": _counts(table["users"]),
            "mean": _numbers(table["mean"]),
            f"±{level(comparison)}": _numbers((table["ci_high"] - table["ci_low"]) / 2),
            "pooled": _numbers(table["pooled"]),
            "chance": _numbers(table["chance"]),
            f"difference [{level(comparison)}]": [
                interval(*ends) + mark for *ends, mark in differences
            ],
            "corrected p": [probability(one) for one in table["p_corrected"]],
        }
    )


def _segments_note(comparison: Compared, metric: str) -> str:
    """Return which difference is meant, and whose interval stands beside it."""
    against = _against(comparison, comparison.segments.loc[[metric]]).any()
    star = "; *: against the whole" if against else ""
    return visible(f"difference in {metric} to {comparison.baseline}, each interval its own{star}")


def _against(comparison: Compared, table: pd.DataFrame) -> pd.Series[bool]:
    """Return which differences surely have the other sign than over all segments."""
    return table["against_whole"] & (table["p_corrected"] <= comparison.how.alpha)


def level(comparison: Compared) -> str:
    """Return at which level intervals are."""
    return f"{100 * (1 - comparison.how.alpha):.10g}%"


def interval(middle: float, low: float, high: float) -> str:
    """Return a difference with its ends."""
    if np.isnan(middle):
        return "-"
    return f"{signed(middle)} [{signed(low)}, {signed(high)}]"


def _numbers(values: pd.Series[float]) -> list[str]:
    return [number(value) for value in values]


def _counts(values: pd.Series[Any]) -> list[str]:
    return ["-" if value is pd.NA else str(value) for value in values]


def _of(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    return table[table["metric"] == metric]
