"""Measures of topics against plain formulas, over all orders of ties and all random draws."""

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.beyond.textbook import World, deviation, log_discount, mean
from tests.beyond.worlds import evaluate, read_draws, worlds
from tests.errors import rejects

Score = Callable[[World, Any, list[Any], int, float], float]


def topics_of(world: World, user: Any, item: Any) -> frozenset[str]:
    """Return the topics of an item that is relevant for the user, else none."""
    return world.features[item] if item in world.relevant[user] else frozenset()


def all_topics(world: World, user: Any) -> set[str]:
    """Return the topics of the user's relevant items."""
    return {topic for item in world.relevant[user] for topic in world.features[item]}


def faded(
    world: World, user: Any, order: list[Any], alpha: float, weigh: Callable[[int], float]
) -> float:
    """Return the sum of gains, less for each repetition of a topic."""
    shown: dict[str, int] = {}
    total = 0.0
    for rank, item in enumerate(order, start=1):
        for topic in topics_of(world, user, item):
            total += weigh(rank) * (1 - alpha) ** shown.get(topic, 0)
            shown[topic] = shown.get(topic, 0) + 1
    return total


def greedy(world: World, user: Any, alpha: float) -> list[Any]:
    """Return the relevant items, the largest gain first, of equal ones the last as text."""
    left, shown = set(world.relevant[user]), dict[str, int]()
    order: list[Any] = []

    def gain(item: Any) -> float:
        powers = sorted((1 - alpha) ** shown.get(topic, 0) for topic in world.features[item])
        return round(math.fsum(powers), 9)

    while left:
        best = max(left, key=lambda item: (gain(item), str(item)))
        left.remove(best)
        order.append(best)
        for topic in world.features[best]:
            shown[topic] = shown.get(topic, 0) + 1
    return order


def reciprocal(rank: int) -> float:
    """Return 1 over the rank."""
    return 1 / rank


def over_ideal(weigh: Callable[[int], float]) -> Score:
    """Return the faded sum over that of the greedy list."""

    def score(world: World, user: Any, order: list[Any], k: int, alpha: float) -> float:
        ideal = faded(world, user, greedy(world, user, alpha)[:k], alpha, weigh)
        return faded(world, user, order[:k], alpha, weigh) / ideal

    return score


def over_most(weigh: Callable[[int], float]) -> Score:
    """Return the faded sum over that of k items with all topics."""

    def score(world: World, user: Any, order: list[Any], k: int, alpha: float) -> float:
        most = math.fsum(weigh(rank) * (1 - alpha) ** (rank - 1) for rank in range(1, k + 1))
        top = faded(world, user, order[:k], alpha, weigh)
        return top / (len(all_topics(world, user)) * most)

    return score


def precision(world: World, user: Any, order: list[Any], k: int, _: float) -> float:
    """Return the mean precision over topics."""
    return mean(
        [
            sum(topic in topics_of(world, user, item) for item in order[:k]) / k
            for topic in all_topics(world, user)
        ]
    )


def average_precision(world: World, user: Any, order: list[Any], k: int, _: float) -> float:
    """Return the mean average precision over topics."""

    def of_topic(topic: str) -> float:
        hits, total = 0, 0.0
        for rank, item in enumerate(order[:k], start=1):
            if topic in topics_of(world, user, item):
                hits += 1
                total += hits / rank
        return total / sum(topic in world.features[item] for item in world.relevant[user])

    return mean([of_topic(topic) for topic in all_topics(world, user)])


def recall(world: World, user: Any, order: list[Any], k: int, _: float) -> float:
    """Return the share of all topics in the table that relevant items have."""
    found = {topic for item in order[:k] for topic in topics_of(world, user, item)}
    return len(found) / len({topic for one in world.features.values() for topic in one})


def strec(world: World, user: Any, order: list[Any], k: int, _: float) -> float:
    """Return the share of the user's relevant topics."""
    found = {topic for item in order[:k] for topic in topics_of(world, user, item)}
    return len(found) / len(all_topics(world, user))


def categories(world: World, _: Any, order: list[Any], k: int, __: float) -> float:
    """Return the number of different topics over the number of items."""
    return len({topic for item in order[:k] for topic in world.features[item]}) / len(order[:k])


RELEVANT: dict[str, Score] = {
    "alpha_ndcg": over_ideal(log_discount),
    "nerr_ia": over_ideal(reciprocal),
    "alpha_dcg": over_most(log_discount),
    "err_ia": over_most(reciprocal),
    "p_ia": precision,
    "map_ia": average_precision,
    "subtopic_recall": recall,
    "strec": strec,
}


