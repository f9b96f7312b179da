"""Sample data on which libraries part: ties, short lists, users of several kinds, half stars.

The standard library alone, so that every environment draws the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

K = 5
INTEGERS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
HALF_STARS = tuple(step / 2 for step in range(1, 11))


@dataclass(frozen=True)
class Case:
    """The same predictions for every library.

    Parameters
    ----------
    labels : dict
        ``{user: {item: grade}}``: all that is known of what users like.
    run : dict
        ``{user: {item: score}}``, the lists, in the order of the input, which is not the order of
        the scores. Higher is better.
    threshold : float
        An item is relevant if its grade is at least this; libraries that know relevant items
        only are given these.
    k : int
        The cutoff.
    """

    name: str
    labels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    threshold: float = 4.0
    k: int = K

    def grades(self) -> dict[str, list[float]]:
        """Return the grades of each list, 0 where there is none, for graders of given lists."""
        return {
            user: [self.labels.get(user, {}).get(item, 0.0) for item in own]
            for user, own in self.run.items()
        }

    def whole_grades(self) -> dict[str, dict[str, Any]]:
        """Return the labels, whole grades as integers, for libraries that take only these."""
        return {
            user: {item: int(grade) if grade.is_integer() else grade for item, grade in own.items()}
            for user, own in self.labels.items()
        }

    def relevance(self) -> dict[str, list[float]]:
        """Return 1 for each relevant item of each list, else 0."""
        return {
            user: [float(grade >= self.threshold) for grade in own]
            for user, own in self.grades().items()
        }

    def best_first(self, user: str) -> list[str]:
        """Return the items of a user's list, best first, equal scores in the order of the input."""
        own = self.run.get(user, {})
        return sorted(own, key=own.__getitem__, reverse=True)

    def liked(self) -> dict[str, dict[str, float]]:
        """Return the relevant items of the users who have some, for tables of relevant items."""
        relevant = {
            user: {item: grade for item, grade in own.items() if grade >= self.threshold}
            for user, own in self.labels.items()
        }
        return {user: own for user, own in relevant.items() if own}


def per_user(
    values: Mapping[str, float], refused: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a library's answer to one metric, without the users for whom it is refused."""
    refused = refused or {}
    own = {user: float(value) for user, value in values.items() if user not in refused}
    return {"per_user": own, "refused": refused}


def cases() -> list[Case]:
    """Return all cases, the same ones each time."""
    everything = _drawn("everything", scores=(0.5, 1.5, 2.5, 3.5), lengths=(1, 2, 4, 7, 9))
    return [
        _drawn("plain"), _drawn("ties", scores=(1.0, 2.0, 3.0)), _drawn("close", nudge=1e-10),
        _drawn("short", lengths=(1, 2, 3, 4, 6)), _drawn("half_stars", grades=HALF_STARS),
        _without_relevant(_drawn("nothing_relevant")), _partly_labelled(_drawn("unlabelled")),
        _without_lists(_drawn("missing_users")), _without_labels(_drawn("unlabelled_users")),
        _without_labels(_without_lists(_without_relevant(_partly_labelled(everything)))),
    ]  # fmt: skip


def _drawn(
    name: str,
    *,
    lengths: tuple[int, ...] = (6, 8, 10, 12),
    grades: tuple[float, ...] = INTEGERS,
    scores: tuple[float, ...] = (),
    nudge: float = 0.0,
) -> Case:
    """Draw 12 users, each with a relevant item, and all items labelled."""
    draw = random.Random(name)  # noqa: S311 - not for secrets
    labels, run = {}, {}
    for number in range(12):
        items = [f"i{item:02}" for item in draw.sample(range(40), draw.choice(lengths))]
        own = [draw.choice(grades) for _ in items]
        own[draw.randrange(len(own))] = draw.choice([grade for grade in grades if grade >= 4.0])
        values = [
            draw.choice(scores) if scores else round(0.3 * grade + draw.uniform(0.1, 3.0), 6)
            for grade in own
        ]
        if nudge:  # pairs that only double precision tells apart
            values = [value + nudge * place for place, value in enumerate(values[:2] * 6)]
        user = f"u{number:02}"
        labels[user] = dict(zip(items, own, strict=True))
        run[user] = dict(zip(items, values, strict=False))
    return Case(name, labels, run)


def _without_relevant(case: Case) -> Case:
    """Let every third user dislike everything, and every sixth give zeros alone."""
    labels = dict(case.labels)
    for place, user in enumerate(case.labels):
        if place % 3 == 0:
            cap = 0.0 if place % 6 == 0 else 3.0
            labels[user] = {item: min(grade, cap) for item, grade in case.labels[user].items()}
    return Case(case.name, labels, case.run)


def _partly_labelled(case: Case) -> Case:
    """Take some items' labels, and some labelled items out of the lists."""
    draw = random.Random(case.name)  # noqa: S311 - not for secrets
    labels, run = {}, {}
    for user, own in case.labels.items():
        kept = draw.choice(sorted(item for item in own if own[item] == max(own.values())))
        labels[user] = {i: g for i, g in own.items() if i == kept or draw.random() < 0.7}
        run[user] = {i: s for i, s in case.run[user].items() if i == kept or draw.random() < 0.8}
        labels[user] |= {f"j{item}": draw.choice(INTEGERS) for item in range(draw.randrange(3))}
    return Case(case.name, labels, run)


def _without_lists(case: Case) -> Case:
    """Let every fifth user have labels and no list."""
    kept = {user: own for place, (user, own) in enumerate(case.run.items()) if place % 5 != 1}
    return Case(case.name, case.labels, kept)


def _without_labels(case: Case) -> Case:
    """Let every fifth user have a list and no label."""
    kept = {user: own for place, (user, own) in enumerate(case.labels.items()) if place % 5 != 2}
    return Case(case.name, kept, case.run)
