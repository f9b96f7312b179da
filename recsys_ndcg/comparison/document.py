"""What people read of a comparison: the leaderboard, the pairs, the segments, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import visible
from recsys_ndcg.rendering import Document, Section, ShownTable, interval, number, probability
from recsys_ndcg.report import remarks_section, signatures_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.comparison.comparison import Comparison

_LEADERBOARD = (
    "Models of one tier cannot be told apart by these users. The dot is the mean over users, the "
    "line its interval; the dashed lines are what needs no model."
)
_PAIRS = "Each model against each other one."
_SEGMENTS = "The same comparison among groups of users: a model may be better for some only."


def comparison_document(
    comparison: Comparison, metric: str, kinds: Sequence[str] = ("leaderboard",)
) -> Document:
    """Return what a comparison says in one metric.

    Parameters
    ----------
    comparison : Comparison
        Any.
    metric : str
        The name of one of its metrics.
    kinds : sequence of {'leaderboard', 'pairs', 'segments'}
        Its tables, in their order.
    """
    tables = [_SECTIONS[kind](comparison, metric) for kind in kinds]
    users = len(comparison.users)
    people = "user" if users == 1 else "users"
    return Document(
        title=f"{len(comparison.models)} models compared",
        verdict=comparison.verdict_in(metric),
        facts=f"{len(comparison.models)} models, {users} {people}, {comparison.tested_by}",
        sections=[
            tables[0],
            remarks_section(comparison.remarks),
            *tables[1:],
            signatures_section(comparison.signatures.values()),
        ],
        names=[*comparison.models, *comparison.metrics],
    )


def _board_section(comparison: Comparison, metric: str) -> Section:
    table = leaderboard_table(comparison, metric)
    return Section("leaderboard", "Leaderboard", _LEADERBOARD, [table])


def _pairs_section(comparison: Comparison, metric: str) -> Section:
    return Section("pairs", "The pairs", _PAIRS, [pairs_table(comparison, metric)])


def _segments_section(comparison: Comparison, metric: str) -> Section:
    table = ShownTable(
        f"Segments of users by {visible(metric)}",
        _segments(comparison, metric),
        left=2,
        note=_segments_note(comparison, metric),
        signature=visible(comparison.signature(metric).short),
    )
    return Section("segments", "For whom", _SEGMENTS, [table])


_SECTIONS = {
    "leaderboard": _board_section,
    "pairs": _pairs_section,
    "segments": _segments_section,
}


def leaderboard_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the models in one metric, the top tier bold."""
    board = comparison.leaderboards[metric]
    return ShownTable(
        f"Models by {visible(metric)}",
        _board(comparison, metric),
        left=2,
        bold=np.flatnonzero(board["tier"] == 1).tolist(),
        note=visible(f"{metric}; won, tied, lost: users, against {comparison.baseline}"),
        letters=board["letters"].tolist(),
        signature=visible(comparison.signature(metric).short),
    )


def pairs_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the pairs of models in one metric."""
    return ShownTable(
        f"Pairs of models by {visible(metric)}",
        _pairs(comparison, metric),
        left=2,
        note=_pairs_note(comparison, metric),
        signature=visible(comparison.signature(metric).short),
    )


def _board(comparison: Comparison, metric: str) -> pd.DataFrame:
    """Return a leaderboard, the means of the other metrics behind it."""
    tables = comparison.leaderboards
    table = tables[metric]
    told = {
        "tier": [str(one) for one in table["tier"]],
        "model": [visible(one) for one in table.index],
        "mean": _numbers(table["mean"]),
        f"±{_level(comparison)}": _numbers((table["ci_high"] - table["ci_low"]) / 2),
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


def _pairs(comparison: Comparison, metric: str) -> pd.DataFrame:
    """Return a row for each pair of models."""
    table = _of(comparison.pairwise, metric)
    told = {
        "a": [visible(one) for one in table["a"]],
        "b": [visible(one) for one in table["b"]],
        f"difference [{_level(comparison)}]": [
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


def _pairs_note(comparison: Comparison, metric: str) -> str:
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


def _segments(comparison: Comparison, metric: str) -> pd.DataFrame:
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
            f"±{_level(comparison)}": _numbers((table["ci_high"] - table["ci_low"]) / 2),
            "pooled": _numbers(table["pooled"]),
            "chance": _numbers(table["chance"]),
            f"difference [{_level(comparison)}]": [
                interval(*ends) + mark for *ends, mark in differences
            ],
            "corrected p": [probability(one) for one in table["p_corrected"]],
        }
    )


def _segments_note(comparison: Comparison, metric: str) -> str:
    """Return which difference is meant, and whose interval stands beside it."""
    against = _against(comparison, comparison.segments.loc[[metric]]).any()
    star = "; *: against the whole" if against else ""
    return visible(f"difference in {metric} to {comparison.baseline}, each interval its own{star}")


def _against(comparison: Comparison, table: pd.DataFrame) -> pd.Series[bool]:
    """Return which differences surely have the other sign than over all segments."""
    return table["against_whole"] & (table["p_corrected"] <= comparison.how.alpha)


def _level(comparison: Comparison) -> str:
    """Return at which level intervals are."""
    return f"{100 * (1 - comparison.how.alpha):.10g}%"


def _numbers(values: pd.Series[float]) -> list[str]:
    return [number(value) for value in values]


def _counts(values: pd.Series[Any]) -> list[str]:
    return ["-" if value is pd.NA else str(value) for value in values]


def _of(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    return table[table["metric"] == metric]