@st.composite
def topical(draw: Any, max_list: int = 4) -> World:
    """Draw worlds in which more of the listed items are relevant, so that topics repeat."""
    world: World = draw(worlds(max_list=max_list))
    relevant = {
        user: world.relevant[user] | draw(st.sets(st.sampled_from(sorted(world.lists[user]))))
        if user in world.lists
        else world.relevant[user]
        for user in world.relevant
    }
    return replace(world, relevant=relevant)


SCORES: dict[str, Score] = {**RELEVANT, "categories": categories}
WITH_ALPHA = ("alpha_ndcg", "nerr_ia", "alpha_dcg", "err_ia")
ALPHAS = st.sampled_from([0.0, 0.3, 0.5, 1.0])


def ask(name: str, world: World, k: int, alpha: float, **options: Any) -> tuple[rn.Report, str]:
    """Evaluate one of the measures, and return its name, too."""
    options_of = {**dict.fromkeys(WITH_ALPHA, f",alpha={alpha}"), "strec": ",over=relevant"}
    metric = f"{name}(genres{options_of.get(name, '')})@{k}"
    report = evaluate(world, metric, threshold=1, **options)
    return report, report.per_user.columns[-1]


def is_defined(name: str, world: World, user: Any) -> bool:
    """Whether the user has a score."""
    return name == "categories" or bool(all_topics(world, user))


