"""Groups of items, and who is served, against plain formulas over all orders of tied items."""

import math
import warnings
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.scoring import Plan
from tests.beyond.test_over_lists import all_tops
from tests.beyond.textbook import World, in_tail, mean
from tests.beyond.worlds import worlds

GROUP_OF = {"ann": "new", "bob": "old", "cid": "new", "eve": "old"}
PATIENCE = 0.5
Rates = dict[str, float]


def maker(item: int) -> str:
    """Return the category of an item."""
    return "xyz"[item % 3]


def popularity(world: World) -> Callable[[int], str]:
    """Return a function of an item: head or tail."""
    return lambda item: "tail" if in_tail(world, "", item) else "head"


def options_of(world: World, *, catalogue: bool = True) -> dict[str, Any]:
    """Return what is known besides the lists."""
    return {
        "train": world.train,
        "catalogue": world.catalogue if catalogue else None,
        "features": {"item": [*range(1, 9)], "maker": [maker(one) for one in range(1, 9)]},
        "groups": GROUP_OF,
    }


def tables_of(world: World) -> dict[str, pd.DataFrame]:
    """Return labels and lists."""
    labels = [(user, item, 1.0) for user, items in world.relevant.items() for item in items]
    rows = [(user, item, s) for user, one in world.lists.items() for item, s in one.items()]
    return {
        "labels": pd.DataFrame(labels, columns=["user", "item", "true"]),
        "results": pd.DataFrame(rows, columns=["user", "item", "estimated"]),
    }


