"""Which model of a comparison is better, and whether one passes a gate: findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import divide
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.findings import Finding, Gate
from recsys_ndcg.rendering import format_size
from recsys_ndcg.significance import MIN_DIFFERENT, count_needed_users, power

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.comparison.metric_comparison import MetricComparison
    from recsys_ndcg.significance import PairResults


def judge(result: MetricComparison) -> list[Finding]:
    """Find which model is better, or that the data cannot distinguish them; the headline first."""
    tests = result.mean_tests
    if not tests.users.any():
        return [_find(result, "nothing_to_compare")]
    if np.isnan(tests.p_corrected).all():
        numbers = {"users": int(tests.users.max()), "means": result.means().tolist()}
        return [_find(result, "too_few_for_a_test", numbers, models=[*result.models])]
    findings = [*_judge_models(result), *_judge_against_chance(result)]
    if len(result.pairs) > 1 and not result.testing.test_kind.is_test_of_mean:
        findings += _find_contradictions(result)
    return findings


def _find(
    result: MetricComparison, kind: str, numbers: Mapping[str, Any] | None = None, **names: Any
) -> Finding:
    return Finding(kind, numbers or {}, {"metric": result.name, "ranked": result.ranked, **names})


def describe_test(result: MetricComparison) -> str:
    """Return the test, its correction and the significance level in words."""
    n_pairs = max(map(len, result.families))
    pairs = {
        "pairs": f" over {n_pairs} pairs" if n_pairs > 1 else "",
        "baseline": f" over {n_pairs} models against {result.baseline}" if n_pairs > 1 else "",
        "metrics": "",  # is part of the name
    }[result.testing.family]
    return f"{_name_test(result)}{pairs}, alpha {result.testing.alpha:g}"


def _name_test(result: MetricComparison) -> str:
    name, correction = result.testing.test_kind.in_words, result.testing.corrected_by.in_words
    if result.testing.family == "metrics":
        return f"{name}, {correction} over all pairs in all metrics"
    return f"{name}, {correction}" if max(map(len, result.families)) > 1 else name


# Two models


def _judge_models(result: MetricComparison) -> list[Finding]:
    """Compare the models, without chance."""
    apart = np.flatnonzero(~result.has_chance)
    if not len(apart):
        return []
    tests, columns = result.mean_tests.take(apart), np.unique(result.pairs[apart]).tolist()
    models = [result.models[column] for column in columns]
    if result.metric.per_user and not tests.wins.any() and not tests.losses.any():
        numbers = {**_count_units(tests), **_count_many(models)}
        return [_find(result, "equal_models", numbers, models=models)]
    if not result.metric.per_user and not tests.difference.any():
        numbers = {"value": float(result.means()[columns[0]]), **_count_many(models)}
        return [_find(result, "equal_values", numbers, models=models)]
    if len(apart) == 1:
        return _judge_pair(result, int(apart[0]))
    if result.testing.family == "baseline":
        return _judge_against_baseline(result, apart)
    return _judge_many(result, apart)


def _count_units(tests: PairResults) -> dict[str, Any]:
    """Return the numbers of users of some pairs, and of runs if the tests count these, too."""
    runs = tests.runs[tests.runs > 0]
    return {"users": np.unique(tests.users).tolist(), "runs": np.unique(runs).tolist()}


def _count_units_of_pair(result: MetricComparison, pair: int) -> dict[str, Any]:
    """Return a pair's number of users, and of runs if the tests count these, too."""
    tests = result.mean_tests
    return {"users": int(tests.users[pair]), "runs": int(tests.runs[pair]) or None}


def _count_many(models: Sequence[str]) -> dict[str, int]:
    """Return the number of models, if a sentence has it instead of their names."""
    return {"count": len(models)} if len(models) > 2 else {}


def _judge_pair(result: MetricComparison, pair: int) -> list[Finding]:
    testing, direction = result.testing, int(result.significant_direction[pair])
    numbers: dict[str, Any] = {"p": float(result.mean_tests.p_corrected[pair])}
    numbers |= _count_units_of_pair(result, pair)
    names = {"test": testing.test_kind.in_words, **_name_pair(result, pair, direction)}
    more = _judge_margin(result, pair)
    if testing.test_kind.is_test_of_mean:
        numbers |= _measure_lead(result, pair, direction)
        kind = "clear_winner" if direction else "no_winner"
        if not more:
            more = [_find_share(result, pair) if direction else _find_detectable(result, [pair])]
        return [_find(result, kind, numbers, **names), *more]
    kind = "winner_by_signs" if testing.test == "sign" else "winner_by_ranks"
    if direction:
        more = more or [_find_share(result, pair)]
    else:
        kind = "no_winner_by_ranks_or_signs"
    return [_find(result, kind, numbers, **names), _compare_means(result, pair), *more]


