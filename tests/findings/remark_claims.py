"""What the remarks on a comparison claim, checked against its tables."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.findings import Finding
from tests.findings.claims import check_claims, claim
from tests.findings.verdict_claims import read_numbers


@claim("missing_lists")
def _(compared: rn.Comparison, missing: int, fewer: list[int], users: int, models: list[str],
      others: list[str], zero: list[str], skip: list[str]) -> bool:  # fmt: skip
    reports = {name: scores.report for name, scores in compared._data.model_scores.items()}
    counts = {name: report.counts["missing"] for name, report in reports.items() if report}
    due = dict.fromkeys(models, missing) | dict(zip(others, fewer, strict=True))
    assert due == {name: count for name, count in counts.items() if count}
    assert sorted(fewer, reverse=True) == fewer and users == len(compared.users)
    rules = {
        metric: signed.fields["missing_user"] for metric, signed in compared.signatures.items()
    }
    return rules == dict.fromkeys(zero, "zero") | dict.fromkeys(skip, "skip")


@claim("dropped_users")
def _(compared: rn.Comparison, dropped: list[int], models: list[str]) -> bool:
    counts = {name: count for name, count in compared._data.n_dropped_users.items() if count}
    return dict(zip(models, dropped, strict=True)) == counts


@claim("dropped_metrics")
def _(compared: rn.Comparison, metrics: list[str]) -> bool:
    return {*metrics}.isdisjoint(compared.metrics)


@claim("equal_pair")
def _(compared: rn.Comparison, model: str, other: str) -> bool:
    return (model, other) in list_equal_pairs(compared)


def list_equal_pairs(compared: rn.Comparison) -> list[tuple[str, str]]:
    """Return the pairs of models whose users all have the same scores."""
    if compared.per_user.empty:
        return []
    board, models = compared.to_frame()["mean"], compared.models
    scores = {name: compared.per_user.xs(name, axis=1, level="model") for name in models}
    means = {name: board.xs(name, level="model") for name in models}
    return [
        (a, b)
        for a, b in combinations(models, 2)
        if scores[a].equals(scores[b]) and means[a].equals(means[b])
    ]


@claim("longer_lists")
def _(compared: rn.Comparison, longest: float, shortest: float, model: str, other: str) -> bool:
    scores = compared._data.model_scores.items()
    mean = {name: each.counts.n_items.mean() for name, each in scores if name != "chance"}
    ends = [(mean[model], model), (mean[other], other)]
    assert (
        [longest, shortest] == [max(mean.values()), min(mean.values())] == [ends[0][0], ends[1][0]]
    )
    return longest > 1.05 * shortest


def _list_known(compared: rn.Comparison) -> dict[str, Any]:
    """Return which models have a score of which users, by metric; without models that have none."""
    scores: Any = compared.per_user
    known = {name: scores[name].notna() for name in compared._data.metrics_of_users}
    return {name: table.loc[:, table.any()] for name, table in known.items()}


@claim("users_without_score")
def _(compared: rn.Comparison, unscored: int, users: int, metrics: list[str]) -> bool:
    counts = {name: (~table.any(axis=1)).sum() for name, table in _list_known(compared).items()}
    assert 0 < unscored < len(compared.users) == users
    return metrics == [name for name, count in counts.items() if count == unscored]


@claim("partial_scores")
def _(compared: rn.Comparison, partial: int, metrics: list[str]) -> bool:
    known = _list_known(compared).items()
    counts = {name: (table.any(axis=1) & ~table.all(axis=1)).sum() for name, table in known}
    return metrics == [name for name, count in counts.items() if count == partial > 0]


@claim("equal_scores", "extreme_scores")
def _(compared: rn.Comparison, users: int, mean: float, model: str, metric: str) -> bool:
    scores, row = (
        compared.per_user[metric, model].dropna(),
        compared.leaderboards[metric].loc[model],
    )
    assert (
        len(scores) == users > 1 and np.ptp(scores) < 1e-9 and mean == pytest.approx(scores.mean())
    )
    if math.isfinite(row["ci_low"]):  # the exact binomial bound
        bound = (compared._data.testing.alpha / 2) ** (1 / users)
        ends = [0, 1 - bound] if mean == 0 else [bound, 1]
        assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(ends)
    return True


@claim("few_different_scores")
def _(compared: rn.Comparison, few: int, users: int, usual: float, model: str, metric: str) -> bool:
    scores = compared.per_user[metric, model].dropna()
    assert len(scores) == users and np.ptp(scores) > 0
    return few == (abs(scores - usual) > 1e-9).sum() < (10 if users <= 10 * few else 30)


@claim("skewed_scores")
def _(compared: rn.Comparison, users: int, skewness: float, needed: int, model: str,
      metric: str) -> bool:  # fmt: skip
    scores = compared.per_user[metric, model].dropna()
    assert len(scores) == users and skewness == pytest.approx(stats.skew(scores), rel=1e-6)
    assert not metric.startswith(("ndcg", "precision", "recall", "hit", "ap", "rr"))
    return users < needed == math.ceil(25 * skewness**2)


def _count_runs(compared: rn.Comparison) -> dict[str, int]:
    models = compared._data.model_scores.items()
    return {name: max(len(each.run_scores), 1) for name, each in models if name != "chance"}


@claim("averaged_runs", "averaged_folds")
def _(compared: rn.Comparison, users: int, runs: Any = 1, folds: int = 0) -> bool:
    counts, models = _count_runs(compared), compared._data.model_scores
    assert any(board["spread"].notna().any() for board in compared.leaderboards.values())
    assert not folds or {folds} == {len(models[name].run_means) for name in counts}
    return {*counts.values()} == {*np.atleast_1d(runs)} and users == len(compared.users)


@claim("variation_of_runs", "few_runs")
def _(compared: rn.Comparison, runs: int = 2, enough: int = 3) -> bool:
    counts = compared.pairwise["runs"]
    assert enough == 3 or counts.min() == runs < enough == 5
    return counts.min() > 1 and compared._data.testing.test == "t"


@claim("one_run_each", "one_run_of_some", "runs_not_tested")
def _(compared: rn.Comparison, models: Any = (), test: str = "") -> bool:
    assert compared.pairwise["better"].notna().any() and (compared.pairwise["runs"] == 0).any()
    alone = [name for name, count in _count_runs(compared).items() if count == 1]
    return [*models] == alone and test == ("" if alone else compared._data.testing.test)


@claim("best_of_search")
def _(compared: rn.Comparison, tried: int, mean: float, optimism: float, model: str, metric: str,
      *, lower_is_better: bool) -> bool:  # fmt: skip
    numbers, search = read_numbers(compared, metric), model.split(": ", maxsplit=1)[0]
    names = [name for name in numbers.models if name.startswith(f"{search}: ")]
    assert model == names[0] and len(names) == tried and metric == compared.metrics[0]
    assert lower_is_better == (numbers.sign < 0) and optimism == compared.optimism[model] > 0
    return math.isclose(mean, compared.leaderboard["mean"][model])


@lru_cache(maxsize=8)
def list_rough_pairs(
    compared: rn.Comparison, metric: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the pairs whose p is rough, with the reason's numbers."""
    numbers = read_numbers(compared, metric)
    rough: dict[tuple[str, str], dict[str, float]] = {}
    for a, b in numbers.rows[["a", "b"]].itertuples(index=False):
        apart = numbers.sign * (numbers.scores[a] - numbers.scores[b]).dropna()
        apart[apart.abs() < 1e-9] = 0
        different, varies = int((apart != 0).sum()), len(apart) > 1 and apart.std() > 1e-9
        skewness = float(stats.skew(apart)) if varies else 0
        if len(apart) < 2 or not (different or compared._data.margin):
            continue
        if not different:
            rough[a, b] = {}
        elif different < 30:
            rough[a, b] = {"different": different}
        elif len(apart) < 25 * skewness**2:
            needed = math.ceil(25 * skewness**2)
            rough[a, b] = {"skewness": skewness, "needed": needed}
    return rough


