"""Sample lists with histories, a catalogue and features: long and short lists, cold items, gaps.

The standard library alone, so that every environment draws the same. No list has equal scores.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Case:
    """The same lists, and what is known of users and items, for every library.

    Parameters
    ----------
    run : dict
        ``{user: {item: score}}``, the lists, in the order of the input, which is not the order of
        the scores. Higher is better.
    test : dict
        ``{user: [item]}``: the relevant items.
    train : list
        ``(user, item)``, the history; a row may be repeated.
    base : dict
        ``{user: [item]}``: the lists of another model, best first.
    catalogue : list
        All items.
    features : dict
        ``{item: [0 or 1 for each feature]}``.
    category, item_group, user_group : dict
        ``{item: number}`` and ``{user: number}``.
    k : int
        The cutoff.
    """

    name: str
    run: dict[int, dict[int, float]]
    test: dict[int, list[int]]
    train: list[tuple[int, int]]
    base: dict[int, list[int]]
    catalogue: list[int]
    features: dict[int, list[int]]
    category: dict[int, int]
    item_group: dict[int, int]
    user_group: dict[int, int]
    k: int = 4

    def best_first(self, user: int) -> list[int]:
        """Return the items of a user's list, best first."""
        own = self.run[user]
        return sorted(own, key=own.__getitem__, reverse=True)

    def shown(self) -> list[tuple[int, int, int, float]]:
        """Return ``(user, item, rank from 1, score)`` of the first k items of each list."""
        return [
            (user, item, rank, own[item])
            for user, own in self.run.items()
            for rank, item in enumerate(self.best_first(user)[: self.k], 1)
        ]

    def rows(self, part: str) -> list[tuple[int, int]]:
        """Return ``(user, item)`` of 'test' or 'base', in their order."""
        return [(user, item) for user, own in getattr(self, part).items() for item in own]


def cases() -> list[Case]:
    """Return all cases, the same ones each time."""
    return [
        _drawn("long", lengths=(6, 7)), _repeat_rows(_drawn("repeated", lengths=(4,))),
        _with_gaps(_drawn("short", lengths=(1, 2, 3, 4))), _with_seen(_drawn("seen", lengths=(4,))),
        _with_outsiders(_drawn("outside", lengths=(4, 5))),
    ]  # fmt: skip


def _drawn(name: str, *, lengths: tuple[int, ...], n_users: int = 9, n_items: int = 18) -> Case:
    """Draw lists without seen items; low ids are popular, and each item was seen by somebody."""
    draw = random.Random(name)  # noqa: S311 - not for secrets
    users, items = range(1, n_users + 1), range(1, n_items + 1)
    rows = {(user, min(draw.sample(items, 3))) for user in users for _ in range(6)}
    train = sorted(rows | {(draw.choice(users), item) for item in items})
    run, test, base = {}, {}, {}
    for user in users:
        unseen = [item for item in items if (user, item) not in train]
        own = draw.sample(unseen, draw.choice(lengths))
        scores = draw.sample(range(1, 100), len(own))  # a zero is no entry of a matrix
        run[user] = {item: score / 100 for item, score in zip(own, scores, strict=True)}
        test[user] = sorted({draw.choice(own), *draw.sample(unseen, 2)})
        base[user] = draw.sample(unseen, draw.choice(lengths))
    features = {item: [draw.randint(0, 1) for _ in range(4)] for item in items}
    for item, own in features.items():
        own[item % 4] = 1  # so that a cosine exists
    return Case(
        name, run, test, train, base, list(items), features,
        category={item: draw.randrange(5) for item in items},
        item_group={item: item % 2 for item in items},
        user_group={user: user % 2 for user in users},
    )  # fmt: skip


def _repeat_rows(case: Case) -> Case:
    """Repeat every third row of the history, and every ninth once more."""
    return replace(case, train=[*case.train, *case.train[::3], *case.train[::9]])


def _with_gaps(case: Case) -> Case:
    """Leave two items cold, a user without history, one without list, and one without labels."""
    cold = set(case.best_first(4)[:1] + case.best_first(5)[:1])
    return replace(
        case,
        train=[(user, item) for user, item in case.train if item not in cold and user != 6],
        run={user: own for user, own in case.run.items() if user != 7},
        test={user: own for user, own in case.test.items() if user != 8},
        base={user: own for user, own in case.base.items() if user != 9},
    )


def _with_seen(case: Case) -> Case:
    """Give every second user an item of the user's own history, as the best.

    One recommended item has no feature.
    """
    run, bare = dict(case.run), case.best_first(2)[0]
    for user in [*run][::2]:
        (_, item), *_ = [row for row in case.train if row[0] == user]
        run[user] = {**run[user], item: 1.5}
    return replace(case, run=run, features={**case.features, bare: [0, 0, 0, 0]})


def _with_outsiders(case: Case) -> Case:
    """Take two recommended items out of the catalogue and of the history."""
    out = {max(case.run[2]), max(case.run[3])}
    return replace(
        case,
        catalogue=[item for item in case.catalogue if item not in out],
        train=[row for row in case.train if row[1] not in out],
    )
