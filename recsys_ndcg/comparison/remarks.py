"""What a reader should know before trusting a comparison: a plain sentence each, if it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison.common_users import CHANCE, identical
from recsys_ndcg.comparison.verdict import size
from recsys_ndcg.errors import visible
from recsys_ndcg.rendering import first_few

if TYPE_CHECKING:
    import pandas as pd

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
    return [visible(line) for line in lines]


def _users(comparison: Comparison, by_metric: Sequence[MetricComparison]) -> Iterator[str]:
    left_out = {name: count for name, count in comparison.left_out.items() if count}
    if left_out:
        told = ", ".join(f"{count} of {name}" for name, count in left_out.items())
        yield f"Users that not all models have are left out: {told}."
    if comparison.other_metrics:
        yield f"Only some models have {', '.join(comparison.other_metrics)}: left out."
    for one, other in identical(comparison.contenders)[:_LINES]:
        yield f"{one} and {other} score the same for every user."
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
            against &= first.tested.corrected <= first.how.alpha
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
