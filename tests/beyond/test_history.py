"""Comparisons of lists with the user's training items or a base model, over all orders of ties."""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics import distances
from tests.beyond import textbook
from tests.beyond.textbook import World, cooccurrence, cosine, jaccard, log_discount, mean
from tests.beyond.worlds import evaluate, worlds

Score = Callable[[World, Any, Sequence[Any], int], float | None]


def in_order(values: Sequence[float]) -> float:
    """Return the mean, weighted by the discount of the rank."""
    weights = [log_discount(rank) for rank in range(1, len(values) + 1)]
    return math.fsum(map(math.prod, zip(weights, values, strict=True))) / math.fsum(weights)


def epc(world: World, user: Any, order: Sequence[Any], k: int) -> float:
    """Return the share of users who did not have the relevant items."""
    n = len(world.train_users)
    hits = [item in world.relevant[user] for item in order[:k]]
    pairs = zip(hits, order[:k], strict=True)
    return in_order([hit * (1 - world.users(item) / n) for hit, item in pairs])


def efd(world: World, user: Any, order: Sequence[Any], k: int) -> float:
    """Return the self-information of the relevant items; cold ones are like the rarest."""
    rarest = min(world.users(item) for item in world.train_items)
    bits = [-math.log2((world.users(item) or rarest) / world.interactions) for item in order[:k]]
    hits = [item in world.relevant[user] for item in order[:k]]
    return in_order([hit * each for hit, each in zip(hits, bits, strict=True)])


def overlap(world: World, user: Any, order: Sequence[Any], k: int) -> float | None:
    """Return the share that the base model has among its first k."""
    base = world.base[user][:k]
    return mean([item in base for item in order[:k]]) if base else None


def unexpected(world: World, user: Any, order: Sequence[Any], k: int) -> float | None:
    """Return the share that the base model does not have."""
    share = overlap(world, user, order, k)
    return None if share is None else 1 - share


def by_ranks(world: World, user: Any, order: Sequence[Any], k: int) -> float:
    """How many places relevant items stand above their place by popularity."""
    n = len(world.catalogue)
    counts = sorted({world.users(item) for item in world.train_items}, reverse=True)
    total = []
    for rank, item in enumerate(order[:k], start=1):
        users = world.users(item)
        by_popularity = (n - counts.index(users)) / n if users else 0.0
        gap = (n + 1 - rank) / n - by_popularity
        total.append(max(gap, 0.0) * (item in world.relevant[user]))
    return mean(total)


def lift(world: World, user: Any, order: Sequence[Any], k: int) -> float | None:
    """Return the mean popularity of the list over that of the history, minus 1."""
    if not world.history(user):
        return None
    profile = mean([world.users(item) for item in world.history(user)])
    return (mean([world.users(item) for item in order[:k]]) - profile) / profile


def with_base(world: World) -> World:
    """Return a world in which the base model has a list for somebody."""
    return World(**{**vars(world), "base": {**world.base, "eve": [1]}})


DISTANCES = {"jaccard": jaccard, "cosine": cosine, "cooccurrence": cooccurrence}


def from_history(distance: str, rule: str) -> Score:
    """Return the mean distance from the history, of all items or of relevant ones."""

    def score(world: World, user: Any, order: Sequence[Any], k: int) -> float | None:
        history = sorted(world.history(user))
        if not history:
            return None
        far = [mean([DISTANCES[distance](world, i, j) for j in history]) for i in order[:k]]
        hits = [item in world.relevant[user] for item in order[:k]]
        if rule == "hits":
            found = [1 - each for each, hit in zip(far, hits, strict=True) if hit]
            return 1 - math.fsum(found) if found else None
        return mean([e * (rule == "history" or hit) for e, hit in zip(far, hits, strict=True)])

    return score


SCORES: dict[str, tuple[str, dict[str, Any], Score]] = {
    "epc": ("epc", {}, epc),
    "efd": ("efd", {}, efd),
    "overlap": ("overlap", {}, overlap),
    "unexpected": ("unexpected", {}, unexpected),
    "popularity_lift": ("popularity_lift", {}, lift),
    "ranks": ("serendipity", {}, by_ranks),
    **{
        f"{rule} {distance}": (
            f"serendipity(genres,by={rule})",
            {"distance": distance},
            from_history(distance, rule),
        )
        for rule in ("history", "relevant")
        for distance in DISTANCES
    },
}
LOWER_IS_BETTER = {"overlap", "popularity_lift"}


