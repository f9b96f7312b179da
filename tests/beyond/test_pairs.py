"""Diversity against all orders of small lists, and all draws from the catalogue."""

import math
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.beyond.textbook import World, cooccurrence, cosine, jaccard, mean
from tests.beyond.worlds import evaluate, read_draws, worlds

Distance = Callable[[World, Any, Any], float]


def topics_that_differ(world: World, a: Any, b: Any) -> float:
    """Return the number of topics of one of the two."""
    used = set().union(*world.features.values())
    return float(sum((one in world.features[a]) != (one in world.features[b]) for one in used))


def other_topics(world: World, a: Any, b: Any) -> float:
    """Return whether the topics differ."""
    return float(world.features[a] != world.features[b])


def other_price(world: World, a: Any, b: Any) -> float:
    """Return whether the prices differ."""
    return float(world.price[a] != world.price[b])


def columns_that_differ(world: World, a: Any, b: Any) -> float:
    """Return how many of topics and price differ."""
    return other_topics(world, a, b) + other_price(world, a, b)


def rows_together(world: World, a: Any, b: Any) -> float:
    """Return the same with rows: recommenders multiplies those of a user."""
    pairs = sum(
        one == (user, a) and other == (user, b)
        for user in world.train_users
        for one in world.train
        for other in world.train
    )
    return 1 - pairs / math.sqrt(world.rows(a) * world.rows(b)) if pairs else 1.0


def measure_log_price(first: Any, second: Any) -> Any:
    """Return a distance of prices, as a user may write one."""
    return np.abs(np.arctan(first) - np.arctan(second))


def log_price(world: World, a: Any, b: Any) -> float:
    """Return the same."""
    return abs(math.atan(world.price[a]) - math.atan(world.price[b]))


CASES: dict[str, tuple[str, dict[str, Any], Distance]] = {
    "sets": ("diversity(genres)", {}, jaccard),
    "jaccard": ("diversity(genres)", {"distance": "jaccard"}, jaccard),
    "cosine": ("diversity(genres)", {"distance": "cosine"}, cosine),
    "hamming": ("diversity(genres)", {"distance": "hamming"}, topics_that_differ),
    "category": ("diversity(genres)", {"distance": "category"}, other_topics),
    "number": ("diversity(price)", {}, other_price),
    "columns": ("diversity", {}, columns_that_differ),
    "cooccurrence": ("diversity", {"distance": "cooccurrence"}, cooccurrence),
    "rows": ("diversity", {"distance": "cooccurrence", "popularity_of": "rows"}, rows_together),
    "own": ("diversity(price)", {"distance": measure_log_price}, log_price),
}


def add_up(distance: Distance, world: World, items: Sequence[Any]) -> float:
    """Return the sum of the distances of all pairs."""
    return math.fsum(distance(world, a, b) for a, b in combinations(items, 2))


@pytest.mark.parametrize("case", [one for one in CASES if one not in {"cooccurrence", "rows"}])
@given(world=worlds())
def test_serendipity_has_the_same_distances(case: str, world: World) -> None:
    """Of any item from the only item of the history, also of an item from itself."""
    name, choices, distance = CASES[case]
    pairs = {f"{a} {b}": (a, b) for a in world.features for b in world.features}
    lists = {user: {a: 1.0} for user, (a, _) in pairs.items()}
    train = [(user, b) for user, (_, b) in pairs.items()]
    relevant = {user: {a} for user, (a, _) in pairs.items()}
    world = World(lists, relevant, train, [*world.features], {}, world.features, world.price)
    convention = rn.Convention(**choices)
    column = name.removeprefix("diversity").strip("()")
    metric = f"serendipity({column}{',' if column else ''}by=history)@1"
    found = evaluate(world, metric, threshold=1, convention=convention).per_user[metric]
    wanted = {user: distance(world, a, b) for user, (a, b) in pairs.items()}
    assert found.to_dict() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


