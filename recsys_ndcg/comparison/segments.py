"""For whom a model is better: the comparison in each segment of the users."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.tables import intervals, means, turned
from recsys_ndcg.errors import visible
from recsys_ndcg.rendering import first_few, size
from recsys_ndcg.significance import CORRECTIONS, compare_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recsys_ndcg.arrays import Flags, Floats
    from recsys_ndcg.comparison.metric_comparison import MetricComparison

_LINES = 3


def segmented(
    by_metric: Mapping[str, MetricComparison],
    groups: pd.Series[Any],
    baseline: str,
    show: Callable[[float], None] = lambda _share: None,
) -> pd.DataFrame:
    """Return a row for each metric, segment and model: its scores there, and against the baseline.

    Differences are tested by the comparison's test, each segment by itself, and corrected for the
    number of segments and models: by Holm's method where the comparison has max-T, which is for
    models of the same users. `show` is told which share is done.
    """
    parts = []
    for done, result in enumerate(by_metric.values(), start=1):
        parts.append(_of_metric(result, groups, baseline))
        show(done / len(by_metric))
    table = pd.concat(parts)
    models = next(iter(by_metric.values())).models
    levels: list[Any] = [[*by_metric], groups.cat.categories, [*models]]  # labels may be tuples
    codes = np.indices([*map(len, levels)]).reshape(3, -1).tolist()
    index = pd.MultiIndex(levels=levels, codes=codes, names=["metric", "segment", "model"])
    return table.set_axis(index, axis=0)


def _of_metric(result: MetricComparison, groups: pd.Series[Any], baseline: str) -> pd.DataFrame:
    codes = groups.cat.codes.to_numpy()
    parts = [
        _of_segment(result, codes == place, baseline) for place in range(len(groups.cat.categories))
    ]
    table = pd.concat(parts)
    how = "holm" if result.how.correction == "max-T" else result.how.correction
    table["p_corrected"] = CORRECTIONS[how].correct(table["p"].to_numpy())
    whole = _of_segment(result, codes >= 0, baseline)
    models = table.index
    for kind in ("", "pooled_"):
        other = whole[f"{kind}difference"].reindex(models).to_numpy()
        with np.errstate(invalid="ignore"):
            against = table[f"{kind}difference"].to_numpy() * other < 0
        table[f"{kind}against_whole"] = against
    return table


def _of_segment(result: MetricComparison, users: Flags, baseline: str) -> pd.DataFrame:
    """Return a row for each model."""
    part = result.among(users)
    at = part.models.index(baseline)
    others = [place for place in range(len(part.models)) if place != at]
    pairs = np.array([(place, at) for place in others], dtype=np.int64)
    how = replace(part.how, correction="none")
    found = compare_pairs(part.sign * part.scores, pairs, how)
    low, high = intervals(part.scores, part.how.alpha)
    pooled = part.pooled
    ends = turned(part.sign, found)
    columns: dict[str, Any] = {
        "users": (~np.isnan(part.scores)).sum(axis=0),
        "mean": means(part.scores),
        "ci_low": low,
        "ci_high": high,
        "pooled": pooled,
        "chance": means(part.chance),
        "difference": _wide(part.sign * found.difference, others),
        "difference_low": _wide(ends[0], others),
        "difference_high": _wide(ends[1], others),
        "effect": _wide(part.sign * found.effect, others),
        "pooled_difference": np.where(np.arange(len(pooled)) == at, np.nan, pooled - pooled[at]),
        "p": _wide(found.p, others),
    }
    return pd.DataFrame(columns, index=pd.Index(part.models, name="model"))


def _wide(values: Floats, others: list[int]) -> Floats:
    """Return values of all models but the baseline with NaN at its place."""
    wide = np.full(len(others) + 1, np.nan)
    wide[others] = values
    return wide


def moved(table: pd.DataFrame, metric: str, baseline: str, alpha: float) -> list[str]:
    """Return which segments go against the whole, and Simpson's paradox where all of them do."""
    rows = table.loc[[metric]].droplevel("metric")
    lines = [*_paradoxes(rows, metric, baseline)]
    sure = rows[rows["against_whole"] & (rows["p_corrected"] <= alpha)].reset_index()
    lines += [
        f"Against the whole: in segment {row['segment']}, {row['model']} is "
        f"{size(abs(row['difference']))} {'above' if row['difference'] > 0 else 'below'} "
        f"{baseline} in {metric} (corrected p = {row['p_corrected']:.2g})."
        for row in sure.to_dict("records")
    ]
    told = first_few(lines, _LINES, "… and {} more (comparison.segments).")
    return [visible(one) for one in told]


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
