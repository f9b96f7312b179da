"""Every measure beyond accuracy of a ranked catalogue is that of the whole lists."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("surprise")

import surprise

import recsys_ndcg as rn
from recsys_ndcg.surprise import MostPopular, cross_validate, evaluate_catalogue, rank_catalogue
from tests.beyond.test_engines import FEATURES, ITEMS, KNOWN, NEEDY, OPTIONS, TRAIN, USERS
from tests.beyond.textbook import mean
from tests.scale.alike import CLOSE

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")

NAMES = [f"{name}{options}@4" for name in NEEDY for options in OPTIONS.get(name, [""])]
#: Measures that need more than the lists, besides those of a ranked catalogue.
RATINGS = TRAIN.drop_duplicates().assign(rating=lambda table: 1.0 + table["item"] % 5)
rng = np.random.default_rng(3)
TEST = [
    (user, int(item), float(rng.integers(1, 6)))
    for user in USERS[5:30]
    for item in rng.choice([*ITEMS[:25], 129], rng.integers(1, 6), replace=False)
]


class Coarse(surprise.AlgoBase):  # type: ignore[misc]
    """Estimates that are often equal, and some of which only rounding sets apart."""

    def estimate(self, user: Any, item: Any) -> float:
        """Return one of five numbers."""
        return float((user * 7 + item * 3) % 5 + (user + item) % 2 * 1e-12)


DATASET = surprise.Dataset.load_from_df(RATINGS, surprise.Reader(rating_scale=(1, 5)))


def load() -> Any:
    """Return the trainset."""
    return DATASET.build_full_trainset()


@pytest.mark.parametrize("exclude", ["train", None])
@pytest.mark.parametrize("model", [Coarse, MostPopular])
def test_a_ranked_catalogue_has_the_numbers_of_its_lists(model: Any, exclude: Any) -> None:
    """Means, pooled scores and each user's score, in the first ranks of every candidate."""
    trainset = load()
    algo = model().fit(trainset)
    items = [trainset.to_raw_iid(item) for item in trainset.all_items()]
    known: dict[str, Any] = {name: KNOWN[name] for name in ("features", "base", "groups")}
    how: dict[str, Any] = {"metrics": [*NAMES, "ndcg@4"], "threshold": 4, **known}
    found = evaluate_catalogue(algo, trainset, TEST, exclude=exclude, **how)
    users = sorted({user for user, _, _ in TEST})
    lists = rank_catalogue(algo, trainset, None, users=users, exclude=exclude)
    whole = rn.evaluate(
        {
            "labels": pd.DataFrame(TEST, columns=["user", "item", "true"]),
            "results": lists.drop(columns="rank"),
        },
        train=trainset,
        catalogue=items,
        convention=rn.Convention(tie_tolerance=1e-9),
        **how,
    )
    pd.testing.assert_series_equal(found.mean, whole.mean, **CLOSE)
    pd.testing.assert_series_equal(found.pooled, whole.pooled, **CLOSE)
    pd.testing.assert_frame_equal(found.per_user, whole.per_user, **CLOSE)
    columns = ["mean", "ci_low", "ci_high", "users", "undefined", "tie_low", "tie_high"]
    pd.testing.assert_frame_equal(found.summary[columns], whole.summary[columns], **CLOSE)


TINY = {"ann": [1, 2], "bob": [2], "cid": [2, 3, 4], "eve": [1, 5, 6]}
MAKER = {1: "x", 2: "x", 3: "y", 4: "y", 5: "z", 6: "x"}
TESTED = ("ann", "bob", "cid")
K = 2


def gini(shown: list[float]) -> float:
    """Return the Gini index."""
    counts, n = sorted(shown), len(shown)
    weighted = sum((2 * place - n - 1) * count for place, count in enumerate(counts, start=1))
    return weighted / (n * sum(counts))


def of_user(name: str, user: str, top: tuple[int, ...]) -> float:
    """Return a measure of one list."""
    n_users = {item: sum(item in had for had in TINY.values()) for item in MAKER}
    values: dict[str, list[float]] = {
        "popularity": [n_users[item] for item in top],
        "novelty": [-math.log2(n_users[item] / len(TINY)) for item in top],
        "seen": [item in TINY[user] for item in top],
        "diversity(maker)": [MAKER[one] != MAKER[other] for one, other in combinations(top, 2)],
    }
    return float(np.mean(values[name]))


def of_all(name: str, tops: Any) -> float:
    """Return a measure of all lists."""
    shown = Counter(item for top in tops for item in top)
    return len(shown) / len(MAKER) if name == "coverage" else gini([shown[one] for one in MAKER])


