"""The answer in two sentences, whatever the data say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.comparison.tables import best_first, better, means
from recsys_ndcg.visible import visible

if TYPE_CHECKING:
    from recsys_ndcg.comparison.contest import Contest

_FEW_NAMES = 4
_TRIVIAL = 0.1  # standard deviations of the users' differences; Cohen calls 0.2 small
_TESTS = {
    "t": "paired t test",
    "randomisation": "paired randomisation test",
    "bootstrap": "paired bootstrap test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
}


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
            f"Only {_users(int(found.users.max()))} can be compared in {contest.name}, and one "
            f"user is no evidence. {_means_told(contest)}"
        )
    first, second = _two(contest) if len(contest.models) == 2 else _many(contest)
    return visible(f"{first} {second}")


def how_tested(contest: Contest) -> str:
    """Return the test and its correction in words."""
    how, n_pairs = contest.how, len(contest.pairs)
    test = _TESTS[how.test]
    if n_pairs == 1:
        return f"{test}, alpha {how.alpha:g}"
    corrected = {"none": "without correction", "bh": "Benjamini–Hochberg"}.get(
        how.correction, how.correction.capitalize() if how.correction != "max-T" else "max-T"
    )
    return f"{test}, {corrected} over {n_pairs} pairs, alpha {how.alpha:g}"


def _two(contest: Contest) -> tuple[str, str]:
    found = contest.tested
    (one, other), users = contest.models, _users(int(found.users[0]))
    sure = int(better(found, contest.how.alpha)[0])
    apart = abs(float(found.difference[0]))
    if apart == 0 and not found.wins[0] and not found.losses[0]:
        return (
            f"{one} and {other} score the same in {contest.name} for each of {users}.",
            _within(contest, 0) or "Are they two models?",
        )
    low, high = sorted(np.abs([found.low[0], found.high[0]]))
    if sure:
        winner, loser = (one, other) if sure > 0 else (other, one)
        return (
            f"{winner} is better than {loser} in {contest.name}: by {size(apart)} "
            f"({_level(contest)} interval {size(low)} to {size(high)}) over {users}, "
            f"{_p(found.corrected[0])}.",
            _within(contest, 0) or _effect(contest, 0),
        )
    return (
        f"The data do not tell {one} and {other} apart in {contest.name}: the difference is "
        f"{size(float(contest.sign * found.difference[0]))} over {users}, "
        f"{_p(found.corrected[0])}.",
        _within(contest, 0) or _could_have(contest),
    )


def _many(contest: Contest) -> tuple[str, str]:
    found, alpha = contest.tested, contest.how.alpha
    sure, order = better(found, alpha), best_first(contest)
    users = _users(int(found.users.max()))
    count = len(contest.models)
    if not sure.any():
        same = not found.wins.any() and not found.losses.any()
        said = (
            f"All {count} models score the same in {contest.name} for each of {users}."
            if same
            else f"The data do not tell any of the {count} models apart in {contest.name} "
            f"({users}; {how_tested(contest)})."
        )
        return said, "Are they different models?" if same else _could_have(contest)
    beaten = np.zeros(count, dtype=np.int64)
    for (one, other), sign in zip(contest.pairs.tolist(), sure.tolist(), strict=True):
        beaten[other] += sign > 0
        beaten[one] += sign < 0
    top = [contest.models[place] for place in order if beaten[place] == 0]
    where = f"in {contest.name} ({users}; {how_tested(contest)})"
    first = order[0]
    if top == [contest.models[first]]:
        worse = int((sure != 0)[(contest.pairs == first).any(axis=1)].sum())
        if worse == count - 1:
            return f"{top[0]} is better than each of the other {worse} models {where}.", _gap(
                contest, order
            )
        return f"{top[0]} alone is in the first tier of {count} models {where}.", _gap(
            contest, order
        )
    told = top if len(top) <= _FEW_NAMES else [*top[:_FEW_NAMES], f"{len(top) - _FEW_NAMES} more"]
    return (
        f"{_listed(told)} share the first tier of {count} models {where}: none of the others is "
        "significantly better than any of them.",
        _could_have(contest),
    )


def _gap(contest: Contest, order: np.ndarray) -> str:
    """Return how far the second model is behind the first."""
    first, second = order[:2].tolist()
    pair = next(
        place for place, both in enumerate(contest.pairs.tolist()) if set(both) == {first, second}
    )
    behind = abs(float(contest.tested.difference[pair]))
    return f"{contest.models[second]} comes next, {size(behind)} behind. {_effect(contest, pair)}"


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
        return f"It is a very small difference (d_z = {effect:.2g}): {told}."
    return f"{told} (d_z = {effect:.2g})."


def _could_have(contest: Contest) -> str:
    """Return which difference would have been found."""
    least = contest.tested.detectable
    known = least[np.isfinite(least)]
    if not len(known):
        return "Too few users differ to say which difference would have been found."
    low, high = float(known.min()), float(known.max())
    span = (
        size(low)
        if len(known) == 1 or size(low) == size(high)
        else (f"{size(low)} to {size(high)}, depending on the pair,")
    )
    return f"It would have found a difference of {span} with 80 % power; smaller ones may be there."


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


def _means_told(contest: Contest) -> str:
    told = [
        f"{name} {size(mean)}"
        for name, mean in zip(contest.models, means(contest.scores).tolist(), strict=True)
    ]
    more = len(told) - _FEW_NAMES
    return f"Its scores: {', '.join(told if more < 1 else [*told[:_FEW_NAMES], f'{more} more'])}."


def _users(count: int) -> str:
    return f"{count} user" if count == 1 else f"{count} users"


def _level(contest: Contest) -> str:
    return f"{100 * (1 - contest.how.alpha):g} %"


def _p(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.0001 else "p < 0.0001"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def size(value: float) -> str:
    """Return a number in four decimals, or two digits of a small or a huge one."""
    if np.isnan(value):
        return "-"
    return f"{value:.4f}" if value == 0 or 0.001 <= abs(value) < 1e6 else f"{value:.2g}"
