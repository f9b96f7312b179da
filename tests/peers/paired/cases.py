"""Sample scores of several models on the same users: ties, skew, few users and many, equal models.

The standard library alone, so that every environment draws the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Case:
    """The same scores for every library.

    Parameters
    ----------
    scores : dict
        ``{model: [score of each user]}``, users in the same order, none without a score.
    denominators : list of int
        One for each user, for ratios of sums: a score is the numerator over this.
    """

    name: str
    scores: dict[str, list[float]]
    denominators: list[int]

    def pairs(self) -> dict[str, tuple[list[float], list[float]]]:
        """Return the scores of each two models, by their names with a hyphen between."""
        return {
            f"{one}-{other}": (self.scores[one], self.scores[other])
            for one, other in combinations(self.scores, 2)
        }


def cases() -> list[Case]:
    """Return all cases, the same ones each time."""
    return [
        _drawn("plain", 40, 3), _drawn("ties", 60, 4, steps=4),
        _drawn("skewed", 80, 3, skewed=True), _sparse(_drawn("sparse", 16, 2)),
        _drawn("few", 8, 3), _drawn("few_ties", 9, 2, steps=4),
        _drawn("many", 400, 5), _with_equals(_drawn("equal", 30, 3)),
    ]  # fmt: skip


def _drawn(
    name: str, n_users: int, n_models: int, *, steps: int = 2**20, skewed: bool = False
) -> Case:
    """Draw users whom all models serve well or badly, and models that differ a little.

    Scores are whole multiples of 1/steps, so that every sum of them is exact, in any order: how a
    library treats equal sums does not depend on rounding. If skewed, a better model is much better
    for a tenth of the users, and for no others.
    """
    draw = random.Random(name)  # noqa: S311 - not for secrets
    ease = [draw.betavariate(4, 2) for _ in range(n_users)]
    scores = {}
    for place, model in enumerate("ABCDE"[:n_models]):
        better = 0.35 * place / n_users**0.5
        own = []
        for one in ease:
            if skewed:
                value = one + (5 * better if draw.random() < 0.1 else 0) + draw.gauss(0, 0.02)
            else:
                value = one + better + draw.gauss(0, 0.15)
            own.append(round(min(max(value, 0.0), 1.0) * steps) / steps)
        scores[model] = own
    return Case(name, scores, [draw.randint(1, 6) for _ in range(n_users)])


def _sparse(case: Case) -> Case:
    """Leave most scores near 0."""
    scores = {
        model: [round(value**24 * 2**20) / 2**20 for value in own]
        for model, own in case.scores.items()
    }
    return Case(case.name, scores, case.denominators)


def _with_equals(case: Case) -> Case:
    """Let the second model be the first, and the third better than both by 1/4 for every user."""
    first = [round(value * 64) / 128 for value in case.scores["A"]]
    scores = {"A": first, "B": first, "C": [value + 0.25 for value in first]}
    return Case(case.name, scores, case.denominators)
