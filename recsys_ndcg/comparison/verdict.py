"""Which model of a comparison is better, and whether one passes a gate: findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import divide
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.findings import Finding, Gate
from recsys_ndcg.rendering import FORMATS
from recsys_ndcg.significance import MIN_DIFFERENT, count_needed_users, power

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
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


def _judge_models(result: MetricComparison) -> list[Finding]:
    """Compare the models, without chance."""
    apart = np.flatnonzero(~result.has_chance)
    if not len(apart):
        return []
    tests, columns = result.mean_tests.take(apart), np.unique(result.pairs[apart])
    per_user = result.metric.per_user
    if not (tests.wins.any() or tests.losses.any() if per_user else tests.difference.any()):
        models = _name(result, columns)
        numbers = {"count": len(models) if len(models) > 2 else None, **_count_units(tests)}
        if per_user:
            return [_find(result, "equal_models", numbers, models=models)]
        numbers["value"] = float(result.means()[columns[0]])
        return [_find(result, "equal_values", numbers, models=models)]
    if len(apart) == 1:
        return _judge_pair(result, int(apart[0]))
    if result.testing.family == "baseline":
        return _judge_against_baseline(result, apart)
    return _judge_many(result, apart)


def _name(result: MetricComparison, columns: Iterable[Any]) -> list[str]:
    return [result.models[column] for column in columns]


def _count_units(tests: PairResults) -> dict[str, Any]:
    """Return the numbers of users of some pairs, and of runs if the tests count these, too."""
    runs = tests.runs[tests.runs > 0]
    return {"users": np.unique(tests.users).tolist(), "runs": np.unique(runs).tolist()}


# Two models


def _judge_pair(result: MetricComparison, pair: int) -> list[Finding]:
    direction, test = int(result.significant_direction[pair]), result.testing.test
    is_of_mean = result.testing.test_kind.is_test_of_mean
    kind = {"sign": "winner_by_signs", "wilcoxon": "winner_by_ranks"}.get(test, "clear_winner")
    if not direction:
        kind = "no_winner" if is_of_mean else "no_winner_by_ranks_or_signs"
    findings = [_compare_pair(result, kind, pair, direction)]
    if not is_of_mean:
        findings.append(_compare_means(result, pair))
    if margins := _judge_margin(result, pair):
        return [*findings, *margins]
    if direction:
        findings.append(_find_share(result, pair))
    elif is_of_mean:
        findings.append(_find_detectable(result, [pair]))
    return findings


def _compare_means(result: MetricComparison, pair: int) -> Finding:
    """Compare the means of a pair, which a test of ranks or signs does not compare."""
    leads = int(np.sign(result.mean_tests.difference[pair]))
    agreement = leads * int(result.significant_direction[pair])
    kind = ("better_mean", "mean_agrees", "mean_contradicts")[agreement] if leads else "equal_means"
    return _compare_pair(result, kind, pair, leads)


def _compare_pair(result: MetricComparison, kind: str, pair: int, direction: int) -> Finding:
    """Find how far a model is ahead of the other, the interval, and both as shares.

    Parameters
    ----------
    result : MetricComparison
        The models.
    kind : str
        The kind of the finding.
    pair : int
        The pair.
    direction : {1, -1, 0}
        1 if the first model is the winner, -1 if the second: its difference is positive if its mean
        is better, also in an error. 0 for the first model minus the second, in the units of the
        metric.

    Returns
    -------
    Finding
        The shares are of the other model's mean; NaN is what cannot be computed.
    """
    tests, turn = result.mean_tests, direction or result.sign
    values = np.array([tests.difference, tests.low, tests.high])[:, pair]
    ratios = 1 + np.array([tests.relative, tests.relative_low, tests.relative_high])[:, pair]
    if direction < 0:
        ratios = divide(np.ones(3), ratios, ratios > 0)
    shares = (result.sign if direction else 1) * (ratios - 1)
    numbers = {
        **_sort_ends(turn * values, "difference", "low", "high"),
        **_sort_ends(shares, "relative", "relative_low", "relative_high"),
        "p": float(tests.p_corrected[pair]),
        "alpha": result.testing.alpha,
        "users": int(tests.users[pair]),
        "runs": int(tests.runs[pair]) or None,
        "tests_mean": result.testing.test_kind.is_test_of_mean,
    }
    roles = ("winner", "loser") if direction else ("model", "other")
    names = dict(zip(roles, result.named_pairs[pair][:: direction or 1], strict=True))
    return _find(result, kind, numbers, test=result.testing.test_kind.in_words, **names)


def _sort_ends(values: Floats, *names: str) -> dict[str, float]:
    """Name a number and the ends of its interval, the lower first; NaN if one is infinite."""
    middle, *ends = np.where(np.isfinite(values), values, np.nan)
    return dict(zip(names, map(float, (middle, np.min(ends), np.max(ends))), strict=True))


# Several models


def _judge_many(result: MetricComparison, apart: Positions) -> list[Finding]:
    columns, first_rank = np.unique(result.pairs[apart]).tolist(), result.ranks[0]
    order = [column for column in result.columns_by_mean.tolist() if column in columns]
    top = [column for column in order if first_rank[column] == 1]
    behind = [column for column in order if column not in top]
    wins, units = list_wins(result), _count_units(result.mean_tests.take(apart))
    names: dict[str, Any] = {"test": _name_test(result), "others": _name(result, behind)}
    if not top:  # as of three models of which each wins against the next by signs
        return [_find(result, "all_worse_than_another", units, **names)]
    if len(top) == 1:
        (best,), count = top, {"count": len(behind)}
        if undecided := [column for column in behind if (best, column) not in wins]:
            names["others"] = _name(result, undecided)
        kind = "alone_in_first_tier" if undecided else "best_of_all"
        first = _find(result, kind, units | count, winner=result.models[best], **names)
        return [first, *_judge_runner_up(result, best, behind[0])]
    beats_all = all((better, worse) in wins for better in top for worse in behind)
    numbers = {**units, "count": len(top), "worse_than_some": not beats_all}
    kind = "several_in_first_tier" if behind else "no_differences"
    headline = _find(result, kind, numbers, models=_name(result, top), **names)
    tied = [pair for pair in apart.tolist() if {*result.pairs[pair].tolist()} <= {*top}]
    return [headline, *(_judge_margins(result, order[0]) or [_find_detectable(result, tied)])]


def list_wins(result: MetricComparison) -> set[tuple[int, int]]:
    """Return the pairs of columns of which the first model is significantly better."""
    pairs = zip(result.pairs.tolist(), result.significant_direction.tolist(), strict=True)
    return {(a, b) if direction > 0 else (b, a) for (a, b), direction in pairs if direction}


def _judge_runner_up(result: MetricComparison, best: int, second: int) -> list[Finding]:
    """Find how far the only model of the first tier is ahead of the next."""
    pair = result.pairs.tolist().index(sorted([best, second]))
    turn = 1 if best < second else -1
    lead = int(np.sign(turn * result.mean_tests.difference[pair]))
    kinds = "runner_up_with_equal_mean", "runner_up", "runner_up_with_better_mean"
    gap = _compare_pair(result, kinds[lead], pair, turn * (lead or 1))
    return [gap, *(_judge_margin(result, pair) or [_find_share(result, pair)])]


def _find_contradictions(result: MetricComparison) -> list[Finding]:
    """Find the pairs whose means point the other way than a test of ranks or signs."""
    direction = result.significant_direction
    differs = np.flatnonzero(direction * np.sign(result.mean_tests.difference) < 0).tolist()
    if not differs:
        return []
    pairs = [result.named_pairs[pair][:: -int(direction[pair])] for pair in differs]
    models, others = map(list, zip(*pairs, strict=True))
    return [_find(result, "contradicting_means", models=models, others=others)]


# Against one model


def _judge_against_baseline(result: MetricComparison, apart: Positions) -> list[Finding]:
    groups = group_by_outcome(result, apart, result.baseline)
    units, names = _count_units(result.mean_tests.take(apart)), {"test": _name_test(result)}
    headline = _find(result, "against_baseline", units, **names, **groups)
    more = _judge_margins(result, result.models.index(result.baseline))
    if not more and groups["undecided"]:
        undecided = apart[result.significant_direction[apart] == 0]
        more = [_find_detectable(result, undecided)]
    return [headline, *more]


def _judge_against_chance(result: MetricComparison) -> list[Finding]:
    """Find which models are better than random order: tests apart from the other pairs."""
    with_chance = np.flatnonzero(result.has_chance & ~np.isnan(result.mean_tests.p_corrected))
    if not len(with_chance):  # a metric without a chance level, such as RMSE
        return []
    groups = group_by_outcome(result, with_chance, CHANCE)
    count = len(groups["better"])
    if count < len(result.models) - 1:
        return [_find(result, "against_chance", **groups)]
    numbers = {"count": count if count > 2 else None}
    return [_find(result, "all_above_chance", numbers, models=groups["better"])]


def group_by_outcome(result: MetricComparison, pairs: Any, against: str) -> dict[str, Any]:
    """Name the models that are better than one model, worse, or neither.

    Parameters
    ----------
    result : MetricComparison
        The models.
    pairs : positions or slice
        Some pairs, each with this model.
    against : str
        The model's name.
    """
    column = result.models.index(against)
    others = result.pairs[pairs].sum(axis=1) - column
    turn = np.where(result.pairs[pairs, 1] == column, 1, -1)
    direction = turn * result.significant_direction[pairs]
    outcomes = {"better": 1, "worse": -1, "undecided": 0}
    groups = {role: _name(result, others[direction == side]) for role, side in outcomes.items()}
    return {**groups, "baseline": against}


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


def _find_detectable(result: MetricComparison, pairs: Positions | list[int]) -> Finding:
    """Find which differences the test would find between these models with 80 % power."""
    detectable = result.mean_tests.detectable[pairs]
    detectable = detectable[
        np.isfinite(detectable) & ~(result.measurement.is_bounded & (detectable > 1))
    ]
    if not len(detectable):
        is_known = result.testing.test_kind.is_test_of_mean
        return _find(result, "nothing_detectable" if is_known else "unknown_power")
    least, most = float(detectable.min()), float(detectable.max())
    differs = FORMATS["size"](least) != FORMATS["size"](most)
    numbers = {"least": least, "most": most, "differs": differs}
    return _find(result, "detectable_difference", numbers)


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
    pairs, tests = result.pairs, result.mean_tests
    p = np.where(pairs[:, 1] == best, tests.p_not_worse, tests.p_not_better)
    is_within = (pairs == best).any(axis=1) & ~result.has_chance & (p <= result.testing.alpha)
    models = _name(result, pairs[is_within].sum(axis=1) - best)
    kind = "within_margin" if models else "none_within_margin"
    names = {"models": models, "other": result.models[best]}
    return [_find(result, kind, {"margin": result.margin}, **names)]


def decide_gate(result: MetricComparison, more: Sequence[Finding]) -> Gate:
    """Test whether the first of two models is better, or worse by less than the margin.

    The gate fails if the model is worse by the margin or more, or if there are too few users to
    tell. Its findings are which is the case and, if it can be computed, how many users are enough;
    whether p is rough; and `more`.
    """
    tests, alpha, margin = result.mean_tests, float(result.testing.alpha), result.margin or 0.0
    difference, p = float(tests.difference[0]), float(tests.p_not_worse[0])
    numbers = {
        "difference": result.sign * difference,
        "p": p,
        "alpha": alpha,
        "margin": margin,
        "users": int(tests.users[0]),
        "runs": int(tests.runs[0]) or None,
    }
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
    model, baseline = result.models
    decided = _find(result, kind, numbers, model=model, baseline=baseline)
    rough = find_roughness(result, 0)
    return Gate(passed=p <= alpha, findings=(decided, *([rough] if rough else []), *more))


def _count_needed(tests: PairResults, margin: float, alpha: float) -> int:
    """Return how many users would be enough if the difference stays the same."""
    deviation = float(tests.sd_difference[0])
    if not deviation:  # p is that of random signs
        return math.ceil(-math.log2(alpha))
    two_sided = min(2 * alpha, 0.99)  # as `power` is
    return int(power(float(tests.difference[0]) + margin, deviation=deviation, alpha=two_sided))