def _name_pair(result: MetricComparison, pair: int, direction: int) -> dict[str, str]:
    """Return the names of two models: winner and loser, or model and other if neither is better."""
    roles = ("winner", "loser") if direction else ("model", "other")
    return dict(zip(roles, result.named_pairs[pair][:: direction or 1], strict=True))


def _compare_means(result: MetricComparison, pair: int) -> Finding:
    """Compare the means of a pair, of which a test of ranks or signs says nothing."""
    leads = int(np.sign(result.mean_tests.difference[pair]))
    agreement = leads * int(result.significant_direction[pair])
    kind = ("better_mean", "mean_agrees", "mean_contradicts")[agreement] if leads else "equal_means"
    numbers = _measure_lead(result, pair, leads)
    return _find(result, kind, numbers, **_name_pair(result, pair, leads))


def _find_contradictions(result: MetricComparison) -> list[Finding]:
    """Find the pairs whose means point the other way than a test of ranks or signs."""
    direction = result.significant_direction
    differs = np.flatnonzero(direction * np.sign(result.mean_tests.difference) < 0).tolist()
    if not differs:
        return []
    pairs = [result.named_pairs[pair][:: -int(direction[pair])] for pair in differs]
    models, others = map(list, zip(*pairs, strict=True))
    return [_find(result, "contradicting_means", models=models, others=others)]


def _measure_lead(result: MetricComparison, pair: int, direction: int) -> dict[str, Any]:
    """Return how far a model is ahead of the other, its interval, and both as a share.

    Parameters
    ----------
    result : MetricComparison
        The models.
    pair : int
        The pair.
    direction : {1, -1, 0}
        1 if the first model is ahead, -1 if the second; each is so by a positive number, also in an
        error. 0 for the first model minus the second, in the units of the metric.

    Returns
    -------
    dict
        The shares are of the other model's mean; NaN is what cannot be computed.
    """
    tests, turn = result.mean_tests, direction or result.sign
    values = np.array([tests.difference, tests.low, tests.high])[:, pair]
    ratios = 1 + np.array([tests.relative, tests.relative_low, tests.relative_high])[:, pair]
    if direction < 0:
        ratios = divide(np.ones(3), ratios, ratios > 0)
    shares = (result.sign if direction else 1) * (ratios - 1)
    return {
        "alpha": result.testing.alpha,
        "tests_mean": result.testing.test_kind.is_test_of_mean,
        **_sort_ends(turn * values, "difference", "low", "high"),
        **_sort_ends(shares, "relative", "relative_low", "relative_high"),
    }


def _sort_ends(values: Any, *names: str) -> dict[str, float]:
    """Name a number and the ends of its interval, the lower first; NaN if they are infinite."""
    middle, *ends = np.where(np.isfinite(values), values, np.nan).tolist()
    return dict(zip(names, (middle, *np.sort(ends).tolist()), strict=True))


# Several models


def _judge_many(result: MetricComparison, apart: Positions) -> list[Finding]:
    columns, first_rank = np.unique(result.pairs[apart]).tolist(), result.ranks[0]
    order = [column for column in result.columns_by_mean.tolist() if column in columns]
    top = [column for column in order if first_rank[column] == 1]
    behind = [column for column in order if column not in top]
    if len(top) == 1:
        return _judge_first(result, apart, [*top, *behind])
    models, others = ([result.models[column] for column in part] for part in (top, behind))
    names: dict[str, Any] = {"test": _name_test(result), "models": models, "others": others}
    numbers: dict[str, Any] = _count_units(result.mean_tests.take(apart))
    if not top:  # as of three models of which each wins against the next by signs
        return [_find(result, "all_worse_than_another", numbers, **names)]
    beats = [_beats(result, better, worse) for better in top for worse in behind]
    numbers |= {"count": len(models), "worse_than_some": not all(beats)}
    kind = "several_in_first_tier" if behind else "all_level"
    headline = _find(result, kind, numbers, **names)
    tied = [pair for pair in apart.tolist() if {*result.pairs[pair].tolist()} <= {*top}]
    return [headline, *(_judge_margins(result, order[0]) or [_find_detectable(result, tied)])]


def _find_pair(result: MetricComparison, model: int, other: int) -> tuple[int, int]:
    """Return the place of a pair of columns, and 1 if the model comes first in it, else -1."""
    pair = result.pairs.tolist().index(sorted([model, other]))
    return pair, 1 if model < other else -1


