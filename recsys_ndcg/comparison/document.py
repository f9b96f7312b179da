"""The document of a comparison: verdict, tables, and remarks on how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.remarks import find_remarks
from recsys_ndcg.errors import format_count
from recsys_ndcg.rendering import (
    Document,
    Section,
    ShownTable,
    format_number,
    format_signed,
    show_columns,
)
from recsys_ndcg.report import build_remarks_section, build_signatures_section

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison.compared_models import ComparedModels
    from recsys_ndcg.comparison.metric_comparison import MetricComparison
    from recsys_ndcg.findings import Finding

_TIERS = (
    "A tier is 1 + the number of models that are significantly better. Tiers are not groups: "
    "models differ significantly if they have no letter in common."
)
_GROUPS = "The same comparison in groups of users: a model may be better for some of them only."


def build_comparison_document(
    data: ComparedModels,
    remarks: Sequence[Finding],
    metric: str,
    kinds: Sequence[str] = ("leaderboard",),
) -> Document:
    """Return the document of a comparison in one metric.

    Parameters
    ----------
    data : ComparedModels
        The models.
    remarks : sequence of Finding
        The limits of what the comparison shows.
    metric : str
        The name of one of its metrics.
    kinds : sequence of {'leaderboard', 'pairs', 'segments'}
        The tables, in this order.
    """
    tables = [
        Section(kind, title, lead, [table_of(data, metric)])
        for kind in kinds
        if kind != "segments" or metric in data.metrics_of_users
        for title, lead, table_of in [_SECTIONS[kind]]
    ]
    if kinds[0] == "leaderboard":
        tables[0] = replace(tables[0], lead=_write_lead(data.by_metric[metric]))
    n_models = format_count(len([one for one in data.models if one != CHANCE]), "model")
    n_users = format_count(len(data.users), "user")
    return Document(
        title=f"{n_models} compared{' with chance' if CHANCE in data.models else ''}",
        verdicts=data.list_verdicts(metric),
        facts=f"{n_models}, {n_users}, {data.tested_by}",
        sections=[
            tables[0],
            build_remarks_section(remarks),
            *tables[1:],
            build_signatures_section(data.signatures),
        ],
        names_to_shorten=[*data.models, *data.metrics],
    )


def build_segments_document(data: ComparedModels) -> Document:
    """Return the document of the segments, a table for each metric of users."""
    metrics = data.metrics_of_users
    document = build_comparison_document(data, find_remarks(data), metrics[0], ["segments"])
    first, *others = document.sections
    tables = [_build_segments_table(data, metric) for metric in metrics]
    return replace(document, sections=[replace(first, parts=tables), *others])


def build_leaderboard_table(data: ComparedModels, metric: str) -> ShownTable:
    """Return the leaderboard in one metric, the top tier bold, with the means of other metrics."""
    boards = data.leaderboards
    board = boards[metric]
    table = board.reset_index()
    for name in ("chance", "adjusted", "won", "tied", "lost", "trivial", "spread"):
        if table[name].isna().all() or (name == "trivial" and not table[name].any()):
            del table[name]
    # with a baseline, other pairs are not tested
    is_against_baseline = data.testing.family == "baseline"
    ranked, tested = ["tier", "letters", "rank"], ["difference_interval", "p_corrected"]
    left_out = ranked if is_against_baseline else tested
    names = ["tier", "model", "mean", "interval", "letters", "pooled", "chance", "adjusted", "won"]
    names += ["tied", "lost", "trivial", *tested, "rank", *_users_column_if_it_varies(table)]
    names = [name for name in [*names, "spread"] if name not in left_out]
    note = metric
    if "won" in table:
        note += f"; users won, tied and lost against {data.baseline}"
    best = [] if is_against_baseline else np.flatnonzero(board["tier"].fillna(0) == 1).tolist()
    letters = [] if is_against_baseline else board["letters"].tolist()
    how: Any = {"note": note, "bold": best, "letters": letters}
    shown = show_table(data, metric, "Models", table, names, **how)
    for name in data.metrics:
        if name != metric:
            heading = f"mean {name}" if name in shown.cells else name
            other = boards[name].loc[board.index]
            shown.cells[heading] = [
                f"{format_number(mean)} {signs}".rstrip()
                for mean, signs in zip(other["mean"], other["letters"], strict=True)
            ]
    return shown


def build_pairs_table(data: ComparedModels, metric: str) -> ShownTable:
    """Return the pairs of models in one metric."""
    pairs = data.pairwise
    table = pairs[pairs["metric"] == metric]
    counts = table[["wins", "ties", "losses", "trivial"]].to_numpy().tolist()
    names = ["a", "b", "difference_interval", "relative", "d_z", "outcome", "p", "p_corrected"]
    names += ["p_a_not_worse", "p_b_not_worse", "p_equivalent", *_users_column_if_it_varies(table)]
    note = f"{metric}; difference: a minus b; wins: users for whom a is better"
    if (table["interval"] == "per pair").any():
        note += "; each interval is for one pair alone"
    elif data.size_of_family > 1:
        which = "in all metrics" if data.testing.family == "metrics" else "in the table"
        note += f"; intervals are simultaneous for all pairs {which}"
        if data.by_metric[metric].has_chance.any():
            note += ", those with chance apart"
    ends = {"ci_low": "difference_low", "ci_high": "difference_high"}
    table = table.rename(columns=ends).assign(outcome=["/".join(map(str, row)) for row in counts])
    if metric not in data.metrics_of_users:
        names.remove("outcome")
        note = note.replace("; wins: users for whom a is better", "")
    return show_table(data, metric, "Pairs of models", table, names, note=note)


def _build_segments_table(data: ComparedModels, metric: str) -> ShownTable:
    """Return the models by segment.

    A * marks a significant difference whose sign is opposite to that over all segments together.
    """
    table = data.segments.loc[[metric]].reset_index()
    opposite = table["opposite_to_all"] & (table["p_corrected"] <= data.testing.alpha)
    ends = (table.pop(name) for name in ("difference", "difference_low", "difference_high"))
    differences = map(format_signed, *ends)
    table["difference_interval"] = [
        f"{text}{'*' * flag}" for text, flag in zip(differences, opposite, strict=True)
    ]
    names = ["segment", "model", "users", "mean", "interval", "pooled", "chance"]
    names += ["difference_interval", "p_corrected", "p_interaction"]
    star = "; *: opposite sign over all segments together" if opposite.any() else ""
    note = f"difference in {metric} from {data.baseline}; p is corrected, intervals not{star}"
    return show_table(data, metric, "Segments of users", table, names, note=note)


def _write_lead(result: MetricComparison) -> str:
    """Write what the leaderboard and its chart show."""
    bars_from, lead = "the best model", _TIERS
    if result.testing.family == "baseline":
        bars_from = result.baseline
        lead = f"Each model is tested against {bars_from} only, and not against the others."
    bars = (
        f"; a wide bar is the interval of the difference from {bars_from}, significant if it does "
        f"not reach the dot of {bars_from}"
    )
    return (
        f"{lead} In the chart, a dot is a mean over users and a thin line its interval"
        f"{bars if result.intervals_agree else ''}; dashed lines are baselines that need no model."
    )


#: The title, the lead and the table of each kind of section.
_SECTIONS = {
    "leaderboard": ("Leaderboard", _TIERS, build_leaderboard_table),
    "pairs": ("The pairs", "Each model compared with each other model.", build_pairs_table),
    "segments": ("For whom", _GROUPS, _build_segments_table),
}


def show_table(  # noqa: PLR0913 - the parts of a table
    data: ComparedModels,
    metric: str,
    title: str,
    table: pd.DataFrame,
    names: Sequence[str],
    *,
    alpha: float | None = None,
    n_left_aligned: int = 2,
    **more: Any,
) -> ShownTable:
    """Return a table in one metric; `more`: further arguments of `ShownTable`."""
    level = 1 - (data.testing.alpha if alpha is None else alpha)
    return ShownTable(
        f"{title} by {metric}",
        show_columns(table, names, level),
        n_left_aligned=n_left_aligned,
        signature=data.signatures[metric].short,
        **more,
    )


def _users_column_if_it_varies(table: pd.DataFrame) -> list[str]:
    return ["users"] if (table["users"] != table["users"].iloc[0]).any() else []
