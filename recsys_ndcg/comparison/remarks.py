"""The remarks on a comparison: how far its numbers can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.comparison.metric_comparison import make_models_table
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.verdict import find_roughness, list_wins
from recsys_ndcg.findings import Finding
from recsys_ndcg.report import find_equal_scores, find_rough_means
from recsys_ndcg.significance import MIN_DIFFERENT, Testing, compare_pairs

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.comparison.compared_models import ComparedModels
    from recsys_ndcg.comparison.metric_comparison import MetricComparison
    from recsys_ndcg.comparison.model_scores import ModelScores
    from recsys_ndcg.scoring import Signature

_MIN_RATIO = 1.05  # from this ratio of two models' mean list lengths on, there is a remark
_ENOUGH_RUNS = 5  # docs/concepts/statistics.md counts how often tests of fewer runs err
_VISIBLE = 0.00005  # a smaller optimism does not change four decimals


def find_remarks(compared: ComparedModels) -> list[Finding]:
    """Find each limit of what a comparison shows."""
    by_metric, testing = [*compared.by_metric.values()], compared.testing
    first, of_users = by_metric[0], [result for result in by_metric if result.metric.per_user]
    models, n_users = compared.model_scores, len(compared.users)
    trained = {name: scores for name, scores in models.items() if name != CHANCE}
    is_significant = any(result.significant_direction.any() for result in by_metric)
    has_segments = compared.segment_of_user is not None and of_users
    return [
        *find_missing_lists(models, compared.signatures),
        *_find_dropped(compared.n_dropped_users, compared.other_metrics),
        *_find_equal_pairs(models),
        *_find_longer_lists(trained),
        *_find_missing_scores({result.name: result.scores for result in by_metric}, n_users),
        *_find_rough_means(of_users),
        *_find_runs(trained, n_users, testing.test, is_significant=is_significant),
        *compared.about_splits,
        *_find_best_of_search(first, models, compared.optimism),
        *_find_rough_tests(by_metric, has_margin=compared.margin is not None),
        *_find_disputed_tests(testing, max(map(len, first.families))),
        *_find_different_orders(by_metric),
        *_find_below_chance(first),
        *_find_novel_but_worse(by_metric),
        *_find_segment_sizes(compared.segment_of_user, is_tested=bool(of_users)),
        *(_find_differences_by_segment(compared.segments, of_users) if has_segments else ()),
    ]


def find_missing_lists(
    models: Mapping[str, ModelScores], signatures: Mapping[str, Signature]
) -> Iterator[Finding]:
    """Find the users without a list of each model, the most first.

    A test would show such a model as worse, although it was never run for these users.

    Parameters
    ----------
    models : mapping of str to ModelScores
        The models by name.
    signatures : mapping of str to Signature
        How each metric was computed.
    """
    missing = {
        name: int(scores.counts.missing.sum()) for name, scores in models.items() if name != CHANCE
    }
    ordered = sorted(filter(missing.get, missing), key=missing.__getitem__, reverse=True)
    if not ordered:
        return
    counts = [missing[name] for name in ordered]
    n_first, n_users = counts.count(counts[0]), len(models[ordered[0]].users)
    numbers = {"missing": counts[0], "fewer": counts[n_first:], "users": n_users}
    rules: dict[str, list[str]] = {"zero": [], "skip": []}
    for metric, signature in signatures.items():
        rules[signature.fields["missing_user"]].append(metric)
    names = {"models": ordered[:n_first], "others": ordered[n_first:]}
    yield Finding("missing_lists", numbers, {**names, **rules})


def _find_dropped(n_dropped_users: Mapping[str, int], metrics: Sequence[str]) -> Iterator[Finding]:
    dropped = {name: count for name, count in n_dropped_users.items() if count}
    if dropped:
        yield Finding("dropped_users", {"dropped": [*dropped.values()]}, {"models": [*dropped]})
    if metrics:
        yield Finding("dropped_metrics", names={"metrics": [*metrics]})


def _find_equal_pairs(models: Mapping[str, ModelScores]) -> Iterator[Finding]:
    """Find the models with the same score for every user, if a metric has a score per user."""
    for (name, scores), (other, other_scores) in combinations(models.items(), 2):
        is_equal = np.array_equal(scores.per_user, other_scores.per_user, equal_nan=True)
        if is_equal and any(one.metric.per_user for one in scores.measurements):
            yield Finding("equal_pair", names={"model": name, "other": other})


def _find_longer_lists(models: Mapping[str, ModelScores]) -> Iterator[Finding]:
    """Find whether some models have longer lists than others."""
    length = {name: float(scores.counts.n_items.mean()) for name, scores in models.items()}
    short, long = min(length, key=length.__getitem__), max(length, key=length.__getitem__)
    if length[long] > _MIN_RATIO * length[short]:
        numbers = {"longest": length[long], "shortest": length[short]}
        yield Finding("longer_lists", numbers, {"model": long, "other": short})


def _find_missing_scores(scores: Mapping[str, Floats], n_users: int) -> Iterator[Finding]:
    """Find the users without a score in each metric, from all models or from some."""
    unscored: dict[int, list[str]] = {}
    partial: dict[int, list[str]] = {}
    for metric, table in scores.items():
        is_known = ~np.isnan(table)
        unscored.setdefault(int((~is_known.any(axis=1)).sum()), []).append(metric)
        # leave out a model without any score: chance, in a metric that has no chance level
        is_known = is_known[:, is_known.any(axis=0)]
        is_partial = is_known.any(axis=1) & ~is_known.all(axis=1)
        partial.setdefault(int(is_partial.sum()), []).append(metric)
    for count, metrics in unscored.items():
        if 0 < count < n_users:
            numbers = {"unscored": count, "users": n_users}
            yield Finding("users_without_score", numbers, {"metrics": metrics})
    for count, metrics in partial.items():
        if count:
            yield Finding("partial_scores", {"partial": count}, {"metrics": metrics})


def _find_rough_means(results: Sequence[MetricComparison]) -> Iterator[Finding]:
    """Find the means of scores that do not vary, or whose interval is rough."""
    for result in results:
        moments, metric = result.score_moments, result.name
        names = [
            None if model == CHANCE else {"metric": metric, "model": model}
            for model in result.models
        ]
        yield from find_equal_scores(make_models_table(result), moments.is_constant, names)
        yield from find_rough_means(moments, result.scores, result.measurement.is_bounded, names)


def _find_runs(
    models: Mapping[str, ModelScores], n_users: int, test: str, *, is_significant: bool
) -> Iterator[Finding]:
    """Find whether scores are averaged, and whether the tests have runs as units."""
    runs = {name: max(len(scores.run_scores), 1) for name, scores in models.items()}
    n_folds = max(len(scores.run_means) for scores in models.values())
    fewest, alone = min(runs.values()), [name for name, count in runs.items() if count == 1]
    if n_folds > 1 and max(runs.values()) == 1:
        yield Finding("averaged_folds", {"folds": n_folds, "users": n_users})
    elif n_folds > 1:
        yield Finding("averaged_runs", {"runs": [*runs.values()], "users": n_users})
    if fewest > 1 and test == "t":
        yield Finding("variation_of_runs")
        if fewest < _ENOUGH_RUNS:
            yield Finding("few_runs", {"runs": fewest, "enough": _ENOUGH_RUNS})
    elif is_significant and not alone:
        yield Finding("runs_not_tested", names={"test": test})
    elif is_significant:
        kind = "one_run_each" if len(alone) == len(runs) else "one_run_of_some"
        yield Finding(kind, names={"models": alone})


def _find_best_of_search(
    result: MetricComparison, models: Mapping[str, ModelScores], optimism: Mapping[str, float]
) -> Iterator[Finding]:
    """Find the best model of each search, whose mean is too good."""
    for best, size in optimism.items():
        if size >= _VISIBLE:
            numbers = {
                "tried": sum(scores.search == models[best].search for scores in models.values()),
                "mean": float(result.means()[result.models.index(best)]),
                "optimism": size,
                "lower_is_better": result.sign < 0,
            }
            yield Finding("best_of_search", numbers, {"model": best, "metric": result.name})


def _find_rough_tests(
    by_metric: Sequence[MetricComparison], *, has_margin: bool
) -> Iterator[Finding]:
    """Find tests that do not keep their level exactly."""
    reasons = [
        reason
        for result in by_metric
        for pair in range(len(result.pairs))
        if (reason := find_roughness(result, pair))
    ]
    if not reasons:
        return
    first, counts = reasons[0], Counter(reason.names["metric"] for reason in reasons)
    pairs = {"rough": [*counts.values()], "pairs": len(by_metric[0].pairs)}
    numbers = {**first.numbers, **pairs, "with_margin": has_margin}
    yield Finding("rough_tests", numbers, {**first.names, "metrics": [*counts]})


def _find_disputed_tests(testing: Testing, size_of_family: int) -> Iterator[Finding]:
    """Find tests and corrections that do not show what readers would take them for."""
    has_ranks = testing.family != "baseline" and size_of_family > 1
    if testing.correction in {"bh", "none"} and has_ranks:
        yield Finding("narrow_ranks", names={"correction": testing.correction})
    if not testing.test_kind.is_test_of_mean:
        yield Finding("disputed_test", names={"test": testing.test})


def _find_different_orders(by_metric: Sequence[MetricComparison]) -> Iterator[Finding]:
    """Find the metrics, and the pooled scores, that order models differently than the first.

    Each finding is about the pair of models that two scores order most differently. Both
    differences must be significant: others are noise.
    """
    first, *others = by_metric
    difference = first.mean_tests.difference
    tested = [(first.name, first.pooled_tests), *((one.name, one.mean_tests) for one in others)]
    for metric, tests in tested:
        with np.errstate(invalid="ignore"):
            differs = difference * tests.difference < 0
            for each in (first.mean_tests, tests):
                differs &= each.p_corrected <= first.testing.alpha
                differs &= each.direction * each.difference > 0
        if not differs.any():
            continue
        worst = int(np.where(differs, np.abs(difference), -1).argmax())
        ahead, behind = first.named_pairs[worst][:: 1 if difference[worst] > 0 else -1]
        numbers = {
            "differing": int(differs.sum()),
            "pairs": len(differs),
            "lead": abs(float(difference[worst])),
            "lag": abs(float(tests.difference[worst])),
            "pooled": metric == first.name,
        }
        names = {"metric": first.name, "other_metric": metric, "model": ahead, "other": behind}
        yield Finding("different_order", numbers, names)


def _find_below_chance(result: MetricComparison) -> Iterator[Finding]:
    """Find the models that are significantly worse than random order."""
    if result.metric.needs:  # random lists are the most novel
        return
    n_models, alpha = len(result.models), result.testing.alpha
    scores = result.sign * np.hstack([result.scores, result.chance])
    pairs = [(model, n_models + model) for model in range(n_models)]
    tests = compare_pairs(scores, pairs, Testing(correction="holm", alpha=alpha))
    with np.errstate(invalid="ignore"):
        is_below = (tests.p_corrected <= alpha) & (tests.direction < 0)
    models = [name for name, below in zip(result.models, is_below, strict=True) if below]
    if models:
        yield Finding("below_chance", names={"metric": result.name, "models": models})


def _find_novel_but_worse(by_metric: Sequence[MetricComparison]) -> Iterator[Finding]:
    """Find models that are the best beyond accuracy, and worse in relevance than another.

    Random lists are the most novel and cover the most items, so more of it alone is no merit. Both
    differences must be significant: others are noise.
    """
    relevance = next((result for result in by_metric if not result.metric.needs), None)
    if relevance is None:
        return
    relevances, losses = relevance.sign * relevance.means(), list_wins(relevance)
    merits: dict[tuple[int, int], list[MetricComparison]] = {}
    for result in by_metric:
        if not result.metric.needs or result.metric.needs_threshold:
            continue
        best, wins = int(result.columns_by_mean[0]), list_wins(result)
        better = [winner for winner, loser in losses if loser == best and (best, winner) in wins]
        if better:
            ahead = max(better, key=lambda column: relevances[column])
            merits.setdefault((best, ahead), []).append(result)
    for (best, ahead), results in merits.items():
        numbers = {
            "means": [float(result.means()[best]) for result in results],
            "chance": [float(result.means("chance")[best]) for result in results],
        }
        metrics = {"metric": relevance.name, "metrics": [result.name for result in results]}
        models = {"model": relevance.models[best], "other": relevance.models[ahead]}
        yield Finding("novel_but_worse", numbers, {**models, **metrics})


def _find_segment_sizes(
    segment_of_user: pd.Series[Any] | None, *, is_tested: bool
) -> Iterator[Finding]:
    """Find users in no segment, and segments that are too small for exact tests."""
    if segment_of_user is None:
        return
    n_outside, sizes = int(segment_of_user.isna().sum()), segment_of_user.value_counts(sort=False)
    if n_outside:
        yield Finding("users_in_no_segment", {"outside": n_outside, "users": len(segment_of_user)})
    few = sizes[(sizes > 0) & (sizes < MIN_DIFFERENT)]
    if is_tested and len(few):
        numbers = {"users": few.tolist(), "enough": MIN_DIFFERENT}
        yield Finding("few_users_in_segments", numbers, {"segments": [*map(str, few.index)]})


def _find_differences_by_segment(
    segments: pd.DataFrame, results: Sequence[MetricComparison]
) -> Iterator[Finding]:
    """Find differences from the baseline that depend on the segment, and Simpson's paradox."""
    tables = [(result, segments.loc[[result.name]].droplevel("metric")) for result in results]
    for result, table in tables:
        yield from _find_paradoxes(table, result)
        yield from _find_opposite_segments(table, result)
    for result, table in tables:
        yield from _find_dependent_differences(table, result)