def _beats(result: MetricComparison, model: int, other: int) -> bool:
    """Return whether a model is significantly better."""
    pair, turn = _find_pair(result, model, other)
    return int(result.significant_direction[pair]) == turn


def _judge_first(result: MetricComparison, apart: Positions, order: Sequence[int]) -> list[Finding]:
    """Judge the only model of the first tier, and how far it is ahead of the next."""
    best, *others = order
    numbers = {**_count_units(result.mean_tests.take(apart)), "count": len(others)}
    level = [other for other in others if not _beats(result, best, other)]
    kind = "alone_in_first_tier" if level else "best_of_all"
    names = {
        "winner": result.models[best],
        "others": [result.models[column] for column in level or others],
    }
    headline = _find(result, kind, numbers, test=_name_test(result), **names)
    pair, turn = _find_pair(result, best, others[0])
    is_ahead = turn * result.mean_tests.difference[pair] >= 0
    lead = _measure_lead(result, pair, turn if is_ahead else -turn)
    roles = ("winner", "loser") if is_ahead else ("other", "model")
    models = dict(zip(roles, (result.models[best], result.models[others[0]]), strict=True))
    kind = "runner_up" if is_ahead else "runner_up_with_better_mean"
    more = _judge_margin(result, pair) or [_find_share(result, pair)]
    return [headline, _find(result, kind, lead, **models), *more]


def _judge_against_baseline(result: MetricComparison, apart: Positions) -> list[Finding]:
    baseline = result.baseline
    groups = _group_by_outcome(result, apart, baseline)
    numbers, test = _count_units(result.mean_tests.take(apart)), _name_test(result)
    headline = _find(result, "against_baseline", numbers, test=test, baseline=baseline, **groups)
    more = _judge_margins(result, result.models.index(baseline))
    if not more and groups["level"]:
        level = [pair for pair in apart.tolist() if not result.significant_direction[pair]]
        more = [_find_detectable(result, level)]
    return [headline, *more]


def _judge_against_chance(result: MetricComparison) -> list[Finding]:
    """Find which models are better than random order: tests apart from the other pairs."""
    with_chance = np.flatnonzero(result.has_chance & ~np.isnan(result.mean_tests.p_corrected))
    if not len(with_chance):  # a metric without a chance level, such as RMSE
        return []
    groups = _group_by_outcome(result, with_chance, CHANCE)
    better = groups["better"]
    if len(better) == len(result.models) - 1:
        return [_find(result, "all_above_chance", _count_many(better), models=better)]
    return [_find(result, "against_chance", {}, baseline=CHANCE, **groups)]


def _group_by_outcome(
    result: MetricComparison, pairs: Positions, against: str
) -> dict[str, list[str]]:
    """Return the models that are better than one model, worse, or neither."""
    groups: dict[str, list[str]] = {"level": [], "better": [], "worse": []}
    names = [*groups]  # of the directions 0, 1 and -1
    for pair in pairs.tolist():
        first, second = result.named_pairs[pair]
        model, turn = (first, 1) if second == against else (second, -1)
        groups[names[turn * int(result.significant_direction[pair])]].append(model)
    return groups


# What else follows


def _find_share(result: MetricComparison, pair: int) -> Finding:
    """Find for how many users a model is better."""
    if not result.metric.per_user:
        return _find(result, "tested_by_swaps" if result.swaps_lists else "tested_by_jackknife")
    tests = result.mean_tests
    turn = -1 if (result.significant_direction[pair] or tests.difference[pair]) < 0 else 1
    shares = [float(count[pair] / tests.users[pair]) for count in (tests.wins, tests.losses)]
    model, other = result.named_pairs[pair][::turn]
    numbers = dict(zip(("ahead", "behind"), shares[::turn], strict=True))
    return _find(result, "share_of_users", numbers, model=model, other=other)


def _find_detectable(result: MetricComparison, pairs: Sequence[int]) -> Finding:
    """Find which differences the test would find between these models with 80 % power."""
    detectable = result.mean_tests.detectable[pairs]
    detectable = detectable[np.isfinite(detectable) & ~(result.is_bounded & (detectable > 1))]
    if not len(detectable):
        is_known = result.testing.test_kind.is_test_of_mean
        return _find(result, "nothing_detectable" if is_known else "unknown_power")
    least, most = float(detectable.min()), float(detectable.max())
    if format_size(least) == format_size(most):
        return _find(result, "detectable_difference", {"least": least})
    return _find(result, "detectable_difference", {"least": least, "most": most})


