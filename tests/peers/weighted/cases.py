"""Drawn lists whose labels have weights."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """Scores of all items for every user, and the users' relevant items.

    Parameters
    ----------
    name : str
        The name.
    scores : list of lists of float
        By user and item, without ties.
    labels : list of pairs of int
        User and item.
    weights : list of float
        By item.
    strata : list of str
        By item.
    k : int
        The cutoff.
    """

    name: str
    scores: list[list[float]]
    labels: list[tuple[int, int]]
    weights: list[float]
    strata: list[str]
    k: int = 3


def cases() -> list[Case]:
    """Return the cases."""
    found = []
    for name, n_users, n_items, share in (("few", 12, 9, 0.35), ("many", 40, 30, 0.1)):
        draw = random.Random(name)  # noqa: S311 - no secret
        scores = [[draw.random() for _ in range(n_items)] for _ in range(n_users)]
        pairs = [(user, item) for user in range(n_users) for item in range(n_items)]
        labels = [pair for pair in pairs if draw.random() < share]
        weights = [1.0 + item % 7 for item in range(n_items)]
        strata = ["rare" if item % 7 > 3 else "popular" for item in range(n_items)]
        found.append(Case(name, scores, labels, weights, strata))
    return found