@pytest.mark.parametrize("case", SCORES)
@given(world=worlds().map(with_base), k=st.integers(1, 5))
def test_the_score_is_the_mean_over_all_orders_of_ties(case: str, world: World, k: int) -> None:
    """Of every user; undefined where a user has nothing to compare with."""
    name, choices, score = SCORES[case]
    report = evaluate(world, f"{name}@{k}", convention=rn.Convention(**choices), threshold=1)
    for user in world.lists:
        all_ = [score(world, user, order, k) for order in world.orders(user)]
        values = [math.nan if one is None else one for one in all_]
        found = report.per_user[f"{name}@{k}"][user]
        assert found == pytest.approx(mean(values), rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("catalogue", [True, False])
@pytest.mark.parametrize("case", SCORES)
@given(world=worlds(max_list=3).map(with_base), k=st.integers(1, 4))
def test_chance_best_worst_and_z_are_those_of_all_draws(
    case: str, world: World, k: int, *, catalogue: bool
) -> None:
    """Drawn from the catalogue, or if it is unknown, all orders of the list."""
    name, choices, score = SCORES[case]
    if case == "ranks" and not catalogue:
        return
    options: dict[str, Any] = {"convention": rn.Convention(**choices), "threshold": 1}
    options["catalogue"] = catalogue
    scores = evaluate(world, f"{name}@{k}", **options)._data.audit.scores_with_orders
    for user, one in world.lists.items():
        place = scores.users.tolist().index(user)
        pool = world.candidates if catalogue else sorted(one)
        all_ = [score(world, user, order, k) for order in permutations(pool, len(one))]
        if case.startswith("history") and catalogue:
            all_ = [None]
        draws = [math.nan if each is None else each for each in all_]
        best, worst = max(draws), min(draws)
        if case in LOWER_IS_BETTER:
            best, worst = worst, best
        found = {role: scores.roles[role][place, 0] for role in ("chance", "best", "worst")}
        wanted = {"chance": mean(draws), "best": best, "worst": worst}
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)
        denominator = scores.denominator[place, 0]
        if denominator and not math.isnan(draws[0]):
            spread = scores.roles["deviation"][place, 0] / denominator
            assert spread == pytest.approx(textbook.deviation(draws), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("distance", DISTANCES)
@given(world=worlds(), k=st.integers(1, 5))
def test_serendipity_of_hits_is_undefined_without_a_hit_and_under_ties(
    distance: Any, world: World, k: int
) -> None:
    """It is 1 minus the sum of similarities, which is not a mean."""
    lists = {
        user: {item: -float(rank) for rank, item in enumerate(one)}
        for user, one in world.lists.items()
    }
    world = World(**{**vars(world), "lists": lists})
    convention, metric = rn.Convention(distance=distance), f"serendipity(genres,by=hits)@{k}"
    report = evaluate(world, metric, convention=convention, threshold=1)
    for user, one in lists.items():
        wanted = from_history(distance, "hits")(world, user, [*one], k)
        found = report.per_user.iloc[:, -1][user]
        wanted = math.nan if wanted is None else wanted
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)
    assert report.audit["chance"].isna().all()
    tied = World(**{**vars(world), "lists": {"ann": {1: 1.0, 2: 1.0}}})
    with pytest.raises(rn.InvalidInputError, match="order of tied items"):
        evaluate(tied, "serendipity(genres,by=hits)@2", convention=convention, threshold=1)


def kl(p: dict[Any, float], q: dict[Any, float]) -> float:
    """Return the Kullback-Leibler divergence in nats."""
    return math.fsum(share * math.log(share / q[key]) for key, share in p.items() if share)


def share_out(topics: Sequence[Any], weights: Sequence[float]) -> dict[Any, float] | None:
    """Return the share of each topic; items without topics are left out."""
    shares: Counter[Any] = Counter()
    for members, weight in zip(topics, weights, strict=True):
        for member in members:
            shares[member] += weight / len(members)  # type: ignore[assignment]
    total = math.fsum(shares.values())
    return {key: share / total for key, share in shares.items()} if total else None


def tier(world: World, item: Any) -> str:
    """Head, middle or tail of popularity, with 20 %, 60 % and 20 % of training."""
    ranked = sorted(world.train_items, key=lambda one: (-world.users(one), one))
    reached, tiers = 0, {}
    for one in ranked:
        share = 10 * reached
        tiers[one] = "head" if share < 2 * world.interactions else "middle"
        if share >= 8 * world.interactions:
            tiers[one] = "tail"
        reached += world.users(one)
    return tiers.get(item, "tail")


