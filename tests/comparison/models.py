"""Models drawn for tests: the same ratings, ranked more or less well."""

from __future__ import annotations

import random

Rows = list[tuple[str, str, float, float]]


def ratings(users: int, seed: int = 0, longest: int = 8) -> list[tuple[str, str, float]]:
    """Return ratings of 1 to 5, of two items a user or more."""
    draw = random.Random(seed)  # noqa: S311 - no secrets
    return [
        (f"u{user:04}", f"i{item}", float(draw.randint(1, 5)))
        for user in range(users)
        for item in draw.sample(range(40), draw.randint(2, longest))
    ]


def model(true: list[tuple[str, str, float]], noise: float, seed: int) -> Rows:
    """Return estimates that are the ratings and noise."""
    draw = random.Random(f"{seed} {noise}")  # noqa: S311 - no secrets
    return [(user, item, grade + draw.gauss(0, noise), grade) for user, item, grade in true]


def models(users: int = 60, seed: int = 0, **noise: float) -> dict[str, Rows]:
    """Return a model for each name, with that noise."""
    true = ratings(users, seed)
    wanted = noise or {"good": 0.8, "fair": 2.0, "poor": 6.0}
    return {
        name: model(true, size, seed + place) for place, (name, size) in enumerate(wanted.items())
    }
