"""The remarks on a comparison: how far its numbers can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.verdict import find_roughness
from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.findings import Finding, write_sentences
from recsys_ndcg.rendering import (
    format_size,
    format_span,
    join_by_count,
    join_names,
    list_first,
)
from recsys_ndcg.report import find_equal_scores, find_rough_means
from recsys_ndcg.significance import MIN_DIFFERENT, Testing, compare_pairs

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.metric_comparison import MetricComparison
    from recsys_ndcg.significance import PairResults

_MAX_LINES = 3  # about the same finding
_MIN_RATIO = 1.05  # from this ratio of two models' mean list lengths on, there is a remark
_ENOUGH_RUNS = 5  # docs/concepts/statistics.md counts how often tests of fewer runs err
_VISIBLE = 0.00005  # a smaller optimism does not change four decimals
_MISSING_LISTS = {"zero": "each scores like an empty list", "skip": "they are left out"}
CAVEAT = (
    "Wilcoxon and sign tests are disputed, because they do not test the mean: Urbano, Lima & "
    "Hanjalic (SIGIR 2019) and Ihemelandu & Ekstrand (SIGIR 2023) argue against them; Otero, "
    "Parapar & Barreiro (ECIR 2025) for Wilcoxon."
)


def write_remarks(comparison: Comparison, about_splits: Iterable[str] = ()) -> list[str]:
    """Write one sentence for each limit of what a comparison shows.

    Parameters
    ----------
    comparison : Comparison
        The models.
    about_splits : iterable of str
        Further sentences, about the splits that the models were trained on.
    """
    by_metric = list(comparison._data.by_metric.values())
    lines = [
        *filter(None, [describe_missing_lists(comparison, comparison.models)]),
        *_find_user_remarks(comparison, by_metric),
        *_find_equal_scores(comparison),
        *_find_runs_remarks(comparison, by_metric),
        *about_splits,
        *_find_search_remarks(comparison),
        *_find_test_remarks(comparison, by_metric),
        *_find_order_remarks(by_metric),
        *_find_chance_remarks(by_metric),
        *_find_novelty_remarks(by_metric),
        *_find_segment_remarks(comparison),
    ]
    return [escape_invisible(line) for line in lines]


def describe_missing_lists(
    comparison: Comparison, models: Sequence[str], metrics: Sequence[str] = ()
) -> str:
    """Count the users without a list of each model, the most first; "" if all have lists.

    A test would show such a model as worse, although it was never run for these users.
    """
    scores = comparison._data.model_scores
    without = {one: int(scores[one].counts.missing.sum()) for one in models if one != CHANCE}
    counts = sorted(join_by_count(without).items(), reverse=True)
    parts = [f"{count} from {names}" for count, names in counts if count]
    if not parts:
        return ""
    rules: dict[str, list[str]] = {}
    for one in metrics or comparison.metrics:
        rules.setdefault(comparison.signatures[one].fields["missing_user"], []).append(one)
    how = [f"{_MISSING_LISTS[rule]} (missing_user={rule!r})" for rule in rules]
    if len(rules) > 1:
        how = [f"in {join_names(own)} {one}" for own, one in zip(rules.values(), how, strict=True)]
    first, _, names = ", ".join(parts).partition(" ")
    return f"{first} of {len(comparison.users)} users have no list {names}: {'; '.join(how)}."


def _find_user_remarks(
    comparison: Comparison, by_metric: Sequence[MetricComparison]
) -> Iterator[str]:
    dropped = {name: count for name, count in comparison._data.n_dropped_users.items() if count}
    if dropped:
        counts = ", ".join(f"{count} of {name}" for name, count in dropped.items())
        yield f"Users that some models do not have are left out: {counts}."
    if comparison._data.other_metrics:
        names = ", ".join(comparison._data.other_metrics)
        yield f"Metrics that only some models have are left out: {names}."
    equal_pairs = (
        f"{one} and {other} have the same score for every user."
        for (one, mine), (other, theirs) in combinations(comparison._data.model_scores.items(), 2)
        if mine.has_same_scores(theirs)
    )
    yield from islice(equal_pairs, _MAX_LINES)
    yield from _find_length_remarks(comparison)
    without, partly, users = {}, {}, len(comparison.users)
    for result in by_metric:
        is_known = ~np.isnan(result.scores)
        without[result.name] = int((~is_known.any(axis=1)).sum())
        # leave out a model without any score: chance, in a metric that has no chance level
        is_known = is_known[:, is_known.any(axis=0)]
        partly[result.name] = int((is_known.any(axis=1) & ~is_known.all(axis=1)).sum())
    for count, names in join_by_count(without).items():
        if 0 < count < users:
            yield f"{count} of {users} users have no score in {names}."
    for count, names in join_by_count(partly).items():
        if count:
            verb = "has" if count == 1 else "have"
            yield (
                f"{format_count(count, 'user')} {verb} a score in {names} from some models only: "
                "each pair is compared over its common users, and each mean is over the model's "
                "own users."
            )


def _find_length_remarks(comparison: Comparison) -> Iterator[str]:
    """Yield a remark if some models have longer lists than others."""
    mean = {
        name: float(one.counts.n_items.mean())
        for name, one in comparison._data.model_scores.items()
        if name != CHANCE
    }
    short, long = min(mean, key=lambda name: mean[name]), max(mean, key=lambda name: mean[name])
    if mean[long] > _MIN_RATIO * mean[short]:
        yield (
            f"The lists of {long} are longer than the lists of {short} ({mean[long]:.1f} and "
            f"{mean[short]:.1f} items on average): an item that is not listed cannot score."
        )


def _find_equal_scores(comparison: Comparison) -> list[str]:
    """Return a remark on each mean of scores that do not vary, or whose interval is rough."""
    findings: list[Finding] = []
    for name in comparison._data.metrics_of_users:
        result, board = comparison._data.by_metric[name], comparison.leaderboards[name]
        names = [
            None if model == CHANCE else {"metric": name, "model": model} for model in result.models
        ]
        table, moments = board.reindex(result.models), result.score_moments
        findings += find_equal_scores(table, moments.is_constant, names)
        findings += find_rough_means(moments, result.scores, result.is_bounded, names)
    return write_sentences(findings)


def _find_runs_remarks(
    comparison: Comparison, by_metric: Sequence[MetricComparison]
) -> Iterator[str]:
    models = {name: one for name, one in comparison._data.model_scores.items() if name != CHANCE}
    n_runs = {name: max(len(one.run_scores), 1) for name, one in models.items()}
    n_folds = max(len(one.run_means) for one in models.values())
    if n_folds > 1:
        parts = f"{format_span([*n_runs.values()])} runs"
        if max(n_runs.values()) == 1:
            parts = f"{n_folds} folds of one partition"
        yield (
            f"Each user's scores are averaged over {parts}, so the tests have one score for each "
            f"of {len(comparison.users)} users. The column spread is the standard deviation of the "
            "means of these folds or runs."
        )
    if min(n_runs.values()) > 1 and comparison._data.testing.test == "t":
        yield (
            "The standard errors include the variation between runs, so the results hold for other "
            "seeds or splits of the same ratings. Pooled scores have the variation between users "
            "only."
        )
        if min(n_runs.values()) < _ENOUGH_RUNS:
            yield (
                f"{min(n_runs.values())} runs show the variation between runs only roughly, so the "
                f"tests may err more often than alpha. {_ENOUGH_RUNS} or more are better."
            )
    elif any(one.significant_direction.any() for one in by_metric):
        alone = [name for name, count in n_runs.items() if count == 1]
        trained = "Each model has one run"
        if not alone:
            trained = f"The {comparison._data.testing.test} test has only users as units"
        elif len(alone) < len(models):
            trained = f"Only one run is known of {', '.join(list_first(alone, _MAX_LINES))}"
        yield (
            f"{trained}: better and worse are about the models as trained, and another seed or "
            "training sample may change the result."
        )


def _find_test_remarks(
    comparison: Comparison, by_metric: Sequence[MetricComparison]
) -> Iterator[str]:
    """Yield remarks on tests that do not keep their level exactly, and on what they show."""
    testing = comparison._data.testing
    reasons, where = [], []
    for result in by_metric:
        rough = [
            f"{one} and {other} in {result.name}: {reason.sentence[17:-1]}"
            for pair, (one, other) in enumerate(result.named_pairs)
            if (reason := find_roughness(result, pair))
        ]
        if rough:
            n_pairs = len(result.named_pairs)
            where.append(f"{result.name} ({len(rough)} of {format_count(n_pairs, 'pair')})")
        reasons += rough
    if reasons:
        what = "p-values and intervals"
        if comparison._data.margin is not None:
            what = "p-values, intervals and margins"
        yield f"The {what} are rough in {join_names(where)}; for {reasons[0]}."
    has_ranks = testing.family != "baseline" and max(map(len, by_metric[0].families)) > 1
    if testing.correction in {"bh", "none"} and has_ranks:
        yield (
            "The intervals of ranks are too narrow to hold together, because the correction "
            f"{testing.correction!r} does not bound the chance of a false finding. Use max-T or "
            "Holm for ranks."
        )
    if testing.test in {"wilcoxon", "sign"}:
        yield CAVEAT


def _find_search_remarks(comparison: Comparison) -> Iterator[str]:
    """Yield a remark on the best model of each search, whose mean is too good."""
    result, models = comparison._data.first_metric_comparison, comparison._data.model_scores
    for best, optimism in comparison.optimism.items():
        if optimism >= _VISIBLE:
            count = sum(one.search == models[best].search for one in models.values())
            mean = format_size(float(result.means()[result.models.index(best)]))
            yield (
                f"{best} is the best of {count} models that a search tried on the same users: its "
                f"mean {result.name} of {mean} is about {format_size(optimism)} too "
                f"{'high' if result.sign > 0 else 'low'} (by users split into halves at random), "
                "and its lead over a model chosen beforehand is too large by as much. For a fair "
                "number, measure it on other users."
            )


def _find_order_remarks(by_metric: Sequence[MetricComparison]) -> list[str]:
    """Return remarks on metrics, or pooled scores, that order two models differently."""
    first, *others = by_metric
    pooled = f"pooled {first.name}", first.pooled_tests
    other_tests = [pooled, *((one.name, one.mean_tests) for one in others)]
    lines = [_describe_disagreement(first, *other) for other in other_tests]
    return list_first(filter(None, lines), _MAX_LINES, "… and the same for {} more scores.")


def _describe_disagreement(first: MetricComparison, name: str, other_tests: PairResults) -> str:
    """Describe the pair of models that two metrics order most differently.

    Both differences must be significant: others are noise.
    """
    difference, other = first.mean_tests.difference, other_tests.difference
    with np.errstate(invalid="ignore"):
        differs = difference * other < 0
        for tests in (first.mean_tests, other_tests):
            differs &= tests.p_corrected <= first.testing.alpha
            differs &= tests.direction * tests.difference > 0
    if not differs.any():
        return ""
    worst = int(np.where(differs, np.abs(difference), -1).argmax())
    ahead, behind = first.named_pairs[worst]
    if difference[worst] < 0:
        ahead, behind = behind, ahead
    lead, lag = (format_size(abs(float(one[worst]))) for one in (difference, other))
    return (
        f"{first.name} and {name} disagree significantly on the order of {int(differs.sum())} of "
        f"{len(differs)} pairs: {ahead} is ahead of {behind} by {lead} in {first.name}, and behind "
        f"by {lag} in {name}."
    )


def _find_novelty_remarks(by_metric: Sequence[MetricComparison]) -> Iterator[str]:
    """Yield a remark if a model is better beyond accuracy and worse in relevance than another.

    Random lists are the most novel and cover the most items, so more of it alone is no merit. Both
    differences must be significant: others are noise.
    """
    relevance = next((one for one in by_metric if not one.metric.needs), None)
    if relevance is None:
        return
    models, relevances = relevance.models, relevance.sign * relevance.means()
    losses = _list_wins(relevance)
    merits: dict[tuple[int, int], list[str]] = {}
    for result in by_metric:
        if not result.metric.needs or result.metric.needs_threshold:
            continue
        best, wins = int(result.columns_by_mean[0]), _list_wins(result)
        better = [winner for winner, loser in losses if loser == best and (best, winner) in wins]
        if better:
            ahead = max(better, key=lambda column: relevances[column])
            chance = result.means("chance")[best]
            random = "" if np.isnan(chance) else f" (random lists: {format_size(chance)})"
            merit = f"{result.name}, {format_size(result.means()[best])}{random}"
            merits.setdefault((best, ahead), []).append(merit)
    for (best, ahead), lines in merits.items():
        yield (
            f"{models[best]} has the best {'; '.join(lines)}. It is significantly worse than "
            f"{models[ahead]} in {relevance.name}: irrelevant lists are easily novel and different."
        )


def _list_wins(result: MetricComparison) -> set[tuple[int, int]]:
    """Return the pairs of columns of which the first model is significantly better."""
    pairs = zip(result.pairs.tolist(), result.significant_direction.tolist(), strict=True)
    return {(a, b) if sign > 0 else (b, a) for (a, b), sign in pairs if sign}


def _find_segment_remarks(comparison: Comparison) -> Iterator[str]:
    """Yield remarks on differences that depend on the segment, and on Simpson's paradox."""
    segment_of_user, baseline = comparison._data.segment_of_user, comparison._data.baseline
    if segment_of_user is None:
        return
    n_outside = int(segment_of_user.isna().sum())
    if n_outside:
        yield f"{n_outside} of {len(segment_of_user)} users are in no segment."
    names = comparison._data.metrics_of_users
    if not names:
        return
    sizes = segment_of_user.value_counts(sort=False)
    few = [f"{name} ({size})" for name, size in sizes.items() if 0 < size < MIN_DIFFERENT]
    if few:
        yield (
            "The p-values and intervals of segments with few users are rough (fewer than "
            f"{MIN_DIFFERENT}): {', '.join(list_first(few, _MAX_LINES))}."
        )
    table, alpha = comparison.segments, comparison._data.testing.alpha
    lines: list[str] = []
    interactions: list[str] = []
    for metric in names:
        rows = table.loc[[metric]].droplevel("metric")
        reversed_rows = rows[rows["opposite_to_all"] & (rows["p_corrected"] <= alpha)].reset_index()
        opposite = [
            f"In segment {row['segment']}, {row['model']} is "
            f"{format_size(abs(row['difference']))} "
            f"{'above' if row['difference'] > 0 else 'below'} {baseline} in {metric} "
            f"(corrected p = {row['p_corrected']:.2g}); over all segments together, the opposite."
            for row in reversed_rows.to_dict("records")
        ]
        lines += [*_find_paradoxes(rows, comparison._data.by_metric[metric]), *opposite]
        interactions += _find_interactions(rows[rows["p_interaction"] <= alpha], metric, baseline)
    for every in (lines, interactions):
        yield from list_first(every, _MAX_LINES, "… and the same in {} more cases.")