@pytest.mark.parametrize("exclude", ["train", None])
def test_chance_and_extremes_are_those_of_all_draws(exclude: Any) -> None:
    """Of k candidates of each user."""
    per_user, together = ["popularity", "novelty", "seen", "diversity(maker)"], ["coverage", "gini"]
    rows = [(user, item, 3.0) for user, items in TINY.items() for item in items]
    reader = surprise.Reader(rating_scale=(1, 5))
    data = surprise.Dataset.load_from_df(pd.DataFrame(rows), reader)
    trainset = data.build_full_trainset()
    report = evaluate_catalogue(
        MostPopular().fit(trainset),
        trainset,
        [("ann", 3, 4.0), ("bob", 4, 5.0), ("cid", 1, 2.0)],
        metrics=[f"{name}@{K}" for name in [*per_user, *together]],
        threshold=4,
        features={"item": [*MAKER], "maker": [*MAKER.values()]},
        exclude=exclude,
    )
    pools = [[one for one in MAKER if not exclude or one not in TINY[user]] for user in TESTED]
    draws = [[*combinations(pool, K)] for pool in pools]
    columns = ["chance", "worst", "best"]
    for name in per_user:
        found = report.audit.loc[f"{name}@{K}", columns]
        values = [
            [of_user(name, user, top) for top in own]
            for user, own in zip(TESTED, draws, strict=True)
        ]
        chance, *ends = (mean([kind(one) for one in values]) for kind in (mean, min, max))
        if name in ("popularity", "seen"):
            ends.reverse()
        if name == "diversity(maker)":
            ends = [np.nan, np.nan]  # the most diverse list is hard to find
        assert [*found] == pytest.approx([chance, *ends], nan_ok=True)
    tops = [*product(*draws)]
    random = {
        "coverage": mean([of_all("coverage", one) for one in tops]),
        "gini": math.nan if exclude else mean([of_all("gini", one) for one in tops]),
    }
    anything = [*product(combinations(MAKER, K), repeat=len(TESTED))]
    for name in together:
        found = report.audit.loc[f"{name}@{K}", columns]
        numbers = [of_all(name, one) for one in anything]
        ends = [min(numbers), max(numbers)][:: 1 if name == "coverage" else -1]
        assert [*found] == pytest.approx([random[name], *ends], nan_ok=True)


class Constant(surprise.AlgoBase):  # type: ignore[misc]
    """Estimates that are all equal, so that every list is in random order."""

    def estimate(self, user: Any, item: Any) -> float:
        """Return a number."""
        return 3.0 + 0 * hash((user, item))


@pytest.mark.parametrize("exclude", ["train", None])
def test_a_model_without_an_opinion_is_as_good_as_chance(exclude: Any) -> None:
    """In every measure that has a chance level."""
    trainset = load()
    known: dict[str, Any] = {name: KNOWN[name] for name in ("features", "base", "groups")}
    names = [*NAMES, "ndcg@4"]
    report = evaluate_catalogue(
        Constant().fit(trainset), trainset, TEST, metrics=names, threshold=4, exclude=exclude,
        **known,
    )  # fmt: skip
    chance = report.summary["chance"].dropna()
    assert len(chance) > len(names) / 2
    # all exposures of a constant model are equal; those of drawn lists are not
    chance = chance.drop(["gini@4", "entropy@4"], errors="ignore")
    pd.testing.assert_series_equal(report.mean[chance.index], chance, check_names=False, **CLOSE)


MEASURES = ["coverage@5", "gini@5", "novelty@5", "tail@5", "diversity(genres)@5", "item(price)@5"]
FOLDS = surprise.model_selection.KFold(2, random_state=0)


def measure_folds(names: list[str], features: Any) -> pd.DataFrame:
    """Evaluate each fold's catalogue."""
    rows = []
    for trainset, testset in FOLDS.split(DATASET):
        algo = MostPopular().fit(trainset)
        report = evaluate_catalogue(algo, trainset, testset, metrics=names, features=features)
        rows.append(report.mean)
    return pd.DataFrame(rows)


def test_folds_have_the_numbers_of_their_catalogues(tmp_path: Path) -> None:
    """In cross-validation and in experiments, which notice other features."""
    names = [f"{name}:catalogue" for name in MEASURES]
    expected = measure_folds(MEASURES, FEATURES)
    found = cross_validate(MostPopular(), DATASET, ["rmse", *names], FOLDS, features=FEATURES)
    for name in MEASURES:
        np.testing.assert_allclose(found[f"test_{name}:catalogue"], expected[name], rtol=1e-12)
    models = {"popular": MostPopular(), "constant": Constant()}
    how: dict[str, Any] = {"metrics": names, "splits": FOLDS, "folder": tmp_path / "runs"}
    one = rn.experiment(DATASET, models, features=FEATURES, **how)
    for name in MEASURES:
        board = one.leaderboards[f"{name}:catalogue"]
        assert board["mean"].notna().all()
        if name in ("coverage@5", "gini@5"):
            continue  # of all folds: the mean of the folds' numbers, by users
        wanted = found.per_user[f"{name}:catalogue"].groupby("user").mean().mean()
        assert board["mean"]["popular"] == pytest.approx(wanted, rel=1e-9)
    again = rn.experiment(DATASET, models, features=FEATURES, **how)
    pd.testing.assert_frame_equal(again.pairwise, one.pairwise, **CLOSE)
    other = FEATURES.assign(price=FEATURES["price"] * 2)
    with pytest.raises(rn.InvalidInputError, match="folder"):
        rn.experiment(DATASET, models, features=other, **how)