#: Repeated rows make a cosine of more than 1, and so a distance below 0.
REPEATED = World(
    {"ann": {4: 1.0, 1: 1.0}}, {"ann": {1}}, [("ann", 1), ("ann", 1), ("ann", 4)], [1, 4],
    {"ann": []}, {item: frozenset() for item in (1, 4)}, {1: -1.5, 4: -1.5},
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@given(world=worlds(), k=st.integers(2, 5))
@example(world=REPEATED, k=2)
def test_the_score_is_the_mean_over_all_orders_of_ties(case: str, world: World, k: int) -> None:
    """Of every user with two items; others have none."""
    name, choices, distance = CASES[case]
    report = evaluate(world, f"{name}@{k}", convention=rn.Convention(**choices))
    table = report.per_user[f"{name}@{k}"]
    for user, one in world.lists.items():
        shown = min(k, len(one))
        if shown < 2:
            assert math.isnan(table[user])
            continue
        sums = [add_up(distance, world, order[:k]) for order in world.orders(user)]
        assert table[user] == pytest.approx(mean(sums) / math.comb(shown, 2), abs=1e-12)


@pytest.mark.parametrize("catalogue", [True, False])
@pytest.mark.parametrize("case", CASES)
@given(world=worlds(max_list=5), k=st.integers(2, 4))
def test_chance_is_the_mean_of_all_draws_without_a_z(
    case: str, world: World, k: int, *, catalogue: bool
) -> None:
    """Drawn from the catalogue, or if it is unknown, all orders of the list; z is not computed."""
    name, choices, distance = CASES[case]
    convention = rn.Convention(**choices)
    report = evaluate(world, f"{name}@{k}", catalogue=catalogue, convention=convention)
    for user, found, pool in read_draws(report, world, catalogue=catalogue):
        shown = min(k, len(world.lists[user]))
        assert math.isnan(found["best"])
        assert math.isnan(found["worst"])
        if shown < 2:
            assert math.isnan(found["chance"])
            continue
        sums = [add_up(distance, world, draw) for draw in combinations(pool, shown)]
        assert found["chance"] == pytest.approx(mean(sums) / math.comb(shown, 2), abs=1e-12)
        assert math.isnan(found["deviation"])


def test_a_leaderboard_by_z_says_that_diversity_has_none() -> None:
    """In place of an empty table."""
    lists = rn.RankedLists.from_labels(None, {"ann": [1, 2, 3], "bob": [3, 1]})
    report = rn.evaluate(lists, metrics="diversity@2", features={"item": [1, 2, 3], "x": [*"aab"]})
    with pytest.raises(rn.InvalidInputError, match="diversity@2 has no z for any user: pass by="):
        report.leaderboard(by="z")


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@given(world=worlds(max_list=3), k=st.integers(1, 4))
def test_other_denominators_similarity_and_lists_of_one(kind: Any, world: World, k: int) -> None:
    """As other libraries have them."""
    names = {
        f"diversity(genres,over={over},as={kind},single={single})@{k}": (over, single)
        for over, single in product(["pairs", "k", "n"], ["undefined", 0.0, 1.0])
    }
    table = evaluate(world, [*names]).per_user
    for (user, one), (name, (over, single)) in product(world.lists.items(), names.items()):
        shown = min(k, len(one))
        pairs = math.comb(shown, 2)
        if shown == 1:
            wanted = math.nan if single == "undefined" else single
        else:
            sums = [add_up(jaccard, world, order[:k]) for order in world.orders(user)]
            total = mean(sums) if kind == "distance" else pairs - mean(sums)
            wanted = total / {"pairs": pairs, "k": math.comb(k, 2), "n": shown}[over]
        assert table[name][user] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(world=worlds(), k=st.integers(1, 5))
def test_cold_is_the_share_of_items_without_training_rows(world: World, k: int) -> None:
    """Over all orders of ties, and all draws from the catalogue."""
    report = evaluate(world, f"cold@{k}")

    def share(items: Sequence[Any]) -> float:
        return mean([float(item not in world.train_items) for item in items[:k]])

    for user, found, pool in read_draws(report, world):
        wanted = mean([share(order) for order in world.orders(user)])
        assert report.per_user[f"cold@{k}"][user] == pytest.approx(wanted, abs=1e-12)
        draws = [share(draw) for draw in permutations(pool, min(len(world.lists[user]), k))]
        assert found["chance"] == pytest.approx(mean(draws), abs=1e-12)
        assert found["best"] == pytest.approx(max(draws), abs=1e-12)


def draw_tables(n_users: int, n_items: int, n_ties: int) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return random lists, features, and training rows."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        [(user, int(item), float(rng.integers(n_ties)))
         for user in range(n_users)
         for item in rng.permutation(n_items)[: rng.integers(2, 30)]],
        columns=["user", "item", "estimated"],
    )  # fmt: skip
    labels = pd.DataFrame({"user": range(n_users), "item": 0, "true": 1.0})
    features = pd.DataFrame(
        {
            "item": range(n_items),
            "vector": [*rng.normal(size=(n_items, 7))],
            "genres": [{*rng.integers(9, size=3).tolist()} for _ in range(n_items)],
        }
    )
    train = pd.DataFrame(
        {"user": rng.integers(40, size=300), "item": rng.integers(n_items, size=300)}
    )
    return {"labels": labels, "results": rows}, features, train


