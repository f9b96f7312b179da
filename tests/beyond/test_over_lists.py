"""Numbers of all lists together, against all orders of ties and all random draws."""

import math
from collections import Counter
from dataclasses import replace
from functools import reduce
from itertools import combinations, permutations, product
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics.concentration import average_distance
from tests.beyond.textbook import World, mean
from tests.beyond.worlds import evaluate, worlds

Tops = dict[Any, list[Any]]


def coverage(tops: Tops, world: World) -> float:
    """Return the share of the catalogue that somebody is shown."""
    return len({item for top in tops.values() for item in top}) / len(world.catalogue)


def simpson(tops: Tops, _: World) -> float:
    """Return the probability that two recommendations differ."""
    counts = Counter(item for top in tops.values() for item in top)
    total = sum(counts.values())
    return 1 - math.fsum((count / total) ** 2 for count in counts.values())


def personalization(tops: Tops, _: World) -> float:
    """1 minus the mean cosine of two users' lists."""
    pairs = list(combinations(tops.values(), 2))
    return 1 - mean([len({*a} & {*b}) / math.sqrt(len(a) * len(b)) for a, b in pairs])


def gini(shown: dict[Any, float], world: World) -> float:
    """Return the Gini index over the catalogue."""
    counts = sorted(shown.get(item, 0.0) for item in world.catalogue)
    n, total = len(counts), math.fsum(counts)
    weighted = math.fsum((2 * j - n - 1) * x for j, x in enumerate(counts, start=1))
    return weighted / (n * total)


def entropy(shown: dict[Any, float], _: World) -> float:
    """Return the Shannon entropy in bits."""
    total = math.fsum(shown.values())
    return -math.fsum(x / total * math.log2(x / total) for x in shown.values() if x)


LINEAR = {"coverage": coverage, "simpson": simpson, "personalization": personalization}
OF_EXPOSURE = {"gini": gini, "entropy": entropy}


def all_tops(world: World, k: int) -> list[Tops]:
    """Return the first k items of every user, in every combination of orders."""
    users = [*world.lists]
    orders = [[order[:k] for order in world.orders(user)] for user in users]
    return [dict(zip(users, tops, strict=True)) for tops in product(*orders)]


def expect_shown(tops: list[Tops]) -> dict[Any, float]:
    """How many lists hold each item, on average."""
    counts = Counter(item for one in tops for top in one.values() for item in top)
    return {item: count / len(tops) for item, count in counts.items()}


@pytest.mark.parametrize("name", [*LINEAR, *OF_EXPOSURE])
@given(world=worlds(max_list=3), k=st.integers(1, 3))
def test_the_number_is_that_of_all_orders_of_ties(name: str, world: World, k: int) -> None:
    """The mean over orders, or if it is not linear, the number of the expected exposures."""
    value = evaluate(world, f"{name}@{k}").mean.iloc[0]
    tops = all_tops(world, k)
    if name == "personalization" and len(world.lists) < 2:
        assert math.isnan(value)
    elif name in LINEAR:
        assert value == pytest.approx(mean([LINEAR[name](one, world) for one in tops]), abs=1e-12)
    else:
        wanted = OF_EXPOSURE[name](expect_shown(tops), world)
        assert value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("catalogue", [True, False])
@pytest.mark.parametrize("name", [*LINEAR, *OF_EXPOSURE])
@given(world=worlds(max_list=2), k=st.integers(1, 2))
def test_chance_is_the_number_of_random_lists(
    name: str, world: World, k: int, *, catalogue: bool
) -> None:
    """Drawn from the catalogue, or if it is unknown, the list in every order."""
    if not catalogue and name in ("coverage", "gini"):
        return
    report = evaluate(world, f"{name}@{k}", catalogue=catalogue)
    chance = report.summary["chance"].iloc[0]
    users = [*world.lists]
    pools = {user: world.candidates if catalogue else sorted(world.lists[user]) for user in users}
    draws = [[*permutations(pools[user], min(len(world.lists[user]), k))] for user in users]
    if math.prod(map(len, draws)) > 5000:
        return
    tops = [{user: [*top] for user, top in zip(users, one, strict=True)} for one in product(*draws)]
    if name == "personalization" and len(users) < 2:
        assert math.isnan(chance)
    elif name in LINEAR:
        assert chance == pytest.approx(mean([LINEAR[name](one, world) for one in tops]), abs=1e-9)
    elif len({len(own[0]) for own in draws}) > 1 or len({*map(str, pools.values())}) > 1:
        assert math.isnan(chance)  # unknown for lists of different lengths or candidates
    else:
        values = [OF_EXPOSURE[name](expect_shown([one]), world) for one in tops]
        assert chance == pytest.approx(mean(values), abs=1e-9)


@given(world=worlds(max_list=3), k=st.integers(1, 3))
def test_rarefaction_is_the_mean_coverage_of_fewer_users(world: World, k: int) -> None:
    """Over all choices of the users and all orders of ties."""
    found = evaluate(world, f"coverage@{k}").rarefaction()
    tops = all_tops(world, k)
    for size, value in found.items():
        chosen = list(combinations(world.lists, int(str(size))))
        wanted = mean(
            [coverage({u: one[u] for u in users}, world) for one in tops for users in chosen]
        )
        assert value == pytest.approx(wanted, abs=1e-9)


