"""What people read of a comparison: verdict, tables, and what to know before trusting them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.verdict import size
from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.rendering import (
    Document,
    Section,
    ShownTable,
    first_few,
    number,
    probability,
    signed,
)
from recsys_ndcg.report import build_remarks_section, build_signatures_section

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.metric_comparison import MetricComparison

_LINES = 3
_LONGER = 1.05  # times as long
_FEW = 30  # users, of whom no test keeps its level exactly
_MANY = 10  # models, of which some pairs stand in another order by chance alone
_DISPUTED = (
    "Wilcoxon and sign tests are disputed: against them Urbano, Lima & Hanjalic (SIGIR 2019) and "
    "Ihemelandu & Ekstrand (SIGIR 2023), for Wilcoxon Otero, Parapar & Barreiro (ECIR 2025)."
)


def _name(label: object) -> str:
    return escape_invisible(str(label))


def _whole(value: object) -> str:
    return "-" if value is pd.NA else str(value)


#: How columns are written that are no numbers of four decimals, in any of the tables.
_FORMS: dict[str, Any] = {
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
    people = format_count(len(comparison.users), "user")
    return Document(
        title=f"{n_models} models compared",
        verdict=comparison.verdict_in(metric),
        facts=f"{n_models} models, {people}, {comparison.tested_by}",
        sections=[
            tables[0],
            build_remarks_section(comparison.remarks),
            *tables[1:],
            build_signatures_section(comparison.signatures.values()),
        ],
        names=[*comparison.models, *comparison.metrics],
    )


def leaderboard_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the models in one metric, the means of the others behind it, the top tier bold."""
    boards = comparison.leaderboards
    board = boards[metric]
    ranks = zip(board["rank_low"], board["rank_high"], strict=True)
    table = board.reset_index().assign(
        rank=[str(low) if low == high else f"{low}–{high}" for low, high in ranks]
    )
    for name in ("chance", "adjusted", "spread"):
        if table[name].isna().all():
            del table[name]
    names = ["tier", "model", "mean", "half", "pooled", "chance", "adjusted", "won", "tied", "lost"]
    names += ["rank", *_users_if_they_differ(table), "spread"]
    note = f"{metric}; won, tied, lost: users, against {comparison.baseline}"
    best, letters = np.flatnonzero(board["tier"] == 1).tolist(), board["letters"].tolist()
    table = _with_half(table).filter(names)
    shown = _shown(comparison, metric, "Models", table, note, bold=best, letters=letters)
    for name in comparison.metrics:
        if name != metric:
            heading = escape_invisible(name)
            heading = f"mean {heading}" if heading in shown.cells else heading
            shown.cells[heading] = [number(one) for one in boards[name].loc[board.index, "mean"]]
    return shown