@pytest.mark.parametrize("rule", ["cosine", "jaccard", "cooccurrence"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_score_depends_on_the_users_rows_alone(rule: Any, monkeypatch: Any) -> None:
    """To the last bit: not on other users, on the order of rows, or on the size of parts."""
    data, features, train = draw_tables(30, 60, n_ties=4)
    column = {"cosine": "(vector)", "jaccard": "(genres)", "cooccurrence": ""}[rule]
    name = f"diversity{column}@5"

    def measure(data: Any) -> pd.Series:
        report = rn.evaluate(
            data, metrics=name, features=features, train=train,
            convention=rn.Convention(distance=rule),
        )  # fmt: skip
        return report.per_user[name]

    scores = measure(data)
    results = data["results"].sample(frac=1, random_state=1)
    assert measure({**data, "results": results}).equals(scores)
    monkeypatch.setattr("recsys_ndcg.metrics.distances._CELLS", 50)
    monkeypatch.setattr("recsys_ndcg.metrics.distances._FEW_KINDS", 5)
    for user in (3, 11):
        one = {key: table[table["user"] == user] for key, table in data.items()}
        assert measure(one)[user] == scores[user]


@pytest.mark.parametrize("rule", ["cosine", "jaccard", "cooccurrence"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_limits_do_not_change_numbers(rule: Any, monkeypatch: Any) -> None:
    """Tables of all kinds, of products of columns or of items, or single pairs."""
    data, features, train = draw_tables(20, 60, n_ties=2)
    column = {"cosine": "(vector)", "jaccard": "(genres)", "cooccurrence": ""}[rule]

    def measure(catalogue: Any) -> list[Any]:
        report = rn.evaluate(
            data, metrics=f"diversity{column}@5", features=features, train=train,
            catalogue=catalogue, convention=rn.Convention(distance=rule),
        )  # fmt: skip
        chance = report._data.audit.scores_with_orders.roles["chance"][:, 0]
        return [report.per_user.iloc[:, -1].to_numpy(), chance]

    catalogues = (None, range(60))
    before = [measure(one) for one in catalogues]
    limits = {"_CELLS": 10, "_FEW_KINDS": 1}
    for name, limit in limits.items():
        monkeypatch.setattr(f"recsys_ndcg.metrics.distances.{name}", limit)
        for one, wanted in zip(catalogues, before, strict=True):
            for found, each in zip(measure(one), wanted, strict=True):
                np.testing.assert_allclose(found, each, rtol=1e-11)


@pytest.mark.parametrize("rule", ["cosine", "jaccard", "own"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_large_sets_of_ties_and_candidates_are_measured_in_parts(
    rule: str, monkeypatch: Any
) -> None:
    """Their pairs are never in memory at once, and the numbers are the same."""
    monkeypatch.setattr("recsys_ndcg.metrics.distances._CELLS", 2**16)
    monkeypatch.setattr("recsys_ndcg.metrics.distances._FEW_KINDS", 100)
    n_items = 1500
    rng = np.random.default_rng(0)
    table = rng.random((n_items, 12)) < 0.4
    vectors = {"item": range(n_items), "v": [*table.astype(float)]}
    results = pd.DataFrame({"user": 1, "item": range(n_items), "estimated": 1.0})
    labels = pd.DataFrame({"user": [1], "item": [0], "true": [1.0]})
    choice: Any = {"own": lambda a, b: np.abs(a - b).sum(axis=1)}.get(rule, rule)
    tracemalloc.start()
    report = rn.evaluate(
        {"labels": labels, "results": results}, metrics="diversity@3", features=vectors,
        catalogue=range(n_items), convention=rn.Convention(distance=choice),
    )  # fmt: skip
    chance = report.summary["chance"].iloc[0]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    common = table.astype(float) @ table.T
    size = table.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = {
            "cosine": 1 - np.nan_to_num(common / np.sqrt(size[:, None] * size)),
            "jaccard": np.nan_to_num(1 - common / (size[:, None] + size - common)),
            "own": size[:, None] + size - 2 * common,
        }[rule]
    wanted = distance[np.triu_indices(n_items, 1)].mean()
    assert report.mean.iloc[0] == pytest.approx(wanted, rel=1e-12)
    assert chance == pytest.approx(wanted, rel=1e-12)
    assert peak < 60e6


FILMS = {"item": ["a", "b"], "genres": [{"war"}, {"war", "drama"}], "year": ["old", "new"]}


def measure_films(metric: str, items: str = "abc", **options: Any) -> float:
    """Return the diversity of one list in this order, of which the features lack c."""
    lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": [*items]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        mean = rn.evaluate(
            lists, metrics=metric, features=FILMS, convention=rn.Convention(**options)
        ).mean
    return float(mean.iloc[0])


def test_missing_entries_are_left_out_or_empty() -> None:
    """The score of b and a, and with an item without genres."""
    assert measure_films("diversity(genres)", missing_feature="drop") == 0.5
    assert measure_films("diversity(genres)", missing_feature="zero") == (0.5 + 1 + 1) / 3
    assert measure_films("diversity(genres)@2", "acb", missing_feature="zero") == 1.0
    assert math.isnan(measure_films("diversity(genres)@2", "acb", missing_feature="drop"))
    assert measure_films("diversity(year)@2", "acb", missing_feature="zero") == 1.0
    assert measure_films("diversity@2", "acb", missing_feature="zero") == 2.0


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("diversity(genres)", {}, "1 recommended items have no entry"),
        ("diversity(genre)", {}, "no column 'genre'"),
        ("diversity", {"distance": "cosine"}, "needs sets, categories or vectors"),
        ("diversity", {"distance": "jaccard"}, "all columns together"),
        ("diversity(genres)", {"distance": "cooccurrence"}, "needs train="),
        ("diversity(genres)", {"distance": lambda a, _: a}, r"array of shape \(9, 2\)"),
        ("diversity(genres)", {"distance": lambda a, _: a[:, 0] / 0}, "returned inf|returned nan"),
        ("diversity(genres)", {"distance": lambda a, _: a["x"]}, "failed for 9 pairs"),
        ("diversity(genres)", {"ties": "best", "missing_feature": "zero"}, "ties='best'"),
    ],
)
def test_what_cannot_be_measured_is_explained(
    metric: str, options: dict[str, Any], message: str
) -> None:
    """With what to write instead."""
    lists = {"ann": {"a": 1.0, "b": 1.0, "c": 1.0}}
    data = {
        "labels": pd.DataFrame([("ann", "b", 1.0)], columns=["user", "item", "true"]),
        "results": pd.DataFrame(
            [("ann", item, one) for item, one in lists["ann"].items()],
            columns=["user", "item", "estimated"],
        ),
    }
    with pytest.raises(rn.RecsysNdcgError, match=message), np.errstate(all="ignore"):
        rn.evaluate(data, metrics=metric, features=FILMS, convention=rn.Convention(**options))


#: Columns that are categories, or compared as vectors; and values that nearly no items share.
HARMLESS = {
    "genres": [{"war"} if item % 3 else {"war", "love"} for item in range(40)],
    "publisher": [f"house {item % 9}" for item in range(40)],
    "year": [1990 + item % 20 for item in range(40)],
    "place": [[math.cos(item), math.sin(item)] for item in range(40)],
}
PRICE = [9.99 + 1.37 * item for item in range(38)] + [9.99, math.nan]
TITLE = [f"film {max(item, 3)}" for item in range(40)]


def measure_books(metric: str, columns: dict[str, Any], **options: Any) -> tuple[float, list[str]]:
    """Return the mean of a metric of one list, and the warnings about the features."""
    lists = rn.RankedLists.from_labels({"ann": {1}}, {"ann": [*range(9)]})
    known: dict[str, Any] = {"train": [("ann", 20), ("bob", 1)], "threshold": 1}
    features = pd.DataFrame({"item": range(40), **columns})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metrics = [metric, metric.replace("@5", "@7")]  # one warning for both
        convention = rn.Convention(**options)
        found = rn.evaluate(
            lists, metrics=metrics, features=features, convention=convention, **known
        )
    return float(found.mean.iloc[0]), [str(one.message) for one in caught]


def _spell(name: str, column: str = "") -> str:
    """Return a metric of five items; serendipity is by the history."""
    options = [column] * bool(column) + ["by=history"] * (name == "serendipity")
    return f"{name}({','.join(options)})@5" if options else f"{name}@5"


@pytest.mark.parametrize("metric", ["diversity", "serendipity"])
def test_numbers_that_hardly_any_items_share_are_not_taken_for_categories(metric: str) -> None:
    """A warning has the line to write, and after it the column tells items apart."""
    columns = {"genres": HARMLESS["genres"], "price": PRICE}
    genres, none = measure_books(_spell(metric, "genres"), columns)
    both, (warning,) = measure_books(_spell(metric), columns, missing_feature="zero")
    alone, (same,) = measure_books(_spell(metric, "price"), columns, missing_feature="zero")
    assert not none
    assert alone == 1
    assert both >= 1 > genres
    line = "features['price'] = pd.qcut(features['price'], 5).astype('string')"
    text = f"{metric} takes the values of the column 'price' for categories, but 38 of 39 items"
    assert warning == same
    assert warning.startswith(text)
    assert line in warning
    features = pd.DataFrame(columns)
    exec(line, {"features": features, "pd": pd})  # noqa: S102 - a line of ours
    columns["price"] = features["price"].tolist()
    assert measure_books(_spell(metric), columns, missing_feature="zero")[1] == []


@pytest.mark.parametrize(("n_prices", "n_warnings"), [(4, 0), (5, 1)])
def test_a_few_different_numbers_are_no_sign_of_prices(n_prices: int, n_warnings: int) -> None:
    """Four items may well have four categories."""
    columns = {"price": PRICE[:n_prices] + [math.nan] * (40 - n_prices)}
    _, found = measure_books("diversity(price)@5", columns, missing_feature="zero")
    assert len(found) == n_warnings


@pytest.mark.parametrize("metric", ["diversity", "serendipity"])
@pytest.mark.parametrize("distance", ["by_column", "category", "jaccard", "cosine"])
def test_texts_that_hardly_any_items_share_are_left_out(metric: str, distance: str) -> None:
    """Titles make nearly any two items differ, beside genres and alone."""
    by: dict[str, Any] = {"distance": distance}
    columns = {"genres": HARMLESS["genres"], "title": TITLE}
    _, (warning,) = measure_books(_spell(metric, "title"), columns, **by)
    line = "features = features.drop(columns='title')"
    assert warning == (
        f"{metric} takes the values of the column 'title' for categories, but 37 of 40 items have "
        f"different ones, so nearly any two items differ in it. Leave the column out: {line}."
    )
    if distance == "by_column":
        assert measure_books(_spell(metric), columns, **by)[1] == [warning]
    known: dict[str, Any] = {"features": pd.DataFrame(columns)}
    exec(line, known)  # noqa: S102 - a line of ours
    assert measure_books(_spell(metric), dict(known["features"]), **by)[1] == []
    few = {"title": ["same"] * 36 + TITLE[-4:]}
    assert measure_books(_spell(metric), few, **by)[1] == []


@pytest.mark.parametrize("column", HARMLESS)
@pytest.mark.parametrize("others", [True, False])
def test_other_columns_have_no_warning(column: str, *, others: bool) -> None:
    """Sets, texts and numbers that items share, vectors; nor prices that go unread."""
    columns = HARMLESS if others else {column: HARMLESS[column]}
    assert (
        measure_books(f"diversity({column})@5", {**columns, "price": PRICE, "title": TITLE})[1]
        == []
    )
    assert measure_books("diversity@5", columns)[1] == []
    by_users = {"distance": "cooccurrence"}
    assert measure_books("diversity@5", {**columns, "price": PRICE}, **by_users)[1] == []


@pytest.mark.parametrize("metric", ["calibration", "categories", "reo", "category_entropy"])
def test_a_metric_of_categories_says_how_numbers_become_some(metric: str) -> None:
    """Years as text, and prices as ranges: as text, each price would be a category."""
    line = {
        "year": r"features\['year'\] = features\['year'\].astype\('string'\)",
        "price": r"features\['price'\] = pd.qcut\(features\['price'\], 5\).astype\('string'\)",
    }
    for column, wanted in line.items():
        with pytest.raises(rn.InvalidInputError, match=f"{column}' has numbers. .*{wanted}"):
            measure_books(f"{metric}({column})@5", {"year": HARMLESS["year"], "price": PRICE})


def test_too_many_different_entries_have_no_chance_level(monkeypatch: Any) -> None:
    """The score is as before."""
    data, features, train = draw_tables(20, 60, n_ties=2)
    options: dict[str, Any] = {"metrics": "diversity(genres)@5", "features": features}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        before = rn.evaluate(data, catalogue=range(60), **options)
        assert not before.summary["chance"].isna().any()
        monkeypatch.setattr("recsys_ndcg.metrics.distances._MANY_KINDS", 10)
        # with train=, as evaluations that know the same share their distances
        report = rn.evaluate(data, catalogue=range(60), train=train, **options)
        assert report.per_user.equals(before.per_user)
        assert report.summary["chance"].isna().all()