@pytest.mark.parametrize("patience", [None, 0.5])
@pytest.mark.parametrize("name", ["kl", "js", "upd"])
@given(world=worlds(), k=st.integers(1, 5))
def test_a_divergence_is_that_of_the_expected_shares(
    name: str, patience: float | None, world: World, k: int
) -> None:
    """At most the mean over all orders of ties."""
    metric = "upd" if name == "upd" else f"calibration(genres,divergence={name})"
    report = evaluate(world, f"{metric}@{k}", convention=rn.Convention(patience=patience))

    def divide(items: Sequence[Any], weights: Sequence[float]) -> dict[Any, float] | None:
        groups = [
            [tier(world, item)] if name == "upd" else sorted(world.features[item]) for item in items
        ]
        return share_out(groups, weights)

    def compare(p: dict[Any, float], q: dict[Any, float]) -> float:
        keys = {*p, *q}
        p, q = ({key: one.get(key, 0.0) for key in keys} for one in (p, q))
        if name == "kl":
            return kl(p, {key: 0.99 * q[key] + 0.01 * p[key] for key in keys})
        middle = {key: (p[key] + q[key]) / 2 for key in keys}
        return (kl(p, middle) + kl(q, middle)) / 2

    for user in world.lists:
        history = sorted(world.history(user))
        p = divide(history, [1.0] * len(history))
        tops = [order[:k] for order in world.orders(user)]
        weights = [(patience or 1.0) ** rank for rank in range(len(tops[0]))]
        q = divide([item for top in tops for item in top], weights * len(tops))
        wanted = compare(p, q) if p and q else math.nan
        found = report.per_user.iloc[:, -1][user]
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True)
        by_order = [divide(top, weights) for top in tops]
        if p and (name == "upd" or all(world.features[item] for item in world.lists[user])):
            assert found <= mean([compare(p, one) for one in by_order if one]) + 1e-9
    assert report.audit[["chance", "best", "worst"]].isna().all().all()


@given(world=worlds(), order=st.randoms())
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("calibration(genres)@2", {}),
        ("upd@2", {}),
        ("popularity_lift@2", {}),
        ("serendipity@2", {}),
        ("serendipity(genres,by=history)@2", {}),
        ("serendipity(genres,by=history)@2", {"distance": "cosine"}),
        ("serendipity(genres,by=relevant)@2", {"distance": "cooccurrence"}),
        ("efd@2", {}),
    ],
)
def test_a_score_does_not_depend_on_other_users_or_on_the_order_of_rows(
    name: str, choices: dict[str, Any], world: World, order: Any
) -> None:
    """To the last bit."""
    convention = rn.Convention(**choices)
    table = evaluate(world, name, convention=convention, threshold=1).per_user[name]
    for user, one in world.lists.items():
        rows, train = [*one.items()], [*world.train]
        order.shuffle(rows)
        order.shuffle(train)
        alone = World(**{**vars(world), "lists": {user: dict(rows)}, "train": train})
        found = evaluate(alone, name, convention=convention, threshold=1).per_user[name][user]
        assert found == table[user] or (math.isnan(found) and math.isnan(table[user]))


def test_repeated_training_rows_count_again_if_popularity_is_of_rows() -> None:
    """In the profile of the user, too."""
    train = [("ann", "a"), ("ann", "a"), ("ann", "b"), ("bob", "a")]
    lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b"]})

    def measure(popularity_of: Any) -> float:
        convention = rn.Convention(popularity_of=popularity_of)
        report = rn.evaluate(lists, metrics="popularity_lift@1", train=train, convention=convention)
        return float(report.mean.iloc[0])

    assert measure("users") == pytest.approx(1 / 1.5 - 1)
    assert measure("rows") == pytest.approx(1 / (7 / 3) - 1)