@pytest.mark.parametrize("name", SCORES)
@given(world=topical(), k=st.integers(1, 5), alpha=ALPHAS)
def test_the_score_is_the_mean_over_all_orders_of_ties(
    name: str, world: World, k: int, alpha: float
) -> None:
    """Of every user."""
    report, column = ask(name, world, k, alpha)
    table = report.per_user[column]
    for user in world.lists:
        if not is_defined(name, world, user):
            assert math.isnan(table[user])
            continue
        scores = [SCORES[name](world, user, order, k, alpha) for order in world.orders(user)]
        assert table[user] == pytest.approx(mean(scores), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("catalogue", [True, False])
@pytest.mark.parametrize("name", SCORES)
@given(world=topical(max_list=3), k=st.integers(1, 4), alpha=ALPHAS)
def test_chance_is_the_mean_of_all_draws(
    *, name: str, world: World, k: int, alpha: float, catalogue: bool
) -> None:
    """From the catalogue, or of all orders; P-IA also has best, worst and deviation."""
    report, _ = ask(name, world, k, alpha, catalogue=catalogue)
    for user, found, pool in read_draws(report, world, catalogue=catalogue):
        if not is_defined(name, world, user):
            continue
        orders = permutations(pool, len(world.lists[user]))
        draws = [SCORES[name](world, user, [*order], k, alpha) for order in orders]
        assert found["chance"] == pytest.approx(mean(draws), rel=1e-12, abs=1e-12)
        if name != "p_ia":
            assert math.isnan(found["best"])
            assert math.isnan(found["worst"])
            continue
        assert found["best"] == pytest.approx(max(draws), rel=1e-12, abs=1e-12)
        assert found["worst"] == pytest.approx(min(draws), rel=1e-12, abs=1e-12)
        numerators = [draw * k * len(all_topics(world, user)) for draw in draws]
        assert found["deviation"] == pytest.approx(deviation(numerators), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("patience", [None, 0.85])
@given(world=topical(), k=st.integers(1, 5))
def test_category_entropy_is_that_of_the_expected_shares(
    world: World, k: int, patience: float | None
) -> None:
    """With 10^-6 for each category."""
    convention = rn.Convention(patience=patience)
    report = evaluate(world, f"category_entropy(genres)@{k}", convention=convention)
    labels = sorted({topic for one in world.features.values() for topic in one})
    table = report.per_user.iloc[:, -1]
    for user in world.lists:
        orders = [*world.orders(user)]
        sums = dict.fromkeys(labels, 0.0)
        for order in orders:
            for rank, item in enumerate(order[:k]):
                for topic in world.features[item]:
                    weight = 1.0 if patience is None else patience**rank
                    sums[topic] += weight / len(world.features[item]) / len(orders)
        if not sum(sums.values()):
            assert math.isnan(table[user])
            continue
        total = math.fsum(sums.values()) + 1e-6 * len(labels)
        shares = [(one + 1e-6) / total for one in sums.values()]
        wanted = -math.fsum(share * math.log2(share) for share in shares)
        assert table[user] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        assert math.isnan(report._data.audit.scores_with_orders.roles["chance"][0, 0])


@given(world=topical(), seed=st.integers(0, 9))
def test_a_score_depends_on_the_users_rows_alone(world: World, seed: int) -> None:
    """To the last bit: not on other users, nor on the order of rows and items."""
    names = [f"{name}(genres)@3" for name in SCORES if name != "strec"]
    names += ["category_entropy(genres)@3", "alpha_ndcg(genres,alpha=0.3)@3"]
    convention = rn.Convention(patience=0.85)
    table = evaluate(world, names, threshold=1, convention=convention).per_user
    user = [*world.lists][seed % len(world.lists)]
    rows = [*world.lists[user].items()]
    shuffled = [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]
    alone = World(
        {user: dict(shuffled)}, {**world.relevant}, world.train, world.catalogue[::-1],
        features=dict(reversed(world.features.items())), price=world.price,
    )  # fmt: skip
    again = evaluate(alone, names, threshold=1, convention=convention).per_user
    pd.testing.assert_frame_equal(table.loc[[user]], again.loc[[user]], check_exact=True)


def test_the_order_of_rows_changes_no_digit() -> None:
    """Of long ties with items of one to six topics, which are sums of fractions."""
    rng = np.random.default_rng(5)
    topics = [{f"t{rng.integers(12)}" for _ in range(1 + item % 6)} for item in range(40)]
    table = pd.DataFrame({"item": range(40), "topics": topics})
    rows = pd.DataFrame(
        {"user": np.repeat([1, 2], 20), "item": range(40), "estimated": rng.integers(3, size=40)}
    ).astype({"estimated": float})
    labels = rows[rows["item"] % 3 > 0].assign(true=1.0)[["user", "item", "true"]]
    names = [f"{name}(topics)@7" for name in (*RELEVANT, "categories") if name != "strec"]
    names += ["category_entropy(topics)@7", "alpha_ndcg(topics,alpha=0.3)@7"]

    def score(convention: rn.Convention, seed: int) -> pd.DataFrame:
        parts = [part.sample(frac=1, random_state=seed) for part in (labels, rows, table)]
        data = {"labels": parts[0], "results": parts[1]}
        options: dict[str, Any] = {"features": parts[2], "threshold": 1}
        return rn.evaluate(data, metrics=names, convention=convention, **options).per_user

    for convention in (rn.Convention(), rn.Convention(patience=0.85)):
        wanted = score(convention, 0)
        for seed in range(1, 8):
            pd.testing.assert_frame_equal(score(convention, seed), wanted, check_exact=True)


def test_the_ideal_list_breaks_ties_as_ndeval_does() -> None:
    """By id as text, the last first: 9 before 7, and not 11 first. The number is pyndeval's."""
    features = {7: {"a", "b"}, 9: {"c", "d"}, 11: {"b", "c"}}
    lists = rn.RankedLists.from_labels({"ann": {7, 9, 11}}, {"ann": [11]})
    table = {"item": [*features], "topics": [*features.values()]}
    report = rn.evaluate(lists, metrics="alpha_ndcg(topics)@5", features=table, threshold=1)
    assert report.mean.iloc[0] == pytest.approx(0.5316519652587917, abs=1e-15)


@pytest.mark.parametrize("name", ["categories", "category_entropy", "p_ia", "alpha_ndcg"])
def test_an_item_without_topics_is_an_error_or_has_none(name: str) -> None:
    """The message names it; `missing_feature` decides."""
    lists = rn.RankedLists.from_labels({"ann": {"a", "c"}}, {"ann": ["a", "b"]})
    table = {"item": ["a", "c"], "topics": [{"war"}, {"sea"}]}
    metric = f"{name}(topics)@2"
    with pytest.raises(rn.InvalidInputError, match="user 'ann' item 'b'"):
        rn.evaluate(lists, metrics=metric, features=table, threshold=1)
    found = {}
    for rule in ("zero", "drop"):
        convention = rn.Convention(missing_feature=rule)
        options: dict[str, Any] = {"features": table, "threshold": 1, "convention": convention}
        found[rule] = rn.evaluate(lists, metrics=metric, **options).mean.iloc[0]
    whole = {"item": ["a", "b", "c"], "topics": [{"war"}, set(), {"sea"}]}
    none = rn.evaluate(lists, metrics=metric, features=whole, threshold=1).mean.iloc[0]
    assert found == {"zero": none, "drop": 1.0 if name == "categories" else none}


def test_a_relevant_item_outside_the_lists_needs_topics() -> None:
    """It counts in the ideal list, unless unlisted items are ignored."""
    lists = rn.RankedLists.from_labels({"ann": {"a", "c"}}, {"ann": ["a"]})
    table = {"item": ["a"], "topics": [{"war"}]}
    options: dict[str, Any] = {"metrics": "alpha_ndcg(topics)@2", "features": table, "threshold": 1}
    with pytest.raises(rn.InvalidInputError, match=r"outside the lists.* user 'ann' item 'c'"):
        rn.evaluate(lists, **options)
    ignored = rn.evaluate(lists, convention=rn.Convention(unlisted="ignore"), **options)
    assert ignored.mean.iloc[0] == 1.0


def test_what_cannot_be_computed_is_said() -> None:
    """In the words of the call."""
    lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    table = {"item": ["a", "b"], "topics": [{"war"}, {"sea"}], "price": [1.0, 2.0]}
    for metric, text in {
        "categories(price)@2": "needs categories or sets, but the column 'price'",
        "categories(topic)@2": "no column 'topic'",
        "alpha_ndcg(topics,alpha=2)@2": "alpha must be a number from 0 to 1, not 2",
        "alpha_ndcg(topics,0.5)@2": "write the parameters",
        "err_ia(topics)": "has no cutoff",
    }.items():
        with pytest.raises(rn.InvalidInputError, match=text):
            rn.evaluate(lists, metrics=metric, k=None, features=table, threshold=1)


def test_ties_without_a_known_order_are_refused() -> None:
    """The best order, and lists from which tied items are left out."""
    rows = pd.DataFrame({"user": 1, "item": [1, 2], "estimated": 1.0})
    data = {"labels": pd.DataFrame({"user": [1], "item": [1], "true": [1.0]}), "results": rows}
    table = {"item": [1], "topics": [{"war"}]}
    conventions = (
        rn.Convention(ties="best", missing_feature="zero"),
        rn.Convention(missing_feature="drop"),
    )
    for convention in conventions:
        with pytest.raises(rn.InvalidInputError, match="item_asc"):
            rn.evaluate(data, metrics="categories(topics)@1", features=table, convention=convention)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("name", ["alpha_dcg", "err_ia"])
def test_the_sum_over_k_ranks_is_exact_for_any_k(name: str, alpha: float) -> None:
    """Whether or not later ranks still count: of one hit, the score is one over the sum."""
    weigh = log_discount if name == "alpha_dcg" else lambda rank: 1 / rank
    lists = rn.RankedLists.from_labels({1: {"a"}}, {1: ["a"]})
    for k in (1, 7, 5000):
        metric = f"{name}(topic,alpha={alpha})@{k}"
        report = rn.evaluate(
            lists, metrics=metric, features={"item": ["a"], "topic": ["x"]}, threshold=1
        )
        terms = [weigh(rank) * (1 - alpha) ** (rank - 1) for rank in range(1, k + 1)]
        assert report.mean.tolist() == pytest.approx([1 / math.fsum(terms)], rel=1e-12)


@pytest.mark.parametrize("k", [10**7, 10**9])
@pytest.mark.parametrize("name", ["alpha_dcg(topic)", "err_ia(topic)", "coverage", "gini", "ndcg"])
def test_a_large_cutoff_needs_no_memory(name: str, k: int) -> None:
    """The tables are as wide as the longest list."""
    lists = rn.RankedLists.from_labels({1: {"a"}}, {1: [*"ab"], 2: ["b"]})
    features = {"item": ["a", "b"], "topic": ["x", "y"]}
    tracemalloc.start()
    try:
        found = [
            rn.evaluate(lists, metrics=f"{name}@{cutoff}", threshold=1, features=features,
                        catalogue=[*"abc"], n_jobs=1).mean.tolist()
            for cutoff in (k, 5000)
        ]  # fmt: skip
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert found[0] == found[1]


def test_a_sum_over_too_many_ranks_is_an_error() -> None:
    """Of weights that never fade."""
    lists = rn.RankedLists.from_labels({1: {"a"}}, {1: ["a"]})
    with rejects("A sum over 1000000000 ranks is too long", whole=False):
        rn.evaluate(lists, metrics="alpha_dcg(topic,alpha=0)@1000000000", threshold=1,
                    features={"item": ["a"], "topic": ["x"]})  # fmt: skip
