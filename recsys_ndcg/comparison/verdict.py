"""The verdict of a comparison in words, and the gate that a model passes or fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.rendering import list_first
from recsys_ndcg.significance import find_rank_intervals, power

if TYPE_CHECKING:
    from recsys_ndcg.comparison.metric_comparison import MetricComparison

_MAX_NAMES = 4
_SMALLEST = 0.0001  # smaller p-values are written as p < 0.0001
_VERY_SMALL = 0.1  # standard deviations of the users' differences; Cohen calls 0.2 small


def format_size(value: float) -> str:
    """Format a number for a sentence: four decimals, or two digits if it is tiny or huge."""
    if np.isnan(value):
        return "-"
    return f"{value:z.4f}" if value == 0 or 0.001 <= abs(value) < 1e6 else f"{value:.2g}"


def _format_p(p: float) -> str:
    """Format a p-value for a sentence, with two digits."""
    return f"p = {p:.2g}" if p >= _SMALLEST else f"p < {_SMALLEST}"


def write_verdict(result: MetricComparison) -> str:
    """Write which model is better, or that the data cannot distinguish them."""
    tests = result.mean_tests
    if not tests.users.any():
        return (
            f"No user has scores from two models in {result.name}, so nothing can be compared. "
            "Choose another metric or threshold."
        )
    users = format_count(int(tests.users.max()), "user")
    if np.isnan(tests.p_corrected).all():
        scores = zip(result.models, result.means().tolist(), strict=True)
        means = [f"{name} {format_size(mean)}" for name, mean in scores]
        return (
            f"Only {users} can be compared in {result.name}, too few for a test. "
            f"The scores: {', '.join(list_first(means, _MAX_NAMES))}."
        )
    count = len(result.models)
    names = " and ".join(result.models) if count == 2 else f"All {count} models"
    if not result.metric.per_user and not tests.difference.any():
        value = format_size(float(result.means()[0]))
        first, second = f"{names} have the same {result.name}: {value}.", ""
    elif result.metric.per_user and not tests.wins.any() and not tests.losses.any():
        first = f"{names} have the same score in {result.name} for each of {users}."
        second = "Are they different models?"
    else:
        first, second = _judge_two(result, users) if count == 2 else _judge_many(result, users)
    return escape_invisible(f"{first} {second}".rstrip())


def describe_test(result: MetricComparison) -> str:
    """Return the test, its correction and the significance level in words."""
    n_pairs = len(result.pairs)
    pairs = f" over {n_pairs} pairs" if n_pairs > 1 else ""
    return f"{_name_test(result)}{pairs}, alpha {result.testing.alpha:g}"


def _name_test(result: MetricComparison) -> str:
    correction = f", {result.testing.corrected_by.in_words}" if len(result.pairs) > 1 else ""
    return f"{result.testing.test_kind.in_words}{correction}"


def _judge_two(result: MetricComparison, users: str) -> tuple[str, str]:
    tests, (one, other) = result.mean_tests, result.models
    direction = int(result.significant_direction[0])
    difference, p = float(tests.difference[0]), _format_p(float(tests.p_corrected[0]))
    if not direction:
        first = (
            f"The data cannot distinguish {one} from {other} in {result.name}: {one} minus {other} "
            f"is {format_size(result.sign * difference)} over {users}, {p}."
        )
        return first, _describe_margin(result, 0) or _describe_detectable(result)
    low, high = float(tests.low[0]), float(tests.high[0])
    if direction < 0:
        (one, other), low, high = (other, one), -high, -low
    level = f"{100 * (1 - result.testing.alpha):.10g} %"
    interval = f"interval {format_size(low)} to {format_size(high)}"
    size, kind = format_size(abs(difference)), result.testing.test_kind
    how = f"by {size} ({level} {interval}) over {users}, {p}"
    if not kind.is_test_of_mean:  # the mean may differ in the other direction
        sign = "better" if difference * direction >= 0 else "worse"
        how = f"{kind.in_words}, {users}, {p}; its mean is {size} {sign} ({level} t {interval})"
    first = f"{one} is better than {other} in {result.name}: {how}."
    return first, _describe_margin(result, 0) or _describe_effect(result, 0)


def _judge_many(result: MetricComparison, users: str) -> tuple[str, str]:
    directions, order = result.significant_direction, result.columns_by_mean.tolist()
    count = len(result.models)
    where = f"in {result.name} ({users}; {_name_test(result)})"
    if not directions.any():
        answer = f"The data cannot distinguish any of the {count} models {where}."
        return answer, _describe_margins(result, order[0]) or _describe_detectable(result)
    low, high = find_rank_intervals(count, result.pairs, directions)
    top = [column for column in order if low[column] == 1]
    names = [result.models[column] for column in top]
    if len(top) == 1:
        answer = f"Of {count} models, only {names[0]} is in the first tier {where}."
        if high[top[0]] == 1:
            answer = f"{names[0]} is better than each of the other {count - 1} models {where}."
        second = next(column for column in order if column != top[0])
        return answer, _describe_gap(result, top[0], second)
    answer = (
        f"Of {count} models, {_join_names(names)} share the first tier {where}: no model is "
        "significantly better than any of them."
    )
    return answer, _describe_margins(result, order[0]) or _describe_detectable(result)


def _describe_gap(result: MetricComparison, first: int, second: int) -> str:
    """Describe how far the second model is behind the first."""
    pair = [set(columns) for columns in result.pairs.tolist()].index({first, second})
    difference = float(result.mean_tests.difference[pair])
    is_behind = difference >= 0 if result.pairs[pair][0] == first else difference <= 0
    gap = f"{format_size(abs(difference))} {'behind' if is_behind else 'ahead in the mean'}"
    mark = ";" if result.metric.per_user else "."  # before a sentence of its own
    return f"{result.models[second]} comes next, {gap}{mark} {_describe_effect(result, pair)}"


def _describe_effect(result: MetricComparison, pair: int) -> str:
    """Describe for how many users a model is better, and whether the difference is very small."""
    tests = result.mean_tests
    if not result.metric.per_user:
        how = "swaps the lists of users" if result.swaps_lists else "is the jackknife's over users"
        return f"It is a number of all lists together; the test {how}."
    one, other = result.named_pairs[pair]
    wins, losses, users = int(tests.wins[pair]), int(tests.losses[pair]), int(tests.users[pair])
    if (result.significant_direction[pair] or tests.difference[pair]) < 0:
        one, wins, losses = other, losses, wins
    effect = abs(float(tests.effect[pair]))
    shares = (
        f"{one} is ahead for {wins / users:.0%} of the users and behind for {losses / users:.0%}"
    )
    if effect < _VERY_SMALL:
        return f"{shares}. That is a very small difference (effect size d_z = {effect:.2g})."
    return f"{shares}." if np.isinf(effect) else f"{shares} (effect size d_z = {effect:.2g})."


def _describe_detectable(result: MetricComparison) -> str:
    """Describe which differences the test would find with 80 % power."""
    detectable = result.mean_tests.detectable
    detectable = detectable[np.isfinite(detectable) & ~(result.metric.bounded & (detectable > 1))]
    if not len(detectable):
        if result.testing.test_kind.is_test_of_mean:
            return "With so few users whose scores differ, no difference can be found reliably."
        return "For this test, the detectable difference is unknown."
    low, high = format_size(float(detectable.min())), format_size(float(detectable.max()))
    span = low if low == high else f"{low} to {high}, depending on the pair"
    return f"With 80 % power the test would find a difference of {span}."


def _describe_margin(result: MetricComparison, pair: int) -> str:
    """Describe non-inferiority of a pair, if a margin was given."""
    if result.margin is None:
        return ""
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin
    one, other = result.named_pairs[pair]
    not_worse, not_better = tests.p_not_worse[pair] <= alpha, tests.p_not_better[pair] <= alpha
    if not_worse and not_better:
        return f"They are equivalent within the margin of {margin:g}."
    if not_worse or not_better:
        good, bad = (one, other) if not_worse else (other, one)
        if result.significant_direction[pair]:
            is_sure = max(tests.low[pair], -tests.high[pair]) >= margin
            verb = "is" if is_sure else "may be"
            return f"{bad} {verb} worse by the margin of {margin:g} or more."
        return f"{good} is not worse by the margin of {margin:g} or more; {bad} may be."
    return f"Either may be worse than the other by {margin:g} or more."


def _describe_margins(result: MetricComparison, best: int) -> str:
    """Describe which models are shown to be within the margin of the best mean, if it was given."""
    if result.margin is None:
        return ""
    tests, not_worse = result.mean_tests, []
    for pair, (one, other) in enumerate(result.pairs.tolist()):
        values = tests.p_not_worse if other == best else tests.p_not_better
        if best in {one, other} and values[pair] <= result.testing.alpha:
            not_worse.append(result.models[one if other == best else other])
    name, margin = result.models[best], f"{result.margin:g}"
    if not not_worse:
        return f"No other model is shown to be less than {margin} worse than {name}."
    verb = "is" if len(not_worse) == 1 else "are"
    return f"{_join_names(not_worse)} {verb} less than {margin} worse than {name}."


def _join_names(names: list[str]) -> str:
    *others, last = list_first(names, _MAX_NAMES)
    return f"{', '.join(others)} and {last}" if others else last


@dataclass(frozen=True)
class Gate:
    """Whether a model passed a check, and why.

    Parameters
    ----------
    passed : bool
        Whether the model passed; also the gate's truth value.
    reason : str
        Why, in one to three sentences.
    """

    passed: bool
    reason: str

    def __bool__(self) -> bool:
        """Return whether it passed."""
        return self.passed

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def decide_gate(result: MetricComparison) -> Gate:
    """Test whether the first of two models is better, or worse by less than the margin.

    The gate fails if the model is worse by the margin or more, or if there are too few users to
    tell. Its reason states which is the case and, if it can be computed, how many users are enough.
    """
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin or 0.0
    (model, baseline), users = result.models, int(tests.users[0])
    difference, p = float(tests.difference[0]), float(tests.p_not_worse[0])
    metric_difference = result.sign * difference
    plus = "+" if metric_difference > 0 else ""
    where = f"{model} against {baseline} in {result.name}"
    what = f"{where}: {plus}{format_size(metric_difference)} over {format_count(users, 'user')}"
    level = f"{_format_p(p)}, alpha {alpha:g}"
    if np.isnan(p):
        reason = f"{what}. Too few users have a score in both."
    elif p <= alpha:
        reason = f"{what}; {model} is better, or worse by less than {margin:g} ({level})."
    elif difference <= -margin:
        significance = "significant" if tests.p[0] <= alpha else "not significant"
        reason = (
            f"{what}. The means differ by the margin of {margin:g} or more, and the difference is "
            f"{significance} ({_format_p(float(tests.p[0]))})."
        )
    else:  # `power` is two-sided: twice the level
        deviation, two_sided = float(tests.deviation[0]), min(2 * alpha, 0.99)
        needed = power(difference + margin, deviation=deviation, alpha=two_sided)
        reason = (
            f"{what}. {model} may still be worse by {margin:g} or more ({level}): too few users. "
            f"If the difference stays the same, about {needed} are enough."
        )
    return Gate(passed=bool(p <= alpha), reason=escape_invisible(reason))