def test_lists_without_ends_measure_all_ranks() -> None:
    """Without a cutoff all items count."""
    world = World(
        {"ann": {1: 3.0, 2: 2.0, 3: 1.0}}, {"ann": {2}}, [("ann", 1), ("bob", 2)], [1, 2, 3],
        {"ann": [3, 2]}, {1: frozenset({"war"}), 2: frozenset(), 3: frozenset({"drama"})},
        dict.fromkeys((1, 2, 3), 0.0),
    )  # fmt: skip
    names = ["epc", "overlap", "serendipity", "calibration(genres)", "popularity_lift"]
    found = evaluate(world, names, k=None, threshold=1).mean
    wanted = {
        "epc": 0.5 * log_discount(2) / sum(map(log_discount, (1, 2, 3))),
        "overlap": 2 / 3,
        "serendipity": 0.0,
        "calibration(genres)": math.log(1 / (0.99 / 2 + 0.01)),
        "popularity_lift": (2 / 3 - 1),
    }
    assert found.to_dict() == pytest.approx(wanted)


FEATURES = {"item": ["a", "b"], "genre": [{"war"}, {"drama"}], "price": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("overlap@2", {}, "needs base="),
        ("epc@2", {"train": None}, "needs train="),
        ("epc@2", {"train": [("bob", "b")], "cold_item": "raise"}, "'ann' item 'a'. Leave"),
        ("serendipity@2", {}, "needs catalogue="),
        ("calibration(genre)@2", {}, "needs features="),
        ("calibration(price)@2", {"features": FEATURES}, "has numbers"),
        ("calibration@2", {"features": FEATURES}, "have several columns"),
        ("calibration(gender)@2", {"features": FEATURES}, "no column 'gender'"),
        ("calibration(genre)@2", {"features": FEATURES}, "'ann' item 'c'"),
        (
            "serendipity(by=history)@2",
            {"features": FEATURES, "distance": "cosine"},
            "name another column",
        ),
        (
            "serendipity(genre,by=history)@2",
            {"features": FEATURES},
            "1 training rows have items without an entry",
        ),
        ("calibration(genre)@2", {"features": FEATURES, "ties": "best", "tie": True}, "best order"),
        ("serendipity@2", {"catalogue": [*"abc"], "seen": "raise"}, "Leave them out"),
    ],
)
def test_what_is_missing_is_named(metric: str, options: dict[str, Any], message: str) -> None:
    """With where it is, and what to write."""
    options = dict(options)
    given_ = {
        name: options.pop(name) for name in ("train", "features", "catalogue") if name in options
    }
    known = {"train": [("ann", "a"), ("ann", "c"), ("bob", "b")], **given_}
    if options.pop("tie", False):
        known["train"] = [("ann", "a")]
        rows: Any = {"ann": {"a": 1.0, "b": 1.0}}
    else:
        rows = {"ann": ["a", "b"]}
    lists = rn.RankedLists.from_labels({"ann": {"a"}}, rows)
    with pytest.raises(rn.InvalidInputError, match=message):
        rn.evaluate(
            lists, metrics=metric, threshold=1, convention=rn.Convention(**options), **known
        )


@pytest.mark.parametrize(
    ("metric", "choices"),
    [
        ("calibration(topics)@7", {"patience": 0.7}),
        ("serendipity(topics,by=history)@7", {"distance": "cosine"}),
        ("serendipity(topics,by=history)@7", {}),
        ("serendipity(by=history)@7", {"distance": "cooccurrence"}),
        ("efd@7", {}),
        ("popularity_lift@7", {}),
    ],
)
def test_the_last_digit_does_not_depend_on_the_order_of_many_tied_rows(
    metric: str, choices: dict[str, Any]
) -> None:
    """Nor on the order of training rows, or on how many pairs are compared at once."""
    generator = random.Random(7)  # noqa: S311 - not for secrets
    items = list(range(40))
    topics = [set(generator.sample("abcdefghij", generator.randint(1, 7))) for _ in items]
    train = [(user, item) for user in range(9) for item in generator.sample(items, 15)]
    results = [(user, item, float(item % 2)) for user in range(5) for item in items[:24]]
    labels = [(user, item, 1.0) for user in range(5) for item in items[::3]]

    def measure() -> list[float]:
        report = rn.evaluate(
            {
                "labels": pd.DataFrame(labels, columns=["user", "item", "true"]),
                "results": pd.DataFrame(results, columns=["user", "item", "estimated"]),
            },
            metrics=metric, threshold=1, train=train, features={"item": items, "topics": topics},
            convention=rn.Convention(**choices),
        )  # fmt: skip
        return report.per_user[metric].tolist()

    first = measure()
    for _ in range(5):
        generator.shuffle(results)
        generator.shuffle(train)
        assert measure() == first
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_CELLS", 50)
        assert measure() == first


