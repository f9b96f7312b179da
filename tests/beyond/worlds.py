"""Small worlds that Hypothesis draws, and how the library reads them."""

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pandas as pd
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.beyond.textbook import World

ITEMS = st.integers(1, 8)
USERS = ("ann", "bob", "cid")
TOPICS = ("drama", "war", "crime")
SETS = [frozenset(some) for size in range(4) for some in combinations(TOPICS, size)]


@st.composite
def worlds(draw: Any, max_list: int = 4) -> World:
    """Draw lists with ties, labels, training rows, a catalogue, a base model and features."""
    lists = {
        user: draw(
            st.dictionaries(ITEMS, st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=max_list)
        )
        for user in draw(st.lists(st.sampled_from(USERS), min_size=1, unique=True))
    }
    relevant = {user: draw(st.sets(ITEMS, min_size=1, max_size=3)) for user in USERS}
    train = draw(
        st.lists(st.tuples(st.sampled_from((*USERS, "eve")), ITEMS), min_size=1, max_size=10)
    )
    listed = {item for one in lists.values() for item in one}
    catalogue = sorted(listed | draw(st.sets(ITEMS, max_size=3)))
    base = {user: draw(st.lists(ITEMS, unique=True, max_size=3)) for user in USERS}
    features = dict(enumerate(draw(st.tuples(*[st.sampled_from(SETS)] * 8)), 1))
    price = dict(enumerate(draw(st.tuples(*[st.sampled_from([-1.5, 0.0, 2.0, 1e6])] * 8)), 1))
    return World(lists, relevant, train, catalogue, base, features, price)


def read_draws(report: rn.Report, world: World, *, catalogue: bool = True) -> Iterator[Any]:
    """Yield each user with a list, the numbers of all draws, and the items they are from."""
    scores = report._data.audit.scores_with_orders
    for place, user in enumerate(scores.users.tolist()):
        if one := world.lists.get(user):
            found = {role: table[place, 0] for role, table in scores.roles.items()}
            yield user, found, world.candidates if catalogue else sorted(one)


def evaluate(world: World, metrics: Any, *, catalogue: bool = True, **options: Any) -> rn.Report:
    """Evaluate a world with everything that is known."""
    rows = [
        (user, item, estimated)
        for user, one in world.lists.items()
        for item, estimated in one.items()
    ]
    labels = [(user, item, 1.0) for user, items in world.relevant.items() for item in items]
    base = [
        (user, item, -float(rank))
        for user, items in world.base.items()
        for rank, item in enumerate(items)
    ]
    features = None if not world.features else pd.DataFrame(
        {"item": [*world.features], "genres": [*world.features.values()],
         "price": [world.price[item] for item in world.features]}
    )  # fmt: skip
    data = {
        "labels": pd.DataFrame(labels, columns=["user", "item", "true"]),
        "results": pd.DataFrame(rows, columns=["user", "item", "estimated"]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)  # tiny data are suspicious
        return rn.evaluate(
            data,
            metrics=metrics,
            train=world.train,
            catalogue=world.catalogue if catalogue else None,
            base=pd.DataFrame(base, columns=["user", "item", "estimated"]) if base else None,
            features=features,
            **options,
        )
