"""The comparison in a metric as tables: of models, of pairs, of models in segments of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import json_value
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scoring import adjusted
from recsys_ndcg.significance import (
    CORRECTIONS,
    compare_pairs,
    letters,
    rank_intervals,
    resampled_intervals,
)

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.metric_comparison import MetricComparison


def leaderboard(comparison: Comparison, metric: str) -> pd.DataFrame:
    """Return a row for each model, by tier, and in each tier the best mean first."""
    result, models = comparison.by_metric[metric], comparison.contenders.values()
    order, sure = result.best_first, result.better
    own = own_scores(result)
    pooled_low, pooled_high = result.pooled_intervals(result.how.alpha)
    chance, n_models = own["chance"].to_numpy(), len(models)
    first, last = rank_intervals(n_models, result.pairs, sure)
    table = own[["mean", "ci_low", "ci_high", "pooled"]].assign(
        pooled_low=pooled_low,
        pooled_high=pooled_high,
        chance=chance,
        adjusted=adjusted(own["mean"].to_numpy(), chance, result.means("best")),
        **_against(result, comparison.baseline),
        rank_low=first,
        rank_high=last,
        tier=first,
        letters=letters(n_models, result.pairs, sure != 0, order.tolist()),
        users=own["users"],
        spread=[_spread(one.runs[:, one.at(metric)]) for one in models],
    )
    return table.iloc[order].sort_values("tier", kind="stable")


def own_scores(result: MetricComparison) -> pd.DataFrame:
    """Return what is known of each model by itself."""
    low, high = result.intervals(result.how.alpha)
    columns = {
        "users": (~np.isnan(result.scores)).sum(axis=0),
        "mean": result.means(),
        "ci_low": low,
        "ci_high": high,
        "pooled": result.pooled,
        "chance": result.means("chance"),
    }
    return pd.DataFrame(columns, index=pd.Index(result.models, name="model"))


def intervals(
    by_metric: Sequence[MetricComparison], level: float, method: str, **options: Any
) -> pd.DataFrame:
    """Return the intervals of every metric and model.

    By Student's t and the delta method, or from resampled users, the same for all.
    """
    if method == "t":
        ends = [[*one.intervals(1 - level), *one.pooled_intervals(1 - level)] for one in by_metric]
    else:
        tables = (
            np.hstack([getattr(one, name) for one in by_metric])
            for name in ("scores", "numerator", "denominator")
        )
        drawn = resampled_intervals(*tables, level=level, method=method, **options)
        parts = np.split(np.array(drawn), len(by_metric), axis=1)
        ends = [
            [*part[:2], *map(result.metric.score, part[2:])]
            for result, part in zip(by_metric, parts, strict=True)
        ]
    names = [[one.name for one in by_metric], by_metric[0].models]
    index = pd.MultiIndex.from_product(names, names=["metric", "model"])
    columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    return pd.DataFrame(np.concatenate(ends, axis=1).T, index=index, columns=columns)


def pairwise(result: MetricComparison) -> pd.DataFrame:
    """Return a row for each pair of models: a less b, in the units of the metric."""
    found, pooled = result.tested, result.pooled_tested
    low, high = result.interval_in(found)
    pooled_low, pooled_high = result.interval_in(pooled)
    first, second = zip(*result.named_pairs, strict=True)
    together = result.how.corrected_by.is_simultaneous or len(first) == 1
    kind = "simultaneous" if together and result.how.kind.has_intervals else "own"
    margins = {
        "p_a_not_worse": found.p_not_worse,
        "p_b_not_worse": found.p_not_better,
        "p_equivalent": found.p_equivalent,
    }
    return pd.DataFrame(
        {
            "metric": result.name,
            "a": first,
            "b": second,
            "users": found.users,
            "difference": result.sign * found.difference,
            "ci_low": low,
            "ci_high": high,
            "interval": kind,
            "deviation": found.deviation,
            "effect": result.sign * found.effect,
            "wins": found.wins,
            "ties": found.ties,
            "losses": found.losses,
            "p": found.p,
            "p_corrected": found.corrected,
            "detectable": found.detectable,
            **(margins if result.margin is not None else {}),
            "pooled_difference": result.sign * pooled.difference,
            "pooled_low": pooled_low,
            "pooled_high": pooled_high,
            "pooled_p": pooled.p,
            "pooled_p_corrected": pooled.corrected,
        }
    )


def _against(result: MetricComparison, baseline: str) -> pd.DataFrame:
    """Return for how many users each model is better than the baseline, equal, or worse."""
    found, at = result.tested, result.models.index(baseline)
    counts: dict[int, list[Any]] = {at: [pd.NA] * 3}
    for pair, (one, other) in enumerate(result.pairs.tolist()):
        own = [found.wins[pair], found.ties[pair], found.losses[pair]]
        if other == at:
            counts[one] = own
        elif one == at:
            counts[other] = own[::-1]
    rows = [counts[place] for place in range(len(result.models))]
    names = ["won", "tied", "lost"]
    return pd.DataFrame(rows, index=result.models, columns=names, dtype="Int64")


def _spread(runs: Floats) -> float:
    """Return the standard deviation between folds or seeds, NaN of one."""
    return float(np.std(runs, ddof=1)) if len(runs) > 1 else np.nan


def segmented(comparison: Comparison) -> pd.DataFrame:
    """Return a row for each metric, segment and model: its scores there, and against the baseline.

    Differences are tested by the comparison's test, each segment by itself, and corrected for the
    number of segments and models: by Holm's method where the comparison has max-T, which is for
    models of the same users.

    Raises
    ------
    InvalidInputError
        Nobody asked for segments.
    """
    groups, by_metric = comparison.groups, comparison.by_metric
    if groups is None:
        msg = "There are no segments: compare(..., by='activity') asks for them."
        raise InvalidInputError(msg)
    parts = []
    with progress_bar(wanted=comparison.progress) as show:
        for done, result in enumerate(by_metric.values(), start=1):
            parts.append(_of_metric(result, groups, comparison.baseline))
            show("Testing segments", done / len(by_metric))
    levels: list[Any] = [[*by_metric], groups.cat.categories, comparison.models]  # may be tuples
    codes = np.indices([*map(len, levels)]).reshape(3, -1).tolist()
    index = pd.MultiIndex(levels=levels, codes=codes, names=["metric", "segment", "model"])
    return pd.concat(parts).set_axis(index, axis=0)


def _of_metric(result: MetricComparison, groups: pd.Series[Any], baseline: str) -> pd.DataFrame:
    codes = groups.cat.codes.to_numpy()
    parts = [
        _of_segment(result, codes == place, baseline) for place in range(len(groups.cat.categories))
    ]
    table = pd.concat(parts)
    asked = result.how.corrected_by
    correction = CORRECTIONS["holm"] if asked.function is None else asked
    table["p_corrected"] = correction.correct(table["p"].to_numpy())
    whole = _of_segment(result, codes >= 0, baseline)
    models = table.index
    for kind in ("", "pooled_"):
        other = whole[f"{kind}difference"].reindex(models).to_numpy()
        with np.errstate(invalid="ignore"):
            against = table[f"{kind}difference"].to_numpy() * other < 0
        table[f"{kind}against_whole"] = against
    return table


def _of_segment(result: MetricComparison, users: Flags, baseline: str) -> pd.DataFrame:
    """Return a row for each model, NaN for the differences of the baseline to itself."""
    part = result.among(users)
    others = [name for name in part.models if name != baseline]
    pairs = [(part.models.index(name), part.models.index(baseline)) for name in others]
    found = compare_pairs(part.sign * part.scores, pairs, replace(part.how, correction="none"))
    low, high = part.interval_in(found)
    differences = {
        "difference": part.sign * found.difference,
        "difference_low": low,
        "difference_high": high,
        "effect": part.sign * found.effect,
        "p": found.p,
    }
    table = own_scores(part).join(pd.DataFrame(differences, index=others))
    pooled = table["pooled"]
    table["pooled_difference"] = (pooled - pooled[baseline]).where(table.index != baseline)
    return table[[*(name for name in table if name != "p"), "p"]]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as plain values, row by row; NaN is None."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


def _plain(value: Any) -> Any:
    """Return what JSON can hold; the label of a segment may be anything."""
    value = None if value is pd.NA else json_value(value)
    return value if isinstance(value, str | bool | int | float | None) else str(value)
