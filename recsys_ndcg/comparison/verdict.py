"""What a comparison says in words: the verdict, and the gate that a model passes or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.rendering import first_few
from recsys_ndcg.significance import power, rank_intervals

if TYPE_CHECKING:
    from recsys_ndcg.comparison.metric_comparison import MetricComparison

_FEW_NAMES = 4
_SMALLEST = 0.0001  # p that is written with its digits
_TRIVIAL = 0.1  # standard deviations of the users' differences; Cohen calls 0.2 small


def size(value: float) -> str:
    """Return a number in a sentence: four decimals, or two digits of a small or a huge one."""
    if np.isnan(value):
        return "-"
    return f"{value:z.4f}" if value == 0 or 0.001 <= abs(value) < 1e6 else f"{value:.2g}"


def _p_value(p: float) -> str:
    """Return a p-value in a sentence, in two digits."""
    return f"p = {p:.2g}" if p >= _SMALLEST else f"p < {_SMALLEST}"


def verdict(result: MetricComparison) -> str:
    """Return which model is better, or that the data cannot tell, and how to read that."""
    found = result.tested
    if not found.users.any():
        return (
            f"Nobody has a score of two models in {result.name}, so nothing can be compared. "
            "Choose another metric or threshold."
        )
    users = format_count(int(found.users.max()), "user")
    if np.isnan(found.p_corrected).all():
        scores = zip(result.models, result.means().tolist(), strict=True)
        means = [f"{name} {size(mean)}" for name, mean in scores]
        return (
            f"Only {users} can be compared in {result.name}, and one user is no evidence. "
            f"Its scores: {', '.join(first_few(means, _FEW_NAMES))}."
        )
    count = len(result.models)
    if not found.wins.any() and not found.losses.any():
        names = " and ".join(result.models) if count == 2 else f"All {count} models"
        first = f"{names} score the same in {result.name} for each of {users}."
        second = f"Are they {'two' if count == 2 else 'different'} models?"
    else:
        first, second = _two(result, users) if count == 2 else _many(result, users)
    return escape_invisible(f"{first} {second}")


def how_tested(result: MetricComparison) -> str:
    """Return the test, its correction and the level in words."""
    n_pairs = len(result.pairs)
    over = f" over {n_pairs} pairs" if n_pairs > 1 else ""
    return f"{_test(result)}{over}, alpha {result.how.alpha:g}"


def _test(result: MetricComparison) -> str:
    correction = f", {result.how.corrected_by.in_words}" if len(result.pairs) > 1 else ""
    return f"{result.how.kind.in_words}{correction}"


def _two(result: MetricComparison, users: str) -> tuple[str, str]:
    found, (one, other), sure = result.tested, result.models, int(result.better[0])
    difference, p = float(found.difference[0]), _p_value(float(found.p_corrected[0]))
    if not sure:
        said = (
            f"The data do not tell {one} and {other} apart in {result.name}: {one} less {other} "
            f"is {size(result.sign * difference)} over {users}, {p}."
        )
        return said, _within(result, 0) or _could_have(result)
    low, high = float(found.low[0]), float(found.high[0])
    if sure < 0:
        (one, other), low, high = (other, one), -high, -low
    level = f"{100 * (1 - result.how.alpha):.10g} %"
    said = (
        f"{one} is better than {other} in {result.name}: by {size(abs(difference))} "
        f"({level} interval {size(low)} to {size(high)}) over {users}, {p}."
    )
    return said, _within(result, 0) or _effect(result, 0)


def _many(result: MetricComparison, users: str) -> tuple[str, str]:
    sure, order, count = result.better, result.best_first, len(result.models)
    where = f"in {result.name} ({users}; {_test(result)})"
    if not sure.any():
        said = f"The data do not tell any of the {count} models apart {where}."
        return said, _all_within(result, order[0]) or _could_have(result)
    first, last = rank_intervals(count, result.pairs, sure)
    top = [place for place in order.tolist() if first[place] == 1]
    names = [result.models[place] for place in top]
    if len(top) == 1:
        said = f"{names[0]} alone is in the first tier of {count} models {where}."
        if last[top[0]] == 1:
            said = f"{names[0]} is better than each of the other {count - 1} models {where}."
        return said, _gap(result, [*top, *(one for one in order.tolist() if one != top[0])])
    said = (
        f"{_listed(names)} share the first tier of {count} models {where}: no model is "
        "significantly better than any of them."
    )
    return said, _all_within(result, order[0]) or _could_have(result)


def _gap(result: MetricComparison, order: list[int]) -> str:
    """Return how far the second model is behind the first."""
    first, second = order[:2]
    pair = [set(both) for both in result.pairs.tolist()].index({first, second})
    behind = abs(float(result.tested.difference[pair]))
    return f"{result.models[second]} comes next, {size(behind)} behind; {_effect(result, pair)}"


def _effect(result: MetricComparison, pair: int) -> str:
    """Return how many users feel the difference, and whether it is a small one."""
    found = result.tested
    one, other = result.named_pairs[pair]
    wins, losses, users = int(found.wins[pair]), int(found.losses[pair]), int(found.users[pair])
    if found.difference[pair] < 0:
        one, wins, losses = other, losses, wins
    effect = abs(float(found.effect[pair]))
    told = f"{one} is ahead for {wins / users:.0%} of the users and behind for {losses / users:.0%}"
    if effect < _TRIVIAL:
        return f"{told}. That is a very small difference (d_z = {effect:.2g})."
    return f"{told}." if np.isinf(effect) else f"{told} (d_z = {effect:.2g})."


def _could_have(result: MetricComparison) -> str:
    """Return which difference would have been found."""
    least = result.tested.detectable
    known = least[np.isfinite(least) & ~(result.metric.bounded & (least > 1))]
    if not len(known):
        if result.how.kind.has_intervals:
            return "With so few users who differ, no difference would have been found surely."
        return "Which difference would have been found is not known of this test."
    low, high = size(float(known.min())), size(float(known.max()))
    span = low if low == high else f"{low} to {high}, by pair,"
    return f"A difference of {span} would have been found with 80 % power."


def _within(result: MetricComparison, pair: int) -> str:
    """Return what the margin says of a pair, if one was given."""
    if result.margin is None:
        return ""
    found, alpha, margin = result.tested, result.how.alpha, result.margin
    one, other = result.named_pairs[pair]
    not_worse, not_better = found.p_not_worse[pair] <= alpha, found.p_not_better[pair] <= alpha
    if not_worse and not_better:
        return f"They are equivalent within the margin of {margin:g}."
    if not_worse or not_better:
        good, bad = (one, other) if not_worse else (other, one)
        return f"{good} is not worse than {bad} by {margin:g} or more; of {bad} that is not shown."
    return f"That one of them is not worse by {margin:g} or more is not shown of either."


def _all_within(result: MetricComparison, best: int) -> str:
    """Return which models are surely not worse than the best mean by the margin, if any is."""
    if result.margin is None:
        return ""
    found, sure = result.tested, []
    for pair, (one, other) in enumerate(result.pairs.tolist()):
        values = found.p_not_worse if other == best else found.p_not_better
        if best in {one, other} and values[pair] <= result.how.alpha:
            sure.append(result.models[one if other == best else other])
    what = f"not worse than {result.models[best]} by {result.margin:g} or more"
    if not sure:
        return f"Of no model it is shown that it is {what}."
    return f"Shown to be {what}: {_listed(sure)}."


def _listed(every: list[str]) -> str:
    names = first_few(every, _FEW_NAMES)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True)
class Gate:
    """Whether something may pass, and why.

    Parameters
    ----------
    passed : bool
        The answer; a gate is true where it passed.
    reason : str
        One sentence.
    """

    passed: bool
    reason: str

    def __bool__(self) -> bool:
        """Tell whether it passed."""
        return self.passed

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def not_worse(result: MetricComparison) -> Gate:
    """Tell whether it is shown that the first of two models is not worse by the margin or more.

    Two things let it fail: the model is worse, or the users are too few to show that it is not;
    the reason says which, and in that case how many users would do.
    """
    found, alpha, margin = result.tested, result.how.alpha, result.margin or 0.0
    (model, baseline), users = result.models, int(found.users[0])
    difference, p = float(found.difference[0]), float(found.p_not_worse[0])
    apart = result.sign * difference
    plus = "+" if apart > 0 else ""
    where = f"{model} against {baseline} in {result.name}"
    what = f"{where}: {plus}{size(apart)} over {format_count(users, 'user')}"
    told = f"{_p_value(p)}, alpha {alpha:g}"
    if np.isnan(p):
        said = f"{what}. Too few users have a score in both."
    elif p <= alpha:
        said = f"{what}; it is not worse by {margin:g} or more ({told})."
    elif difference <= -margin:
        sure = "significant" if found.p[0] <= alpha else "not significant"
        said = (
            f"{what}. It is worse by the margin of {margin:g} or more, and the difference is "
            f"{sure} ({_p_value(float(found.p[0]))})."
        )
    else:  # one-sided, so at twice the level of two sides
        level = min(2 * alpha, 0.99)
        needed = power(difference + margin, deviation=float(found.deviation[0]), alpha=level)
        said = (
            f"{what}. That it is not worse by {margin:g} or more is not shown ({told}): too few "
            f"users to tell. If the difference stays as it is, about {needed} would do."
        )
    return Gate(passed=bool(p <= alpha), reason=escape_invisible(said))