@pytest.mark.parametrize("rule", ["drop", "zero"])
@pytest.mark.parametrize("distance", ["cosine", "jaccard", "hamming", "category"])
def test_items_without_features_are_left_out_or_empty(distance: Any, rule: Any) -> None:
    """Also training items; two of them are alike, except by cosine."""
    lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "x", "b"]})
    features = {"item": ["a", "b", "c"], "genre": ["war", "drama", "war"]}
    convention = rn.Convention(distance=distance, missing_feature=rule)
    found = rn.evaluate(
        lists, metrics="serendipity(genre,by=history)@3", threshold=1, features=features,
        train=[("ann", "c"), ("ann", "y")], convention=convention,
    ).mean.iloc[0]  # fmt: skip
    # a is like c, b is not; x and y have no genre
    of_x = (1 + (distance == "cosine")) / 2
    wanted = {"drop": (0 + 1) / 2, "zero": (0.5 + of_x + 1) / 3}
    assert found == pytest.approx(wanted[rule])


@pytest.mark.parametrize("kind", ["columns", "vector"])
def test_a_distance_can_be_of_all_columns_or_a_function(kind: str) -> None:
    """Several columns: the number that differ; a function gets two arrays of rows."""
    lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a"]})
    tables = {
        "columns": {"item": ["a", "b"], "genre": ["war", "war"], "year": [1.0, 2.0]},
        "vector": {"item": ["a", "b"], "place": [[1.0, 2.0], [4.0, 6.0]]},
    }
    distance: Any = {
        "columns": "by_column",
        "vector": lambda first, second: np.sqrt(((first - second) ** 2).sum(axis=1)),
    }[kind]
    convention = rn.Convention(distance=distance)
    found = rn.evaluate(
        lists, metrics="serendipity(by=history)@1", threshold=1, features=tables[kind],
        train=[("ann", "b")], convention=convention,
    ).mean.iloc[0]  # fmt: skip
    assert found == {"columns": 1.0, "vector": 5.0}[kind]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("by_measure", (1.0, 2.0)), ("zero", (0.0, 0.0)), ("one_user", (2 / 3, 2.0)),
        ("rarest", (2 / 3, 2.0)), ("drop", (math.nan, math.nan)),
    ],
)  # fmt: skip
def test_cold_items_count_as_the_convention_says(rule: Any, wanted: tuple[float, float]) -> None:
    """Relevant items that nobody had in training."""
    train = [("ann", "a"), ("bob", "a"), ("cid", "a"), ("ann", "b")]
    lists = rn.RankedLists.from_labels({"ann": {"x"}}, {"ann": ["x"]})
    report = rn.evaluate(
        lists,
        metrics=["epc@1", "efd@1"],
        train=train,
        threshold=1,
        convention=rn.Convention(cold_item=rule),
    )
    assert report.mean.tolist() == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize(("rule", "wanted"), [("n", 1.0), ("k", 1 / (1 + 1 / math.log2(3)))])
def test_a_short_list_has_as_many_places_as_the_convention_says(rule: Any, wanted: float) -> None:
    """Places past the end of the list are unexpected."""
    lists = rn.RankedLists.from_labels({"ann": {"x"}}, {"ann": ["x"]})
    report = rn.evaluate(
        lists,
        metrics=["epc@2", "unexpected@2", "overlap@2"],
        train=[("ann", "a")],
        base={"ann": ["x", "y"], "bob": ["x"]},
        threshold=1,
        convention=rn.Convention(list_over=rule),
    )
    other = {"n": [0.0, 1.0], "k": [0.5, 0.5]}[rule]
    assert report.mean.tolist() == pytest.approx([wanted, *other])


@pytest.mark.parametrize("metric", ["seen@2", "unseen@2", "overlap@2", "unexpected@2"])
def test_a_user_without_a_list_has_nothing_seen(metric: str) -> None:
    """Alone, too: then no user has a row."""
    labels, results = {"ann": [1], "bob": [2]}, {"ann": [1, 3]}
    known: Any = {"train": [("ann", 3), ("bob", 4)], "base": results, "catalogue": [1, 2, 3, 4]}
    report = rn.evaluate(labels=labels, results=results, metrics=metric, **known)
    alone = report.take(["bob"])
    assert alone.per_user[metric].tolist() == pytest.approx(
        report.per_user.loc[["bob"], metric].tolist(), nan_ok=True
    )
