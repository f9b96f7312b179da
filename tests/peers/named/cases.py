"""Sample lists without ties, some shorter than any cutoff, and what users of all kinds like.

The standard library alone, so that every environment draws the same.
"""

from __future__ import annotations

import random

from tests.peers.cases import Case

#: Longest first, and none of 16 or more items, of which ranx has no stable order.
LENGTHS = (15, 14, 12, 11, 8, 5, 3, 2, 1, 13)


def cases() -> list[Case]:
    """Return all cases, the same ones each time: in the last, all that is labelled is liked."""
    graded = _draw()
    binary = {u: {i: min(g, 1.0) for i, g in own.items()} for u, own in graded.labels.items()}
    lists = {user: own for user, own in graded.run.items() if user in graded.liked()}
    return [
        graded,
        Case("binary", binary, graded.run, threshold=1.0, k=10),
        Case("liked", graded.liked(), lists, threshold=1.0, k=10),
    ]


def _draw() -> Case:
    """Draw ten users; one dislikes everything, one has no list, and one no label."""
    draw = random.Random("named")  # noqa: S311 - not for secrets
    labels, run = {}, {}
    for number, length in enumerate(LENGTHS):
        user = f"u{number}"
        items = [f"i{item:02}" for item in draw.sample(range(30), 30)]
        scores = draw.sample(range(1, 99), length)
        run[user] = {item: score / 100 for item, score in zip(items, scores, strict=False)}
        grades = {item: float(draw.choice((0, 0, 0, 1, 2, 3))) for item in items[:20]}
        labels[user] = dict.fromkeys(grades, 0.0) if number == 3 else grades | {items[0]: 2.0}
    del run["u4"], labels["u5"]
    return Case("graded", labels, run, threshold=1.0, k=10)