def evaluate(world: World, metrics: Any, **options: Any) -> rn.Report:
    """Evaluate a world."""
    catalogue = options.pop("catalogue", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        known = options_of(world, catalogue=catalogue)
        return rn.evaluate(tables_of(world), metrics=metrics, **known, **options)


def expected_weights(
    world: World, k: int, weight: Callable[[int], float] = lambda _: 1.0
) -> dict[tuple[Any, int], float]:
    """Return the mean weight of the rank of each user's items over all orders."""
    sums = defaultdict[tuple[Any, int], float](float)
    tops = all_tops(world, k)
    for one in tops:
        for user, top in one.items():
            for rank, item in enumerate(top):
                sums[user, item] += weight(rank) / len(tops)
    return sums


def disparity(rates: list[float]) -> float:
    """Return the population's standard deviation over the mean."""
    if len(rates) < 2 or not any(rates):
        return math.nan
    return math.sqrt(mean([(rate - mean(rates)) ** 2 for rate in rates])) / mean(rates)


def opportunity(world: World, k: int, group_of: Callable[[int], str]) -> Rates:
    """Hits over relevant items outside training, by group."""
    weights = expected_weights(world, k)
    rates = {}
    for group in {group_of(item) for item in range(1, 9)}:
        hits = math.fsum(
            weight
            for (user, item), weight in weights.items()
            if group_of(item) == group and item in world.relevant[user]
        )
        possible = sum(
            group_of(item) == group and item not in world.history(user)
            for user, items in world.relevant.items()
            for item in items
        )
        if possible:
            rates[group] = hits / possible
    return rates


def parity(world: World, k: int, group_of: Callable[[int], str]) -> Rates:
    """Recommendations over items of the catalogue outside training, by group."""
    weights = expected_weights(world, k)
    rates = {}
    for group in {group_of(item) for item in range(1, 9)}:
        shown = math.fsum(w for (_, item), w in weights.items() if group_of(item) == group)
        possible = sum(
            group_of(item) == group and item not in world.history(user)
            for user in world.relevant
            for item in world.catalogue
        )
        if possible:
            rates[group] = shown / possible
    return rates


@pytest.mark.parametrize(
    ("name", "formula", "by_popularity"),
    [
        ("reo", opportunity, False),
        ("popreo", opportunity, True),
        ("rsp", parity, False),
        ("poprsp", parity, True),
    ],
)
@given(world=worlds(max_list=3), k=st.integers(1, 3))
def test_parity_is_the_disparity_of_expected_rates(
    name: str, formula: Any, by_popularity: Any, world: World, k: int
) -> None:
    """And each rate is that of the textbook."""
    groups = ["head", "tail"] if by_popularity else ["x", "y", "z"]
    column = "" if by_popularity else "maker,"
    rates = formula(world, k, popularity(world) if by_popularity else maker)
    names = [f"{name}({column}group={one})@{k}" for one in groups]
    whole = f"{name}@{k}" if by_popularity else f"{name}(maker)@{k}"
    found = [*evaluate(world, [*names, whole]).mean]
    wanted = [rates.get(one, math.nan) for one in groups]
    wanted.append(disparity([rate for rate in wanted if not math.isnan(rate)]))
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(world=worlds(max_list=3), k=st.integers(1, 3), group=st.sampled_from(["", "new", "old"]))
def test_bias_disparity_compares_lists_with_training(world: World, k: int, group: str) -> None:
    """Of a group of users, in one category."""
    weights = expected_weights(world, k)
    size = mean([maker(item) == "x" for item in world.catalogue])

    def share(pairs: dict[Any, float]) -> float:
        own = {one: w for one, w in pairs.items() if not group or GROUP_OF[one[0]] == group}
        total = math.fsum(own.values())
        if not total or not size:
            return math.nan
        return math.fsum(w for (_, i), w in own.items() if maker(i) == "x") / total / size

    source, lists = share(dict.fromkeys(world.train, 1.0)), share(weights)
    change = (lists - source) / source if source else math.nan
    user_group = f"user_group={group}," if group else ""
    names = [
        f"bias_disparity(maker,{user_group}item_group=x,which={one})@{k}"
        for one in ("BS", "BR", "BD")
    ]
    if not any(maker(item) == "x" for item in range(1, 9)):
        return
    found = [*evaluate(world, names).mean]
    assert found == pytest.approx([source, lists, change], abs=1e-12, nan_ok=True)


@given(world=worlds(max_list=3), k=st.integers(1, 4))
def test_expected_exposure_is_compared_with_ideal_lists(world: World, k: int) -> None:
    """Which have all relevant items of the catalogue first."""
    depth = min(k, len(world.catalogue))
    weights = expected_weights(world, k, lambda rank: PATIENCE**rank)
    shown, ideal = defaultdict[str, float](float), defaultdict[str, float](float)
    for (_, item), weight in weights.items():
        shown[maker(item)] += weight / 3
    for relevant in world.relevant.values():
        good = [item for item in world.catalogue if item in relevant]
        rest = [item for item in world.catalogue if item not in relevant]
        ranks = [PATIENCE**rank if rank < depth else 0.0 for rank in range(len(world.catalogue))]
        for items, part in ((good, ranks[: len(good)]), (rest, ranks[len(good) :])):
            for item in items:
                ideal[maker(item)] += mean(part) / 3
    pairs = [(shown[group], ideal[group]) for group in "xyz"]
    wanted = [
        math.fsum((one - other) ** 2 for one, other in pairs),
        math.fsum(one * one for one, _ in pairs),
        math.fsum(one * other for one, other in pairs),
    ]
    names = [f"{one}(maker)@{k}" for one in ("ee_l", "ee_d", "ee_r")]
    assert [*evaluate(world, names).mean] == pytest.approx(wanted, abs=1e-12)


@given(world=worlds(max_list=3), k=st.integers(1, 4))
def test_awrf_compares_attention_with_the_catalogue(world: World, k: int) -> None:
    """By the Jensen-Shannon divergence or the absolute difference."""
    weights = expected_weights(world, k, lambda rank: 0.8**rank)
    total = math.fsum(weights.values())
    shares = [
        (
            math.fsum(w for (_, item), w in weights.items() if maker(item) == group) / total,
            mean([maker(item) == group for item in world.catalogue]),
        )
        for group in "xyz"
    ]

    def entropy(parts: Any) -> float:
        return -math.fsum(p * math.log2(p) for p in parts if p > 0)

    one, other = zip(*shares, strict=True)
    middle = entropy([(p + q) / 2 for p, q in shares])
    wanted = [
        1 - (middle - entropy(one) / 2 - entropy(other) / 2),
        1 - math.fsum(abs(p - q) for p, q in shares) / 2,
    ]
    names = [f"awrf(maker)@{k}", f"awrf(maker,difference=absolute)@{k}"]
    report = evaluate(world, names, convention=rn.Convention(patience=0.8))
    assert [*report.mean] == pytest.approx(wanted, abs=1e-12)


@given(world=worlds(max_list=3), k=st.integers(1, 3))
def test_item_gap_is_the_mean_difference_of_categories(world: World, k: int) -> None:
    """Of the mean over items of gain, or score of hits, per recommendation."""
    weights = expected_weights(world, k)
    wanted = []
    for of_score in (False, True):
        lists, gains = defaultdict[int, float](float), defaultdict[int, float](float)
        for (user, item), weight in weights.items():
            lists[item] += weight
            worth = world.lists[user][item] if of_score else 1.0
            gains[item] += weight * worth * (item in world.relevant[user])
        means = [
            mean([gains[item] / lists[item] for item in lists if maker(item) == group])
            for group in sorted({maker(item) for item in lists})
        ]
        gaps = [abs(one - other) for one, other in combinations(means, 2)]
        wanted.append(mean(gaps) if gaps else math.nan)
    found = evaluate(world, [f"item_gap(maker)@{k}", f"item_gap(maker,of=score)@{k}"]).mean
    assert [*found] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def ips(world: World, user: Any, order: Any, k: int) -> float:
    """Return the sum of the inverse shares of training of the hits, each at most 3."""
    hits = [item for item in order[:k] if item in world.relevant[user] and world.users(item)]
    return float(
        sum(min(Fraction(world.interactions, world.users(item)), Fraction(3)) for item in hits)
    )


@given(world=worlds(max_list=3), k=st.integers(1, 4), catalogue=st.booleans())
def test_who_is_served_and_inverse_propensity(world: World, k: int, catalogue: Any) -> None:
    """Per user, over all orders; chance, best and worst over all draws."""
    names = ["user_coverage", f"user_coverage@{k}", f"n_retrieved@{k}", f"score@{k}"]
    names.append(f"ips_hit(cap=3)@{k}")
    report = evaluate(world, names, catalogue=catalogue)
    table, roles = report.per_user, report._data.audit.scores_with_orders
    for user in world.relevant:
        given_list, n = world.lists.get(user, {}), len(world.lists.get(user, {}))
        orders = [*world.orders(user)] if n else [[]]
        scores = [mean([given_list[item] for item in one[:k]]) for one in orders if n]
        wanted = [float(n >= 1), float(n >= k), min(n, k), mean(scores) if n else math.nan]
        wanted.append(mean([ips(world, user, one, k) for one in orders]))
        assert [*table.loc[user, names]] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        pool = world.candidates if catalogue else sorted(given_list)
        if n:
            place = roles.users.tolist().index(user)
            draws = [ips(world, user, one, k) for one in permutations(pool, n)]
            found = [roles.roles[role][place, 4] for role in ("chance", "best", "worst")]
            assert found == pytest.approx([mean(draws), max(draws), min(draws)], abs=1e-9)


OVER_LISTS = [
    "reo(maker)@2", "popreo@2", "rsp(maker)@2", "poprsp@2", "ee_l(maker)@2", "awrf(maker)@2",
    "bias_disparity(maker,user_group=new,item_group=x)@2", "item_gap(maker)@2",
]  # fmt: skip


@given(world=worlds(max_list=3))
def test_sums_of_parts_give_the_number_of_all(world: World) -> None:
    """Of users one by one, in any order, and of reports with some users left out."""
    report = evaluate(world, OVER_LISTS)
    lists = report._data.audit.lists
    assert lists is not None
    totals: Any = None
    plan = Plan(report._data.audit.measurements)
    metrics: list[Any] = [one.metric for one in plan.measurements]
    for user in reversed(range(len(lists))):
        part = plan.measure(lists.take(slice(user, user + 1))).sum_exposures()
        totals = part if totals is None else [a + b for a, b in zip(totals, part, strict=True)]
    assert totals is not None
    found = [
        metric.value(sums, one.convention)
        for metric, one, sums in zip(metrics, plan.measurements, totals, strict=True)
    ]
    assert found == pytest.approx([*report.mean], abs=1e-12, nan_ok=True)


SMALL = World(
    lists={"ann": {1: 3.0, 2: 2.0}},
    relevant={"ann": {1}, "bob": {2}},
    train=[("ann", 3), ("bob", 1)],
    catalogue=[1, 2, 3, 4],
)


@pytest.mark.parametrize(
    ("metric", "changes", "words"),
    [
        ("reo(maker)@2", {"features": None}, "needs features="),
        ("reo(maker)@2", {"train": None}, "needs train="),
        ("rsp(maker)@2", {"catalogue": None}, "needs.*catalogue="),
        ("reo(brand)@2", {}, "no column 'brand'"),
        ("reo(maker,group=w)@2", {}, "no group 'w' in the column 'maker'. There are: x, y, z"),
        ("popreo(torso)@2", {}, "no group 'torso' of items. There are: head, tail"),
        ("bias_disparity(maker)@2", {}, "no category of items. Name one: .*item_group=x"),
        (
            "bias_disparity(maker,user_group=mew,item_group=x)@2", {},
            "groups= has no group 'mew'. Did you mean 'new'",
        ),
        (
            "bias_disparity(maker,user_group=new,item_group=x)@2", {"groups": None},
            "needs groups=",
        ),
        (
            "awrf(maker)@2", {"features": {"item": [1, 2, 3], "maker": [*"xyz"]}},
            "1 items of the catalogue, or relevant ones, have no entry in the column 'maker'",
        ),
        (
            "awrf(maker)@2", {"features": {"item": [1, 3, 4], "maker": [*"xyz"]}},
            "1 recommended items have no entry.*item 2",
        ),
        (
            "ee_l(maker)@2", {"features": {"item": [1, 2, 3, 4], "maker": [0, 1, 1, 0]}},
            "Write them as text",
        ),
        ("awrf(maker,difference=kl)@2", {}, "difference cannot be 'kl'. Choose 'js', 'absolute'"),
        ("item_gap(maker,of=rank)@2", {}, "of cannot be 'rank'"),
        ("bias_disparity(maker,which=B)@2", {}, "which cannot be 'B'"),
    ],
)  # fmt: skip
def test_a_message_says_what_is_missing(metric: str, changes: dict[str, Any], words: str) -> None:
    """And what to write."""
    options = {**options_of(SMALL), **changes}
    with pytest.raises(rn.InvalidInputError, match=words):
        rn.evaluate(tables_of(SMALL), metrics=metric, threshold=1, **options)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_head_or_tail_without_items_has_no_rate() -> None:
    """As the docstrings say of a group without items; the other metrics keep their numbers."""
    names = [
        f"{kind}{group}@1" for kind in ("popreo", "poprsp") for group in ("", "(head)", "(tail)")
    ]
    lists = {"labels": {"u": {"a"}}, "results": {"u": ["a"]}}
    known: Any = {"train": [("v", "a")], "catalogue": ["a"]}  # all the head, or all the tail
    nan, all_tail = math.nan, rn.Convention(tail="count", tail_at=1)
    for convention, wanted in ((None, [nan, 1, nan]), (all_tail, [nan, nan, 1])):
        found = rn.evaluate(lists, metrics=[*names, "ndcg@1"], convention=convention, **known)
        assert found.mean.tolist() == pytest.approx([*wanted, *wanted, 1], nan_ok=True)


def test_items_without_a_category_can_be_left_out() -> None:
    """Of attention and population."""
    options = {**options_of(SMALL), "features": {"item": [1, 3, 4], "maker": [*"xyx"]}}
    report = rn.evaluate(
        tables_of(SMALL),
        metrics="awrf(maker,difference=absolute)@2",
        convention=rn.Convention(missing_feature="drop"),
        **options,
    )
    assert report.mean.iloc[0] == pytest.approx(1 - 1 / 3)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_users_without_lists_have_defined_numbers() -> None:
    """No rate but 0, and no disparity."""
    labels = {"ann": {1}, "bob": {2}}
    lists = rn.RankedLists.from_labels(labels, {"ann": [], "bob": [], "eve": [3]})
    names = [*OVER_LISTS, "user_coverage", "n_retrieved@2", "ips_hit@2", "reo(maker,group=y)@2"]
    convention = rn.Convention(mean_over="labelled")
    found = rn.evaluate(lists, metrics=names, convention=convention, **options_of(SMALL)).mean
    assert found.iloc[[0, 1, 2, 3, 5, 6, 7]].isna().all()
    assert found["ee_l(maker)@2"] > 0
    assert found.iloc[-4:].tolist() == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("outside", "shown"), [("count", 2), ("ignore", 1)])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_items_outside_the_catalogue_count_or_not(outside: Any, shown: int) -> None:
    """Item 4 is not in the catalogue, and its category x has one item there that nobody had."""
    world = World({"ann": {1: 2.0, 4: 1.0}}, {"ann": {1}}, [("ann", 3)], [1, 2, 3])
    convention = rn.Convention(outside=outside)
    found = evaluate(world, "rsp(maker,group=y)@2", convention=convention)
    assert found.mean.iloc[0] == shown
    name = "bias_disparity(maker,item_group=y,which=BR)@2"
    assert evaluate(world, name, convention=convention).mean.iloc[0] == pytest.approx(3)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_users_who_are_unknown_are_in_no_group() -> None:
    """Only in that of all users."""
    world = World({"ann": {1: 1.0}, "zed": {2: 1.0}}, {"ann": {1}}, [("ann", 1)], [1, 2])
    names = [
        f"bias_disparity(maker,{one}item_group=y,which=BR)@1" for one in ("user_group=new,", "")
    ]
    assert evaluate(world, names).mean.tolist() == [2.0, 1.0]