def _find_opposite_segments(table: pd.DataFrame, result: MetricComparison) -> Iterator[Finding]:
    """Find the segments that significantly contradict the difference over all segments."""
    is_opposite = table["opposite_to_all"] & (table["p_corrected"] <= result.testing.alpha)
    for row in table[is_opposite].reset_index().to_dict("records"):
        numbers = {"difference": row["difference"], "p": row["p_corrected"]}
        names = {"model": row["model"], "baseline": result.baseline, "metric": result.name}
        yield Finding("opposite_segment", numbers, {**names, "segment": str(row["segment"])})


def _find_dependent_differences(table: pd.DataFrame, result: MetricComparison) -> Iterator[Finding]:
    """Find the models whose difference from the baseline depends on the segment."""
    due = table[table["p_interaction"] <= result.testing.alpha].reset_index()
    for model, rows in due.groupby("model", sort=False):
        numbers = {
            "differences": rows["difference_from_others"].tolist(),
            "p": rows["p_interaction"].tolist(),
        }
        names = {"model": model, "baseline": result.baseline, "metric": result.name}
        segments = [*map(str, rows["segment"])]
        yield Finding("dependent_difference", numbers, {**names, "segments": segments})


def _find_paradoxes(table: pd.DataFrame, result: MetricComparison) -> Iterator[Finding]:
    """Find models of which all segments contradict the significant difference over all users."""
    for model, rows in table.groupby(level="model", sort=False):
        pair = [{model, result.baseline} == {*names} for names in result.named_pairs]
        for prefix, tests in (("", result.mean_tests), ("pooled_", result.pooled_tests)):
            known = rows[rows[f"{prefix}difference"].notna()]
            is_opposite = known[f"{prefix}opposite_to_all"].all()
            is_significant = tests.p_corrected[pair] <= result.testing.alpha
            if len(known) > 1 and is_opposite and is_significant:
                differences = known[f"{prefix}difference"].tolist()
                numbers = {"differences": differences, "pooled": tests is result.pooled_tests}
                names = {"model": model, "baseline": result.baseline, "metric": result.name}
                segments = [*map(str, known.index.get_level_values("segment"))]
                yield Finding("simpsons_paradox", numbers, {**names, "segments": segments})
