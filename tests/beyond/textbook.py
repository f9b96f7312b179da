"""Measures beyond accuracy in plain Python: values of items, and every order of small lists."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, permutations, product
from typing import Any

User = Any
Item = Any


@dataclass(frozen=True)
class World:
    """What is known: lists with estimates, labels, training rows, all items, features."""

    lists: dict[User, dict[Item, float]]
    relevant: dict[User, set[Item]]
    train: list[tuple[User, Item]]
    catalogue: list[Item]
    base: dict[User, list[Item]] = field(default_factory=dict)
    features: dict[Item, frozenset[str]] = field(default_factory=dict)
    price: dict[Item, float] = field(default_factory=dict)

    def history(self, user: User) -> set[Item]:
        """Return the training items of a user."""
        return {item for owner, item in self.train if owner == user}

    def rows(self, item: Item) -> int:
        """Return the number of training rows of an item."""
        return sum(each == item for _, each in self.train)

    def users(self, item: Item) -> int:
        """Return the number of training users of an item."""
        return len({user for user, each in self.train if each == item})

    @property
    def train_users(self) -> set[User]:
        """All users of training."""
        return {user for user, _ in self.train}

    @property
    def train_items(self) -> set[Item]:
        """All items of training."""
        return {item for _, item in self.train}

    @property
    def interactions(self) -> int:
        """The number of distinct training pairs."""
        return len(set(self.train))

    @property
    def candidates(self) -> list[Item]:
        """All items that can be recommended: the catalogue and what was recommended."""
        return sorted({*self.catalogue, *(item for one in self.lists.values() for item in one)})

    def orders(self, user: User) -> Iterator[list[Item]]:
        """Return every order of the tied items of a list."""
        ranked = sorted(self.lists[user].items(), key=lambda pair: -pair[1])
        groups = [
            [item for item, _ in group] for _, group in groupby(ranked, key=lambda pair: pair[1])
        ]
        for parts in product(*map(permutations, groups)):
            yield [item for part in parts for item in part]


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the population's standard deviation."""
    center = mean(values)
    return math.sqrt(mean([(value - center) ** 2 for value in values]))


Value = Callable[[World, User, Item], float]


def self_information(world: World, _: User, item: Item) -> float:
    """-log2 of the share of training users; a cold item like one of a single user."""
    return -math.log2(max(world.users(item), 1) / len(world.train_users))


def in_tail(world: World, _: User, item: Item) -> float:
    """Whether the item is not in the smallest head that has 80 % of the popularity."""
    ranked = sorted(world.train_items, key=lambda one: (-world.users(one), one))
    total, reached, head = world.interactions, 0, set()
    for one in ranked:
        if 10 * reached >= 8 * total:
            break
        reached += world.users(one)
        head.add(one)
    return float(item not in head)


def log_discount(rank: int) -> float:
    """1 / log2(rank + 1), from rank 1."""
    return 1 / math.log2(rank + 1)


def one(_: int) -> float:
    """No discount."""
    return 1.0


def jaccard(world: World, a: Item, b: Item) -> float:
    """1 minus the share of common topics; two items without topics are alike."""
    first, second = world.features[a], world.features[b]
    return 1 - len(first & second) / len(first | second) if first | second else 0.0


def cosine(world: World, a: Item, b: Item) -> float:
    """1 minus the cosine of the topics; 1 for an item without topics, as in scikit-learn."""
    first, second = world.features[a], world.features[b]
    lengths = math.sqrt(len(first) * len(second))
    return 1 - len(first & second) / lengths if lengths else 1.0


def cooccurrence(world: World, a: Item, b: Item) -> float:
    """1 minus the cosine of the training users."""
    both = sum({a, b} <= world.history(user) for user in world.train_users)
    return 1 - both / math.sqrt(world.users(a) * world.users(b)) if both else 1.0
