"""Means of item values against all orders of small lists, and all draws from the catalogue."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.beyond import textbook
from tests.beyond.textbook import Value, World
from tests.beyond.worlds import evaluate, read_draws, worlds

VALUES: dict[str, Value] = {
    "popularity": lambda world, _, item: world.users(item),
    "novelty": textbook.self_information,
    "tail": textbook.in_tail,
    "seen": lambda world, user, item: item in world.history(user),
    "unseen": lambda world, user, item: item not in world.history(user),
    "item(price)": lambda world, _, item: world.price[item],
}
LOWER_IS_BETTER = {"popularity", "seen"}


def score(name: str, world: World, user: Any, order: Any, k: int) -> float:
    """Return the mean value of the first k items."""
    return textbook.mean([VALUES[name](world, user, item) for item in order[:k]])


@pytest.mark.parametrize("name", VALUES)
@given(world=worlds(), k=st.integers(1, 5))
def test_the_score_is_the_mean_over_all_orders_of_ties(name: str, world: World, k: int) -> None:
    """Of every user."""
    table = evaluate(world, f"{name}@{k}").per_user[f"{name}@{k}"]
    for user in world.lists:
        expected = textbook.mean([score(name, world, user, one, k) for one in world.orders(user)])
        assert table[user] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("catalogue", [True, False])
@pytest.mark.parametrize("name", VALUES)
@given(world=worlds(max_list=3), k=st.integers(1, 4))
def test_chance_best_worst_and_z_are_those_of_all_draws(
    name: str, world: World, k: int, *, catalogue: bool
) -> None:
    """Drawn from the catalogue, or if it is unknown, all orders of the list."""
    report = evaluate(world, f"{name}@{k}", catalogue=catalogue)
    for user, found, pool in read_draws(report, world, catalogue=catalogue):
        n = len(world.lists[user])
        draws = [score(name, world, user, order, k) for order in permutations(pool, n)]
        best, worst = max(draws), min(draws)
        if name in LOWER_IS_BETTER:
            best, worst = worst, best
        wanted = {"chance": textbook.mean(draws), "best": best, "worst": worst}
        assert {role: found[role] for role in wanted} == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        shown = min(k, n)
        numerators = [draw * shown for draw in draws]
        assert found["expected"] == pytest.approx(textbook.mean(numerators))
        spread = textbook.deviation(numerators)
        assert found["deviation"] == pytest.approx(spread, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize(
    ("cold_item", "cold"), [("rarest", 0.25), ("one_user", 0.25), ("zero", 0), ("by_measure", 0)]
)
def test_a_cold_item_has_the_rank_of_an_item_that_it_counts_like(
    cold_item: Any, cold: float
) -> None:
    """Of four items in training with 3, 2, 2 and 1 users, the last one's rank is 1 of 4."""
    train = [(user, item) for item, n in {"a": 3, "b": 2, "c": 2, "d": 1}.items()
             for user in range(n)]  # fmt: skip
    lists = rn.RankedLists.from_labels({1: {"a"}}, {1: [*"abcde"], 2: ["e"], 3: ["c"]})
    convention = rn.Convention(popularity_as="rank", cold_item=cold_item)
    report = rn.evaluate(lists, metrics="popularity@5", train=train, convention=convention)
    scores = report.per_user["popularity@5"].to_dict()
    assert scores == pytest.approx({1: (4 / 4 + 2 * 2.5 / 4 + 1 / 4 + cold) / 5, 2: cold, 3: 0.625})


@pytest.mark.parametrize("rule", ["k", "full"])
def test_places_past_the_end_are_unexpected_if_a_mean_is_over_k(rule: Any) -> None:
    """Of four items one is expected, and the fifth place is not."""
    lists = rn.RankedLists.from_labels({1: {"a"}}, {1: [*"abcd"]})
    convention = rn.Convention(list_over=rule)
    report = rn.evaluate(
        lists, metrics=["unexpected@5", "overlap@5"], base={1: ["a"]}, convention=convention
    )
    assert report.mean.to_dict() == pytest.approx({"unexpected@5": 4 / 5, "overlap@5": 1 / 5})