def pairs_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the pairs of models in one metric."""
    pairs = comparison.pairwise
    table = pairs[pairs["metric"] == metric]
    counts = zip(table["wins"], table["ties"], table["losses"], strict=True)
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
        ends=_differences(table, "ci_low", "ci_high"),
        outcome=[f"{won}/{tied}/{lost}" for won, tied, lost in counts],
    )
    table = table.filter([*names, *margins, *_users_if_they_differ(table)])
    return _shown(comparison, metric, "Pairs of models", table, note)


def _segments_table(comparison: Comparison, metric: str) -> ShownTable:
    """Return the models in each segment; a star where it surely is against the whole."""
    table = comparison.segments.loc[[metric]].reset_index()
    against = table["against_whole"] & (table["p_corrected"] <= comparison.how.alpha)
    ends = _differences(table, "difference_low", "difference_high")
    table["ends"] = [f"{one}*" if sure else one for one, sure in zip(ends, against, strict=True)]
    names = ["segment", "model", "users", "mean", "half", "pooled", "chance", "ends", "p_corrected"]
    star = "; *: against the whole" if against.any() else ""
    note = f"difference in {metric} to {comparison.baseline}, each interval its own{star}"
    table = _with_half(table).filter(names)
    return _shown(comparison, metric, "Segments of users", table, note)


_SECTIONS = {
    "leaderboard": (
        "Leaderboard",
        (
            "Models of one tier cannot be told apart by these users. The dot is the mean over "
            "users, the line its interval; the dashed lines are what needs no model."
        ),
        leaderboard_table,
    ),
    "pairs": ("The pairs", "Each model against each other one.", pairs_table),
    "segments": (
        "For whom",
        "The same comparison among groups of users: a model may be better for some only.",
        _segments_table,
    ),
}


def _shown(
    comparison: Comparison, metric: str, rows: str, table: pd.DataFrame, note: str, **more: Any
) -> ShownTable:
    """Return a table as text below its headings."""
    level = f"{100 * (1 - comparison.how.alpha):.10g}%"
    cells = {
        _HEADINGS.get(name, name).format(level): list(map(_FORMS.get(name, number), table[name]))
        for name in map(str, table)
    }
    return ShownTable(
        f"{rows} by {escape_invisible(metric)}",
        pd.DataFrame(cells),
        left=2,
        note=escape_invisible(note),
        signature=escape_invisible(comparison.signature(metric).short),
        **more,
    )


def _with_half(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(half=(table["ci_high"] - table["ci_low"]) / 2)


def _users_if_they_differ(table: pd.DataFrame) -> list[str]:
    return ["users"] if (table["users"] != table["users"].iloc[0]).any() else []


def _differences(table: pd.DataFrame, low: str, high: str) -> list[str]:
    """Return the differences with the ends of their intervals."""
    ends = zip(table["difference"], table[low], table[high], strict=True)
    return [
        "-" if np.isnan(middle) else f"{signed(middle)} [{signed(first)}, {signed(last)}]"
        for middle, first, last in ends
    ]


def remarks(comparison: Comparison) -> list[str]:
    """Return one sentence for each thing that makes a comparison say less than it seems to."""
    by_metric = list(comparison.by_metric.values())
    lines = [
        *_users(comparison, by_metric),
        *_runs(comparison),
        *_orders(by_metric),
        *_chance(by_metric),
        *_segments(comparison),
    ]
    return [escape_invisible(line) for line in lines]


def _users(comparison: Comparison, by_metric: Sequence[MetricComparison]) -> Iterator[str]:
    left_out = {name: count for name, count in comparison.left_out.items() if count}
    if left_out:
        told = ", ".join(f"{count} of {name}" for name, count in left_out.items())
        yield f"Users that not all models have are left out: {told}."
    if comparison.other_metrics:
        yield f"Only some models have {', '.join(comparison.other_metrics)}: left out."
    alike = (
        f"{one} and {other} score the same for every user."
        for (one, mine), (other, theirs) in combinations(comparison.contenders.items(), 2)
        if np.array_equal(mine.per_user, theirs.per_user, equal_nan=True)
    )
    yield from islice(alike, _LINES)
    yield from _lengths(comparison)
    for result in by_metric:
        there = ~np.isnan(result.scores)
        nobody = int((~there.any(axis=1)).sum())
        if 0 < nobody < len(there):
            yield f"{nobody} of {len(there)} users have no score in {result.name}: left out of it."
        there = there[:, there.any(axis=0)]  # chance has none in some metrics
        partly = int((there.any(axis=1) & ~there.all(axis=1)).sum())
        if partly:
            yield (
                f"{partly} users have a score in {result.name} by some models alone: each pair is "
                "compared over the users that both have, each mean is over its own."
            )
        users = int(result.tested.users.max(initial=0))
        if 1 < users < _FEW:
            yield f"{users} users in {result.name}: so few that the tests are rough."
    if comparison.how.test in {"wilcoxon", "sign"}:
        yield _DISPUTED


def _lengths(comparison: Comparison) -> Iterator[str]:
    """Return whether some models were given longer lists than others."""
    mean = {
        name: float(one.counts.n_items.mean())
        for name, one in comparison.contenders.items()
        if name != CHANCE
    }
    short, long = min(mean, key=lambda name: mean[name]), max(mean, key=lambda name: mean[name])
    if mean[long] > _LONGER * mean[short]:
        yield (
            f"The lists of {long} are longer than those of {short} ({mean[long]:.1f} and "
            f"{mean[short]:.1f} items on average): what is in no list cannot score."
        )


def _runs(comparison: Comparison) -> Iterator[str]:
    counts = {len(one.runs) for name, one in comparison.contenders.items() if name != CHANCE}
    if max(counts) > 1:
        told = counts.pop() if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        yield (
            f"Scores are averaged within each user over {told} folds or seeds: the unit is the "
            f"user, {len(comparison.users)} of them, not the list. The spread between runs is a "
            "number of its own (spread)."
        )


def _orders(by_metric: Sequence[MetricComparison]) -> list[str]:
    """Return where another metric, or the pooled score, orders two models differently."""
    first, *others = by_metric
    views = [
        (f"pooled {first.name}", first.sign * first.pooled),
        *((one.name, one.sign * one.means()) for one in others),
    ]
    own = first.sign * first.means()
    lines = [_disagreement(first, own, name, other) for name, other in views]
    return first_few(filter(None, lines), _LINES, "… and {} more.")


def _disagreement(first: MetricComparison, own: Floats, name: str, other: Floats) -> str:
    """Return the pair of models that two numbers order most differently."""
    one, two = first.pairs.T
    mine, theirs = own[one] - own[two], other[one] - other[two]
    with np.errstate(invalid="ignore"):
        against = (mine * theirs < 0) & ~np.isclose(mine, 0) & ~np.isclose(theirs, 0)
        if len(first.models) > _MANY:
            against &= first.tested.p_corrected <= first.how.alpha
    if not against.any():
        return ""
    worst = int(np.where(against, np.abs(mine), -1).argmax())
    ahead, behind = (first.models[place] for place in first.pairs[worst].tolist())
    if mine[worst] < 0:
        ahead, behind = behind, ahead
    return (
        f"{first.name} and {name} order {int(against.sum())} of {len(against)} pairs differently: "
        f"{ahead} is ahead of {behind} by {size(abs(float(mine[worst])))} in {first.name}, and "
        f"behind by {size(abs(float(theirs[worst])))} in {name}."
    )


def _segments(comparison: Comparison) -> Iterator[str]:
    """Return which segments go against the whole, and Simpson's paradox where all of them do."""
    groups, baseline, alpha = comparison.groups, comparison.baseline, comparison.how.alpha
    if groups is None:
        return
    nowhere = int(groups.isna().sum())
    if nowhere:
        yield f"{nowhere} of {len(groups)} users are in no segment."
    table = comparison.segments
    for metric in comparison.metrics:
        rows = table.loc[[metric]].droplevel("metric")
        sure = rows[rows["against_whole"] & (rows["p_corrected"] <= alpha)].reset_index()
        against = [
            f"Against the whole: in segment {row['segment']}, {row['model']} is "
            f"{size(abs(row['difference']))} {'above' if row['difference'] > 0 else 'below'} "
            f"{baseline} in {metric} (corrected p = {row['p_corrected']:.2g})."
            for row in sure.to_dict("records")
        ]
        lines = [*_paradoxes(rows, metric, baseline), *against]
        yield from first_few(lines, _LINES, "… and {} more (comparison.segments).")


def _chance(by_metric: Sequence[MetricComparison]) -> Iterator[str]:
    result = by_metric[0]
    mean, chance = result.means(), result.means("chance")
    with np.errstate(invalid="ignore"):
        below = result.sign * (mean - chance) < 0
    names = [name for name, low in zip(result.models, below, strict=True) if low]
    if names:
        yield f"Below random order in {result.name}: {', '.join(first_few(names, _LINES))}."


def _paradoxes(rows: pd.DataFrame, metric: str, baseline: str) -> Iterator[str]:
    for model, own in rows.groupby(level="model", sort=False):
        for kind, name in (("", metric), ("pooled_", f"pooled {metric}")):
            known = own[own[f"{kind}difference"].notna()]
            if len(known) > 1 and known[f"{kind}against_whole"].all():
                yield (
                    f"Simpson's paradox: in every segment {model} is on the other side of "
                    f"{baseline} in {name} than over all segments. They weigh differently "
                    "for the two models: read them one by one."
                )