def _find_interactions(rows: pd.DataFrame, metric: str, baseline: str) -> Iterator[str]:
    """Yield the models whose difference from the baseline depends on the segment."""
    for model, segments in rows.reset_index().groupby("model", sort=False):
        parts = [
            f"in {row['segment']} it is {format_size(abs(row['difference_from_others']))} "
            f"{'higher' if row['difference_from_others'] > 0 else 'lower'} than elsewhere "
            f"(corrected p = {row['p_interaction']:.2g})"
            for row in segments.to_dict("records")
        ]
        yield (
            f"The difference of {model} from {baseline} in {metric} depends on the segment: "
            f"{', '.join(list_first(parts, _MAX_LINES))}."
        )


def _find_chance_remarks(by_metric: Sequence[MetricComparison]) -> Iterator[str]:
    result, n_models = by_metric[0], len(by_metric[0].models)
    if result.metric.needs:  # random lists are the most novel
        return
    scores = result.sign * np.hstack([result.scores, result.chance])
    pairs = [(model, n_models + model) for model in range(n_models)]
    tests = compare_pairs(scores, pairs, Testing(correction="holm", alpha=result.testing.alpha))
    with np.errstate(invalid="ignore"):
        below = (tests.p_corrected <= result.testing.alpha) & (tests.direction < 0)
    names = [name for name, low in zip(result.models, below, strict=True) if low]
    if names:
        yield (
            f"Significantly below random order in {result.name}: "
            f"{', '.join(list_first(names, _MAX_LINES))}."
        )


def _find_paradoxes(rows: pd.DataFrame, result: MetricComparison) -> Iterator[str]:
    """Yield remarks on segments that all contradict a significant difference over all users."""
    baseline, alpha = result.baseline, result.testing.alpha
    for model, segments in rows.groupby(level="model", sort=False):
        pair = [{model, baseline} == {*names} for names in result.named_pairs]
        for prefix, name, tests in (
            ("", result.name, result.mean_tests),
            ("pooled_", f"pooled {result.name}", result.pooled_tests),
        ):
            with_difference = segments[segments[f"{prefix}difference"].notna()]
            is_opposite = with_difference[f"{prefix}opposite_to_all"].all()
            if not (len(with_difference) > 1 and is_opposite and tests.p_corrected[pair] <= alpha):
                continue
            is_above = with_difference[f"{prefix}difference"].iloc[0] > 0
            here, over_all = ("above", "below") if is_above else ("below", "above")
            yield (
                f"Simpson's paradox: in every segment {model} is {here} {baseline} in {name}, "
                f"but over all segments together it is {over_all}, because the segments' "
                "weights (denominators) differ between the models. Compare segment by segment."
            )