def test_one_of_many_users_covers_an_item() -> None:
    """Exactly, though the numbers of choices have thousands of digits."""
    ids = np.arange(100_000)
    lists = pd.DataFrame({"user": ids, "item": ids, "estimated": 1.0})
    data = {"labels": None, "results": lists}
    report = rn.evaluate(data, metrics="coverage(as=count)@1", catalogue=ids)
    assert report.rarefaction(users=[1, 2, 10]).tolist() == pytest.approx([1, 2, 10], rel=1e-8)


def test_equal_lists_are_not_personal() -> None:
    """Exactly 0, not a little below."""
    lists = {user: ["a", "b", "c"] for user in range(7)}
    report = rn.evaluate({"labels": None, "results": lists}, metrics="personalization@3")
    assert report.mean.iloc[0] == 0.0


@pytest.mark.parametrize("rule", ["n", "k", "full"])
def test_personalization_without_a_cutoff_is_over_the_lists(rule: Any) -> None:
    """As if k was their length."""
    lists = {"ann": ["a", "b"], "bob": ["b", "c"]}
    how: dict[str, Any] = {"k": None, "convention": rn.Convention(list_over=rule)}
    report = rn.evaluate({"labels": None, "results": lists}, metrics="personalization", **how)
    assert report.mean.iloc[0] == pytest.approx(0.5)


@given(world=worlds(max_list=3), k=st.integers(1, 3))
def test_sums_of_parts_are_the_whole(world: World, k: int) -> None:
    """Users measured one by one, with item ids of their own, in any order."""
    names = [f"{name}@{k}" for name in (*LINEAR, *OF_EXPOSURE)]
    whole = evaluate(world, names)
    parts = [
        evaluate(replace(world, lists={user: one}), names)._data.audit.totals
        for user, one in reversed(world.lists.items())
    ]
    merged = reduce(add, parts)
    assert merged.mean.tolist() == pytest.approx(whole.mean.tolist(), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["coverage", "gini", "entropy"])
def test_the_worst_of_lists_of_different_lengths_is_unknown(name: str) -> None:
    """The best is not."""
    world = World({1: {1: 0.0}, 2: {2: 0.0, 3: -1.0}}, {1: {1}}, [(0, 1)], [1, 2, 3, 4])
    row = evaluate(world, f"{name}@2").audit.iloc[0]
    assert math.isnan(row["worst"])
    best = {"coverage": 3 / 4, "gini": 1 / 4, "entropy": math.log2(3)}
    assert row["best"] == pytest.approx(best[name], abs=1e-12)


def test_the_chance_of_many_lists_has_the_limit_of_the_normal_distribution() -> None:
    """E|D| of the counts of two items of a million lists, to 1e-6."""
    steps, share = 10**6, 0.01
    assert average_distance(share, steps) == pytest.approx(
        math.sqrt(4 * share * steps / math.pi), rel=1e-5
    )


@pytest.mark.parametrize("name", [*LINEAR, *OF_EXPOSURE])
@given(k=st.integers(1, 2), n_items=st.integers(2, 4), n_users=st.integers(1, 3))
def test_worst_and_best_are_the_ends_of_all_lists(
    name: str, k: int, n_items: int, n_users: int
) -> None:
    """Of as many lists of the same length."""
    items = list(range(1, n_items + 1))
    tops = [
        dict(enumerate(one))
        for one in product([list(top) for top in combinations(items, k)], repeat=n_users)
    ]
    world = World({}, {}, [(0, 1)], items)
    if name == "personalization" and n_users == 1:
        return
    values = [
        LINEAR[name](one, world)
        if name in LINEAR
        else OF_EXPOSURE[name](dict(Counter(i for top in one.values() for i in top)), world)
        for one in tops
    ]
    lists = {user: {item: -float(r) for r, item in enumerate(items[:k])} for user in range(n_users)}
    drawn = World(lists, {0: {1}}, [(0, 1)], items)
    row = evaluate(drawn, f"{name}@{k}").audit.iloc[0]
    ends = (max(values), min(values)) if name == "gini" else (min(values), max(values))
    assert (row["worst"], row["best"]) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(("unit", "most"), [("share", 1.0), ("percent", math.inf)])
def test_intervals_of_coverage_end_where_coverage_does(
    unit: str, most: float, tmp_path: Any
) -> None:
    """At 1, if it is a share; a saved report knows."""
    stream = np.random.default_rng(0)
    rows = [
        (user, int(item), float(-place))
        for user in range(20)
        for place, item in enumerate(stream.choice(60, 10, replace=False))
    ]
    how: dict[str, Any] = {"metrics": f"coverage(as={unit})@10", "catalogue": list(range(60))}
    report = rn.evaluate({"labels": None, "results": rows}, **how)
    report.save(tmp_path / "report.json")
    loaded = rn.Report.load(tmp_path / "report.json")
    (mean, low, high), again = (
        one.summary[["mean", "ci_low", "ci_high"]].to_numpy()[0].tolist()
        for one in (report, loaded)
    )
    assert [mean, low, high] == again
    assert low < mean < high <= most
    assert (high == most) == (unit == "share")
    assert (high - mean == pytest.approx(mean - low)) == (unit == "percent")