@claim("rough_tests")
def _(compared: rn.Comparison, rough: list[int], pairs: int, metric: str, metrics: list[str],
      ranked: str, model: str, other: str, values: str, users: int, *, with_margin: bool,
      **reason: float) -> bool:  # fmt: skip
    assert ranked == read_numbers(compared, metric).ranked
    assert compared._data.testing.test not in {"sign", "wilcoxon"} and metric == metrics[0]
    assert with_margin == (compared._data.margin is not None)
    for name, count in zip(metrics, rough, strict=True):
        assert (compared.pairwise["metric"] == name).sum() == pairs
        assert name not in compared.per_user or len(list_rough_pairs(compared, name)) == count
    if metric not in compared.per_user:
        return values == "jackknife values"
    scores = compared.per_user[metric][[model, other]].dropna()
    assert values == "scores" and users == len(scores)
    first, numbers = next(iter(list_rough_pairs(compared, metric).items()))
    return first == (model, other) and reason == pytest.approx(numbers, rel=1e-6)


@claim("narrow_ranks")
def _(compared: rn.Comparison, correction: str) -> bool:
    return correction in {"bh", "none"} and correction == compared._data.testing.correction


@claim("disputed_test")
def _(compared: rn.Comparison, test: str) -> bool:
    return test in {"sign", "wilcoxon"} and test == compared._data.testing.test