def find_roughness(result: MetricComparison, pair: int) -> Finding | None:
    """Return why a pair's p and interval are rough; None if they are not.

    The mean of few different scores, or of skewed differences, is far from normal. If no scores
    differ, p is 1 and there is no interval: only the tests against a margin are rough.
    """
    tests = result.mean_tests
    users, different = int(tests.users[pair]), int(tests.wins[pair] + tests.losses[pair])
    if users < 2 or not result.testing.test_kind.is_test_of_mean:
        return None
    numbers: dict[str, Any] = {"users": users}
    if not different and result.margin is None:
        return None
    if 0 < different < MIN_DIFFERENT:
        numbers["different"] = different
    elif different:
        skewness = float(tests.skewness[pair])
        numbers |= {"skewness": skewness, "needed": count_needed_users(skewness)}
        if users >= numbers["needed"]:
            return None
    model, other = result.named_pairs[pair]
    values = "scores" if result.metric.per_user else "jackknife values"
    return _find(result, "rough_p", numbers, model=model, other=other, values=values)


def _judge_margin(result: MetricComparison, pair: int) -> list[Finding]:
    """Find non-inferiority of a pair, if a margin was given."""
    if result.margin is None:
        return []
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin
    not_worse, not_better = (
        bool(values[pair] <= alpha) for values in (tests.p_not_worse, tests.p_not_better)
    )
    kind, roles = "equivalent" if not_worse else "either_may_be_worse", ("model", "other")
    names: tuple[str, ...] = result.named_pairs[pair]
    if not_worse != not_better:
        kind, names = "one_not_worse_by_margin", names[:: 1 if not_worse else -1]
        if result.significant_direction[pair]:
            least = max(tests.low[pair], -tests.high[pair])
            if np.isnan(least):  # the differences of all users are the same
                least = abs(tests.difference[pair])
            kind = "worse_by_margin" if least >= margin else "maybe_worse_by_margin"
            roles = ("winner", "loser")
    named = dict(zip(roles, names, strict=True))
    return [_find(result, kind, {"margin": margin}, **named)]


def _judge_margins(result: MetricComparison, best: int) -> list[Finding]:
    """Find which models are shown to be within the margin of one model, if it was given."""
    if result.margin is None:
        return []
    tests, not_worse = result.mean_tests, []
    for pair in np.flatnonzero((result.pairs == best).any(axis=1) & ~result.has_chance).tolist():
        first, second = result.pairs[pair].tolist()
        is_first = second == best
        values = tests.p_not_worse if is_first else tests.p_not_better
        if values[pair] <= result.testing.alpha:
            not_worse.append(result.models[first if is_first else second])
    kind = "within_margin" if not_worse else "none_within_margin"
    names = {"models": not_worse, "other": result.models[best]}
    return [_find(result, kind, {"margin": result.margin}, **names)]


def decide_gate(result: MetricComparison, more: Sequence[Finding]) -> Gate:
    """Test whether the first of two models is better, or worse by less than the margin.

    The gate fails if the model is worse by the margin or more, or if there are too few users to
    tell. Its findings are which is the case and, if it can be computed, how many users are enough;
    whether p is rough; and `more`.
    """
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin or 0.0
    difference, p = float(tests.difference[0]), float(tests.p_not_worse[0])
    numbers: dict[str, Any] = {"difference": result.sign * difference, "p": p}
    numbers |= {"margin": margin, "alpha": alpha, **_count_units_of_pair(result, 0)}
    if np.isnan(p):
        kind = "too_few_scores"
    elif p <= alpha:
        kind = "not_worse"
    elif difference <= -margin:
        kind, two_sided = "mean_worse_by_margin", float(tests.p[0])
        numbers |= {"p": two_sided, "is_significant": two_sided <= alpha}
    else:
        kind = "may_still_be_worse"
        numbers["needed"] = None if numbers["runs"] else _count_needed(tests, margin, alpha)
    names = dict(zip(("model", "baseline"), result.models, strict=True))
    rough = find_roughness(result, 0)
    findings = (_find(result, kind, numbers, **names), *([rough] if rough else []), *more)
    return Gate(passed=p <= alpha, findings=findings)


def _count_needed(tests: PairResults, margin: float, alpha: float) -> int:
    """Return how many users would be enough if the difference stays the same."""
    deviation = float(tests.sd_difference[0])
    if not deviation:  # p is that of random signs
        return math.ceil(-math.log2(alpha))
    two_sided = min(2 * alpha, 0.99)  # as `power` is
    return int(power(float(tests.difference[0]) + margin, deviation=deviation, alpha=two_sided))
