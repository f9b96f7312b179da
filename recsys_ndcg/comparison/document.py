"""What people read of a comparison: the leaderboard, the pairs, the segments, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import counted, visible
from recsys_ndcg.rendering import Document, Section, ShownTable, number, probability, signed
from recsys_ndcg.report import remarks_section, signatures_section

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison


def _name(label: object) -> str:
    return visible(str(label))


def _whole(value: object) -> str:
    return "-" if value is pd.NA else str(value)


_LEADERBOARD = (
    "Models of one tier cannot be told apart by these users. The dot is the mean over users, the "
    "line its interval; the dashed lines are what needs no model."
)
#: How columns are written that are no numbers of four decimals, in any of the tables.
_FORMS = {
    **dict.fromkeys(("segment", "model", "a", "b"), _name),
    **dict.fromkeys(("tier", "rank", "users", "won", "tied", "lost", "ends", "outcome"), _whole),
    **dict.fromkeys(("p", "p_corrected"), probability),
    **dict.fromkeys(("p_a_not_worse", "p_b_not_worse", "p_equivalent"), probability),
}
#: The headings of those that have another than their name; {} is the level of intervals.
_HEADINGS = {
    "half": "±{}",
    "ends": "difference [{}]",
    "effect": "d_z",
    "outcome": "wins/ties/losses",
    "p_corrected": "corrected p",
    "p_a_not_worse": "p: a not worse",
    "p_b_not_worse": "p: b not worse",
    "p_equivalent": "p: equivalent",
}


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
    tables = [
        Section(kind, title, lead, [table_of(comparison, metric)])
        for kind in kinds
        for title, lead, table_of in [_SECTIONS[kind]]
    ]
    n_models = len(comparison.models)
    people = counted(len(comparison.users), "user")
    return Document(
        title=f"{n_models} models compared",
        verdict=comparison.verdict_in(metric),
        facts=f"{n_models} models, {people}, {comparison.tested_by}",
        sections=[
            tables[0],
            remarks_section(comparison.remarks),
            *tables[1:],
            signatures_section(comparison.signatures.values()),
        ],
        names=[*comparison.models, *comparison.metrics],
    )


def leaderboard_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the models in one metric, the means of the others behind it, the top tier bold."""
    boards = comparison.leaderboards
    board = boards[metric]
    ranks = zip(board["rank_low"], board["rank_high"], strict=True)
    table = board.reset_index().assign(
        half=((board["ci_high"] - board["ci_low"]) / 2).to_numpy(),
        rank=[str(low) if low == high else f"{low}–{high}" for low, high in ranks],
    )
    for name in ("chance", "adjusted", "spread"):
        if table[name].isna().all():
            del table[name]
    names = ["tier", "model", "mean", "half", "pooled", "chance", "adjusted", "won", "tied", "lost"]
    cells = _cells(comparison, table, [*names, "rank", *_users_if_they_differ(table), "spread"])
    for name in comparison.metrics:
        if name != metric:
            heading = visible(name)
            heading = f"mean {heading}" if heading in cells else heading
            cells[heading] = [number(one) for one in boards[name].loc[board.index, "mean"]]
    return ShownTable(
        f"Models by {visible(metric)}",
        cells,
        left=2,
        bold=np.flatnonzero(board["tier"] == 1).tolist(),
        note=visible(f"{metric}; won, tied, lost: users, against {comparison.baseline}"),
        letters=board["letters"].tolist(),
        signature=_signature(comparison, metric),
    )


def pairs_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the pairs of models in one metric."""
    pairs = comparison.pairwise
    table = pairs[pairs["metric"] == metric]
    counts = zip(table["wins"], table["ties"], table["losses"], strict=True)
    ends = zip(table["difference"], table["ci_low"], table["ci_high"], strict=True)
    names = ["a", "b", "ends", "effect", "outcome", "p", "p_corrected"]
    margins = ["p_a_not_worse", "p_b_not_worse", "p_equivalent"]
    note = f"{metric} of a less that of b; wins: users for whom a is better"
    if len(table) > 1 and (table["interval"] == "own").any():
        note += (
            f"; each interval is its pair's own, so that all {len(table)} hold together less often"
        )
    elif len(table) > 1:
        note += f"; the intervals of all {len(table)} pairs hold together"
    table = table.assign(
        ends=[_interval(*each) for each in ends],
        outcome=[f"{won}/{tied}/{lost}" for won, tied, lost in counts],
    )
    return ShownTable(
        f"Pairs of models by {visible(metric)}",
        _cells(comparison, table, [*names, *margins, *_users_if_they_differ(table)]),
        left=2,
        note=visible(note),
        signature=_signature(comparison, metric),
    )


def _segments_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the models in each segment; a star where it surely is against the whole."""
    table = comparison.segments.loc[[metric]].reset_index()
    against = table["against_whole"] & (table["p_corrected"] <= comparison.how.alpha)
    marks = against.map({True: "*", False: ""})
    ends = zip(table["difference"], table["difference_low"], table["difference_high"], strict=True)
    table = table.assign(
        half=(table["ci_high"] - table["ci_low"]) / 2,
        ends=[_interval(*each) + mark for each, mark in zip(ends, marks, strict=True)],
    )
    names = ["segment", "model", "users", "mean", "half", "pooled", "chance", "ends", "p_corrected"]
    star = "; *: against the whole" if against.any() else ""
    note = f"difference in {metric} to {comparison.baseline}, each interval its own{star}"
    return ShownTable(
        f"Segments of users by {visible(metric)}",
        _cells(comparison, table, names),
        left=2,
        note=visible(note),
        signature=_signature(comparison, metric),
    )


_SECTIONS = {
    "leaderboard": (
        "Leaderboard",
        _LEADERBOARD,
        leaderboard_table,
    ),
    "pairs": ("The pairs", "Each model against each other one.", pairs_table),
    "segments": (
        "For whom",
        "The same comparison among groups of users: a model may be better for some only.",
        _segments_table,
    ),
}


def _cells(comparison: Comparison, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a table as text below their headings, those that it has."""
    level = f"{100 * (1 - comparison.how.alpha):.10g}%"
    cells: dict[str, list[str]] = {}
    for name in names:
        if name in table:
            form: Any = _FORMS.get(name, number)
            heading = _HEADINGS.get(name, name).format(level)
            cells[heading] = [form(value) for value in table[name]]
    return pd.DataFrame(cells)


def _users_if_they_differ(table: pd.DataFrame) -> list[str]:
    return ["users"] if (table["users"] != table["users"].iloc[0]).any() else []


def _signature(comparison: Comparison, metric: str) -> str:
    return visible(comparison.signature(metric).short)


def _interval(middle: float, low: float, high: float) -> str:
    """Return a difference with its ends."""
    if np.isnan(middle):
        return "-"
    return f"{signed(middle)} [{signed(low)}, {signed(high)}]"
