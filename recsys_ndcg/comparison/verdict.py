"""The answer in two sentences, whatever the data say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.comparison.tables import best_first, better, means
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.wording import first_few, p_value, size

if TYPE_CHECKING:
    from recsys_ndcg.comparison.metric_comparison import Contest

_FEW_NAMES = 4
_TRIVIAL = 0.1  # standard deviations of the users' differences; Cohen calls 0.2 small


def verdict(contest: Contest) -> str:
    """Return which model is better, or that the data cannot tell, and how to read that."""
    found = contest.tested
    if not found.users.any():
        return (
            f"Nobody has a score of two models in {contest.name}, so nothing can be compared. "
            "Choose another metric or threshold."
        )
    if np.isnan(found.corrected).all():
        return (
            f"Only {people(int(found.users.max()))} can be compared in {contest.name}, and one "
            f"user is no evidence. {_means_told(contest)}"
        )
    first, second = _two(contest) if len(contest.models) == 2 else _many(contest)
    return visible(f"{first} {second}")


def how_tested(contest: Contest) -> str:
    """Return the test, its correction and the level in words."""
    n_pairs = len(contest.pairs)
    over = f" over {n_pairs} pairs" if n_pairs > 1 else ""
    return f"{_test(contest)}{over}, alpha {contest.how.alpha:g}"


def _test(contest: Contest) -> str:
    test = contest.how.kind.in_words
    if len(contest.pairs) == 1:
        return test
    return f"{test}, {contest.how.corrected_by.in_words}"


def _two(contest: Contest) -> tuple[str, str]:
    found = contest.tested
    (one, other), users = contest.models, people(int(found.users[0]))
    sure = int(better(found, contest.how.alpha)[0])
    difference, p = float(found.difference[0]), p_value(float(found.corrected[0]))
    if not found.wins[0] and not found.losses[0]:
        said = f"{one} and {other} score the same in {contest.name} for each of {users}."
        return said, "Are they two models?"
    if not sure:
        said = (
            f"The data do not tell {one} and {other} apart in {contest.name}: {one} less {other} "
            f"is {size(contest.sign * difference)} over {users}, {p}."
        )
        return said, _within(contest, 0) or _could_have(contest)
    low, high = float(found.low[0]), float(found.high[0])
    if sure < 0:
        (one, other), low, high = (other, one), -high, -low
    level = f"{100 * (1 - contest.how.alpha):.10g} %"
    said = (
        f"{one} is better than {other} in {contest.name}: by {size(abs(difference))} "
        f"({level} interval {size(low)} to {size(high)}) over {users}, {p}."
    )
    return said, _within(contest, 0) or _effect(contest, 0)


def _many(contest: Contest) -> tuple[str, str]:
    found, count = contest.tested, len(contest.models)
    sure, order = better(found, contest.how.alpha), best_first(contest)
    where = f"in {contest.name} ({people(int(found.users.max()))}; {_test(contest)})"
    if not found.wins.any() and not found.losses.any():
        users = people(int(found.users.max()))
        said = f"All {count} models score the same in {contest.name} for each of {users}."
        return said, "Are they different models?"
    if not sure.any():
        said = f"The data do not tell any of the {count} models apart {where}."
        return said, _all_within(contest, order[0]) or _could_have(contest)
    winner, loser = np.where(sure[:, None] > 0, contest.pairs, contest.pairs[:, ::-1])[sure != 0].T
    top = [int(place) for place in order if place not in loser]
    names = [contest.models[place] for place in top]
    if len(top) == 1:
        beaten = int((winner == top[0]).sum())
        said = f"{names[0]} alone is in the first tier of {count} models {where}."
        if beaten == count - 1:
            said = f"{names[0]} is better than each of the other {beaten} models {where}."
        return said, _gap(contest, [*top, *(one for one in order.tolist() if one != top[0])])
    told = _listed(first_few(names, _FEW_NAMES))
    said = (
        f"{told} share the first tier of {count} models {where}: no model is significantly better "
        "than any of them."
    )
    return said, _all_within(contest, order[0]) or _could_have(contest)


def _gap(contest: Contest, order: list[int]) -> str:
    """Return how far the second model is behind the first."""
    first, second = order[:2]
    pair = [set(both) for both in contest.pairs.tolist()].index({first, second})
    behind = abs(float(contest.tested.difference[pair]))
    return f"{contest.models[second]} comes next, {size(behind)} behind; {_effect(contest, pair)}"


def _effect(contest: Contest, pair: int) -> str:
    """Return how many users feel the difference, and whether it is a small one."""
    found = contest.tested
    one, other = contest.named_pairs[pair]
    wins, losses, users = int(found.wins[pair]), int(found.losses[pair]), int(found.users[pair])
    if found.difference[pair] < 0:
        one, wins, losses = other, losses, wins
    effect = abs(float(found.effect[pair]))
    told = f"{one} is ahead for {wins / users:.0%} of the users and behind for {losses / users:.0%}"
    if effect < _TRIVIAL:
        return f"{told}. That is a very small difference (d_z = {effect:.2g})."
    return f"{told}." if np.isinf(effect) else f"{told} (d_z = {effect:.2g})."


def _could_have(contest: Contest) -> str:
    """Return which difference would have been found."""
    least = contest.tested.detectable
    known = least[np.isfinite(least) & ~(contest.metric.bounded & (least > 1))]
    if not len(known):
        if contest.how.kind.has_intervals:
            return "With so few users who differ, no difference would have been found surely."
        return "Which difference would have been found is not known of this test."
    low, high = size(float(known.min())), size(float(known.max()))
    span = low if low == high else f"{low} to {high}, by pair,"
    return f"A difference of {span} would have been found with 80 % power."


def _within(contest: Contest, pair: int) -> str:
    """Return what the margin says of a pair, if one was given."""
    if contest.margin is None:
        return ""
    found, alpha, margin = contest.tested, contest.how.alpha, contest.margin
    one, other = contest.named_pairs[pair]
    not_worse, not_better = (
        float(values[pair]) <= alpha for values in (found.p_not_worse, found.p_not_better)
    )
    if not_worse and not_better:
        return f"They are equivalent within the margin of {margin:g}."
    if not_worse or not_better:
        good, bad = (one, other) if not_worse else (other, one)
        return f"{good} is not worse than {bad} by {margin:g} or more; of {bad} that is not shown."
    return f"That one of them is not worse by {margin:g} or more is not shown of either."


def _all_within(contest: Contest, best: int) -> str:
    """Return which models are surely not worse than the best mean by the margin, if any is."""
    if contest.margin is None:
        return ""
    found, sure = contest.tested, []
    for pair, (one, other) in enumerate(contest.pairs.tolist()):
        values = found.p_not_worse if other == best else found.p_not_better
        if best in {one, other} and values[pair] <= contest.how.alpha:
            sure.append(contest.models[one if other == best else other])
    what = f"not worse than {contest.models[best]} by {contest.margin:g} or more"
    if not sure:
        return f"Of no model it is shown that it is {what}."
    return f"Shown to be {what}: {_listed(first_few(sure, _FEW_NAMES))}."


def _means_told(contest: Contest) -> str:
    told = [
        f"{name} {size(mean)}"
        for name, mean in zip(contest.models, means(contest.scores).tolist(), strict=True)
    ]
    return f"Its scores: {', '.join(first_few(told, _FEW_NAMES))}."


def people(count: int) -> str:
    """Return how many users there are."""
    return f"{count} user" if count == 1 else f"{count} users"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