def list_disagreements(
    compared: rn.Comparison, metric: str, *, pooled: bool
) -> list[tuple[float, float, str, str]]:
    """Return both leads of each pair ahead in the first metric and behind in another score.

    The largest first.
    """
    first, other = (read_numbers(compared, name) for name in (compared.metrics[0], metric))
    prefix, pairs = "pooled_" if pooled else "", []
    for a, b in first.rows[["a", "b"]].to_numpy():
        mine, row = first.pair(a, b), other.pair(a, b).row
        gain = other.sign * row[f"{prefix}difference"]
        agrees = row["direction"] * gain > 0 or pooled
        is_sure = row[f"{prefix}p_corrected"] <= first.alpha and mine.direction * mine.gain > 0
        if mine.gain * gain < 0 and is_sure and agrees:
            pairs.append((abs(mine.gain), abs(gain), *((a, b) if mine.gain > 0 else (b, a))))
    return sorted(pairs, reverse=True)


@claim("different_order")
def _(compared: rn.Comparison, differing: int, pairs: int, lead: float, lag: float, metric: str,
      other_metric: str, model: str, other: str, *, pooled: bool) -> bool:  # fmt: skip
    due = list_disagreements(compared, other_metric, pooled=pooled)
    assert metric == compared.metrics[0] and len(due) == differing
    assert lead == due[0][0] and pairs == len(read_numbers(compared, metric).rows)
    return (lead, lag, model, other) in due


@claim("below_chance")
def _(compared: rn.Comparison, metric: str, models: list[str]) -> bool:
    scores, chance = compared.per_user[metric][models], compared.leaderboard["chance"][models]
    gains = read_numbers(compared, metric).sign * (scores.mean() - chance)
    return metric == compared.metrics[0] and bool(gains.max() < 0)


@claim("novel_but_worse")
def _(compared: rn.Comparison, means: list[float], chance: list[float], model: str, other: str,
      metric: str, metrics: list[str]) -> bool:  # fmt: skip
    assert read_numbers(compared, metric).beats(other, model)
    for name in metrics:
        numbers = read_numbers(compared, name)
        assert numbers.models[0] == model and numbers.beats(model, other)
    rows = compared.to_frame().xs(model, level="model").loc[metrics]
    assert rows["mean"].tolist() == pytest.approx(means)
    return rows["chance"].tolist() == pytest.approx(chance, nan_ok=True)


@claim("users_in_no_segment")
def _(compared: rn.Comparison, outside: int, users: int) -> bool:
    segments = compared._data.segment_of_user
    return 0 < outside == segments.isna().sum() and users == len(segments)


@claim("few_users_in_segments")
def _(compared: rn.Comparison, users: list[int], enough: int, segments: list[str]) -> bool:
    sizes = compared._data.segment_of_user.value_counts(sort=False)
    assert enough == 30
    return dict(zip(segments, users, strict=True)) == sizes[sizes.between(1, 29)].to_dict()


