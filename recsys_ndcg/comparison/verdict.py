"""The verdict of a comparison in words, and the gate that a model passes or fails."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.rendering import (
    Verdict,
    describe_interval,
    format_p,
    format_percent,
    format_size,
    format_span,
    join_names,
    list_first,
)
from recsys_ndcg.significance import MIN_DIFFERENT, count_needed_users, power

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.comparison.metric_comparison import MetricComparison

_MAX_NAMES = 4


def write_verdict(result: MetricComparison) -> Verdict:
    """Write which model is better, or that the data cannot distinguish them."""
    headline, *evidence = _judge(result)
    if len(result.pairs) > 1 and not result.testing.test_kind.is_test_of_mean:
        evidence.append(_name_contradictions(result))
    return Verdict(escape_invisible(headline), escape_invisible(" ".join(filter(None, evidence))))


def _judge(result: MetricComparison) -> tuple[str, ...]:
    """Return the headline and sentences of evidence."""
    tests = result.mean_tests
    if not tests.users.any():
        first = f"Nothing can be compared in {result.where}: no user has scores from two models."
        return first, "Choose another metric or threshold."
    if np.isnan(tests.p_corrected).all():
        users = format_count(int(tests.users.max()), "user")
        scores = zip(result.models, result.means().tolist(), strict=True)
        means = [f"{name} {format_size(mean)}" for name, mean in scores]
        first = f"Only {users} can be compared in {result.where}, too few for a test."
        return first, f"The scores: {', '.join(list_first(means, _MAX_NAMES))}."
    of_models = () if result.has_chance.all() else _judge_models(result)
    return (*of_models, _describe_chance(result)) if result.has_chance.any() else of_models


def _judge_models(result: MetricComparison) -> tuple[str, ...]:
    """Compare the models, without chance."""
    apart = np.flatnonzero(~result.has_chance)
    tests, pairs = result.mean_tests.take(apart), result.pairs[apart]
    columns, units = np.unique(pairs), _count_units(result, apart)
    if result.metric.per_user and not tests.wins.any() and not tests.losses.any():
        first = f"{_name_all(result, columns)} have the same score in {result.where} for each of"
        return f"{first} {units}.", "Are they different models?"
    if not result.metric.per_user and not tests.difference.any():
        value = format_size(float(result.means()[columns[0]]))
        return f"{_name_all(result, columns)} have the same {result.where}: {value}.", ""
    if len(apart) == 1:
        return _judge_pair(result, int(apart[0]))
    if result.testing.family == "baseline":
        return _judge_against_baseline(result, apart)
    return _judge_many(result, apart)


def _name_all(result: MetricComparison, columns: Positions) -> str:
    names = [result.models[column] for column in columns]
    return " and ".join(names) if len(names) == 2 else f"All {len(names)} models"


def _count_units(result: MetricComparison, pairs: Positions) -> str:
    """Return the number of users, and of runs if the tests count these, too."""
    tests = result.mean_tests.take(pairs)
    users, runs = format_span(tests.users.tolist()), tests.runs[tests.runs > 0].tolist()
    users = f"{users} user{'' if users == '1' else 's'}"
    return f"{users} and {format_span(runs)} runs" if runs else users


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


def _judge_pair(result: MetricComparison, pair: int) -> tuple[str, ...]:
    tests, (one, other) = result.mean_tests, result.named_pairs[pair]
    direction, is_of_mean = (
        int(result.significant_direction[pair]),
        result.testing.test_kind.is_test_of_mean,
    )
    units, p = _count_units(result, np.array([pair])), format_p(float(tests.p_corrected[pair]))
    test = f"{result.testing.test_kind.in_words}, {p}"
    if not direction:
        first = f"No clear winner in {result.where}: {one} and {other} are level."
        if not is_of_mean:
            found = f"The test favours neither over {units} ({test})."
            return first, found, _describe_means(result, pair), _describe_margin(result, pair)
        size = _describe_size(result, pair, result.sign)
        found = f"{one} minus {other} is {size} over {units} ({test})."
        more = _describe_margin(result, pair) or _describe_detectable(result, [pair])
        return first, found, more
    if direction < 0:
        one, other = other, one
    more = _describe_margin(result, pair) or _describe_effect(result, pair)
    if is_of_mean:
        size = _describe_size(result, pair, direction, inverts=direction < 0)
        found = f"It is ahead by {size} over {units} ({test})."
        return f"{one} is better than {other} in {result.where}.", found, more
    order = (
        f"More users are ahead with {one} than with {other} in {result.where}."
        if result.testing.test == "sign"
        else f"The ranks of the users' differences favour {one} over {other} in {result.where}."
    )
    return order, f"Over {units}, {test}.", _describe_means(result, pair), more


def _describe_means(result: MetricComparison, pair: int) -> str:
    """Describe the means of a pair, of which a test of ranks or signs says nothing."""
    leads = int(np.sign(result.mean_tests.difference[pair]))
    if not leads:
        return "The means are equal."
    better, direction = result.named_pairs[pair][leads < 0], result.significant_direction[pair]
    size = _describe_size(result, pair, leads, inverts=leads < 0)
    if leads == direction:
        return f"{better} also has the better mean, by {size}."
    return f"{'But ' if direction else ''}{better} has the better mean, by {size}."


def _name_contradictions(result: MetricComparison) -> str:
    """Name the pairs whose means point the other way than a test of ranks or signs."""
    differs = result.significant_direction * np.sign(result.mean_tests.difference) < 0
    texts = [
        " above ".join(result.named_pairs[pair][:: -int(result.significant_direction[pair])])
        for pair in np.flatnonzero(differs).tolist()
    ]
    return f"The means point the other way: {join_names(texts)}." if texts else ""


def _describe_size(result: MetricComparison, pair: int, sign: int, *, inverts: bool = False) -> str:
    """Describe sign · difference and its interval, also in percent of a model's mean.

    The percentage is of the second model's mean, or of the first model's if `inverts`. It has the
    sign of the difference: a model that is better by an error is so by a positive percentage.
    """
    tests = result.mean_tests
    low, high = sorted((sign * float(tests.low[pair]), sign * float(tests.high[pair])))
    size, notes = format_size(sign * float(tests.difference[pair])), []
    if np.isfinite(low):
        kind = "interval" if result.testing.test_kind.is_test_of_mean else "t interval"
        notes.append(describe_interval(low, high, result.testing.alpha, kind))
    relative = tests.relative, tests.relative_low, tests.relative_high
    ratios = [1 + values[pair] for values in relative]
    if inverts:
        ratios = [1 / one if one > 0 else np.nan for one in (ratios[0], ratios[2], ratios[1])]
    turn = sign * result.sign * (-1 if inverts else 1)
    middle, *ends = (turn * (one - 1) for one in ratios)
    low, high = ends[::turn]
    if np.isfinite(middle):
        shown = f"relative {format_percent(middle)} %"
        if not np.isnan([low, high]).any():
            shown += f", {format_percent(low)} to {format_percent(high)} %"
        notes.append(shown)
    return f"{size} ({'; '.join(notes)})" if notes else size


def _judge_many(result: MetricComparison, apart: Positions) -> tuple[str, ...]:
    directions, low = result.significant_direction, result.ranks[0]
    columns = np.unique(result.pairs[apart]).tolist()
    order = [column for column in result.columns_by_mean.tolist() if column in columns]
    tested = f"{_count_units(result, apart)}; {_name_test(result)}."
    top = [column for column in order if low[column] == 1]
    margins = _describe_margins(result, order[0])
    no_winner = f"No clear winner in {result.where}:"
    if len(top) == len(order):
        first = f"{no_winner} all {len(order)} models are level."
        return first, tested, margins or _describe_detectable(result, apart)
    if not top:  # as of three models of which each wins against the next by signs
        return f"{no_winner} each model is worse than another.", tested
    if len(top) == 1:
        return _name_winner(result, order, tested)
    behind = [column for column in order if column not in top]
    names = join_names([result.models[column] for column in behind])
    pairs = zip(result.pairs.tolist(), directions.tolist(), strict=True)
    losses = {(a, b) if direction < 0 else (b, a) for (a, b), direction in pairs if direction}
    lose_to_all = all((one, other) in losses for one in behind for other in top)
    verb = "is" if len(behind) == 1 else "are"
    worse = f"{verb} worse" if lose_to_all else f"{verb} worse than at least one model"
    level = join_names([result.models[column] for column in top])
    first = f"{no_winner} {level} are level; {names} {worse}."
    tied = [pair for pair in apart.tolist() if {*result.pairs[pair].tolist()} <= {*top}]
    return first, tested, margins or _describe_detectable(result, tied)


def _name_winner(result: MetricComparison, order: list[int], tested: str) -> tuple[str, ...]:
    """Name the only model of the first tier, and what it is ahead of."""
    best, *others = sorted(order, key=lambda column: result.ranks[0][column] != 1)
    pairs = [{*columns} for columns in result.pairs.tolist()]
    name, n_others = result.models[best], len(others)
    first = f"{name} is better than each of the other {n_others} models in {result.where}."
    more = _describe_gap(result, best, others[0])
    if result.ranks[1][best] == 1:
        return first, tested, more
    level = [
        result.models[one]
        for one in others
        if not result.significant_direction[pairs.index({best, one})]
    ]
    first = f"Only {name} is in the first tier in {result.where}, but it is not clearly better than"
    only = "Each other model is worse than at least one."
    return f"{first} {join_names(level)}.", tested, only, more


def _judge_against_baseline(result: MetricComparison, apart: Positions) -> tuple[str, ...]:
    groups = _group_by_outcome(result, apart, result.baseline)
    first = f"In {result.where}, {_join_groups(groups, result.baseline)}."
    tested = f"{_count_units(result, apart)}; {_name_test(result)}."
    open_ = [pair for pair in apart.tolist() if not result.significant_direction[pair]]
    more = _describe_margins(result, result.models.index(result.baseline))
    return first, tested, more or (_describe_detectable(result, open_) if open_ else "")


def _describe_chance(result: MetricComparison) -> str:
    """Describe which models are better than random order: tests apart from the other pairs."""
    with_chance = np.flatnonzero(result.has_chance & ~np.isnan(result.mean_tests.p_corrected))
    if not len(with_chance):  # a metric without a chance level, such as RMSE
        return ""
    groups = _group_by_outcome(result, with_chance, CHANCE)
    if len(groups["better than"]) == len(result.models) - 1:
        both = "Both" if len(result.models) == 3 else f"All {len(result.models) - 1} models"
        return f"{both} are better than chance."
    return f"{_join_groups(groups, CHANCE)}."


def _group_by_outcome(
    result: MetricComparison, pairs: Positions, against: str
) -> dict[str, list[str]]:
    """Return the models that are better than one model, worse, or neither."""
    outcomes = ("level with", "better than", "worse than")  # directions 0, 1, -1
    groups: dict[str, list[str]] = {name: [] for name in (*outcomes[1:], outcomes[0])}
    for pair in pairs.tolist():
        one, other = result.named_pairs[pair]
        direction = int(result.significant_direction[pair])
        is_first = other == against
        groups[outcomes[direction if is_first else -direction]].append(one if is_first else other)
    return groups


def _join_groups(groups: Mapping[str, list[str]], against: str) -> str:
    return "; ".join(
        f"{join_names(names)} {'is' if len(names) == 1 else 'are'} {outcome} {against}"
        for outcome, names in groups.items()
        if names
    )


def _describe_gap(result: MetricComparison, first: int, second: int) -> str:
    """Describe how far the first model is ahead of the second."""
    pair = [set(columns) for columns in result.pairs.tolist()].index({first, second})
    leads = 1 if result.pairs[pair][0] == first else -1
    is_behind = leads * float(result.mean_tests.difference[pair]) >= 0
    sign = leads if is_behind else -leads
    size = _describe_size(result, pair, sign, inverts=sign < 0)
    ahead = f"{result.models[first]} is ahead" if is_behind else "its mean is ahead"
    return (
        f"{result.models[second]} comes next; {ahead} by {size}. "
        f"{_describe_margin(result, pair) or _describe_effect(result, pair)}"
    )


def _describe_effect(result: MetricComparison, pair: int) -> str:
    """Describe for how many users a model is better."""
    tests = result.mean_tests
    if not result.metric.per_user:
        how = "swaps the lists of users" if result.swaps_lists else "is the jackknife's over users"
        return f"It is a number of all lists together; the test {how}."
    one, other = result.named_pairs[pair]
    wins, losses, users = int(tests.wins[pair]), int(tests.losses[pair]), int(tests.users[pair])
    if (result.significant_direction[pair] or tests.difference[pair]) < 0:
        one, wins, losses = other, losses, wins
    return (
        f"{one} is ahead for {wins / users:.0%} of the users and behind for {losses / users:.0%}."
    )


def _describe_detectable(result: MetricComparison, pairs: Sequence[int] | Positions) -> str:
    """Describe which differences the test would find between these models with 80 % power."""
    detectable = result.mean_tests.detectable[pairs]
    detectable = detectable[np.isfinite(detectable) & ~(result.is_bounded & (detectable > 1))]
    if not len(detectable):
        if result.testing.test_kind.is_test_of_mean:
            return "With so few users whose scores differ, no difference can be found reliably."
        return "For this test, the detectable difference is unknown."
    low, high = format_size(float(detectable.min())), format_size(float(detectable.max()))
    span = low if low == high else f"{low} to {high}, depending on the pair"
    return f"With 80 % power the test would find a difference of {span}."


def explain_roughness(result: MetricComparison, pair: int) -> str:
    """Return why a pair's p and interval are rough; empty if they are not.

    The mean of few different scores, or of skewed differences, is far from normal. If no scores
    differ, p is 1 and there is no interval: only the tests against a margin are rough.
    """
    tests = result.mean_tests
    users, skewness = int(tests.users[pair]), float(tests.skewness[pair])
    different = int(tests.wins[pair] + tests.losses[pair])
    if users < 2 or not result.testing.test_kind.is_test_of_mean:
        return ""
    what = "scores" if result.metric.per_user else "jackknife values"
    if not different:
        return "" if result.margin is None else f"no user has different {what}"
    if different < MIN_DIFFERENT:
        verb = "has" if different == 1 else "have"
        return f"only {format_count(different, 'user')} {verb} different {what}"
    if users < (needed := count_needed_users(skewness)):
        return (
            f"the differences are skewed (skewness {skewness:.1f}: {needed} users are needed, and "
            f"there are {users})"
        )
    return ""


def _describe_margin(result: MetricComparison, pair: int) -> str:
    """Describe non-inferiority of a pair, if a margin was given."""
    if result.margin is None:
        return ""
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin
    one, other = result.named_pairs[pair]
    not_worse, not_better = tests.p_not_worse[pair] <= alpha, tests.p_not_better[pair] <= alpha
    if not_worse and not_better:
        return f"{one} and {other} are equivalent within the margin of {margin:g}."
    if not_worse or not_better:
        good, bad = (one, other) if not_worse else (other, one)
        if result.significant_direction[pair]:
            least = max(tests.low[pair], -tests.high[pair])
            if np.isnan(least):  # the differences of all users are the same
                least = abs(tests.difference[pair])
            is_sure = least >= margin
            verb = "is" if is_sure else "may be"
            return f"{bad} {verb} worse by the margin of {margin:g} or more."
        return f"{good} is not worse by the margin of {margin:g} or more; {bad} may be."
    return f"Either of {one} and {other} may be worse than the other by {margin:g} or more."


def _describe_margins(result: MetricComparison, best: int) -> str:
    """Describe which models are shown to be within the margin of one model, if it was given."""
    if result.margin is None:
        return ""
    tests, not_worse = result.mean_tests, []
    for pair, (one, other) in enumerate(result.pairs.tolist()):
        if result.has_chance[pair]:
            continue
        values = tests.p_not_worse if other == best else tests.p_not_better
        if best in {one, other} and values[pair] <= result.testing.alpha:
            not_worse.append(result.models[one if other == best else other])
    name, margin = result.models[best], f"{result.margin:g}"
    if not not_worse:
        return f"No other model is shown to be less than {margin} worse than {name}."
    verb = "is" if len(not_worse) == 1 else "are"
    return f"{join_names(not_worse)} {verb} less than {margin} worse than {name}."


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


def decide_gate(result: MetricComparison, remark: str) -> Gate:
    """Test whether the first of two models is better, or worse by less than the margin.

    The gate fails if the model is worse by the margin or more, or if there are too few users to
    tell. Its reason states which is the case and, if it can be computed, how many users are enough,
    and ends with the remark, if there is one.
    """
    tests, alpha, margin = result.mean_tests, result.testing.alpha, result.margin or 0.0
    (model, baseline), users = result.models, int(tests.users[0])
    difference, p = float(tests.difference[0]), float(tests.p_not_worse[0])
    metric_difference = result.sign * difference
    plus = "+" if metric_difference > 0 else ""
    where = f"{model} against {baseline} in {result.where}"
    what = f"{where}: {plus}{format_size(metric_difference)} over {format_count(users, 'user')}"
    level = f"{format_p(p)}, alpha {alpha:g}"
    rough, runs = explain_roughness(result, 0), int(tests.runs[0])
    if runs:
        what += f" and {runs} runs"
    if np.isnan(p):
        count = format_count(users, "user") if users else "no user"
        reason = f"{where}: too few scores, because {count} has a score in both."
    elif p <= alpha:
        reason = f"{what}; {model} is better, or worse by less than {margin:g} ({level})."
    elif difference <= -margin:
        significance = "significant" if tests.p[0] <= alpha else "not significant"
        reason = (
            f"{what}. The means differ by the margin of {margin:g} or more, and the difference is "
            f"{significance} ({format_p(float(tests.p[0]))})."
        )
    else:  # `power` is two-sided: twice the level
        deviation, two_sided = float(tests.sd_difference[0]), min(2 * alpha, 0.99)
        needed = power(difference + margin, deviation=deviation, alpha=two_sided)
        if not deviation:  # p is that of random signs
            needed = math.ceil(-math.log2(alpha))
        enough = f"If the difference stays the same, about {needed} users would be enough."
        reason = (
            f"{what}. {model} may still be worse by {margin:g} or more ({level}): too few users"
            f"{' or runs' if runs else ''}.{'' if runs else f' {enough}'}"
        )
    if rough:
        reason += f" This p is rough: {rough}."
    reason = escape_invisible(f"{reason} {remark}".rstrip())
    return Gate(passed=bool(p <= alpha), reason=reason)