def _get_segments(compared: rn.Comparison, model: str, baseline: str, metric: str) -> pd.DataFrame:
    """Return a model's rows by segment, after its differences were computed from the scores."""
    assert baseline == compared._data.baseline
    table = compared.segments.loc[[metric]].droplevel("metric").xs(model, level="model")
    scores, segments = compared.per_user[metric], compared._data.segment_of_user.to_numpy()
    gains = scores[model] - scores[baseline]
    known = table[table["difference"].notna()].assign(over_all=gains[~pd.isna(segments)].mean())
    for name, row in known.iterrows():
        inside = segments == name
        assert row["opposite_to_all"] == (row["difference"] * row["over_all"] < 0)
        rest = gains[~inside & ~pd.isna(segments)].mean()
        assert row["difference"] == pytest.approx(gains[inside].mean())
        assert math.isnan(row["p_interaction"]) or row["difference_from_others"] == pytest.approx(
            gains[inside].mean() - rest
        )
    return known


@claim("opposite_segment")
def _(compared: rn.Comparison, difference: float, p: float, segment: str, **names: str) -> bool:
    row = _get_segments(compared, **names).loc[segment]
    assert row["difference"] == difference and difference * row["over_all"] < 0
    return bool(row["p_corrected"] == p <= compared._data.testing.alpha)


@claim("dependent_difference")
def _(compared: rn.Comparison, differences: list[float], p: list[float], segments: list[str],
      **names: str) -> bool:  # fmt: skip
    rows = _get_segments(compared, **names)
    rows = rows[rows["p_interaction"] <= compared._data.testing.alpha]
    shown = rows["difference_from_others"].tolist(), rows["p_interaction"].tolist()
    return shown == (differences, p) and rows.index.tolist() == segments


@claim("simpsons_paradox")
def _(compared: rn.Comparison, differences: list[float], segments: list[str], model: str,
      baseline: str, metric: str, *, pooled: bool) -> bool:  # fmt: skip
    prefix, column = ("pooled_", "pooled") if pooled else ("", "mean")
    rows = _get_segments(compared, model, baseline, metric)[f"{prefix}difference"].dropna()
    assert dict(zip(segments, differences, strict=True)) == rows.to_dict() and len(rows) > 1
    pair = read_numbers(compared, metric).pair(model, baseline).row
    assert pair[f"{prefix}p_corrected"] <= compared._data.testing.alpha
    whole = compared.leaderboards[metric][column]
    gain = whole[model] - whole[baseline]
    if compared._data.segment_of_user.isna().any():  # the table is over all users
        gain = -rows.iloc[0]
    return bool((rows * gain < 0).all())


def _list_kinds_due(compared: rn.Comparison) -> set[str]:
    """Return the kinds that the tables ask for, of those that are easy to tell."""
    test, alpha = compared._data.testing.test, compared._data.testing.alpha
    due = {"disputed_test": test in {"sign", "wilcoxon"}}
    due["dropped_users"] = any(compared._data.n_dropped_users.values())
    if (segment_of_user := compared._data.segment_of_user) is not None:
        table = compared.segments
        is_opposite = table["opposite_to_all"] & (table["p_corrected"] <= alpha)
        due["users_in_no_segment"] = segment_of_user.isna().any()
        due["opposite_segment"] = is_opposite.any()
        due["dependent_difference"] = (table["p_interaction"] <= alpha).any()
    return {kind for kind, is_due in due.items() if is_due}


def check_remarks(compared: rn.Comparison) -> list[str]:
    """Check each remark, and that none of some kinds is missing; return their kinds."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in compared._remarks:
        by_kind.setdefault(finding.kind, []).append(finding)
    assert _list_kinds_due(compared) <= by_kind.keys()
    pairs = [(each.names["model"], each.names["other"]) for each in by_kind.get("equal_pair", [])]
    assert pairs == list_equal_pairs(compared)
    rough = [metric for each in by_kind.get("rough_tests", []) for metric in each.names["metrics"]]
    of_mean = compared._data.testing.test not in {"sign", "wilcoxon"}
    of_users = compared._data.metrics_of_users if of_mean else []
    assert [metric for metric in rough if metric in of_users] == [
        metric for metric in of_users if list_rough_pairs(compared, metric)
    ]
    orders = [
        (each.names["other_metric"], each.numbers["pooled"])
        for each in by_kind.get("different_order", [])
    ]
    scores = [(compared.metrics[0], True), *((metric, False) for metric in compared.metrics[1:])]
    assert orders == [
        (metric, pooled)
        for metric, pooled in scores
        if list_disagreements(compared, metric, pooled=pooled)
    ]
    return check_claims(compared._remarks, compared)
